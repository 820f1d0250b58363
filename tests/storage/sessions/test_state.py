"""What a session, a user and an app remember, and what only one invocation does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from google.adk.sessions import BaseSessionService
from google.adk.sessions.state import State
from pydantic import BaseModel

from syndicate.errors import StorageError
from syndicate.storage.sessions import DatabaseSessions
from syndicate.storage.state import split
from tests.storage.sessions.samples import APP, USER, loaded, said, texts

SCOPED = {"plain": 1, "user:name": "Ada", "app:motto": ["x"], "temp:scratch": "gone"}
KEPT = {"plain": 1, "user:name": "Ada", "app:motto": ["x"]}


async def state_of(service: BaseSessionService, app: str, user: str) -> dict[str, Any]:
    """What a new session of theirs starts with."""
    return (await service.create_session(app_name=app, user_id=user)).state


async def test_state_given_at_the_start_is_shared_by_its_prefix(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER, state=SCOPED)
    assert session.state == KEPT
    assert (await loaded(service, session)).state == KEPT
    assert await state_of(service, APP, USER) == {"user:name": "Ada", "app:motto": ["x"]}
    assert await state_of(service, APP, "bob") == {"app:motto": ["x"]}
    assert await state_of(service, "Other", USER) == {}


async def test_state_of_an_event_is_shared_by_its_prefix(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER)
    await service.append_event(session, said("hi", state=SCOPED))
    assert (await loaded(service, session)).state == KEPT
    assert await state_of(service, APP, USER) == {"user:name": "Ada", "app:motto": ["x"]}
    assert await state_of(service, APP, "bob") == {"app:motto": ["x"]}
    assert await state_of(service, "Other", USER) == {}
    assert await service.get_user_state(app_name=APP, user_id=USER) == {"name": "Ada"}


async def test_temporary_state_is_read_until_the_invocation_ends_and_never_stored(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER)
    stored = await service.append_event(session, said("hi", state={"temp:scratch": 1, "kept": 2}))
    assert session.state == {"temp:scratch": 1, "kept": 2}
    assert stored.actions.state_delta == {"kept": 2}
    again = await loaded(service, session)
    assert again.state == {"kept": 2}
    assert again.events[0].actions.state_delta == {"kept": 2}


async def test_a_later_value_replaces_an_earlier_one_whole(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER, state={"a": {"x": 1}, "b": 1, "user:c": [1, 2]})
    await service.append_event(session, said("hi", state={"a": {"y": 2}, "user:c": [3]}))
    assert (await loaded(service, session)).state == {"a": {"y": 2}, "b": 1, "user:c": [3]}


async def test_none_is_a_value_and_does_not_delete(service: BaseSessionService):
    start = {"a": 1, "user:b": 2, "app:c": 3, "d": None}
    session = await service.create_session(app_name=APP, user_id=USER, state=start)
    none = {"a": None, "user:b": None, "app:c": None, "e": {"inner": None}}
    await service.append_event(session, said("hi", state=none))
    again = await loaded(service, session)
    assert again.state == {**none, "d": None}
    assert again.events[0].actions.state_delta == none


async def test_an_event_without_a_change_changes_no_state(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER, state=KEPT)
    await service.append_event(session, said("hi"))
    assert (await loaded(service, session)).state == KEPT


async def test_odd_keys_keep_their_place(service: BaseSessionService):
    odd = {"": 1, "app": 2, "user": 3, "user:": 4, "app:user:x": 5, "user:app:x": 6, " app:x": 7, "a.b[0]": 8, "é": 9}
    session = await service.create_session(app_name=APP, user_id=USER, state=odd)
    assert (await loaded(service, session)).state == odd
    assert await service.get_user_state(app_name=APP, user_id=USER) == {"": 4, "app:x": 6}


async def test_values_of_every_kind_of_json_come_back(service: BaseSessionService):
    values = {
        "int": 2**53 + 1,
        "float": 0.1,
        "bool": True,
        "text": "é\n\t\\u0000",
        "list": [[], {}],
        "deep": {"a": [{}]},
    }
    session = await service.create_session(app_name=APP, user_id=USER, state=values)
    again = await loaded(service, session)
    assert again.state == values
    assert type(again.state["bool"]) is bool


async def test_a_session_that_is_loaded_is_a_copy_of_its_own(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER, state={"list": [1]})
    first = await loaded(service, session)
    first.state["list"].append(2)
    first.state["new"] = 1
    assert (await loaded(service, session)).state == {"list": [1]}


async def test_sessions_see_each_others_shared_state_when_loaded_again(service: BaseSessionService):
    one = await service.create_session(app_name=APP, user_id=USER)
    two = await service.create_session(app_name=APP, user_id=USER)
    await service.append_event(one, said("hi", state={"user:mood": "good", "app:news": 1}))
    assert (await loaded(service, two)).state == {"user:mood": "good", "app:news": 1}


class Bird(BaseModel):
    name: str = "wren"


@dataclass
class Nest:
    eggs: int = 3


class Opaque:
    def __repr__(self) -> str:
        return "<opaque>"


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
        (Bird(), {"name": "wren"}),
        (Nest(), {"eggs": 3}),
        ({1, 2}, [1, 2]),
        (("a",), ["a"]),
        (b"\xff\x00", "_wA="),
        (math.nan, None),
        ([math.inf, -math.inf], [None, None]),
        (Opaque(), "<opaque>"),
        ({1: {Opaque(): 2}}, {"1": {"<opaque>": 2}}),
        ("a\0b\ud83dc", "ab\ufffdc"),
    ],
    ids=repr,
)
async def test_a_value_that_json_does_not_have_is_stored_as_near_as_can_be(
    sessions: DatabaseSessions, value: object, stored: object
):
    session = await sessions.create_session(app_name=APP, user_id=USER, state={"first": value})
    await sessions.append_event(session, said("hi", state={"later": value, "user:too": value}))
    assert session.state["later"] is value
    again = await loaded(sessions, session)
    assert again.state == {"first": stored, "later": stored, "user:too": stored}
    assert await sessions.append_event(again, said("it lives"))


async def test_values_that_contain_themselves_are_refused_and_the_session_lives(sessions: DatabaseSessions):
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(StorageError, match="cannot be stored") as caught:
        await sessions.create_session(app_name=APP, user_id=USER, session_id="s", state={"a": endless})
    assert caught.value.code == "bad-value"
    session = await sessions.create_session(app_name=APP, user_id=USER, session_id="s")
    with pytest.raises(StorageError, match="cannot be stored"):
        await sessions.append_event(session, said("hi", state={"user:a": {"deep": endless}}))
    await sessions.append_event(session, said("ho"))
    again = await loaded(sessions, session)
    assert (texts(again), again.state) == (["ho"], {})


def test_prefixes_are_taken_off_once_and_put_on_again():
    scopes = split({"a": 1, "user:b": 2, "app:c": 3, "temp:d": 4, "user:user:e": 5})
    assert (scopes.session, scopes.user, scopes.app) == ({"a": 1}, {"b": 2, "user:e": 5}, {"c": 3})
    assert scopes.merged() == {"a": 1, "user:b": 2, "app:c": 3, "user:user:e": 5}
    assert all(key.startswith((State.APP_PREFIX, State.USER_PREFIX)) or key == "a" for key in scopes.merged())
