"""Claude's adapter against servers that we did not write: llama.cpp's with a real model, and aimock's."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from syndicate.errors import ModelError
from syndicate.models import local_launch
from syndicate.models.anthropic import AnthropicLlm
from syndicate.models.local_launch import Endpoint, Launch
from syndicate.settings import Settings
from tests.models.aimock import Aimock
from tests.models.anthropic_wire import PATH
from tests.models.conftest import WEATHER, ask, calls_of, request_of, text_of
from tests.models.wire import check


def at(url: str, key: str, settings: Settings, model_id: str = "claude-sonnet-4-5") -> AnthropicLlm:
    values = {**settings.model_dump(), "anthropic_api_key": key, "anthropic_base_url": url}
    return AnthropicLlm.from_settings(model_id, Settings.read(values, env_file=None))


def next_step(request: LlmRequest, reply: types.Content | None, answer: str) -> LlmRequest:
    """The request with a reply and the results of its calls."""
    assert reply is not None
    results = [
        types.Part(
            function_response=types.FunctionResponse(
                id=part.function_call.id, name=part.function_call.name, response={"result": answer}
            )
        )
        for part in reply.parts or ()
        if part.function_call
    ]
    contents = [*request.contents, reply, types.Content(role="user", parts=results)]
    return LlmRequest(contents=contents, config=request.config)


@pytest.fixture
def mocked(aimock: Aimock, settings: Settings) -> AnthropicLlm:
    return at(aimock.url, "sesame-1234", settings)


async def test_a_tool_loop_with_thinking(mocked: AnthropicLlm, aimock: Aimock) -> None:
    call = {"id": "toolu_a", "name": "get_weather", "arguments": '{"city": "Oslo"}'}
    thought = {"reasoning": "It asks for the weather.", "reasoningSignature": "c2lnbmVk"}
    aimock.reply(calls=[call], match={"userMessage": "weather", "hasToolResult": False}, **thought)
    aimock.reply("It rains in Oslo, all day long.", match={"hasToolResult": True}, chunkSize=5)
    request = request_of("weather?", tools=[WEATHER], thinking_config=types.ThinkingConfig(thinking_budget=2048))
    *_, first = await ask(mocked, request, stream=True)
    assert text_of(first, thought=True) == "It asks for the weather."
    assert [(call.id, call.args) for call in calls_of(first)] == [("toolu_a", {"city": "Oslo"})]
    *deltas, second = await ask(mocked, next_step(request, first.content, "rain"), stream=True)
    assert len(deltas) > 1
    assert text_of(second) == "It rains in Oslo, all day long."
    bodies: list[dict[str, Any]] = aimock.bodies(PATH)
    for body in bodies:
        check(PATH, body)
    assert [block["type"] for block in bodies[1]["messages"][1]["content"]] == ["thinking", "tool_use"]


async def test_a_refusal_in_the_servers_words(mocked: AnthropicLlm, aimock: Aimock) -> None:
    aimock.fail(529, "Overloaded, come back later", type="overloaded_error")
    with pytest.raises(ModelError, match="come back later") as caught:
        await ask(mocked, request_of())
    assert (caught.value.code, caught.value.retryable) == ("overloaded", True)


@pytest.fixture
def endpoint(tool_model: Path, live_settings: Settings) -> Endpoint:
    """llama.cpp's own `/v1/messages`, with a real model that calls tools."""
    return local_launch.ensure(Launch.of(tool_model, live_settings))


@pytest.fixture
def real(endpoint: Endpoint, live_settings: Settings) -> AnthropicLlm:
    return at(endpoint.url, endpoint.key, live_settings)


@pytest.mark.live
@pytest.mark.timeout(600)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_real_model_ends_a_tool_loop(stream: bool, real: AnthropicLlm) -> None:
    request = request_of("What is the weather in Oslo?", tools=[WEATHER], temperature=0, max_output_tokens=200)
    *_, first = await ask(real, request, stream=stream)
    (call,) = calls_of(first)
    assert (call.name, call.args) == ("get_weather", {"city": "Oslo"})
    assert first.finish_reason is types.FinishReason.STOP
    assert first.usage_metadata.prompt_token_count
    assert first.usage_metadata.candidates_token_count
    *deltas, second = await ask(real, next_step(request, first.content, "4 degrees and rain"), stream=stream)
    assert not calls_of(second)
    assert "rain" in text_of(second)
    assert "".join(map(text_of, deltas)) == (text_of(second) if stream else "")


@pytest.mark.live
@pytest.mark.timeout(600)
async def test_a_real_server_refuses_a_prompt_that_is_too_long(real: AnthropicLlm) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(real, request_of("word " * 6000), stream=True)
    assert (caught.value.code, caught.value.retryable) == ("context-too-long", False)


@pytest.mark.live
@pytest.mark.timeout(600)
async def test_cancelling_stops_a_real_model(real: AnthropicLlm, endpoint: Endpoint) -> None:
    request = request_of("Write a long story.", max_output_tokens=2000)
    task = asyncio.create_task(ask(real, request, stream=True))
    assert await asyncio.to_thread(becomes, endpoint, True, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(becomes, endpoint, False, 5)


def becomes(endpoint: Endpoint, busy: bool, seconds: float) -> bool:
    """Whether the server starts to work, or stops, within that time."""
    request = urllib.request.Request(f"{endpoint.url}/slots", headers={"Authorization": f"Bearer {endpoint.key}"})
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with urllib.request.urlopen(request, timeout=seconds) as response:
            if any(slot["is_processing"] for slot in json.load(response)) is busy:
                return True
        time.sleep(0.05)
    return False
