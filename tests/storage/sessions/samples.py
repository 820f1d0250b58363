"""Events and sessions that tests of the session service share."""

from __future__ import annotations

from typing import Any

from google.adk.events import Event, EventActions
from google.adk.sessions import BaseSessionService, Session
from google.genai import types

APP = "Council"
USER = "ada"


def said(text: str, *, author: str = "user", state: dict[str, Any] | None = None, **fields: Any) -> Event:
    """An event with a text, and a change of state."""
    content = types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=text)])
    actions = EventActions(state_delta=state or {})
    return Event(**{"author": author, "invocation_id": "turn-1", "content": content, "actions": actions, **fields})


def texts(session: Session | None) -> list[str | None]:
    """The first text of each event of a session that is there."""
    assert session is not None
    return [event.content.parts[0].text for event in session.events]


async def loaded(service: BaseSessionService, session: Session) -> Session:
    """The session as it is stored."""
    found = await service.get_session(app_name=session.app_name, user_id=session.user_id, session_id=session.id)
    assert found is not None
    return found
