"""The stored sessions, asked for without Google ADK: a verb has its answer before that would be imported."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from syndicate.cli.visible import one_line
from syndicate.errors import UsageError

if TYPE_CHECKING:
    from syndicate.settings import Settings
    from syndicate.storage.transport import Transport

LAST = "last"
"""Stands for the session that was used last."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """One session. `syndicate` is the name its file gives, `events` how many there are, times are in seconds."""

    id: str
    syndicate: str
    user: str
    events: int
    created: float
    updated: float

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """From a row of the SQL function `list_sessions`."""
        return cls(
            id=row["id"],
            syndicate=row["app_name"],
            user=row["user_id"],
            events=row["events"],
            created=row["created_at"],
            updated=row["last_update_time"],
        )


class StoredSessions:
    """The sessions of a database. `syndicate` and `user` of a call choose among them, None for all."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncGenerator[Self]:
        """Those of the configured database. Raises `StorageError`."""
        from syndicate.cli.database import the_database

        async with the_database(settings) as database:
            yield cls(database.transport)

    async def newest(self, syndicate: str | None, user: str | None, limit: int | None = None) -> list[StoredSession]:
        """Sessions, the one that was used last first."""
        answer = await self._transport.call(
            "list_sessions", p_app_name=syndicate, p_user_id=user, p_limit=limit, p_before=None
        )
        return [StoredSession.of(row) for row in reversed(answer["sessions"])]

    async def find(self, session: str, syndicate: str | None, user: str) -> StoredSession:
        """The user's session of that id, or their last one. Raises `UsageError` for none and for more than one."""
        found = await self.newest(syndicate, user, 1 if session == LAST else None)
        if session != LAST:
            found = [entry for entry in found if entry.id == session]
        if not found:
            raise _missing("" if session == LAST else session, syndicate, user)
        if len(found) > 1:
            raise _ambiguous(session, user, [entry.syndicate for entry in found])
        return found[0]

    async def load(self, found: StoredSession) -> dict[str, Any]:
        """`state` and `events` of a session, as they are stored. Raises `UsageError` when it is gone meanwhile."""
        loaded = await self._transport.call("load_session", **_key(found), p_recent=None, p_after=None)
        if not loaded["found"]:
            raise _missing(found.id, found.syndicate, found.user)
        return loaded

    async def delete(self, found: StoredSession) -> None:
        """Delete a session and its events."""
        await self._transport.call("delete_session", **_key(found))


def stored_name(name: str, settings: Settings) -> str:
    """The name under which a syndicate's sessions are stored: its file's `syndicate_name`, else `name` itself."""
    from syndicate.config import load
    from syndicate.errors import SyndicateError

    try:
        return load(name, settings=settings).config.syndicate_name
    except SyndicateError:  # the file may be gone or broken; its sessions are there all the same
        return name


def _key(session: StoredSession) -> dict[str, str]:
    return {"p_app_name": session.syndicate, "p_user_id": session.user, "p_id": session.id}


def _missing(session: str, syndicate: str | None, user: str) -> UsageError:
    named = f" {one_line(session, 60)!r}" if session else ""
    of = f" with {one_line(syndicate, 60)!r}" if syndicate else ""
    return UsageError(
        f"no session{named} of user {one_line(user, 60)!r}{of} is stored",
        code="no-session",
        remediation="`syndicate sessions list` shows those that are; --user names another user",
    )


def _ambiguous(session: str, user: str, syndicates: list[str]) -> UsageError:
    names = ", ".join(repr(one_line(name, 60)) for name in syndicates)
    return UsageError(
        f"user {user!r} has a session {one_line(session, 60)!r} with each of {names}",
        code="ambiguous-session",
        remediation="name one of them with --syndicate",
    )
