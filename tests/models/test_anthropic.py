"""Claude against a stand-in that speaks the Messages API over real HTTP, frame by frame."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types
from pydantic import BaseModel

from syndicate.errors import ModelError
from syndicate.models.anthropic import AnthropicLlm
from syndicate.models.server_tools import ServerTool
from syndicate.settings import Settings
from tests.models import anthropic_wire as wire
from tests.models.anthropic_wire import KEY, PATH, claude, events, message, refusal
from tests.models.conftest import WEATHER, Answer, StandIn, ask, calls_of, request_of, text_of

PING = 'event: ping\ndata: {"type": "ping"}\n\n'
HELLO = {"type": "text", "text": "hello"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rain in Oslo"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {
            "type": "web_search_result",
            "url": "https://a.example/",
            "title": "A",
            "encrypted_content": "x",
            "page_age": None,
        }
    ],
}
CITATION = {
    "type": "web_search_result_location",
    "cited_text": "rain",
    "encrypted_index": "x",
    "title": "A",
    "url": "https://a.example/",
}


@pytest.fixture
def model(stand_in: StandIn, settings: Settings) -> Iterator[AnthropicLlm]:
    yield claude(stand_in, settings)
    wire.check_all(stand_in)


def whole_text(text: str) -> Answer:
    return Answer.json(message({"type": "text", "text": text}))


async def test_one_response_with_text_thought_and_usage(model: AnthropicLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, Answer.json(message({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, HELLO)))
    (response,) = await ask(model, request_of())
    assert (text_of(response, thought=True), text_of(response)) == ("hm", "hello")
    assert (response.partial, response.finish_reason) == (False, types.FinishReason.STOP)
    assert response.model_version == "claude-haiku-4-5-20251001"
    usage = response.usage_metadata
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (23, 8)
    assert (usage.candidates_token_count, usage.thoughts_token_count, usage.total_token_count) == (5, 4, 32)
    assert "anthropic-version" in stand_in.received[0].headers


async def test_deltas_then_the_whole(model: AnthropicLlm, stand_in: StandIn) -> None:
    frames = [wire.start(), PING, *wire.thinking(0, "so", " it"), PING, *wire.text(1, "Hel", "", "lo"), *wire.stop()]
    stand_in.on(PATH, events(*frames))
    *deltas, whole = await ask(model, request_of(), stream=True)
    assert all(delta.partial for delta in deltas)
    assert [text_of(delta, thought=True) for delta in deltas[:2]] == ["so", " it"]
    assert [text_of(delta) for delta in deltas[2:]] == ["Hel", "lo"]
    assert (whole.partial, text_of(whole), text_of(whole, thought=True)) == (False, "Hello", "so it")
    assert whole.finish_reason is types.FinishReason.STOP
    usage = whole.usage_metadata
    assert (usage.prompt_token_count, usage.candidates_token_count, usage.thoughts_token_count) == (23, 5, 4)
    assert stand_in.bodies(PATH)[0]["stream"] is True


async def test_usage_that_nobody_counts_is_unknown(model: AnthropicLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, Answer.json(message(HELLO, usage={"input_tokens": 3, "output_tokens": 5})))
    (response,) = await ask(model, request_of())
    usage = response.usage_metadata
    assert (usage.candidates_token_count, usage.thoughts_token_count) == (5, None)
    assert usage.cached_content_token_count is None
    stand_in.on(PATH, Answer.json(message(HELLO, usage=None)))
    assert (await ask(model, request_of()))[0].usage_metadata is None


async def test_parallel_calls_whose_arguments_are_split_across_frames(model: AnthropicLlm, stand_in: StandIn) -> None:
    frames = [
        *wire.text(0, "Let me see."),
        *wire.tool_use(1, "toolu_a", "get_weather", "", '{"ci', 'ty": "Os', 'lo"}'),
        *wire.tool_use(2, "toolu_b", "now", ""),
        *wire.tool_use(3, "toolu_c", "get_weather", '{"city": "Rome"}'),
    ]
    stand_in.on(PATH, events(wire.start(), *frames, *wire.stop("tool_use")))
    *deltas, whole = await ask(model, request_of(tools=[WEATHER]), stream=True)
    assert [(call.id, call.name, call.args) for call in calls_of(whole)] == [
        ("toolu_a", "get_weather", {"city": "Oslo"}),
        ("toolu_b", "now", {}),
        ("toolu_c", "get_weather", {"city": "Rome"}),
    ]
    assert not any(map(calls_of, deltas))
    assert text_of(whole) == "Let me see."


async def test_a_call_that_came_whole(model: AnthropicLlm, stand_in: StandIn) -> None:
    call = {"type": "tool_use", "id": "toolu_a", "name": "get_weather", "input": {"city": "Oslo"}}
    stand_in.on(PATH, Answer.json(message(call, stop="tool_use")))
    (response,) = await ask(model, request_of(tools=[WEATHER]))
    assert [(call.id, call.args) for call in calls_of(response)] == [("toolu_a", {"city": "Oslo"})]


@pytest.mark.parametrize(("reason", "remedy"), [("max_tokens", "maxOutputTokens"), ("tool_use", "")])
async def test_arguments_that_are_no_json_are_that_error(
    reason: str, remedy: str, model: AnthropicLlm, stand_in: StandIn
) -> None:
    frames = [wire.start(), *wire.tool_use(0, "toolu_a", "get_weather", '{"city": "O'), *wire.stop(reason)]
    stand_in.on(PATH, events(*frames))
    with pytest.raises(ModelError, match="get_weather") as caught:
        await ask(model, request_of(tools=[WEATHER]), stream=True)
    assert (caught.value.code, caught.value.retryable) == ("malformed", not remedy)
    assert remedy in caught.value.remediation


@pytest.mark.parametrize("stream", [False, True])
async def test_signed_and_hidden_thoughts_come_back_before_the_calls_they_led_to(
    stream: bool, stand_in: StandIn, settings: Settings
) -> None:
    model = claude(stand_in, settings)
    hidden = {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}
    frames = [*wire.thinking(0, "I need ", "rain"), *wire.block(1, hidden), *wire.text(2, "One moment.")]
    frames += wire.tool_use(3, "toolu_a", "get_weather", '{"city": "Oslo"}')
    blocks = [
        {"type": "thinking", "thinking": "I need rain", "signature": "c2lnbmVk"},
        hidden,
        {"type": "text", "text": "One moment."},
        {"type": "tool_use", "id": "toolu_a", "name": "get_weather", "input": {"city": "Oslo"}},
    ]
    answer = events(wire.start(), *frames, *wire.stop("tool_use")) if stream else Answer.json(message(*blocks))
    stand_in.on(PATH, answer)
    thinks = types.ThinkingConfig(thinking_budget=2048)
    request = request_of("weather?", tools=[WEATHER], thinking_config=thinks)
    whole = (await ask(model, request, stream=stream))[-1]
    stand_in.on(PATH, whole_text("Rain."))
    await ask(model, continued(request, whole.content, {"result": "rain"}))
    asked, called, answered = stand_in.bodies(PATH)[1]["messages"]
    assert asked["content"][0]["text"] == "weather?"
    assert called == {"role": "assistant", "content": blocks}
    assert answered["content"][0]["tool_use_id"] == "toolu_a"
    assert stand_in.bodies(PATH)[1]["thinking"]["type"] == "enabled"
    wire.check_all(stand_in)


def continued(request: LlmRequest, reply: types.Content | None, result: dict[str, Any]) -> LlmRequest:
    """The request of the next step: the reply as ADK would store and load it, and the results of its calls."""
    assert reply is not None
    stored = types.Content.model_validate_json(reply.model_dump_json(exclude_none=True))
    calls = [part.function_call for part in stored.parts or () if part.function_call]
    results = [
        types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=result))
        for call in calls
    ]
    contents = [*request.contents, stored, types.Content(role="user", parts=results)]
    return LlmRequest(contents=contents, config=request.config)


async def test_thoughts_that_are_not_to_be_shown_still_come_back(model: AnthropicLlm, stand_in: StandIn) -> None:
    frames = [*wire.thinking(0, "secret"), *wire.tool_use(1, "toolu_a", "get_weather")]
    stand_in.on(PATH, events(wire.start(), *frames, *wire.stop("tool_use")))
    thinks = types.ThinkingConfig(thinking_budget=2048, include_thoughts=False)
    request = request_of(tools=[WEATHER], thinking_config=thinks)
    (whole,) = await ask(model, request, stream=True)
    assert "secret" not in whole.model_dump_json()
    stand_in.on(PATH, whole_text("Rain."))
    await ask(model, continued(request, whole.content, {"result": "rain"}))
    thought = stand_in.bodies(PATH)[1]["messages"][1]["content"][0]
    assert thought == {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}
    assert stand_in.bodies(PATH)[0]["thinking"]["display"] == "omitted"


async def test_a_thought_without_a_signature_is_shown_and_not_sent_back(model: AnthropicLlm, stand_in: StandIn) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": ""}
    call = {"type": "tool_use", "id": "toolu_a", "name": "get_weather", "input": {}}
    stand_in.on(PATH, Answer.json(message(thought, call, stop="tool_use")))
    (whole,) = await ask(model, request := request_of(tools=[WEATHER]))
    assert text_of(whole, thought=True) == "hm"
    stand_in.on(PATH, whole_text("Rain."))
    await ask(model, continued(request, whole.content, {"result": "rain"}))
    assert [block["type"] for block in stand_in.bodies(PATH)[1]["messages"][1]["content"]] == ["tool_use"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_search_brings_the_pages_that_the_answer_cites(
    stream: bool, model: AnthropicLlm, stand_in: StandIn
) -> None:
    query = {"type": "input_json_delta", "partial_json": '{"query": "rain in Oslo"}'}
    cited = [{"type": "citations_delta", "citation": CITATION}, {"type": "text_delta", "text": "It rains"}]
    frames = [
        *wire.text(0, "I look. "),
        *wire.block(1, {**SEARCH, "input": {}}, query),
        *wire.block(2, FOUND),
        *wire.block(3, {"type": "text", "text": "", "citations": []}, *cited),
        *wire.text(4, " today."),
    ]
    blocks = [
        {"type": "text", "text": "I look. "},
        SEARCH,
        FOUND,
        {"type": "text", "text": "It rains", "citations": [CITATION, CITATION]},
        {"type": "text", "text": " today."},
    ]
    stand_in.on(PATH, events(wire.start(), *frames, *wire.stop()) if stream else Answer.json(message(*blocks)))
    request = request_of(tools=[WEATHER, ServerTool(kind="web_search"), ServerTool(kind="x_search")])
    whole = (await ask(model, request, stream=stream))[-1]
    assert text_of(whole) == "I look. It rains today."
    assert not text_of(whole, thought=True)
    grounding = whole.grounding_metadata
    assert grounding.web_search_queries == ["rain in Oslo"]
    assert [(chunk.web.uri, chunk.web.title) for chunk in grounding.grounding_chunks] == [("https://a.example/", "A")]
    tools = stand_in.bodies(PATH)[0]["tools"]
    assert [tool.get("type") for tool in tools] == [None, "web_search_20250305"]
    assert "encrypted_content" not in whole.model_dump_json()


async def test_what_a_search_found_is_there_after_the_results_of_calls(model: AnthropicLlm, stand_in: StandIn) -> None:
    call = {"type": "tool_use", "id": "toolu_a", "name": "get_weather", "input": {}}
    stand_in.on(PATH, Answer.json(message(SEARCH, FOUND, call, stop="tool_use")))
    request = request_of(tools=[WEATHER, ServerTool(kind="web_search")])
    (whole,) = await ask(model, request)
    assert [call.name for call in calls_of(whole)] == ["get_weather"]
    stand_in.on(PATH, whole_text("Rain."))
    await ask(model, continued(request, whole.content, {"result": "rain"}))
    replayed = stand_in.bodies(PATH)[1]["messages"][1]["content"]
    assert [block["type"] for block in replayed] == ["server_tool_use", "web_search_tool_result", "tool_use"]
    assert replayed[0] == SEARCH


async def test_without_a_search_there_are_no_sources(model: AnthropicLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole_text("hello"))
    assert (await ask(model, request_of()))[0].grounding_metadata is None


@pytest.mark.parametrize("stream", [False, True])
async def test_a_paused_turn_goes_on(stream: bool, model: AnthropicLlm, stand_in: StandIn) -> None:
    first = [*wire.block(0, SEARCH), *wire.block(1, FOUND)]
    answers = [
        events(wire.start(), *first, *wire.stop("pause_turn"))
        if stream
        else Answer.json(message(SEARCH, FOUND, stop="pause_turn")),
        events(wire.start(), *wire.text(0, "It ", "rains."), *wire.stop()) if stream else whole_text("It rains."),
    ]
    stand_in.on(PATH, lambda _: answers[len(stand_in.received) - 1])
    whole = (await ask(model, request_of(tools=[ServerTool(kind="web_search")]), stream=stream))[-1]
    assert text_of(whole) == "It rains."
    assert whole.finish_reason is types.FinishReason.STOP
    assert whole.usage_metadata.prompt_token_count == 46
    assert stand_in.bodies(PATH)[1]["messages"][1] == {"role": "assistant", "content": [SEARCH, FOUND]}


async def test_a_turn_that_never_ends_is_given_up(model: AnthropicLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, Answer.json(message(SEARCH, FOUND, stop="pause_turn")))
    (response,) = await ask(model, request_of(tools=[ServerTool(kind="web_search")]))
    assert response.finish_reason is types.FinishReason.OTHER
    assert len(stand_in.received) == 8


@pytest.mark.parametrize(
    ("reason", "finish", "error"),
    [
        ("max_tokens", types.FinishReason.MAX_TOKENS, None),
        ("model_context_window_exceeded", types.FinishReason.MAX_TOKENS, None),
        ("stop_sequence", types.FinishReason.STOP, None),
        ("refusal", types.FinishReason.SAFETY, "SAFETY"),
        ("something new", types.FinishReason.OTHER, None),
    ],
)
async def test_why_an_answer_ended(
    reason: str, finish: types.FinishReason, error: str | None, model: AnthropicLlm, stand_in: StandIn
) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "not that"} if error else None
    frames = [wire.start(), *wire.text(0, "half"), *wire.stop(reason, stop_details=details)]
    stand_in.on(PATH, events(*frames))
    *_, whole = await ask(model, request_of(), stream=True)
    assert (whole.finish_reason, whole.error_code, text_of(whole)) == (finish, error, "half")
    assert whole.error_message == ("not that" if error else None)


BEGUN = (wire.start(), *wire.text(0, "Hel"))
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (refusal(401, f"invalid x-api-key {KEY}", "authentication_error"), "auth", "invalid x-api-key"),
        (refusal(403, "not allowed", "permission_error"), "auth", "not allowed"),
        (refusal(404, "model: claude-x", "not_found_error"), "unknown-model", "claude-x"),
        (refusal(400, "temperature: bad", "invalid_request_error"), "bad-request", "temperature: bad"),
        (
            refusal(400, "prompt is too long: 201000 tokens > 200000 maximum", "invalid_request_error"),
            "context-too-long",
            "201000",
        ),
        (
            refusal(400, "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000", "x"),
            "context-too-long",
            "190000",
        ),
        (refusal(413, "Request exceeds the maximum size", "request_too_large"), "context-too-long", "maximum size"),
        (refusal(429, "slow down", "rate_limit_error"), "rate-limited", "slow down"),
        (refusal(500, "oops", "api_error"), "server-error", "oops"),
        (refusal(529, "Overloaded", "overloaded_error"), "overloaded", "Overloaded"),
        (Answer(["<html>bad gateway</html>"], 502, "text/html"), "server-error", "bad gateway"),
        (events(*BEGUN, OVERLOADED), "overloaded", "Overloaded"),
        (events(OVERLOADED), "overloaded", "Overloaded"),
        (events(*BEGUN, {"type": "error", "error": {"type": "api_error", "message": "oops"}}), "server-error", "oops"),
        (events(*BEGUN, "event: error\ndata: gone\n\n"), "server-error", "gone"),
        (events(*BEGUN), "stream-cut", "broke off"),
        (events(*BEGUN, drop=True), "stream-cut", "closed"),
        (events(), "stream-cut", "broke off"),
        (events(*BEGUN, "event: content_block_delta\ndata: {not json\n\n"), "malformed", "cannot be read"),
        (
            events(*BEGUN, 'event: content_block_delta\ndata: {"type": "content_block_delta"}\n\n'),
            "malformed",
            "cannot be read",
        ),
        (events(*BEGUN, b"event: content_block_delta\ndata: \xff\n\n"), "malformed", "cannot be read"),
    ],
)
async def test_failures_have_a_code_and_the_providers_words(
    answer: Answer, code: str, words: str, model: AnthropicLlm, stand_in: StandIn
) -> None:
    stand_in.on(PATH, answer)
    with pytest.raises(ModelError, match=words) as caught:
        await ask(model, request_of(), stream=True)
    assert caught.value.code == code
    assert "sesame" not in f"{caught.value}{caught.value!r}"
    assert len(stand_in.received) == 1


async def test_a_whole_answer_that_is_none(model: AnthropicLlm, stand_in: StandIn) -> None:
    for answer in (
        Answer(["{not json"]),
        Answer(["<html>"], content_type="text/html"),
        Answer.json({"type": "message"}),
        Answer.json(message({"type": "tool_use", "id": "toolu_a"})),
        Answer.json(message({"type": "tool_use", "id": "toolu_a", "name": "f", "input": "text"})),
        Answer.json(message({"type": "text"})),
    ):
        stand_in.on(PATH, answer)
        with pytest.raises(ModelError) as caught:
            await ask(model, request_of())
        assert caught.value.code == "malformed"


async def test_the_pause_that_the_provider_asks_for(model: AnthropicLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, refusal(429, "slow down", "rate_limit_error", **{"retry-after": "7"}))
    with pytest.raises(ModelError) as caught:
        await ask(model, request_of())
    assert (caught.value.retryable, caught.value.retry_after) == (True, 7.0)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_silent_server_is_a_timeout(stream: bool, stand_in: StandIn, settings: Settings) -> None:
    model = claude(stand_in, settings)
    model.timeout = 0.2
    stand_in.on(PATH, events(*BEGUN, pause=0.5))
    with pytest.raises(ModelError) as caught:
        await ask(model, request_of(), stream=stream)
    assert (caught.value.code, caught.value.retryable) == ("timeout", True)


async def test_nobody_there_is_a_connection_error(model: AnthropicLlm, stand_in: StandIn) -> None:
    stand_in.close()
    with pytest.raises(ModelError) as caught:
        await ask(model, request_of())
    assert caught.value.code == "connection"


async def test_leaving_the_stream_closes_the_connection(model: AnthropicLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, events(wire.start(), *wire.text(0, *["x" * 10_000] * 500), pause=0.01))
    async with aclosing(model.generate_content_async(request_of(), stream=True)) as responses:
        async for _ in responses:
            break
    assert await asyncio.to_thread(stand_in.disconnected.wait, 5)
    await model.aclose()


async def test_cancelling_closes_the_connection(model: AnthropicLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, events(wire.start(), *wire.text(0, *["x" * 10_000] * 500), pause=0.01))
    task = asyncio.create_task(ask(model, request_of(), stream=True))
    await asyncio.sleep(0.3)
    assert stand_in.received
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stand_in.disconnected.wait, 5)


def test_one_instance_serves_one_event_loop_after_another(model: AnthropicLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole_text("hello"))
    for _ in range(3):
        assert text_of(asyncio.run(ask(model, request_of()))[0]) == "hello"


async def test_no_variable_of_the_sdk_counts(
    model: AnthropicLlm, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "somebody-elses")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "somebody-elses")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-forwarded: somebody-elses")
    monkeypatch.setenv("CLAUDE_CODE_USE_VERTEX", "1")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    stand_in.on(PATH, whole_text("hello"))
    assert text_of((await ask(model, request_of()))[0]) == "hello"
    headers = stand_in.received[0].headers
    assert "somebody-elses" not in str(headers)
    assert KEY in (headers.get("x-api-key", ""), headers.get("authorization", "").removeprefix("Bearer "))


async def test_built_by_its_name_it_reads_the_environment(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", stand_in.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", f" {KEY} ")
    stand_in.on(PATH, whole_text("hello"))
    assert text_of((await ask(AnthropicLlm(model="claude-haiku-4-5"), request_of()))[0]) == "hello"


async def test_the_key_is_nowhere(model: AnthropicLlm, stand_in: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    stand_in.on(PATH, whole_text("hello"))
    await ask(model, request_of())
    assert "sesame" not in f"{model!r}{model}{model.model_dump()}{caplog.text}"


class Memory(BaseModel):
    fact: str


async def test_a_result_of_live_objects(model: AnthropicLlm, stand_in: StandIn) -> None:
    call = types.FunctionCall(id="toolu_a", name="recall", args={})
    reply = types.Content(role="model", parts=[types.Part(function_call=call)])
    stand_in.on(PATH, whole_text("ok"))
    request = request_of()
    contents = [*request.contents, reply]
    result = types.FunctionResponse(id="toolu_a", name="recall", response={"result": [Memory(fact="likes tea")]})
    contents.append(types.Content(role="user", parts=[types.Part(function_response=result)]))
    await ask(model, LlmRequest(contents=contents, config=request.config))
    answered = stand_in.bodies(PATH)[0]["messages"][2]["content"][0]
    assert answered["content"] == '{"result": [{"fact": "likes tea"}]}'
