"""What turns stand on, opened once and handed to them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from google.adk.sessions import BaseSessionService, InMemorySessionService, Session

from syndicate.config.schema import SyndicateConfig
from syndicate.errors import StorageError
from syndicate.settings import Settings
from syndicate.storage import embedded
from syndicate.storage.database import configured, open_database
from syndicate.storage.sessions import DatabaseSessions


@dataclass(frozen=True)
class Services:
    """`sessions` is ADK's session service. `note` is a line for people when sessions that should last do not."""

    sessions: BaseSessionService
    note: str = ""

    @property
    def lasts(self) -> bool:
        """Whether sessions outlive the process."""
        return isinstance(self.sessions, DatabaseSessions)

    async def end_turn(self, session: Session) -> None:
        """Drop from a session's stored events what only its running turn needed."""
        if isinstance(self.sessions, DatabaseSessions):
            await self.sessions.trim(app_name=session.app_name, user_id=session.user_id, session_id=session.id)


@asynccontextmanager
async def open_services(settings: Settings, configs: Iterable[SyndicateConfig]) -> AsyncGenerator[Services]:
    """Open what turns of these syndicates need, and close it at the end.

    Sessions are stored, unless every syndicate is `internal-only`, or there is neither a database nor the extra for the
    embedded one: then they live in process memory. Raises `StorageError`; also for `long-term` without a database.
    """
    async with AsyncExitStack() as stack:
        services = await _services(settings, {config.memory_system for config in configs}, stack)
        yield services
        await services.sessions.flush()


async def _services(settings: Settings, kinds: set[str], stack: AsyncExitStack) -> Services:
    if kinds <= {"internal-only"}:
        return Services(InMemorySessionService())
    kind = configured(settings)
    if kind is None and "long-term" in kinds:
        remedy = "pip install 'syndicate-agents[local]' for the embedded one, or set DATABASE_URL"
        raise StorageError("long-term memory needs a database", code="not-provisioned", remediation=remedy)
    if kind is None:
        return _in_memory("no database is configured and none is installed")
    try:
        database = await stack.enter_async_context(open_database(settings))
    except StorageError as error:
        if kind != "embedded" or "long-term" in kinds or embedded.status(settings).exists:
            raise  # nothing that is stored already is passed over
        return _in_memory(f"the embedded database cannot be used ({error.message})")
    return Services(DatabaseSessions(database, settings.session_ttl_days))


def _in_memory(reason: str) -> Services:
    return Services(InMemorySessionService(), f"{reason}: this conversation is kept in memory only")
