"""What a finished turn no longer needs."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.events import Event
from google.adk.sessions import Session
from google.genai import types

from syndicate.storage.sessions import DatabaseSessions
from tests.storage.sessions.full_event import full_event
from tests.storage.sessions.samples import APP, USER, loaded, said

LONG = 32 * 1024


def thinking(invocation: str) -> Event:
    parts = [
        types.Part(text="hm", thought=True, thought_signature=b"\x01"),
        types.Part(function_call=types.FunctionCall(id="c1", name="look", args={"q": "x"}), thought_signature=b"\x02"),
    ]
    return said("", author="Lead", invocation_id=invocation, content=types.Content(role="model", parts=parts))


def result(invocation: str, response: dict[str, Any]) -> Event:
    part = types.Part(function_response=types.FunctionResponse(id="c1", name="look", response=response))
    content = types.Content(role="user", parts=[part])
    return said("", author="Lead", invocation_id=invocation, content=content)


async def trimmed(sessions: DatabaseSessions, session: Session, **options: Any) -> int:
    return await sessions.trim(app_name=APP, user_id=session.user_id, session_id=session.id, **options)


def signatures(session: Session) -> list[bytes | None]:
    return [part.thought_signature for event in session.events for part in event.content.parts]


@pytest.fixture
async def session(sessions: DatabaseSessions) -> Session:
    """A turn that thought and called a tool which answered at length."""
    session = await sessions.create_session(app_name=APP, user_id=USER)
    for event in (said("look"), thinking("turn-1"), result("turn-1", {"rows": "x" * LONG}), said("ok", author="Lead")):
        await sessions.append_event(session, event)
    return session


async def test_nothing_is_dropped_before_the_turn_is_finished(sessions: DatabaseSessions, session: Session):
    assert signatures(await loaded(sessions, session)) == [None, b"\x01", b"\x02", None, None]
    assert await trimmed(sessions, session, except_invocation="turn-1") == 0
    assert signatures(await loaded(sessions, session)) == [None, b"\x01", b"\x02", None, None]


async def test_signatures_and_long_results_go_when_it_is(sessions: DatabaseSessions, session: Session):
    before = await loaded(sessions, session)
    assert await trimmed(sessions, session) == 2
    after = await loaded(sessions, session)
    assert signatures(after) == [None] * 5
    call, response = after.events[1].content.parts[1].function_call, after.events[2].content.parts[0].function_response
    assert (call.id, call.name, call.args) == ("c1", "look", {"q": "x"})
    assert (response.id, response.name, list(response.response or ())) == ("c1", "look", ["omitted_bytes"])
    assert response.response["omitted_bytes"] > LONG
    assert [event.id for event in after.events] == [event.id for event in before.events]
    assert after.last_update_time == before.last_update_time


async def test_a_second_time_nothing_is_left_to_trim(sessions: DatabaseSessions, session: Session):
    await trimmed(sessions, session)
    before = await loaded(sessions, session)
    assert await trimmed(sessions, session) == 0
    assert await loaded(sessions, session) == before


async def test_a_result_that_is_not_long_stays(sessions: DatabaseSessions):
    session = await sessions.create_session(app_name=APP, user_id=USER)
    await sessions.append_event(session, result("turn-1", {"rows": "x" * (LONG - 100), "none": None}))
    assert await trimmed(sessions, session) == 0
    [event] = (await loaded(sessions, session)).events
    assert event.content.parts[0].function_response.response == {"rows": "x" * (LONG - 100), "none": None}


async def test_nothing_else_of_an_event_is_changed(sessions: DatabaseSessions):
    session = await sessions.create_session(app_name=APP, user_id=USER)
    event = full_event()
    await sessions.append_event(session, event.model_copy(deep=True))
    assert await trimmed(sessions, session) == 1
    [found] = (await loaded(sessions, session)).events
    for part in event.content.parts:
        part.thought_signature = None
    assert found.model_dump() == event.model_dump()


async def test_a_turn_that_waits_keeps_what_it_needs_until_it_goes_on(sessions: DatabaseSessions):
    session = await sessions.create_session(app_name=APP, user_id=USER)
    for invocation in ("finished", "waiting", "later"):
        await sessions.append_event(session, thinking(invocation))
    assert await trimmed(sessions, session, except_invocation="waiting") == 2
    assert signatures(await loaded(sessions, session)) == [None, None, b"\x01", b"\x02", None, None]
    await sessions.append_event(session, result("waiting", {"ok": True}))
    assert await trimmed(sessions, session) == 1
    assert not any(signatures(await loaded(sessions, session)))


async def test_trimming_what_is_not_there_changes_nothing(sessions: DatabaseSessions, session: Session):
    other = session.model_copy(update={"user_id": "bob"})
    assert await trimmed(sessions, other) == 0
    assert signatures(await loaded(sessions, session)) == [None, b"\x01", b"\x02", None, None]
