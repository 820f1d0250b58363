"""A scripted one-call turn through `run_turn`, and the same agent on a bare ADK runner."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from benchmarks.report import Row
from syndicate import Syndicate
from syndicate.testing import ScriptedModel

TURNS = 100
ROUNDS = 9
PROMPT = "You answer briefly."
FILE = f"""
syndicate_name: Bench
memory_system: internal-only
orchestrator:
  name: Bench
  model: local/smollm2
  instruction: {PROMPT}
"""


def turn_cost() -> Row:
    """Processor time of turns, each in a session of its own, both ways in turn."""
    ours, bare = asyncio.run(_measure())
    ratio = ours / bare
    return Row(
        "scripted one-call turn; beside it a bare ADK `Runner` on the same agent, CPU",
        f"{1000 * ours:.2f} ms ({ratio:.2f}×)",
        f"{1000 * bare:.2f} ms",
        "≤ 1.3×",
        ratio <= 1.3,
    )


async def _measure() -> tuple[float, float]:
    """Seconds of one turn of ours and of a bare one: medians over rounds, after one that warms up."""
    runner = _bare_runner()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(FILE, encoding="utf-8")
        async with Syndicate.open(path, models={"*": _model()}) as syndicate:

            async def our_turn() -> None:
                await syndicate.run("hi", session_id=syndicate.new_session())

            async def bare_turn() -> None:
                session = await runner.session_service.create_session(app_name="bench", user_id="user")
                message = types.Content(role="user", parts=[types.Part(text="hi")])
                async for _ in runner.run_async(user_id="user", session_id=session.id, new_message=message):
                    pass

            samples = [(await _seconds(our_turn), await _seconds(bare_turn)) for _ in range(ROUNDS + 1)][1:]
    ours, bare = zip(*samples, strict=True)
    return statistics.median(ours), statistics.median(bare)


async def _seconds(turn: Callable[[], Awaitable[None]]) -> float:
    """Processor seconds of one turn, the mean of many."""
    started = time.process_time()
    for _ in range(TURNS):
        await turn()
    return (time.process_time() - started) / TURNS


def _bare_runner() -> Runner:
    agent = LlmAgent(name="Bench", model=_model(), instruction=lambda _context: PROMPT)
    return Runner(app_name="bench", agent=agent, session_service=InMemorySessionService())


def _model() -> ScriptedModel:
    return ScriptedModel(["hello"], cycle=True)
