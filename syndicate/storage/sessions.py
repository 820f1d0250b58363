"""ADK's session service on a database."""

from __future__ import annotations

import uuid
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Self

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events import Event
from google.adk.sessions import BaseSessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig, ListSessionsResponse
from typing_extensions import override

from syndicate.errors import StorageError
from syndicate.storage.state import Scopes, split
from syndicate.storage.stored_event import decode, encode
from syndicate.storage.transport import DatabaseFailure

if TYPE_CHECKING:
    from syndicate.storage.database import Database

MAX_BYTES = 255
"""Of an app's name, a user's or a session's id, in UTF-8: together they are an index's key."""


class DatabaseSessions(BaseSessionService):
    """Sessions in an open database, an event a row. Several turns, and several processes, may write to one session.

    A session expires `ttl_days` after its last event (0: never). Whoever opened the database closes it, unless it was
    handed over as `owned`; then `aclose` does, or leaving `async with`.
    """

    def __init__(self, database: Database, ttl_days: int = 7, *, owned: AsyncExitStack | None = None) -> None:
        self.database = database
        self.ttl_days = ttl_days
        self._owned = owned

    @override
    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """A new session, with an id of its own where none is given. Raises ADK's `AlreadyExistsError`."""
        session_id = session_id or str(uuid.uuid4())
        for what, name in (("app name", app_name), ("user id", user_id), ("session id", session_id)):
            _check(what, name)
        scopes = split(state or {})
        made = await self._call(
            "create_session",
            p_app_name=app_name,
            p_user_id=user_id,
            p_id=session_id,
            p_state=scopes.session,
            p_app_state=scopes.app,
            p_user_state=scopes.user,
            p_ttl_days=self.ttl_days,
        )
        return _session(app_name, user_id, made)

    @override
    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """The session with its events, oldest first; None for one that is not there or is another user's."""
        if not _can_be_stored(app_name, user_id, session_id):
            return None
        config = config or GetSessionConfig()
        found = await self._call(
            "load_session",
            p_app_name=app_name,
            p_user_id=user_id,
            p_id=session_id,
            p_recent=config.num_recent_events,
            p_after=config.after_timestamp,
        )
        return _session(app_name, user_id, found) if found["found"] else None

    @override
    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """The sessions of a user, or of all, without events, the last used at the end."""
        if not _can_be_stored(app_name, user_id or ""):
            return ListSessionsResponse()
        listed = await self._call("list_sessions", p_app_name=app_name, p_user_id=user_id, p_limit=None, p_before=None)
        return ListSessionsResponse(
            sessions=[_session(row["app_name"], row["user_id"], {**row, "events": ()}) for row in listed["sessions"]]
        )

    @override
    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session and its events; one that is not there is no error."""
        if _can_be_stored(app_name, user_id, session_id):
            await self._call("delete_session", p_app_name=app_name, p_user_id=user_id, p_id=session_id)

    @override
    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """What all sessions of the user share, by bare key."""
        if not _can_be_stored(app_name, user_id):
            return {}
        found = await self._call("user_state", p_app_name=app_name, p_user_id=user_id)
        return found["state"]

    @override
    async def append_event(self, session: Session, event: Event) -> Event:
        """Store the event at the end of the session, and add it to `session` itself.

        Appending the same event again changes nothing. Raises ADK's `SessionNotFoundError`.
        """
        if event.partial:
            return event
        for what, name in (("app name", session.app_name), ("user id", session.user_id), ("session id", session.id)):
            _check(what, name)
        self._apply_temp_state(session, event)
        event = self._trim_temp_delta_state(event)
        scopes = split(event.actions.state_delta)
        stored = await self._call(
            "append_session_event",
            p_app_name=session.app_name,
            p_user_id=session.user_id,
            p_id=session.id,
            p_event=encode(event),
            p_event_id=event.id,
            p_author=event.author,
            p_invocation_id=event.invocation_id,
            p_time=event.timestamp,
            p_state=scopes.session,
            p_app_state=scopes.app,
            p_user_state=scopes.user,
            p_ttl_days=self.ttl_days,
        )
        if stored["duplicate"] and any(held.id == event.id for held in session.events):
            return event
        session.last_update_time = event.timestamp
        return self._commit_event_to_session(session, event)

    async def trim(self, *, app_name: str, user_id: str, session_id: str, except_invocation: str | None = None) -> int:
        """Drop from finished turns what only an unfinished one needs; the number of events that changed.

        Thought signatures go, and results of tools over 32 KiB become a marker of their size. Call it at the end of a
        turn; at its start, after a crash, with the invocation that goes on as `except_invocation`.
        """
        if not _can_be_stored(app_name, user_id, session_id):
            return 0
        trimmed = await self._call(
            "trim_session",
            p_app_name=app_name,
            p_user_id=user_id,
            p_id=session_id,
            p_except_invocation=except_invocation,
        )
        return trimmed["trimmed"]

    async def aclose(self) -> None:
        """Close the database, if it was handed over."""
        if self._owned is not None:
            await self._owned.aclose()

    async def _call(self, function: str, **arguments: Any) -> dict[str, Any]:
        try:
            return await self.database.transport.call(function, **arguments)
        except DatabaseFailure as failure:
            raise _as_adk_says(failure) from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.aclose()


def _as_adk_says(failure: DatabaseFailure) -> Exception:
    match failure.sqlstate:
        case "AG001":
            return AlreadyExistsError(failure.message)
        case "AG002":
            return SessionNotFoundError(failure.message)
        case _:
            return failure


def _session(app_name: str, user_id: str, row: dict[str, Any]) -> Session:
    scopes = Scopes(app=row["app_state"], user=row["user_state"], session=row["state"])
    return Session(
        app_name=app_name,
        user_id=user_id,
        id=row["id"],
        state=scopes.merged(),
        events=[decode(event) for event in row.get("events", ())],
        last_update_time=row["last_update_time"],
    )


def _can_be_stored(*names: str) -> bool:
    return not any(map(_fault, names))


def _check(what: str, name: str) -> None:
    if fault := _fault(name):
        shown = f"{name[:40]}…" if len(name) > 40 else name
        raise StorageError(f"the {what} {shown!r} {fault}", code="bad-value", remediation=f"use another {what}")


def _fault(name: str) -> str:
    """What keeps a name from being stored as it is. A changed one could be somebody else's."""
    if "\0" in name:
        return "has a NUL character"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "has half of a surrogate pair"
    return f"is {size} bytes long, and {MAX_BYTES} is the most" if size > MAX_BYTES else ""
