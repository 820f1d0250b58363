"""Making, finding, listing and deleting sessions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.sessions import BaseSessionService

from syndicate.errors import StorageError
from syndicate.storage.sessions import DatabaseSessions
from tests.storage.sessions.samples import APP, USER, loaded, said, texts

ODD_IDS = ["two words", "a/b?c=d#e&f%20", "日本語 🌍", "a'b\"c\\d;--", "../..", "{x}", "x" * 255, "null", "0"]
UNSTORABLE = ["a\0b", "a\ud83db", "x" * 300, "日" * 100]


async def test_a_new_session_has_what_it_was_made_with_and_nothing_else(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER, session_id="s", state={"topic": "birds"})
    again = await loaded(service, session)
    assert again == session
    assert (again.app_name, again.user_id, again.id) == (APP, USER, "s")
    assert (again.state, again.events) == ({"topic": "birds"}, [])
    assert again.last_update_time > 1_700_000_000


async def test_ids_are_made_where_none_is_given(service: BaseSessionService):
    first, second = [await service.create_session(app_name=APP, user_id=USER) for _ in range(2)]
    assert first.id
    assert first.id != second.id


async def test_an_id_can_be_used_once(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER, session_id="s", state={"n": 1})
    with pytest.raises(AlreadyExistsError, match="s"):
        await service.create_session(app_name=APP, user_id=USER, session_id="s", state={"n": 2, "user:n": 2})
    assert (await loaded(service, session)).state == {"n": 1}


async def test_of_two_who_make_the_same_session_at_once_one_does(sessions: DatabaseSessions):
    made = [sessions.create_session(app_name=APP, user_id=USER, session_id="s") for _ in range(8)]
    results = await asyncio.gather(*made, return_exceptions=True)
    assert sum(isinstance(result, AlreadyExistsError) for result in results) == 7


async def test_what_is_not_there_is_not_found(service: BaseSessionService):
    assert await service.get_session(app_name=APP, user_id=USER, session_id="nowhere") is None
    assert (await service.list_sessions(app_name="nobody's")).sessions == []
    assert await service.get_user_state(app_name=APP, user_id="nobody") == {}
    await service.delete_session(app_name=APP, user_id=USER, session_id="nowhere")


async def test_an_event_for_a_session_that_is_gone_is_refused(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER)
    await service.delete_session(app_name=APP, user_id=USER, session_id=session.id)
    with pytest.raises(SessionNotFoundError):
        await service.append_event(session, said("too late"))
    assert await service.get_session(app_name=APP, user_id=USER, session_id=session.id) is None
    assert session.events == []


async def test_a_deleted_session_takes_its_events_along(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER, session_id="s", state={"a": 1, "user:b": 2})
    await service.append_event(session, said("hello"))
    await service.delete_session(app_name=APP, user_id=USER, session_id="s")
    new = await service.create_session(app_name=APP, user_id=USER, session_id="s")
    assert new.state == {"user:b": 2}
    assert (await loaded(service, new)).events == []


async def test_one_id_of_two_users_and_two_apps_is_four_sessions(service: BaseSessionService):
    owners = [(app, user) for app in (APP, "Other") for user in (USER, "bob")]
    for app, user in owners:
        session = await service.create_session(app_name=app, user_id=user, session_id="same", state={"of": app + user})
        await service.append_event(session, said(f"of {app} {user}", id="the same event id"))
    await service.delete_session(app_name=APP, user_id="bob", session_id="same")
    for app, user in owners:
        found = await service.get_session(app_name=app, user_id=user, session_id="same")
        if (app, user) == (APP, "bob"):
            assert found is None
        else:
            assert (texts(found), found.state) == ([f"of {app} {user}"], {"of": app + user})


async def test_another_users_session_is_invisible(service: BaseSessionService):
    session = await service.create_session(app_name=APP, user_id=USER, session_id="private")
    await service.append_event(session, said("a secret"))
    assert await service.get_session(app_name=APP, user_id="bob", session_id="private") is None
    assert (await service.list_sessions(app_name=APP, user_id="bob")).sessions == []
    with pytest.raises(SessionNotFoundError):
        await service.append_event(session.model_copy(update={"user_id": "bob"}), said("let me in"))
    await service.delete_session(app_name=APP, user_id="bob", session_id="private")
    assert texts(await loaded(service, session)) == ["a secret"]


async def test_lists_are_in_the_order_of_last_use_and_without_events(service: BaseSessionService):
    made = {name: await service.create_session(app_name=APP, user_id=USER, session_id=name) for name in "abc"}
    await service.create_session(
        app_name=APP, user_id="bob", session_id="d", state={"mine": 1, "user:u": 2, "app:x": 3}
    )
    await service.create_session(app_name="Other", user_id=USER, session_id="e")
    later = max([session.last_update_time for session in made.values()]) + 10
    await service.append_event(made["a"], said("hi", timestamp=later))
    listed = (await service.list_sessions(app_name=APP, user_id=USER)).sessions
    assert [session.id for session in listed] == ["b", "c", "a"]
    assert [session.last_update_time for session in listed][-1] == pytest.approx(later, abs=1e-3)
    assert not any(session.events for session in listed)
    everyone = (await service.list_sessions(app_name=APP)).sessions
    assert {(session.user_id, session.id) for session in everyone} == {(USER, name) for name in "abc"} | {("bob", "d")}
    states = {session.user_id: session.state for session in everyone}
    assert states == {USER: {"app:x": 3}, "bob": {"mine": 1, "user:u": 2, "app:x": 3}}


@pytest.mark.parametrize("odd", ODD_IDS)
async def test_any_text_can_be_an_id(service: BaseSessionService, odd: str):
    session = await service.create_session(app_name=odd, user_id=odd, session_id=odd)
    await service.append_event(session, said("hello"))
    assert (session.id, texts(await loaded(service, session))) == (odd, ["hello"])
    assert [found.id for found in (await service.list_sessions(app_name=odd, user_id=odd)).sessions] == [odd]


@pytest.mark.parametrize("place", ["app_name", "user_id", "session_id"])
@pytest.mark.parametrize("odd", UNSTORABLE, ids=ascii)
async def test_an_id_that_cannot_be_kept_as_it_is_is_refused(sessions: DatabaseSessions, place: str, odd: str):
    names: dict[str, Any] = {"app_name": APP, "user_id": USER, "session_id": "ab"}
    session = await sessions.create_session(**names)
    with pytest.raises(StorageError, match=place.replace("_", " ")) as caught:
        await sessions.create_session(**{**names, place: odd})
    assert caught.value.code == "bad-value"
    assert await sessions.get_session(**{**names, place: odd}) is None
    await sessions.delete_session(**{**names, place: odd})
    assert len((await sessions.list_sessions(app_name=APP)).sessions) == 1
    attribute = "id" if place == "session_id" else place
    with pytest.raises(StorageError, match=place.replace("_", " ")):
        await sessions.append_event(session.model_copy(update={attribute: odd}), said("whose?"))


@pytest.mark.parametrize("impostor", ["ad\0a", "ada\0", "\ud800ada"], ids=ascii)
async def test_a_user_id_is_never_bent_into_another_users(sessions: DatabaseSessions, impostor: str):
    await sessions.create_session(app_name=APP, user_id=USER, session_id="s", state={"user:secret": 1})
    assert await sessions.get_session(app_name=APP, user_id=impostor, session_id="s") is None
    assert (await sessions.list_sessions(app_name=APP, user_id=impostor)).sessions == []
    assert await sessions.get_user_state(app_name=APP, user_id=impostor) == {}
    assert await sessions.trim(app_name=APP, user_id=impostor, session_id="s") == 0
