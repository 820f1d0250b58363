"""A real llama.cpp server behind its OpenAI endpoint: what it takes, what it refuses, and a whole tool loop."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from syndicate.errors import ModelError
from syndicate.models import weights
from syndicate.models.local_launch import Launch, ensure
from syndicate.models.registry import create
from syndicate.settings import Settings
from tests.models.conformance.desks import PROVIDERS, LocalAt
from tests.models.conformance.test_matrix import PIXEL, answered
from tests.models.conftest import WEATHER, ask, calls_of, each, request_of, text_of
from tests.models.relay import Relay
from tests.models.wire import check

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SMOLLM2 = "local/smollm2"


@pytest.fixture
async def small(live_settings: Settings) -> AsyncIterator[Any]:
    model = create(SMOLLM2, live_settings)
    yield model
    await model.aclose()  # type: ignore[attr-defined]


async def test_a_tool_loop_over_the_openai_endpoint(tool_model: Path, live_settings: Settings) -> None:
    path = weights.find(f"local/{tool_model}", live_settings)
    assert path is not None
    endpoint = await asyncio.to_thread(ensure, Launch.of(path, live_settings))
    relay = Relay(endpoint.url)
    model = LocalAt(model=f"local/{tool_model}")
    model._there, model._key = relay.url, endpoint.key
    request = request_of("What is the weather in Oslo?", tools=[WEATHER], temperature=0, max_output_tokens=200)
    *_, first = [response async for response in each(model, request, stream=True)]
    (call,) = calls_of(first)
    assert (call.name, call.args) == ("get_weather", {"city": "Oslo"})
    results = {"get_weather": {"result": "4 degrees and rain"}}
    *deltas, second = await ask(model, answered(request, first, **results), stream=True)
    assert not calls_of(second)
    assert "rain" in text_of(second)
    assert "".join(text_of(delta) for delta in deltas) == text_of(second)
    assert second.usage_metadata is not None
    assert second.usage_metadata.prompt_token_count
    for sent in relay.received:
        check(sent.path, sent.body, beyond=PROVIDERS["local"].beyond)
    relay.close()


async def test_a_real_server_refuses_images(small: Any) -> None:
    image = types.Part(inline_data=types.Blob(mime_type="image/png", data=PIXEL))
    contents = [types.Content(role="user", parts=[types.Part(text="What is it?"), image])]
    with pytest.raises(ModelError, match="image") as caught:
        _ = [part async for part in each(small, LlmRequest(contents=contents, config=types.GenerateContentConfig()))]
    assert (caught.value.code, caught.value.retryable) == ("bad-request", False)
    assert base64.b64encode(PIXEL).decode() not in str(caught.value)


async def test_a_prefix_that_was_sent_before_is_counted_as_cached(small: Any) -> None:
    request = request_of("Say hello.", system_instruction="You are brief and polite. " * 30, max_output_tokens=4)
    cached = []
    for _ in range(2):
        *_, whole = [part async for part in each(small, request, stream=True)]
        assert whole.usage_metadata is not None
        cached.append(whole.usage_metadata.cached_content_token_count or 0)
    assert cached[1] > 100


@pytest.mark.parametrize("config", [{"thinking_budget": 0}, {"thinking_level": "LOW"}])
async def test_a_model_that_does_not_think_takes_what_is_said_of_thinking(config: dict[str, Any], small: Any) -> None:
    thinking = types.ThinkingConfig(**config)
    *_, whole = [part async for part in each(small, request_of("Hi", thinking_config=thinking, max_output_tokens=4))]
    assert text_of(whole)
