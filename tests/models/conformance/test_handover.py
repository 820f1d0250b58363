"""One conversation, several providers: what one of them said, thought and called is continued by another."""

from __future__ import annotations

import base64
from itertools import permutations
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import BaseModel

from tests.models.conformance.conftest import OpenDesk
from tests.models.conformance.desks import PROVIDERS, Desk
from tests.models.conformance.wires import Called, Said
from tests.models.conftest import WEATHER, calls_of, request_of, text_of

THOUGHT, SIGNATURE = "Nobody but me may read this thought.", "c2VjcmV0LXNpZ25hdHVyZQ"
TOOLS = [WEATHER, types.Tool(function_declarations=[types.FunctionDeclaration(name="now", description="The time")])]
CONFIG: dict[str, Any] = {
    "tools": TOOLS,
    "system_instruction": "Be brief.",
    "thinking_config": types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW, include_thoughts=True),
}
PAIRS = list(permutations(PROVIDERS, 2))


class Weather(BaseModel):
    """A live object, as tools return them."""

    text: str
    degrees: float | None = None


async def calls_made_by(desk: Desk) -> tuple[LlmRequest, LlmResponse]:
    """A question that the provider thought about and called two tools for, and the request with their results."""
    calls = (Called("get_weather", {"city": "Oslo"}), Called("now"))
    desk.script(Said("Let me see.", THOUGHT, SIGNATURE, calls), Said("Rain at noon.", THOUGHT, SIGNATURE))
    request = request_of("weather and time?", **CONFIG)
    *_, reply = await desk.ask(request, stream=True)
    assert text_of(reply, thought=True) == THOUGHT
    assert reply.content is not None
    results = {"get_weather": {"result": Weather(text="rain-4711")}, "now": {"hour": 12}}
    responses = [types.FunctionResponse(id=c.id, name=c.name, response=results[c.name or ""]) for c in calls_of(reply)]
    user = types.Content(role="user", parts=[types.Part(function_response=response) for response in responses])
    return request.model_copy(update={"contents": [*request.contents, reply.content, user]}), reply


def leaks_nothing(sent: str) -> None:
    for secret in (THOUGHT, SIGNATURE, base64.b64encode(SIGNATURE.encode()).decode().rstrip("="), "syndicate:"):
        assert secret not in sent


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_the_next_turn_is_anothers(first: str, second: str, loopback: OpenDesk) -> None:
    desk, other = loopback(first), loopback(second)
    request, _ = await calls_made_by(desk)
    *_, answer = await desk.ask(request, stream=True)
    assert answer.content is not None
    and_now = types.Content(role="user", parts=[types.Part(text="And tomorrow?")])
    other.script(Said("Sun, perhaps."))
    *_, reply = await other.ask(
        request.model_copy(update={"contents": [*request.contents, answer.content, and_now]}), stream=True
    )
    assert text_of(reply) == "Sun, perhaps."
    assert all(words in other.sent() for words in ("Let me see.", "rain-4711", "Rain at noon.", "And tomorrow?"))
    leaks_nothing(other.sent())


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_another_goes_on_in_the_middle_of_a_turn(first: str, second: str, loopback: OpenDesk) -> None:
    """As when the model that made the calls is overloaded once their results are there."""
    request, _ = await calls_made_by(loopback(first))
    other = loopback(second)
    other.script(Said("Rain at noon.", thought="Easy."))
    (reply,) = await other.ask(request)
    assert text_of(reply) == "Rain at noon."
    assert "rain-4711" in other.sent()
    leaks_nothing(other.sent())


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_conversation_that_went_round_all_of_them(provider: str, loopback: OpenDesk) -> None:
    round_trip = [*(other for other in PROVIDERS if other != provider), provider]
    contents: list[types.Content] = []
    for name in round_trip:
        desk = loopback(name)
        request, _ = await calls_made_by(desk)
        contents += request.contents
        *_, answer = await desk.ask(request.model_copy(update={"contents": contents}), stream=True)
        assert text_of(answer) == "Rain at noon."
        assert answer.content is not None
        contents.append(answer.content)
        assert desk.sent().count("rain-4711") == desk.sent().count("weather and time?") == round_trip.index(name) + 1
