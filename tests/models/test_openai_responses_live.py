"""The Responses wire as a real server speaks it: llama.cpp's, with a model that calls tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from syndicate.models import local_launch
from syndicate.models.local_launch import Launch
from syndicate.models.openai_client import Address
from syndicate.models.openai_responses import OpenAIResponsesLlm
from syndicate.settings import Settings
from tests.models.conftest import WEATHER, ask, calls_of, request_of, text_of
from tests.models.test_openai_responses import continued


@pytest.mark.live
@pytest.mark.parametrize("stream", [False, True])
async def test_a_real_tool_loop(stream: bool, live_settings: Settings, tool_model: Path) -> None:
    server = local_launch.ensure(Launch.of(tool_model, live_settings))
    model = OpenAIResponsesLlm.at(Address(f"{server.url}/v1", server.key), "gpt-5.2")
    request = request_of("What is the weather in Oslo? Use the tool.", tools=[WEATHER], temperature=0.0)
    *_, first = await ask(model, request, stream=stream)
    (made,) = calls_of(first)
    assert (made.name, made.args) == ("get_weather", {"city": "Oslo"})
    *deltas, last = await ask(model, continued(request, first, "hailstorm, 7 degrees"), stream=stream)
    assert "7" in text_of(last)
    assert "".join(text_of(delta) for delta in deltas) == (text_of(last) if stream else "")
    assert last.usage_metadata.prompt_token_count
