"""Google ADK's own runner over the service, with tools and delegation, and in a process that comes after."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions import BaseSessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from syndicate.graph.delegate import DelegateTool
from syndicate.graph.instructions import DatedText
from syndicate.storage.sessions import DatabaseSessions
from syndicate.testing import Reply, ScriptedModel, ToolCall
from tests.storage.conftest import TestDatabase
from tests.storage.sessions.samples import APP, USER

DELEGATION = [Reply(thinking="who knows?", calls=[ToolCall("Ornithologist", {"request": "what sings?"})]), "A wren."]


async def note(text: str, tool_context: ToolContext) -> dict[str, Any]:
    """Keep a text: for the user, for the app, for this turn."""
    tool_context.state["user:note"] = text
    tool_context.state["app:notes"] = tool_context.state.get("app:notes", 0) + 1
    tool_context.state["temp:note"] = text
    return {"kept": text}


def lead(model: ScriptedModel, helper: ScriptedModel | None = None) -> LlmAgent:
    helper_agent = LlmAgent(
        name="Ornithologist",
        model=helper or ScriptedModel(),
        mode="single_turn",
        instruction=lambda _context: "You know birds.",
        output_key="temp:bird",
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
    )
    delegate = DelegateTool(
        "Ornithologist", helper_agent, display_name="Ornithologist", description=DatedText("Knows birds.")
    )
    return LlmAgent(name="Lead", model=model, instruction=lambda _context: "You answer.", tools=[delegate, note])


async def turn(runner: Runner, session: Session, text: str, **options: Any) -> list[Event]:
    message = types.Content(role="user", parts=[types.Part(text=text)])
    events = runner.run_async(user_id=session.user_id, session_id=session.id, new_message=message, **options)
    return [event async for event in events]


def outline(session: Session | None) -> list[tuple[str, str, bool]]:
    """Who did what, and whether it was a subagent's own affair."""
    assert session is not None
    shown = []
    for event in session.events:
        calls, results = event.get_function_calls(), event.get_function_responses()
        part = event.content.parts[-1] if event.content else types.Part(text="")
        what = f"calls {calls[0].name}" if calls else f"{results[0].name} answers" if results else part.text
        shown.append((event.author, what, bool(event.branch)))
    return shown


async def test_a_turn_with_delegation_is_stored_event_by_event(service: BaseSessionService):
    model, helper = ScriptedModel(DELEGATION), ScriptedModel(["The wren sings."])
    runner = Runner(app_name=APP, agent=lead(model, helper), session_service=service)
    session = await service.create_session(app_name=APP, user_id=USER)
    await turn(runner, session, "what is that?")
    stored = await service.get_session(app_name=APP, user_id=USER, session_id=session.id)
    assert outline(stored) == [
        ("user", "what is that?", False),
        ("Lead", "calls Ornithologist", False),
        ("Ornithologist", "The wren sings.", True),
        ("Lead", "Ornithologist answers", False),
        ("Lead", "A wren.", False),
    ]
    assert len({event.invocation_id for event in stored.events}) == 1
    assert stored.events[1].content.parts[0].thought
    assert stored.state == {}


async def test_the_next_turn_reads_the_stored_one_as_if_it_were_remembered(service: BaseSessionService):
    model, helper = ScriptedModel([*DELEGATION, "As I said."]), ScriptedModel(["The wren sings."])
    runner = Runner(app_name=APP, agent=lead(model, helper), session_service=service)
    session = await service.create_session(app_name=APP, user_id=USER)
    await turn(runner, session, "what is that?")
    await turn(runner, session, "sure?")
    parts = [part for content in model.requests[-1].contents for part in content.parts or ()]
    assert [part.text for part in parts if part.text] == ["what is that?", "who knows?", "A wren.", "sure?"]
    assert [part.function_call.name for part in parts if part.function_call] == ["Ornithologist"]


async def test_tools_share_state_as_far_as_its_prefix_says(service: BaseSessionService):
    replies = [
        Reply(calls=[ToolCall("note", {"text": "hi"})]),
        "kept",
        Reply(calls=[ToolCall("note", {"text": "ho"})]),
        "kept",
    ]
    runner = Runner(app_name=APP, agent=lead(ScriptedModel(replies)), session_service=service)
    for _ in range(2):
        session = await service.create_session(app_name=APP, user_id=USER)
        await turn(runner, session, "note this")
    stored = await service.get_session(app_name=APP, user_id=USER, session_id=session.id)
    assert stored.state == {"user:note": "ho", "app:notes": 2}
    assert await service.get_user_state(app_name=APP, user_id=USER) == {"note": "ho"}
    new = await service.create_session(app_name=APP, user_id="bob")
    assert new.state == {"app:notes": 2}


async def test_a_turn_that_breaks_off_leaves_a_session_that_goes_on(service: BaseSessionService):
    model = ScriptedModel([RuntimeError("no model"), "Better now."])
    runner = Runner(app_name=APP, agent=lead(model), session_service=service)
    session = await service.create_session(app_name=APP, user_id=USER)
    with pytest.raises(RuntimeError, match="no model"):
        await turn(runner, session, "first")
    await turn(runner, session, "second")
    stored = await service.get_session(app_name=APP, user_id=USER, session_id=session.id)
    spoken = [what for author, what, _ in outline(stored) if what]
    assert [what for what in spoken if what in ("first", "second", "Better now.")] == ["first", "second", "Better now."]


async def test_two_turns_of_one_session_at_once_are_both_there(sessions: DatabaseSessions):
    model = ScriptedModel([Reply(text="yes", delay=0.05)], cycle=True)
    runner = Runner(app_name=APP, agent=lead(model), session_service=sessions)
    session = await sessions.create_session(app_name=APP, user_id=USER)
    await asyncio.gather(*(turn(runner, session, f"question {number}") for number in range(4)))
    stored = await sessions.get_session(app_name=APP, user_id=USER, session_id=session.id)
    turns: dict[str, list[str]] = {}
    for event in stored.events:
        turns.setdefault(event.invocation_id, []).append(event.author)
    assert list(turns.values()) == [["user", "Lead"]] * 4


async def test_a_runner_that_loads_no_events_appends_all_the_same(sessions: DatabaseSessions):
    runner = Runner(app_name=APP, agent=lead(ScriptedModel(["yes"], cycle=True)), session_service=sessions)
    session = await sessions.create_session(app_name=APP, user_id=USER)
    config = RunConfig(get_session_config=GetSessionConfig(num_recent_events=0))
    for number in range(3):
        await turn(runner, session, f"question {number}", run_config=config)
    stored = await sessions.get_session(app_name=APP, user_id=USER, session_id=session.id)
    assert [author for author, _, _ in outline(stored)] == ["user", "Lead"] * 3


async def test_another_process_finds_the_same_session(direct: DatabaseSessions, direct_database: TestDatabase):
    runner = Runner(
        app_name=APP,
        agent=lead(ScriptedModel(DELEGATION), ScriptedModel(["The wren sings."])),
        session_service=direct,
    )
    session = await direct.create_session(app_name=APP, user_id=USER, session_id="two words/and a slash")
    await turn(runner, session, "what is that?", state_delta={"user:mood": "good", "temp:x": 1})
    command = [sys.executable, "-m", "tests.storage.sessions.reader", direct_database.url, APP, USER, session.id]
    read = subprocess.run(command, capture_output=True, text=True, check=True)
    here = await direct.get_session(app_name=APP, user_id=USER, session_id=session.id)
    assert Session.model_validate_json(read.stdout) == here
    assert len(here.events) == 5
    assert here.state == {"user:mood": "good"}
