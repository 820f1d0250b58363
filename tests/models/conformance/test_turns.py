"""Faults within a turn: another attempt mends what it can, never after an answer has begun to be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from syndicate import Syndicate
from syndicate.errors import ModelError
from syndicate.settings import Settings
from syndicate.turn.events import Answer as Answered
from syndicate.turn.events import Failed, Status, Text
from tests.conftest import Write
from tests.models.conformance.conftest import OpenDesk
from tests.models.conformance.desks import PROVIDERS, Desk
from tests.models.conformance.refusals import refused
from tests.models.conformance.wires import Said, broken_off
from tests.models.conftest import Answer, StandIn
from tests.models.relay import Received

EVERYWHERE = pytest.mark.parametrize("provider", PROVIDERS)
SAID = Said("Hello there, whoever you are.")
FILE = """
syndicate_name: S
memory_system: internal-only
orchestrator: {{name: Solo, model: '{model}', instruction: Greet.}}
"""


def play(desk: Desk, *answers: Answer) -> None:
    """One answer of the model after another, the last one for good."""
    assert isinstance(desk.server, StandIn)
    waiting = list(answers)

    def answer(_: Received) -> Answer:
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    for path in desk.provider.paths:
        desk.server.on(path, answer)
    desk.server.on("/api/tags", Answer.json({"models": [{"name": "qwen3:8b"}]}))


async def turn(desk: Desk, write: Write, tmp_path: Path) -> list[Any]:
    """All events of one turn of a syndicate whose agent uses the provider's model."""
    values = {"syndicate_home": tmp_path / "home", "syndicate_timezone": "UTC"}
    settings = Settings.read({**values, **desk.provider.settings(desk.server.url)}, env_file=None)
    path = write("solo.yaml", FILE.format(model=desk.provider.model_id))
    models = {"*": desk.model} if desk.provider.id == "local" else {}
    async with Syndicate.open(path, settings=settings, models=models) as syndicate:
        events = [event async for event in syndicate.stream("hello")]
    desk.check()
    return events


def of(kind: Callable[..., Any], events: list[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]  # type: ignore[arg-type]


@EVERYWHERE
async def test_a_server_error_is_mended_by_the_next_attempt(
    provider: str, loopback: OpenDesk, write: Write, tmp_path: Path
) -> None:
    desk = loopback(provider)
    play(desk, refused(provider, 500, "Something broke", Retry_After="0.05"), desk.provider.wire(SAID, True))
    events = await turn(desk, write, tmp_path)
    (answer,) = of(Answered, events)
    assert answer.text == SAID.text
    assert len(desk.requests) == 2
    assert any("server-error, asking again in" in status.text for status in of(Status, events))


@EVERYWHERE
async def test_a_rate_limit_is_waited_for_as_long_as_it_says(
    provider: str, loopback: OpenDesk, write: Write, tmp_path: Path
) -> None:
    desk = loopback(provider)
    limited = refused(provider, 429, "Slow down", Retry_After="0.2")
    play(desk, limited, limited, desk.provider.wire(SAID, True))
    events = await turn(desk, write, tmp_path)
    assert [answer.text for answer in of(Answered, events)] == [SAID.text]
    assert len(desk.requests) == 3
    told = [status.text for status in of(Status, events)]
    assert [line.rpartition(": ")[2] for line in told] == ["rate-limited, asking again in 0.2 s"] * 2


@EVERYWHERE
async def test_what_is_not_to_be_mended_is_asked_once(
    provider: str, loopback: OpenDesk, write: Write, tmp_path: Path
) -> None:
    desk = loopback(provider)
    play(desk, refused(provider, 401, "Who are you?"))
    (failed,) = of(Failed, await turn(desk, write, tmp_path))
    assert (failed.code, failed.retryable) == ("auth", False)
    assert "Who are you?" in failed.message
    assert isinstance(failed.error, ModelError)
    assert failed.error.agent == "Solo"
    assert failed.error.location is not None
    assert len(desk.requests) == 1


@EVERYWHERE
async def test_an_answer_that_breaks_off_is_not_begun_again(
    provider: str, loopback: OpenDesk, write: Write, tmp_path: Path
) -> None:
    desk = loopback(provider)
    whole = desk.provider.wire(SAID, True)
    seen = next(index for index, frame in enumerate(whole.frames) if SAID.text[:5] in str(frame)) + 1
    play(desk, broken_off(whole, seen), whole)
    events = await turn(desk, write, tmp_path)
    (failed,) = of(Failed, events)
    assert failed.code == "stream-cut"
    assert "".join(text.delta for text in of(Text, events)) == SAID.text[: len(SAID.text) // 2]
    assert len(desk.requests) == 1
