"""Turns on a database: what one process says, the next one reads."""

import asyncio
import uuid
from pathlib import Path
from typing import Any

import pytest
from google.adk.events import Event
from google.genai import types

from syndicate import MissingExtraError, StorageError, Syndicate
from syndicate.settings import Settings
from syndicate.storage import database
from syndicate.testing import Reply, ScriptedModel, ToolCall
from tests.conftest import Write
from tests.weights import embedded_home

__all__ = ["embedded_home"]

TEAM = """
    syndicate_name: Stored Team
    memory_system: session-only
    orchestrator: {name: Lead, model: local/smollm2, instruction: lead}
    subagents: [{name: Two, description: d, instruction: two}]
"""


@pytest.fixture
def stored(write: Write, embedded_home: Path) -> Any:
    """Opens a syndicate whose sessions are in the embedded database, for a user of the test's own."""
    settings = Settings.read({"syndicate_home": embedded_home, "syndicate_timezone": "UTC"}, env_file=None)
    user = f"user-{uuid.uuid4().hex}"

    def opened(model: ScriptedModel, text: str = TEAM) -> Any:
        return Syndicate.open(write("team.yaml", text), settings=settings, models={"*": model}, user_id=user)

    return opened


def texts(request: Any) -> list[str]:
    return [part.text or "call" for content in request.contents for part in content.parts]


async def test_a_session_is_read_by_the_next_process_without_what_only_its_turn_needed(stored: Any):
    signed = Reply(thinking="secret", text="asking", calls=[ToolCall("Two", {"request": "go"})])
    async with stored(ScriptedModel([signed, "two says", "the answer"])) as s:
        assert s.services.lasts
        assert (await s.run("first", session_id="kept")).answer == "asking\n\nthe answer"
    model = ScriptedModel(["second answer"])
    async with stored(model) as s:
        assert await s.last_session() == "kept"
        assert (await s.run("second", session_id="kept")).answer == "second answer"
        assert [(e.user, e.answer) for e in await s.transcript("kept")] == [
            ("first", "asking\n\nthe answer"),
            ("second", "second answer"),
        ]
    assert texts(model.requests[0]) == ["first", "asking", "call", "call", "the answer", "second"]


async def test_a_large_tool_result_is_a_marker_after_its_turn(stored: Any):
    replies = [Reply(calls=[ToolCall("Two", {"request": "go"})]), "x" * 40_000, "done", "later"]
    async with stored(model := ScriptedModel(replies)) as s:
        await s.run("first", session_id="big")
        await s.run("second", session_id="big")
    during, after = (str(request.contents) for request in model.requests[2:])
    assert "x" * 40_000 in during
    assert "x" * 100 not in after
    assert "Two" in after


async def test_what_a_crash_left_of_a_turn_is_dropped_when_the_next_begins(stored: Any):
    def signatures(session: Any) -> list[bytes]:
        return [p.thought_signature for e in session.events for p in (e.content and e.content.parts) or ()]

    async with stored(ScriptedModel(["a"])) as s:
        key = {"app_name": s.name, "user_id": s.user_id, "session_id": "crashed"}
        session = await s.services.sessions.create_session(**key)
        part = types.Part(text="hm", thought=True, thought_signature=b"signed")
        event = Event(author="Lead", invocation_id="i", content=types.Content(role="model", parts=[part]))
        await s.services.sessions.append_event(session, event)
        assert signatures(await s.services.sessions.get_session(**key)) == [b"signed"]
        async for _ in s.stream("hello", session_id="crashed"):
            assert signatures(await s.services.sessions.get_session(**key))[:1] == [None]
            break


async def test_a_large_result_of_a_turn_that_crashed_does_not_cost_the_history(stored: Any):
    call = types.Part(function_call=types.FunctionCall(id="c", name="Two", args={"request": "go"}))
    large = {"result": "x" * 100_000}
    result = types.Part(function_response=types.FunctionResponse(id="c", name="Two", response=large))
    said = (("user", "user", types.Part(text="q")), ("Lead", "model", call), ("Lead", "user", result))
    async with stored(model := ScriptedModel(["hello", "again"])) as s:
        await s.run("first", session_id="heavy")
        key = {"app_name": s.name, "user_id": s.user_id, "session_id": "heavy"}
        session = await s.services.sessions.get_session(**key)
        for author, role, part in said:
            event = Event(author=author, invocation_id="crashed", content=types.Content(role=role, parts=[part]))
            await s.services.sessions.append_event(session, event)
        await s.run("second", session_id="heavy")
    assert texts(model.requests[1])[:3] == ["first", "hello", "q"]


async def test_turns_that_begin_one_session_at_once_both_answer(stored: Any):
    model = ScriptedModel([Reply(text="same", delay=0.05)] * 4)
    async with stored(model) as s:
        results = await asyncio.gather(*(s.run(f"m{n}", session_id="raced") for n in range(4)))
        assert [result.answer for result in results] == ["same"] * 4
        assert {(e.user, e.answer) for e in await s.transcript("raced")} == {(f"m{n}", "same") for n in range(4)}


async def test_internal_only_leaves_nothing_behind(stored: Any):
    text = TEAM.replace("session-only", "internal-only")
    async with stored(ScriptedModel(["a"]), text) as s:
        await s.run("hello", session_id="gone")
        assert [session for session, _ in await s.sessions()] == ["gone"]
    async with stored(ScriptedModel([]), TEAM) as s:
        assert await s.sessions() == []


async def test_without_a_database_sessions_are_in_memory_with_one_line_and_long_term_is_an_error(
    stored: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(database.embedded, "is_installed", lambda: False)
    async with stored(ScriptedModel(["a"])) as s:
        assert s.note == ("no database is configured and none is installed: this conversation is kept in memory only")
        assert (await s.run("hello")).answer == "a"
    with pytest.raises(StorageError, match="long-term memory needs a database") as caught:
        async with stored(ScriptedModel([]), TEAM.replace("session-only", "long-term")):
            pass
    assert "syndicate-agents[local]" in str(caught.value)
    assert "DATABASE_URL" in str(caught.value)


async def test_a_database_that_is_configured_and_down_is_an_error(write: Write, embedded_home: Path):
    url = "postgresql://nobody:hunter2@127.0.0.1:9/none"
    settings = Settings.read({"syndicate_home": embedded_home, "database_url": url}, env_file=None)
    with pytest.raises((StorageError, MissingExtraError)) as caught:
        async with Syndicate.open(write("team.yaml", TEAM), settings=settings):
            pass
    assert "hunter2" not in str(caught.value)
