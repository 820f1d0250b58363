"""Whole turns with real models: the embedded one, and one that calls tools."""

from pathlib import Path

import pytest

from syndicate import Syndicate, register_tool
from syndicate.settings import Settings
from syndicate.turn.events import Answer, Text, ToolFinished, Usage
from tests.conftest import Write
from tests.weights import embedded_home, tool_model

__all__ = ["embedded_home", "tool_model"]

pytestmark = pytest.mark.live

TUTOR = """
    syndicate_name: Tutor
    orchestrator:
      name: Tutor
      model: local/smollm2
      instruction: You are a helpful tutor. Answer in one or two plain sentences.
      generateContentConfig: {temperature: 0, maxOutputTokens: 120}
"""


@pytest.fixture
def embedded(embedded_home: Path) -> Settings:
    return Settings.read({"syndicate_home": embedded_home}, env_file=None)


async def test_the_embedded_model_answers_in_more_than_one_delta(write: Write, embedded: Settings):
    async with Syndicate.open(write("tutor.yaml", TUTOR), settings=embedded) as s:
        events = [event async for event in s.stream("What is the capital of France?")]
    deltas = [event.delta for event in events if isinstance(event, Text)]
    [answer] = [event for event in events if isinstance(event, Answer)]
    usage = events[-1]
    assert len(deltas) > 1
    assert "".join(deltas) == answer.text
    assert "Paris" in answer.text
    assert isinstance(usage, Usage)
    assert usage.input
    assert usage.output


async def test_the_embedded_model_obeys_an_output_schema(write: Write, embedded: Settings):
    router = """
        syndicate_name: Router
        orchestrator:
          name: Router
          model: local/smollm2
          instruction: Name the department for the message.
          outputSchema: {type: OBJECT, required: [route], properties: {route: {type: STRING, enum: [BILLING, SUPPORT]}}}
          generateContentConfig: {temperature: 0}
    """
    async with Syndicate.open(write("router.yaml", router), settings=embedded) as s:
        result = await s.run("I was charged twice for my order!")
    assert result.answer.replace(" ", "").replace("\n", "") in ('{"route":"BILLING"}', '{"route":"SUPPORT"}')
    assert result.usage.calls == 1


async def test_a_chat_longer_than_the_models_window_goes_on(write: Write, embedded_home: Path):
    small = {"syndicate_home": embedded_home, "syndicate_local_context": 1024, "syndicate_local_idle_seconds": 20}
    settings = Settings.read(small, env_file=None)
    text = TUTOR.replace("120", "30")
    async with Syndicate.open(write("tutor.yaml", text), settings=settings) as s:
        for number in range(3):
            message = f"Remember item {number}. " + "The quick brown fox jumps over the lazy dog. " * 30
            assert (await s.run(message)).answer
        assert (await s.run("日本語のとても長い文章です。" * 30)).answer


async def test_an_orchestrator_delegates_to_a_subagent_through_a_real_tool_call(
    write: Write, tool_model: Path, tmp_path: Path
):
    stock = {"umbrella": 17, "lantern": 4}

    def look_up_stock(item: str) -> str:
        """Return how many of an item are in stock. item: one word, singular."""
        return f"{stock.get(item.strip().lower().rstrip('s'), 0)} in stock"

    register_tool("look_up_stock", lambda: look_up_stock)
    text = f"""
        syndicate_name: Shop
        orchestrator:
          name: Front Desk
          model: local/{tool_model}
          instruction: |
            You are the front desk of a shop. You know nothing about stock yourself.
            For every question about stock call Stock_Keeper with the question, then tell the customer what it said.
          generateContentConfig: {{temperature: 0, maxOutputTokens: 200, seed: 1}}
        subagents:
          - name: Stock Keeper
            description: Knows how many of each item are in stock. Pass it the customer's question.
            instruction: |
              Answer questions about stock. Call look_up_stock with the item, then say the number in one sentence.
            tools: [look_up_stock]
            generateContentConfig: {{temperature: 0, maxOutputTokens: 200, seed: 1}}
    """
    settings = Settings.read({"syndicate_home": tmp_path / "home", "syndicate_local_idle_seconds": 20}, env_file=None)
    async with Syndicate.open(write("shop.yaml", text), settings=settings) as s:
        events = [event async for event in s.stream("How many umbrellas do you have?")]
    finished = [(event.agent, event.name, event.ok) for event in events if isinstance(event, ToolFinished)]
    assert ("Stock Keeper", "look_up_stock", True) in finished
    assert ("Front Desk", "Stock Keeper", True) in finished
    [answer] = [event for event in events if isinstance(event, Answer)]
    assert (answer.agent, "17" in answer.text) == ("Front Desk", True)
