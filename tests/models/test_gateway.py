"""Cloud models behind a gateway: which ids go there, under what name, and what is said of who answered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.adk.agents.context_cache_config import ContextCacheConfig
from google.genai import types
from opentelemetry.sdk.trace import TracerProvider

from syndicate.errors import ModelError, SettingsError
from syndicate.models.gateway import route
from syndicate.models.gateway_llm import GatewayLlm
from syndicate.settings import Settings
from tests.models.aimock import Aimock
from tests.models.conftest import WEATHER, Answer, StandIn, ask, calls_of, request_of, text_of
from tests.models.wire import check

PATH = "/api/v1/chat/completions"
BEYOND = ["reasoning", "top_k"]


def settings_of(**values: Any) -> Settings:
    return Settings.read(
        {"model_gateway": "openrouter", "model_gateway_api_key": "sesame-1234", **values}, env_file=None
    )


def adapter(url: str, model_id: str = "claude-opus-4-5") -> GatewayLlm:
    found = route(model_id, settings_of(model_gateway_base_url=f"{url}/api/v1/"))
    assert found is not None
    return GatewayLlm.from_route(model_id, found)


@pytest.mark.parametrize(
    ("gateway", "model_id", "provider", "name"),
    [
        ("openrouter", "gemini-2.5-flash", "gemini", "google/gemini-2.5-flash"),
        ("openrouter", "claude-opus-4-5", "anthropic", "anthropic/claude-opus-4.5"),
        ("openrouter", "claude-3-7-sonnet-20250219", "anthropic", "anthropic/claude-3.7-sonnet"),
        ("openrouter", "claude-sonnet-4-20250514", "anthropic", "anthropic/claude-sonnet-4"),
        ("openrouter", "gpt-5.1-mini", "openai", "openai/gpt-5.1-mini"),
        ("openrouter", "o3", "openai", "openai/o3"),
        ("openrouter", "grok-4-1-fast", "xai", "x-ai/grok-4-1-fast"),
        ("vercel", "grok-4", "xai", "xai/grok-4"),
        ("vercel", "claude-haiku-4-5", "anthropic", "anthropic/claude-haiku-4.5"),
    ],
)
def test_a_cloud_model_under_the_gateways_name(gateway: str, model_id: str, provider: str, name: str) -> None:
    found = route(model_id, settings_of(model_gateway=gateway))
    assert found is not None
    assert (found.gateway, found.provider, found.wire_model) == (gateway, provider, name)
    assert found.url.startswith("https://")
    assert not found.url.endswith("/")


def test_the_map_goes_before_the_rule() -> None:
    settings = settings_of(model_gateway_model_map="grok-4 = x-ai/grok-4:free, o3=openai/o3-high,")
    assert [route(name, settings).wire_model for name in ("grok-4", "o3", "gpt-5")] == [  # type: ignore[union-attr]
        "x-ai/grok-4:free",
        "openai/o3-high",
        "openai/gpt-5",
    ]


@pytest.mark.parametrize("text", ["grok-4", "grok-4=", "=x", "a=b,,c"])
def test_a_map_that_cannot_be_read_says_how_to_write_it(text: str) -> None:
    with pytest.raises(SettingsError, match="MODEL_GATEWAY_MODEL_MAP") as caught:
        route("grok-4", settings_of(model_gateway_model_map=text))
    assert "id=name" in caught.value.remediation


@pytest.mark.parametrize(
    ("model_id", "values"),
    [
        ("claude-opus-4-5", {"anthropic_api_key": "sk-ant-1"}),
        ("gemini-2.5-flash", {"google_genai_api_key": "AIza1"}),
        ("gpt-5", {"openai_api_key": "sk-1"}),
        ("grok-4", {"xai_api_key": "xai-1"}),
        ("ollama/qwen3", {}),
        ("local/smollm2", {}),
        ("nobody-1", {}),
        ("gpt-5", {"model_gateway": None}),
        ("gpt-5", {"model_gateway_api_key": None}),
        ("gpt-5", {"model_gateway_api_key": "your_key_here"}),
    ],
)
def test_what_does_not_go_through_the_gateway(model_id: str, values: dict[str, Any]) -> None:
    assert route(model_id, settings_of(**values)) is None


def test_no_repr_shows_the_key() -> None:
    found = route("gpt-5", settings_of())
    assert found is not None
    assert "sesame" not in f"{found!r}{GatewayLlm.from_route('gpt-5', found)!r}"


async def test_who_made_it_is_recorded_apart_from_who_carried_it(aimock: Aimock) -> None:
    aimock.reply("Hello there.", reasoning="A greeting.")
    with TracerProvider().get_tracer("test").start_as_current_span("generate_content") as span:
        *deltas, whole = await ask(adapter(aimock.url), request_of(), stream=True)
    assert (text_of(whole, thought=True), text_of(whole)) == ("A greeting.", "Hello there.")
    assert whole.custom_metadata == {"transport": "gateway", "gateway": "openrouter", "provider": "anthropic"}
    assert all(delta.custom_metadata is None for delta in deltas)
    assert span.attributes["gen_ai.provider.name"] == "anthropic"  # type: ignore[attr-defined]
    assert span.attributes["syndicate.transport"] == "gateway"  # type: ignore[attr-defined]


async def test_the_request_is_a_chat_completion_under_the_gateways_name(aimock: Aimock) -> None:
    aimock.reply("", calls=[{"id": "c1", "name": "get_weather", "arguments": {"city": "Oslo"}}])
    thinking = types.ThinkingConfig(thinking_budget=2048)
    (whole,) = await ask(adapter(aimock.url), request_of(tools=[WEATHER], top_k=5, thinking_config=thinking))
    assert [(call.id, call.args) for call in calls_of(whole)] == [("c1", {"city": "Oslo"})]
    (sent,) = aimock.received
    assert sent.path == PATH
    assert sent.headers["authorization"] == "Bearer sesame-1234"
    assert sent.body["model"] == "anthropic/claude-opus-4.5"
    assert (sent.body["reasoning"], sent.body["top_k"]) == ({"max_tokens": 2048}, 5)
    check(sent.path, sent.body, beyond=BEYOND)


@pytest.mark.parametrize(
    ("config", "reasoning"),
    [
        ({}, None),
        ({"thinking_budget": 0}, {"effort": "none"}),
        ({"thinking_budget": -1}, {"enabled": True}),
        ({"thinking_budget": 100, "thinking_level": "LOW"}, {"max_tokens": 100}),
        ({"thinking_level": "MINIMAL"}, {"effort": "minimal"}),
        ({"thinking_level": "HIGH", "include_thoughts": False}, {"exclude": True, "effort": "high"}),
        ({"include_thoughts": True}, {"enabled": True}),
        ({"include_thoughts": False}, {"exclude": True}),
    ],
)
def test_how_to_think_in_the_gateways_words(config: dict[str, Any], reasoning: dict[str, Any] | None) -> None:
    body = adapter("http://127.0.0.1").body(request_of(thinking_config=types.ThinkingConfig(**config)))
    assert body.get("extra_body", {}).get("reasoning") == reasoning
    assert "reasoning_effort" not in body


def test_what_a_gateway_cannot_carry_is_named() -> None:
    model = adapter("http://127.0.0.1")
    safety = types.SafetySetting(
        category=types.HarmCategory.HARM_CATEGORY_HARASSMENT, threshold=types.HarmBlockThreshold.OFF
    )
    thinking = types.ThinkingConfig(thinking_budget=9)
    request = request_of(safety_settings=[safety], thinking_config=thinking, response_mime_type="text/x.enum", top_k=3)
    request.cache_config = ContextCacheConfig()
    assert model.dropped_settings(request) == ("safetySettings", "responseMimeType", "context caching")
    assert model.transport == "gateway"


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"message": "Provider returned error", "code": 429}, "rate-limited"),
        ({"message": "Provider disconnected", "code": 502}, "server-error"),
        ({"message": "This endpoint's maximum context length is 8192 tokens", "code": 400}, "context-too-long"),
    ],
)
async def test_an_error_of_the_provider_within_a_success(
    stream: bool, error: dict[str, Any], code: str, stand_in: StandIn
) -> None:
    chunk = {"id": "gen-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
    stand_in.on(PATH, Answer.events({**chunk, "error": error}) if stream else Answer.json({"error": error}))
    with pytest.raises(ModelError, match=error["message"]) as caught:
        await ask(adapter(stand_in.url), request_of(), stream=stream)
    assert caught.value.code == code


async def test_keepalive_comments_are_no_frames(stand_in: StandIn) -> None:
    chunk = {"id": "gen-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    frame = {**chunk, "choices": [{"index": 0, "delta": {"content": "hi", "reasoning": "hm"}, "finish_reason": "stop"}]}
    frames = [": OPENROUTER PROCESSING\n\n", f"data: {json.dumps(frame)}\n\n", "data: [DONE]\n\n"]
    stand_in.on(PATH, Answer(frames, content_type="text/event-stream"))
    *_, whole = await ask(adapter(stand_in.url), request_of(), stream=True)
    assert (text_of(whole, thought=True), text_of(whole)) == ("hm", "hi")
