"""Ollama's native interface against a stand-in that speaks it over real HTTP."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from syndicate.errors import ModelError
from syndicate.models.ollama import OllamaLlm
from syndicate.models.ollama_daemon import pull
from syndicate.models.openai_compatible import OpenAICompatibleLlm
from syndicate.models.registry import availability, create
from syndicate.settings import Settings
from tests.models.conftest import WEATHER, Answer, StandIn, ask, calls_of, request_of, text_of

CHAT, SHOW, TAGS = "/api/chat", "/api/show", "/api/tags"
SCHEMA = {"type": "object", "properties": {"route": {"enum": ["a", "b"]}}, "required": ["route"]}
CARD = {"capabilities": ["completion", "tools", "thinking"], "model_info": {"qwen3.context_length": 40_960}}


@pytest.fixture
def ollama(settings: Settings, stand_in: StandIn) -> Settings:
    return settings.model_copy(update={"ollama_base_url": stand_in.url})


@pytest.fixture
def model(ollama: Settings, stand_in: StandIn) -> OllamaLlm:
    stand_in.on(SHOW, Answer.json({"capabilities": ["completion", "tools"]}))
    made = create("ollama/qwen3:8b", ollama)
    assert isinstance(made, OllamaLlm)
    return made


def frame(content: str = "", **message: Any) -> dict[str, Any]:
    return {"model": "qwen3:8b", "message": {"role": "assistant", "content": content, **message}, "done": False}


def done(reason: str = "stop", **counts: int) -> dict[str, Any]:
    return {"model": "qwen3:8b", "message": {"role": "assistant"}, "done": True, "done_reason": reason, **counts}


async def test_deltas_then_the_whole_with_usage(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer.lines(frame("Hel"), frame("lo"), done(prompt_eval_count=7, eval_count=2)))
    *deltas, whole = await ask(model, request_of(), stream=True)
    assert [text_of(delta) for delta in deltas] == ["Hel", "lo"]
    assert (whole.partial, text_of(whole)) == (False, "Hello")
    assert whole.usage_metadata is not None
    assert whole.usage_metadata.prompt_token_count == 7
    assert whole.usage_metadata.candidates_token_count == 2


async def test_without_streaming_there_is_one_response(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer.lines(frame("Hel"), frame("lo"), done("length")))
    (response,) = await ask(model, request_of())
    assert text_of(response) == "Hello"
    assert response.finish_reason is types.FinishReason.MAX_TOKENS


async def test_a_prompt_that_was_cached_has_an_unknown_count(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer.lines(frame("x"), done(eval_count=1)))
    (response,) = await ask(model, request_of())
    assert response.usage_metadata is not None
    assert response.usage_metadata.prompt_token_count is None


async def test_thinking_apart_from_text(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer.lines(frame(thinking="hm"), frame("<think>so"), frame("</think>4"), done()))
    whole = (await ask(model, request_of(), stream=True))[-1]
    assert (text_of(whole, thought=True), text_of(whole)) == ("hmso", "4")


@pytest.mark.parametrize(
    ("config", "think"),
    [
        ({}, True),
        ({"thinking_budget": 0}, False),
        ({"thinking_level": types.ThinkingLevel.HIGH}, "high"),
        ({"thinking_level": types.ThinkingLevel.MINIMAL}, "low"),
        ({"thinking_budget": 512}, True),
    ],
)
async def test_a_thinking_model_is_told_whether_to_think(
    config: dict[str, Any], think: bool | str, model: OllamaLlm, stand_in: StandIn
) -> None:
    stand_in.on(SHOW, Answer.json(CARD))
    stand_in.on(CHAT, Answer.lines(frame("x"), done()))
    await ask(model, request_of(thinking_config=types.ThinkingConfig(**config)))
    assert stand_in.bodies(CHAT)[0]["think"] == think


async def test_a_model_that_does_not_think_is_not_asked_to(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer.lines(frame("x"), done()))
    await ask(model, request_of(thinking_config=types.ThinkingConfig(thinking_budget=512)))
    assert "think" not in stand_in.bodies(CHAT)[0]


async def test_calls_with_and_without_ids(model: OllamaLlm, stand_in: StandIn) -> None:
    calls = [
        {"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}},
        {"id": "call_b", "function": {"name": "now", "arguments": {}}},
    ]
    stand_in.on(CHAT, Answer.lines(frame(tool_calls=calls), done()))
    (whole,) = await ask(model, request_of(tools=[WEATHER]), stream=True)
    first, second = calls_of(whole)
    assert (first.name, first.args) == ("get_weather", {"city": "Oslo"})
    assert first.id
    assert (second.id, second.args) == ("call_b", {})


async def test_tools_reach_the_daemon_with_all_of_their_parameters(model: OllamaLlm, stand_in: StandIn) -> None:
    parameters = {
        "type": "object",
        "$defs": {"Place": {"type": "object", "properties": {"name": {"type": "string"}}}},
        "properties": {
            "place": {"$ref": "#/$defs/Place"},
            "day": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
    }
    declaration = types.FunctionDeclaration(name="weather", parameters_json_schema=parameters)
    stand_in.on(CHAT, Answer.lines(frame("x"), done()))
    await ask(model, request_of(tools=[types.Tool(function_declarations=[declaration])]))
    (tool,) = stand_in.bodies(CHAT)[0]["tools"]
    assert tool["function"]["parameters"] == parameters


async def test_the_conversation_as_ollama_messages(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer.lines(frame("ok"), done()))
    call = types.FunctionCall(id="call_a", name="get_weather", args={"city": "Oslo"})
    answer = types.FunctionResponse(id="call_a", name="get_weather", response={"result": "rain"})
    image = types.Part(inline_data=types.Blob(mime_type="image/png", data=b"png"))
    contents = [
        types.Content(role="user", parts=[types.Part(text="weather?"), image]),
        types.Content(role="model", parts=[types.Part(text="hm", thought=True), types.Part(function_call=call)]),
        types.Content(role="user", parts=[types.Part(function_response=answer)]),
    ]
    await ask(model, LlmRequest(contents=contents, config=types.GenerateContentConfig(system_instruction="be brief")))
    (body,) = stand_in.bodies(CHAT)
    assert body["model"] == "qwen3:8b"
    assert body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "weather?", "images": ["cG5n"]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call_a", "function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}],
        },
        {"role": "tool", "content": "rain", "tool_name": "get_weather", "tool_call_id": "call_a"},
    ]


async def test_a_schema_is_the_format_but_beside_tools_it_is_put_in_words(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer.lines(frame("{}"), done()))
    await ask(model, request_of(response_schema=SCHEMA))
    await ask(model, request_of(response_schema=SCHEMA, tools=[WEATHER]))
    alone, beside = stand_in.bodies(CHAT)
    assert alone["format"] == SCHEMA
    assert "format" not in beside
    assert '"enum": ["a", "b"]' in beside["messages"][0]["content"]


async def test_every_generation_key_reaches_the_daemon(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer.lines(frame("x"), done()))
    config = {
        "temperature": 0.0,
        "top_p": 0.5,
        "top_k": 7,
        "max_output_tokens": 9,
        "seed": 3,
        "stop_sequences": ["END"],
    }
    await ask(model, request_of(**config, presence_penalty=0.1, frequency_penalty=0.2))
    options = stand_in.bodies(CHAT)[0]["options"]
    assert options.pop("num_ctx") == 8192
    assert options == {
        "temperature": 0.0,
        "top_p": 0.5,
        "top_k": 7,
        "num_predict": 9,
        "seed": 3,
        "stop": ["END"],
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
    }


@pytest.mark.parametrize(("words", "context"), [(10, 8_192), (10_000, 32_768), (100_000, 40_960)])
async def test_the_context_fits_the_prompt_up_to_what_the_model_can(
    words: int, context: int, model: OllamaLlm, stand_in: StandIn
) -> None:
    stand_in.on(SHOW, Answer.json(CARD))
    stand_in.on(CHAT, Answer.lines(frame("x"), done()))
    await ask(model, request_of("word " * words))
    assert stand_in.bodies(CHAT)[0]["options"]["num_ctx"] == context
    assert stand_in.bodies(CHAT)[0]["truncate"] is False


async def test_the_model_is_looked_up_once(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer.lines(frame("x"), done()))
    for _ in range(3):
        await ask(model, request_of())
    assert len(stand_in.bodies(SHOW)) == 1


@pytest.mark.parametrize(
    ("answer", "code", "remedy"),
    [
        (
            Answer.json({"error": "model 'qwen3:8b' not found"}, 404),
            "unknown-model",
            "syndicate models pull ollama/qwen3",
        ),
        (Answer.json({"error": "qwen3:8b does not support tools"}, 400), "bad-request", "use a model that calls tools"),
        (Answer.json({"error": "the prompt is too long; maximum context is 8192"}, 400), "context-too-long", "shorten"),
        (Answer.json({"error": "out of memory"}, 500), "server-error", ""),
        (Answer.lines(frame("Hel"), {"error": "the runner has crashed"}), "server-error", ""),
        (Answer.lines(frame("Hel")), "stream-cut", ""),
        (Answer.lines(frame("Hel"), drop=True), "stream-cut", ""),
        (Answer(["<html>\n"]), "malformed", ""),
    ],
)
async def test_failures_have_a_code_and_a_remedy(
    answer: Answer, code: str, remedy: str, model: OllamaLlm, stand_in: StandIn
) -> None:
    stand_in.on(CHAT, answer)
    with pytest.raises(ModelError) as caught:
        await ask(model, request_of(), stream=True)
    assert caught.value.code == code
    assert remedy in caught.value.remediation


async def test_no_daemon_is_an_error_that_says_how_to_start_it(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.close()
    with pytest.raises(ModelError, match="ollama serve") as caught:
        await ask(model, request_of())
    assert caught.value.code == "connection"


async def test_a_key_is_sent_and_never_shown(ollama: Settings, stand_in: StandIn) -> None:
    keyed = Settings.read({**ollama.model_dump(), "ollama_api_key": "sesame-1234"}, env_file=None)
    stand_in.on(CHAT, Answer.json({"error": "bad key sesame-1234"}, 401))
    with pytest.raises(ModelError) as caught:
        await ask(create("ollama/m", keyed), request_of())
    assert stand_in.received[-1].headers["authorization"] == "Bearer sesame-1234"
    assert "sesame" not in str(caught.value)


async def test_leaving_the_stream_closes_the_connection(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer.lines(*[frame("x" * 10_000)] * 500, pause=0.01))
    async with aclosing(model.generate_content_async(request_of(), stream=True)) as responses:
        async for _ in responses:
            break
    assert await asyncio.to_thread(stand_in.disconnected.wait, 5)
    await model.aclose()


@pytest.mark.parametrize(
    ("pulled", "there"), [("qwen3:8b", True), ("qwen3:4b", False), ("qwen3", False), ("qwen3:8b-q4", False)]
)
async def test_a_model_is_available_once_pulled(pulled: str, there: bool, ollama: Settings, stand_in: StandIn) -> None:
    stand_in.on(TAGS, Answer.json({"models": [{"name": pulled, "model": pulled}]}))
    found = await availability("ollama/qwen3:8b", ollama)
    assert (found is None) is there
    if found is not None:
        assert found.remediation == "run `syndicate models pull ollama/qwen3:8b`"


@pytest.mark.parametrize(("asked", "listed"), [("qwen3", "qwen3:latest"), ("qwen3:latest", "qwen3:latest")])
async def test_latest_may_be_left_out(asked: str, listed: str, ollama: Settings, stand_in: StandIn) -> None:
    stand_in.on(TAGS, Answer.json({"models": [{"name": listed}]}))
    assert await availability(f"ollama/{asked}", ollama) is None


async def test_without_a_daemon_nothing_is_available(ollama: Settings, stand_in: StandIn) -> None:
    stand_in.close()
    found = await availability("ollama/qwen3:8b", ollama)
    assert found is not None
    assert found.reason == f"no Ollama daemon answers at {stand_in.url}"


async def test_an_address_that_ends_in_v1_is_spoken_to_in_openais_format(ollama: Settings, stand_in: StandIn) -> None:
    compatible = ollama.model_copy(update={"ollama_base_url": f"{stand_in.url}/v1/"})
    stand_in.on("/v1/models", Answer.json({"data": [{"id": "qwen3:8b"}]}))
    assert await availability("ollama/qwen3:8b", compatible) is None
    made = create("ollama/qwen3:8b", compatible)
    assert isinstance(made, OpenAICompatibleLlm)
    message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}
    stand_in.on("/v1/chat/completions", Answer.json({"id": "c", "created": 1, "model": "m", "choices": [message]}))
    (response,) = await ask(made, request_of())
    assert text_of(response) == "hello"
    assert stand_in.bodies("/v1/chat/completions")[0]["model"] == "qwen3:8b"


async def test_pulling_reports_progress(ollama: Settings, stand_in: StandIn) -> None:
    layer = {"status": "pulling abc", "digest": "abc", "total": 100}
    frames = [
        {"status": "pulling manifest"},
        {**layer, "completed": 40},
        {**layer, "completed": 100},
        {"status": "success"},
    ]
    stand_in.on("/api/pull", Answer.lines(*frames))
    seen: list[tuple[int, int | None]] = []
    await pull("ollama/qwen3:8b", ollama, lambda done, total: seen.append((done, total)))
    assert seen == [(40, 100), (100, 100)]
    assert stand_in.bodies("/api/pull")[0]["model"] == "qwen3:8b"


async def test_a_pull_that_fails_says_why(ollama: Settings, stand_in: StandIn) -> None:
    stand_in.on("/api/pull", Answer.lines({"status": "pulling manifest"}, {"error": "file does not exist"}))
    with pytest.raises(ModelError, match="file does not exist"):
        await pull("ollama/nosuch", ollama)


async def test_a_model_the_compatible_endpoint_has_not_is_to_be_pulled_too(ollama: Settings, stand_in: StandIn) -> None:
    compatible = ollama.model_copy(update={"ollama_base_url": f"{stand_in.url}/v1"})
    refusal = {"error": {"message": 'model "qwen3:8b" not found, try pulling it first', "type": "api_error"}}
    stand_in.on("/v1/chat/completions", Answer.json(refusal, 404))
    with pytest.raises(ModelError) as caught:
        await ask(create("ollama/qwen3:8b", compatible), request_of())
    assert (caught.value.code, caught.value.remediation) == (
        "unknown-model",
        "run `syndicate models pull ollama/qwen3:8b`",
    )


async def test_a_busy_daemon_says_when_to_come_back(model: OllamaLlm, stand_in: StandIn) -> None:
    stand_in.on(CHAT, Answer(['{"error": "server busy"}'], 503, headers={"Retry-After": "4"}))
    with pytest.raises(ModelError) as caught:
        await ask(model, request_of())
    assert (caught.value.code, caught.value.retry_after) == ("overloaded", 4)


def test_settings_the_daemon_has_not_are_named(model: OllamaLlm) -> None:
    thinking = types.ThinkingConfig(thinking_budget=512)
    request = request_of(thinking_config=thinking, response_mime_type="text/x.enum", top_k=3, seed=1)
    assert model.dropped_settings(request) == ("thinkingBudget", "responseMimeType")
    assert model.dropped_settings(request_of(thinking_config=types.ThinkingConfig(thinking_budget=0))) == ()


async def test_built_by_its_class_it_reads_the_settings_itself(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", stand_in.url)
    stand_in.on(SHOW, Answer.json({}))
    stand_in.on(CHAT, Answer.lines(frame("hello"), done()))
    (response,) = await ask(OllamaLlm(model="ollama/qwen3:8b"), request_of())
    assert text_of(response) == "hello"
