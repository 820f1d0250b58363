"""Gemini against a stand-in that speaks `generateContent` and `streamGenerateContent` over real HTTP."""

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
from syndicate.models.gemini import GeminiLlm
from syndicate.models.registry import create
from syndicate.models.signature import seal
from syndicate.settings import Settings
from tests.models.conftest import WEATHER, Answer, StandIn, ask, calls_of, request_of, text_of
from tests.models.wire import check

WHOLE = "/v1beta/models/gemini-2.5-flash:generateContent"
STREAM = "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
SCHEMA = {"type": "object", "properties": {"route": {"enum": ["a", "b"]}}, "required": ["route"]}
USAGE = {
    "promptTokenCount": 12,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 4,
    "cachedContentTokenCount": 8,
    "totalTokenCount": 21,
}


class Memory(BaseModel):
    fact: str


def gemini(
    stand_in: StandIn,
    settings: Settings,
    model_id: str = "gemini-2.5-flash",
    *,
    timeout: float = 600,
) -> GeminiLlm:
    values = {**settings.model_dump(), "google_genai_api_key": "sesame-1234", "google_gemini_base_url": stand_in.url}
    made = create(model_id, Settings.read(values, env_file=None))
    assert isinstance(made, GeminiLlm)
    made.timeout = timeout
    return made


@pytest.fixture
def model(stand_in: StandIn, settings: Settings) -> Iterator[GeminiLlm]:
    yield gemini(stand_in, settings)
    for request in stand_in.received:
        check(request.path, request.body)


def reply(*parts: dict[str, Any], finish: str | None = "STOP", usage: dict[str, int] | None = USAGE) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "modelVersion": "gemini-2.5-flash",
        **({"usageMetadata": usage} if usage else {}),
    }


def refusal(status: int, words: str, kind: str) -> Answer:
    return Answer.json({"error": {"code": status, "message": words, "status": kind}}, status)


async def test_one_response_with_text_thought_and_usage(model: GeminiLlm, stand_in: StandIn) -> None:
    stand_in.on(WHOLE, Answer.json(reply({"text": "hm", "thought": True}, {"text": "hello"})))
    (response,) = await ask(model, request_of())
    assert (text_of(response, thought=True), text_of(response)) == ("hm", "hello")
    assert response.usage_metadata is not None
    assert response.usage_metadata.candidates_token_count == 5
    assert response.usage_metadata.thoughts_token_count == 4
    assert stand_in.received[0].headers["x-goog-api-key"] == "sesame-1234"


async def test_deltas_then_the_whole(model: GeminiLlm, stand_in: StandIn) -> None:
    frames = [
        reply({"text": "hm", "thought": True}, finish=None, usage=None),
        reply({"text": "Hel"}, finish=None, usage=None),
        reply({"text": "lo"}),
    ]
    stand_in.on(STREAM, Answer.events(*frames))
    *deltas, whole = await ask(model, request_of(), stream=True)
    assert [text_of(delta) for delta in deltas if text_of(delta)] == ["Hel", "lo"]
    assert all(delta.partial for delta in deltas)
    assert (whole.partial, text_of(whole), text_of(whole, thought=True)) == (False, "Hello", "hm")
    assert whole.usage_metadata is not None
    assert whole.usage_metadata.total_token_count == 21
    assert whole.finish_reason is types.FinishReason.STOP


@pytest.mark.parametrize("stream", [False, True])
async def test_calls_have_ids_that_are_replayed(stream: bool, model: GeminiLlm, stand_in: StandIn) -> None:
    parts = [
        {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "get_weather", "args": {"city": "Rome"}}},
    ]
    answer = reply(*parts)
    stand_in.on(STREAM if stream else WHOLE, Answer.events(answer) if stream else Answer.json(answer))
    whole = (await ask(model, request_of(tools=[WEATHER]), stream=stream))[-1]
    first, second = calls_of(whole)
    assert (first.args, second.args) == ({"city": "Oslo"}, {"city": "Rome"})
    assert first.id != second.id
    assert not str(first.id).startswith("adk-")
    assert whole.content is not None
    assert whole.content.parts is not None
    assert whole.content.parts[0].thought_signature == seal("gemini", b"sig")


async def test_the_conversation_on_the_wire(model: GeminiLlm, stand_in: StandIn) -> None:
    stand_in.on(WHOLE, Answer.json(reply({"text": "ok"})))
    call = types.FunctionCall(id="call_a", name="recall", args={})
    answer = types.FunctionResponse(id="call_a", name="recall", response={"result": [Memory(fact="likes tea")]})
    contents = [
        types.Content(role="user", parts=[types.Part(text="hi")]),
        types.Content(role="model", parts=[types.Part(text="hm", thought=True)]),
        types.Content(role="model", parts=[types.Part(function_call=call, thought_signature=seal("gemini", b"sig"))]),
        types.Content(role="user", parts=[types.Part(function_response=answer)]),
    ]
    request = LlmRequest(contents=contents, config=types.GenerateContentConfig(system_instruction="be brief"))
    before = request.model_copy(deep=True)
    await ask(model, request)
    assert request.contents == before.contents
    (body,) = stand_in.bodies(WHOLE)
    assert body["systemInstruction"]["parts"] == [{"text": "be brief"}]
    assert [item["role"] for item in body["contents"]] == ["user", "model", "user"]
    assert body["contents"][1]["parts"][0]["thoughtSignature"] == "c2ln"
    assert body["contents"][2]["parts"][0]["functionResponse"]["response"] == {"result": [{"fact": "likes tea"}]}


async def test_every_generation_key_reaches_the_wire(model: GeminiLlm, stand_in: StandIn) -> None:
    stand_in.on(WHOLE, Answer.json(reply({"text": "ok"})))
    thinking = types.ThinkingConfig(thinking_budget=128, include_thoughts=True)
    await ask(model, request_of(temperature=0.0, top_k=7, max_output_tokens=9, seed=3, thinking_config=thinking))
    assert stand_in.bodies(WHOLE)[0]["generationConfig"] == {
        "temperature": 0.0,
        "topK": 7,
        "maxOutputTokens": 9,
        "seed": 3,
        "thinkingConfig": {"thinking_budget": 128, "include_thoughts": True},  # as the SDK spells it
    }


@pytest.mark.parametrize("schema", [SCHEMA, Memory, list[Memory]])
async def test_a_schema_is_sent_as_json_schema(schema: Any, model: GeminiLlm, stand_in: StandIn) -> None:
    stand_in.on(WHOLE, Answer.json(reply({"text": "{}"})))
    await ask(model, request_of(response_schema=schema))
    generation = stand_in.bodies(WHOLE)[0]["generationConfig"]
    assert generation["responseMimeType"] == "application/json"
    assert generation["responseJsonSchema"]["type"] in ("object", "array")
    assert "responseSchema" not in generation


@pytest.mark.parametrize(("model_id", "native"), [("gemini-2.5-flash", False), ("gemini-3-pro-preview", True)])
async def test_beside_tools_a_schema_is_native_where_the_model_can(
    model_id: str, native: bool, stand_in: StandIn, settings: Settings
) -> None:
    path = f"/v1beta/models/{model_id}:generateContent"
    stand_in.on(path, Answer.json(reply({"text": "{}"})))
    request = request_of(response_schema=SCHEMA, tools=[WEATHER], system_instruction="be brief")
    await ask(gemini(stand_in, settings, model_id), request)
    (body,) = stand_in.bodies(path)
    assert ("responseJsonSchema" in body.get("generationConfig", {})) is native
    assert ('"enum": ["a", "b"]' in body["systemInstruction"]["parts"][0]["text"]) is not native
    assert body["tools"][0]["functionDeclarations"][0]["name"] == "get_weather"


async def test_an_answer_cut_by_its_limit_is_an_answer(model: GeminiLlm, stand_in: StandIn) -> None:
    stand_in.on(WHOLE, Answer.json(reply({"text": "half"}, finish="MAX_TOKENS")))
    (response,) = await ask(model, request_of())
    assert (text_of(response), response.error_code) == ("half", None)
    assert response.finish_reason is types.FinishReason.MAX_TOKENS


async def test_a_blocked_prompt_is_an_answer_with_an_error(model: GeminiLlm, stand_in: StandIn) -> None:
    stand_in.on(WHOLE, Answer.json({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": USAGE}))
    (response,) = await ask(model, request_of())
    assert response.error_code == "SAFETY"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"), "auth"),
        (refusal(403, "sesame-1234 may not", "PERMISSION_DENIED"), "auth"),
        (refusal(404, "models/x is not found", "NOT_FOUND"), "unknown-model"),
        (refusal(400, "bad schema", "INVALID_ARGUMENT"), "bad-request"),
        (refusal(400, "The input token count (9) exceeds the maximum", "INVALID_ARGUMENT"), "context-too-long"),
        (refusal(429, "quota", "RESOURCE_EXHAUSTED"), "rate-limited"),
        (refusal(503, "The model is overloaded", "UNAVAILABLE"), "overloaded"),
        (refusal(500, "oops", "INTERNAL"), "server-error"),
        (Answer.events(reply({"text": "Hel"}, finish=None)), "stream-cut"),
        (Answer.events(reply({"text": "Hel"}, finish=None), drop=True), "stream-cut"),
        (Answer.events(), "stream-cut"),
        (Answer.events("{not json"), "malformed"),
    ],
)
async def test_failures_have_a_code_and_the_providers_words(
    answer: Answer, code: str, model: GeminiLlm, stand_in: StandIn
) -> None:
    stand_in.on(STREAM, answer)
    with pytest.raises(ModelError) as caught:
        await ask(model, request_of(), stream=True)
    assert caught.value.code == code
    assert "sesame" not in f"{caught.value}{caught.value!r}"
    assert len(stand_in.bodies(STREAM)) == 1


def test_the_pause_that_the_provider_asks_for(model: GeminiLlm, stand_in: StandIn) -> None:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}
    details = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure"}, retry]
    said = Answer.json({"error": {"code": 429, "message": "quota", "details": details}}, 429)
    in_header = refusal(429, "quota", "RESOURCE_EXHAUSTED")
    in_header.headers["retry-after"] = "7"
    for answer, pause in ((said, 17.5), (in_header, 7.0), (refusal(429, "quota", "RESOURCE_EXHAUSTED"), None)):
        stand_in.on(WHOLE, answer)
        with pytest.raises(ModelError) as caught:
            asyncio.run(ask(model, request_of()))
        assert (caught.value.code, caught.value.retry_after) == ("rate-limited", pause)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_silent_server_is_a_timeout(stream: bool, stand_in: StandIn, settings: Settings) -> None:
    model = gemini(stand_in, settings, timeout=0.2)
    stand_in.on(STREAM, Answer.events(reply({"text": "Hel"}, finish=None), reply({"text": "lo"}), pause=0.8))
    stand_in.on(WHOLE, Answer([" ", " "], pause=0.8))
    with pytest.raises(ModelError) as caught:
        await ask(model, request_of(), stream=stream)
    assert (caught.value.code, caught.value.retryable) == ("timeout", True)


async def test_nobody_there_is_a_connection_error(model: GeminiLlm, stand_in: StandIn) -> None:
    stand_in.close()
    with pytest.raises(ModelError) as caught:
        await ask(model, request_of())
    assert caught.value.code == "connection"


async def test_leaving_the_stream_closes_the_connection(model: GeminiLlm, stand_in: StandIn) -> None:
    stand_in.on(STREAM, Answer.events(*[reply({"text": "x" * 10_000}, finish=None)] * 500, pause=0.01))
    async with aclosing(model.generate_content_async(request_of(), stream=True)) as responses:
        async for _ in responses:
            break
    assert await asyncio.to_thread(stand_in.disconnected.wait, 5)
    await model.aclose()


def test_one_instance_serves_one_event_loop_after_another(model: GeminiLlm, stand_in: StandIn) -> None:
    stand_in.on(WHOLE, Answer.json(reply({"text": "hello"})))
    for _ in range(3):
        assert text_of(asyncio.run(ask(model, request_of()))[0]) == "hello"


async def test_never_vertex_whatever_the_environment_says(
    model: GeminiLlm, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "somebody-elses")
    stand_in.on(WHOLE, Answer.json(reply({"text": "hello"})))
    assert text_of((await ask(model, request_of()))[0]) == "hello"


async def test_cancelling_closes_the_connection(model: GeminiLlm, stand_in: StandIn) -> None:
    stand_in.on(STREAM, Answer.events(*[reply({"text": "x" * 10_000}, finish=None)] * 500, pause=0.01))
    task = asyncio.create_task(ask(model, request_of(), stream=True))
    await asyncio.sleep(0.3)
    assert stand_in.received
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stand_in.disconnected.wait, 5)


async def test_the_key_is_nowhere(model: GeminiLlm, stand_in: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    stand_in.on(WHOLE, Answer.json(reply({"text": "hello"})))
    await ask(model, request_of())
    assert "sesame" not in f"{model!r}{model}{model.model_dump()}{caplog.text}"
