"""What a model cannot do of what an agent asks is said once, and the turn goes on."""

from typing import Any

from syndicate import register_tool
from syndicate.testing import ScriptedModel
from syndicate.turn.events import Status
from tests.conftest import Open


class WithoutTopK(ScriptedModel):
    """Names the settings it drops, as adapters do."""

    def dropped_settings(self, request: Any) -> tuple[str, ...]:
        return ("topK",) if request.config.top_k is not None else ()


async def told(syndicate: Any, turns: int = 2) -> list[str]:
    events = [event for _ in range(turns) async for event in syndicate.stream("hello")]
    return [event.text for event in events if isinstance(event, Status)]


def solo(keys: str) -> str:
    return f"syndicate_name: S\norchestrator: {{name: Solo, model: local/smollm2, {keys}}}\n"


async def test_a_setting_without_equivalent_is_named_once(open_syndicate: Open):
    model = WithoutTopK(["a", "b"])  # pyright: ignore[reportCallIssue] - it takes a model's fields for the signature
    async with open_syndicate(solo("generateContentConfig: {topK: 5}"), model) as s:
        assert await told(s) == ["scripted has no topK: left out"]


async def test_tools_of_a_model_that_calls_none_are_named_once(open_syndicate: Open):
    register_tool("roll", lambda: lambda: 4)
    async with open_syndicate(solo("tools: [roll]"), ScriptedModel(["a", "b"], model="local/smollm2")) as s:
        assert await told(s) == ["local/smollm2 cannot call tools: roll left out"]


async def test_a_search_the_provider_has_not_is_named_once(open_syndicate: Open):
    async with open_syndicate(solo("tools: [web_search]"), ScriptedModel(["a", "b"], model="ollama/qwen3:8b")) as s:
        assert await told(s) == ["ollama/qwen3:8b has no web search of its own: web_search left out"]


async def test_a_search_of_another_provider_alone_is_left_out_silently(open_syndicate: Open):
    async with open_syndicate(solo("tools: [x_search]"), ScriptedModel(["a", "b"], model="gemini-3.7-flash")) as s:
        assert await told(s) == []
