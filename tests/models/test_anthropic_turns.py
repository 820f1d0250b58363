"""Claude in a whole turn: a syndicate asks it over the wire, and ADK carries its thinking from step to step."""

from __future__ import annotations

import pytest

from syndicate import Syndicate
from syndicate.settings import Settings
from tests.conftest import Write
from tests.models import anthropic_wire as wire
from tests.models.anthropic_wire import KEY, PATH, events, refusal
from tests.models.conftest import Answer, Received, StandIn

TEAM = """
    syndicate_name: Weather
    memory_system: internal-only
    orchestrator:
      name: Chief
      model: claude-opus-4-6
      instruction: Ask the forecaster.
      generateContentConfig:
        temperature: 0.5
        thinkingConfig: {{thinkingBudget: {budget}, includeThoughts: true}}
    subagents:
      - name: Forecaster
        description: Knows the weather
        instruction: Say what the weather is.
"""


def answers() -> dict[str, Answer]:
    """Replies by who is asked: the chief thinks and delegates first, then concludes."""
    thought = [
        *wire.thinking(0, "The forecaster ", "knows."),
        *wire.block(1, {"type": "redacted_thinking", "data": "eA=="}),
    ]
    call = wire.tool_use(2, "toolu_a", "Forecaster", '{"request": "Os', 'lo?"}')
    return {
        "delegates": events(wire.start(), *thought, *call, *wire.stop("tool_use")),
        "concludes": events(wire.start(), *wire.text(0, "It will ", "rain."), *wire.stop()),
        "forecasts": events(wire.start(), *wire.text(0, "Rain."), *wire.stop()),
    }


def script(stand_in: StandIn) -> None:
    scripted = answers()

    def reply(request: Received) -> Answer:
        if "Ask the forecaster" not in str(request.body["system"]):
            return scripted["forecasts"]
        has_result = "tool_result" in str(request.body["messages"][-1])
        return scripted["concludes" if has_result else "delegates"]

    stand_in.on(PATH, reply)


@pytest.fixture
def keyed(settings: Settings, stand_in: StandIn) -> Settings:
    values = {**settings.model_dump(), "anthropic_api_key": KEY, "anthropic_base_url": stand_in.url}
    return Settings.read(values, env_file=None)


@pytest.mark.parametrize(("budget", "thinking"), [(2048, "enabled"), (-1, "adaptive")])
async def test_thinking_travels_with_the_calls_it_led_to(
    budget: int, thinking: str, keyed: Settings, stand_in: StandIn, write: Write
) -> None:
    script(stand_in)
    async with Syndicate.open(write("team.yaml", TEAM.format(budget=budget)), settings=keyed) as team:
        result = await team.run("What will the weather be?")
        assert result.answer == "It will rain."
        again = await team.run("And tomorrow?")
        assert again.answer == "It will rain."
    wire.check_all(stand_in)
    first, _, second, next_turn, *_ = stand_in.bodies(PATH)
    assert first["thinking"]["type"] == thinking
    assert "temperature" not in first
    called = second["messages"][1]["content"]
    assert [block["type"] for block in called] == ["thinking", "redacted_thinking", "tool_use"]
    assert called[0]["thinking"] == "The forecaster knows."
    assert second["messages"][2]["content"][0]["type"] == "tool_result"
    assert "thinking" not in str(next_turn["messages"])
    assert "knows" not in str(next_turn["messages"])
    assert result.usage.thinking == 12
    assert result.usage.cost_usd


async def test_a_busy_provider_is_asked_again(keyed: Settings, stand_in: StandIn, write: Write) -> None:
    answers = [
        refusal(529, "Overloaded", "overloaded_error", **{"retry-after": "0"}),
        events(wire.start(), *wire.text(0, "Here ", "I am."), *wire.stop()),
    ]
    stand_in.on(PATH, lambda _: answers[len(stand_in.received) - 1])
    alone = """
        syndicate_name: One
        memory_system: internal-only
        orchestrator: {name: A, model: claude-haiku-4-5, instruction: Help.}
    """
    async with Syndicate.open(write("one.yaml", alone), settings=keyed) as one:
        assert (await one.run("hello")).answer == "Here I am."
    assert len(stand_in.received) == 2
