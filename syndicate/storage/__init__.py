"""Sessions that last: a database, and ADK's session service on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syndicate.storage.sessions import DatabaseSessions

__all__ = ["open_session_service"]


async def open_session_service(url: str, *, ttl_days: int = 7) -> DatabaseSessions:
    """ADK's session service on a Postgres database, for a `Runner` of your own.

    A database that holds none of our tables gets them. Close the service with `aclose()`, or use it with `async with`.
    `ttl_days` after its last event a session expires (0: never). Raises `StorageError`.
    """
    from contextlib import AsyncExitStack

    from pydantic import SecretStr

    from syndicate.settings import Settings
    from syndicate.storage.database import open_database
    from syndicate.storage.sessions import DatabaseSessions

    settings = Settings.model_construct(database_url=SecretStr(url))  # of the environment nothing counts here
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings, provision=True))
        return DatabaseSessions(database, ttl_days, owned=stack.pop_all())
