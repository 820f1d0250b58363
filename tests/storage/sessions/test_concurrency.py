"""Several turns, and several processes, in one session."""

from __future__ import annotations

import asyncio
import itertools
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter

import pytest
from google.adk.sessions import Session

from syndicate.storage.sessions import DatabaseSessions
from tests.storage.conftest import TestDatabase
from tests.storage.sessions.samples import APP, USER, loaded, said, texts

SESSIONS = 8
TURNS = 50


async def test_two_turns_at_once_both_succeed_and_all_of_both_is_there(sessions: DatabaseSessions):
    created = await sessions.create_session(app_name=APP, user_id=USER)

    async def turn(session: Session, name: str) -> None:
        for number in range(10):
            event = said(f"{name}{number}", invocation_id=name, state={name: number, f"user:{name}": number})
            await sessions.append_event(session, event)

    begun = [await loaded(sessions, created) for _ in "ab"]
    await asyncio.gather(*map(turn, begun, "ab"))
    assert [texts(session) for session in begun] == [[f"{name}{number}" for number in range(10)] for name in "ab"]
    first, second = await loaded(sessions, created), await loaded(sessions, created)
    assert texts(first) == texts(second)
    for name in "ab":
        own = [text for text in texts(first) if text and text.startswith(name)]
        assert own == [f"{name}{number}" for number in range(10)]
    assert len(first.events) == 20
    assert first.state == {"a": 9, "b": 9, "user:a": 9, "user:b": 9}


async def test_many_appends_at_once_have_one_order(sessions: DatabaseSessions):
    session = await sessions.create_session(app_name=APP, user_id=USER)
    copies = [await loaded(sessions, session) for _ in range(4)]
    events = [said(str(number)) for number in range(100)]
    await asyncio.gather(*map(sessions.append_event, itertools.cycle(copies), events))
    stored = await loaded(sessions, session)
    assert Counter(texts(stored)) == Counter(map(str, range(100)))
    assert stored.events == (await loaded(sessions, session)).events


async def test_an_event_tried_many_times_at_once_is_there_once(sessions: DatabaseSessions):
    session = await sessions.create_session(app_name=APP, user_id=USER)
    copies = [await loaded(sessions, session) for _ in range(8)]
    event = said("once")
    await asyncio.gather(*(sessions.append_event(copy, event.model_copy(deep=True)) for copy in copies))
    assert texts(await loaded(sessions, session)) == ["once"]


async def test_turns_of_one_user_in_many_sessions_do_not_wait_for_ever(sessions: DatabaseSessions):
    made = [await sessions.create_session(app_name=APP, user_id=USER) for _ in range(6)]

    async def talk(session: Session) -> None:
        for number in range(10):
            shared = {f"user:{session.id}": number, f"app:{session.id}": number}
            await sessions.append_event(session, said("x", state=shared))

    await asyncio.gather(*map(talk, made))
    state = await sessions.get_user_state(app_name=APP, user_id=USER)
    assert state == {session.id: 9 for session in made}


async def start_writer(url: str, name: str) -> Process:
    arguments = (url, name, str(SESSIONS), str(TURNS))
    command = (sys.executable, "-m", "tests.storage.sessions.writer", *arguments)
    return await asyncio.create_subprocess_exec(*command, stdout=PIPE)


async def acknowledged(writer: Process, until: int | None = None) -> list[tuple[str, str]]:
    """Session and id of each event that the writer says is stored; after `until` of them it is killed."""
    lines: list[str] = []
    assert writer.stdout is not None
    while line := await writer.stdout.readline():
        lines.append(line.decode())
        if len(lines) == until:
            writer.kill()
    await writer.wait()
    whole = [line.split() for line in lines if line.endswith("\n")]
    return [(session, event) for session, event in whole]


@pytest.mark.parametrize("killed", [False, True], ids=["both end", "one is killed"])
async def test_what_two_processes_were_told_is_stored_is_there_once_and_in_order(
    direct: DatabaseSessions, direct_database: TestDatabase, killed: bool
):
    for number in range(SESSIONS):
        await direct.create_session(app_name=APP, user_id=USER, session_id=f"s{number}")
    writers = [await start_writer(direct_database.url, name) for name in ("first", "second")]
    told = await asyncio.gather(acknowledged(writers[0]), acknowledged(writers[1], until=300 if killed else None))
    assert [writer.returncode for writer in writers] == [0, -9 if killed else 0]
    assert len(told[0]) == 2 * SESSIONS * TURNS
    assert len(told[1]) >= 300
    stored = {
        session.id: [event.id for event in (await loaded(direct, session)).events]
        for session in (await direct.list_sessions(app_name=APP, user_id=USER)).sessions
    }
    for session_id, ids in stored.items():
        assert len(ids) == len(set(ids))
        for name, ones in zip(("first", "second"), told, strict=True):
            of_writer = [event for event in ids if event.startswith(name)]
            said_stored = [event for session, event in ones if session == session_id]
            assert of_writer[: len(said_stored)] == said_stored
            assert len(of_writer) - len(said_stored) <= (1 if killed and name == "second" else 0)
            session = await direct.get_session(app_name=APP, user_id=USER, session_id=session_id)
            assert session.state[name] == of_writer[-1]
