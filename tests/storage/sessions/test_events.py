"""What is stored of an event, and which events are loaded."""

from __future__ import annotations

import math
from typing import Any

import pytest
from google.adk.events import Event, EventActions
from google.adk.sessions import BaseSessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

from syndicate.storage.sessions import DatabaseSessions
from tests.storage.sessions.full_event import full_event
from tests.storage.sessions.samples import APP, USER, loaded, said, texts

MEGABYTE = 1 << 20


async def stored(service: BaseSessionService, event: Event) -> Event:
    """The event as it is read again from a session of its own."""
    session = await service.create_session(app_name=APP, user_id=USER)
    await service.append_event(session, event)
    [found] = (await loaded(service, session)).events
    return found


async def test_every_field_comes_back(sessions: DatabaseSessions):
    event = full_event()
    assert {name for name in Event.model_fields if getattr(event, name) is None} == set()
    assert {name for name in EventActions.model_fields if getattr(event.actions, name) is None} == set()
    found = await stored(sessions, event.model_copy(deep=True))
    assert found.model_dump() == event.model_dump()


async def test_an_event_with_nothing_in_it_comes_back(service: BaseSessionService):
    event = Event(author="user", invocation_id="turn-1")
    assert (await stored(service, event)).model_dump() == event.model_dump()


async def test_what_is_appended_is_in_the_session_that_goes_on(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER)
    event = said("hi", state={"a": 1}, timestamp=2_000_000_000.5)
    assert await service.append_event(session, event) is event
    assert (session.events, session.state) == ([event], {"a": 1})
    assert session.last_update_time == 2_000_000_000.5
    assert (await loaded(service, session)).last_update_time == pytest.approx(2_000_000_000.5, abs=1e-5)


async def test_partial_events_are_not_stored(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER)
    piece = said("he", author="Lead", partial=True, state={"a": 1, "temp:b": 2})
    assert await service.append_event(session, piece) is piece
    assert piece.actions.state_delta == {"a": 1, "temp:b": 2}
    assert (session.events, session.state) == ([], {})
    again = await loaded(service, session)
    assert (again.events, again.state) == ([], {})


async def test_an_event_appended_twice_is_there_once(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER)
    first, second = said("one", state={"n": 1}), said("two", state={"n": 2})
    for event in (first, second, first.model_copy(deep=True)):
        await service.append_event(session, event)
    assert (texts(session), texts(await loaded(service, session))) == (["one", "two"], ["one", "two"])
    assert (await loaded(service, session)).state == {"n": 2}


async def test_an_event_is_appended_once_by_two_processes_that_both_try(sessions: DatabaseSessions):
    session = await sessions.create_session(app_name=APP, user_id=USER)
    event = said("one")
    for copy in (await loaded(sessions, session), await loaded(sessions, session)):
        await sessions.append_event(copy, event.model_copy(deep=True))
        assert texts(copy) == ["one"]
    assert texts(await loaded(sessions, session)) == ["one"]


async def test_characters_a_database_cannot_keep_cost_the_session_nothing_else(sessions: DatabaseSessions):
    content = types.Content(
        role="model",
        parts=[
            types.Part(text="a\0b\ud83dc"),
            types.Part(function_call=types.FunctionCall(id="1", name="f", args={"k\0": ["\0", {"\udc00": "\\u0000"}]})),
            types.Part(function_response=types.FunctionResponse(id="1", name="f", response={"result": "x\0" * 3})),
        ],
    )
    found = await stored(sessions, Event(author="Lead", invocation_id="turn-1", content=content))
    text, call, response = list(found.content.parts or ())
    assert text.text == "ab\ufffdc"
    assert call.function_call.args == {"k": ["", {"\ufffd": "\\u0000"}]}
    assert response.function_response.response == {"result": "xxx"}


class Live:
    """What a tool returned that has no JSON form."""

    def __repr__(self) -> str:
        return "<live>"


async def test_a_tools_result_without_a_json_form_is_stored_as_text(sessions: DatabaseSessions):
    response = {"object": Live(), "nan": math.nan, "set": {1}, "none": None, "bytes": b"\xff"}
    part = types.Part(function_response=types.FunctionResponse(id="1", name="f", response=response))
    event = Event(
        author="Lead",
        invocation_id="turn-1",
        content=types.Content(role="user", parts=[part]),
        output=Live(),
        avg_logprobs=-math.inf,
        custom_metadata={"live": Live()},
        actions=EventActions(state_delta={"live": Live()}, agent_state={"live": Live()}),
    )
    found = await stored(sessions, event)
    kept = {"object": "<live>", "nan": None, "set": [1], "none": None, "bytes": "_w=="}
    assert found.content.parts[0].function_response.response == kept
    assert (found.output, found.avg_logprobs, found.custom_metadata) == ("<live>", None, {"live": "<live>"})
    assert (found.actions.state_delta, found.actions.agent_state) == ({"live": "<live>"}, {"live": "<live>"})


@pytest.mark.parametrize(
    "part",
    [
        types.Part(text="é" * MEGABYTE),
        types.Part(inline_data=types.Blob(data=bytes(range(256)) * 4096, mime_type="image/png")),
        types.Part(function_response=types.FunctionResponse(id="1", name="f", response={"rows": ["x" * 1024] * 1024})),
    ],
    ids=["text", "blob", "result"],
)
async def test_big_parts_come_back_whole(sessions: DatabaseSessions, part: types.Part):
    found = await stored(sessions, said("", content=types.Content(role="user", parts=[part])))
    assert found.content.parts == [part]


@pytest.fixture
async def ten(service: BaseSessionService) -> Session:
    """A session of ten events, one a second; two of them in the same second."""
    session = await service.create_session(app_name=APP, user_id=USER, session_id="ten", state={"start": 0})
    for number in range(10):
        when = 1_800_000_000.0 + (number if number != 5 else 4)
        await service.append_event(session, said(str(number), state={"last": number}, timestamp=when))
    return session


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, "0123456789"),
        ({"num_recent_events": 3}, "789"),
        ({"num_recent_events": 1}, "9"),
        ({"num_recent_events": 0}, ""),
        ({"num_recent_events": 10}, "0123456789"),
        ({"num_recent_events": 2**31 - 1}, "0123456789"),
        ({"after_timestamp": 1_800_000_007.0}, "789"),
        ({"after_timestamp": 1_800_000_007.5}, "89"),
        ({"after_timestamp": 1_800_000_004.0}, "456789"),
        ({"after_timestamp": 1_900_000_000.0}, ""),
        ({"after_timestamp": 0.0}, "0123456789"),
        ({"after_timestamp": 1_800_000_002.0, "num_recent_events": 3}, "789"),
        ({"after_timestamp": 1_800_000_008.0, "num_recent_events": 5}, "89"),
        ({"after_timestamp": 1_800_000_002.0, "num_recent_events": 0}, ""),
    ],
    ids=str,
)
async def test_only_the_events_asked_for_are_loaded(
    service: BaseSessionService, ten: Session, config: dict[str, Any], expected: str
):
    found = await service.get_session(app_name=APP, user_id=USER, session_id=ten.id, config=GetSessionConfig(**config))
    assert "".join(map(str, texts(found))) == expected
    assert found.state == {"start": 0, "last": 9}


async def test_the_order_is_that_of_appending_whatever_the_clocks_say(sessions: DatabaseSessions):
    session = await sessions.create_session(app_name=APP, user_id=USER)
    for text, when in (("first", 1_800_000_100.0), ("second", 1_800_000_000.0), ("third", 1_800_000_100.0)):
        await sessions.append_event(session, said(text, timestamp=when))
    assert texts(await loaded(sessions, session)) == ["first", "second", "third"]
