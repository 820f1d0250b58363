"""Chat completions against a stand-in that speaks the wire format over real HTTP."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter

from syndicate.errors import ModelError
from syndicate.models.openai_compatible import Address, OpenAICompatibleLlm
from tests.models.conftest import WEATHER, Answer, StandIn, ask, calls_of, request_of, text_of

PATH = "/v1/chat/completions"
SCHEMA = {"type": "object", "properties": {"route": {"enum": ["a", "b"]}}, "required": ["route"]}
USAGE = {
    "prompt_tokens": 12,
    "completion_tokens": 9,
    "total_tokens": 21,
    "prompt_tokens_details": {"cached_tokens": 8},
    "completion_tokens_details": {"reasoning_tokens": 4},
}


@pytest.fixture
def model(stand_in: StandIn) -> OpenAICompatibleLlm:
    return OpenAICompatibleLlm.at(Address(f"{stand_in.url}/v1", "sesame-1234"), "ollama/m", wire_model="m")


def completion(finish: str | None = "stop", usage: dict[str, Any] | None = USAGE, **message: Any) -> Answer:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return Answer.json(body)


def chunk(finish: str | None = None, usage: dict[str, Any] | None = None, **delta: Any) -> dict[str, Any]:
    choices = [] if usage else [{"index": 0, "delta": delta, "finish_reason": finish}]
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": choices, "usage": usage}


def piece(
    index: int | None, identity: str | None = None, name: str | None = None, arguments: str = ""
) -> dict[str, Any]:
    return {"index": index, "id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def streamed(*chunks: Any, **options: Any) -> Answer:
    return Answer.events(*chunks, "[DONE]", **options)


async def test_one_response_with_text_and_usage(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, completion(content="hello"))
    (response,) = await ask(model, request_of())
    assert text_of(response) == "hello"
    assert response.finish_reason is types.FinishReason.STOP
    assert response.usage_metadata is not None
    assert response.usage_metadata.prompt_token_count == 12
    assert response.usage_metadata.candidates_token_count == 5
    assert response.usage_metadata.thoughts_token_count == 4
    assert response.usage_metadata.cached_content_token_count == 8
    assert stand_in.received[0].headers["authorization"] == "Bearer sesame-1234"


async def test_a_server_that_counts_nothing_leaves_usage_unknown(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, completion(content="hello", usage=None))
    assert (await ask(model, request_of()))[0].usage_metadata is None


async def test_deltas_then_the_whole(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, streamed(chunk(content="Hel"), chunk(content="lo"), chunk("stop"), chunk(usage=USAGE)))
    *deltas, whole = await ask(model, request_of(), stream=True)
    assert [text_of(delta) for delta in deltas] == ["Hel", "lo"]
    assert all(delta.partial for delta in deltas)
    assert (whole.partial, text_of(whole)) == (False, "Hello")
    assert whole.usage_metadata is not None
    assert whole.usage_metadata.total_token_count == 21
    assert stand_in.bodies(PATH)[0]["stream_options"] == {"include_usage": True}


async def test_thinking_in_a_field_of_its_own_and_in_tags(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    frames = [chunk(reasoning_content="hm"), chunk(content="<thi"), chunk(content="nk>so</think>"), chunk(content="4")]
    stand_in.on(PATH, streamed(*frames, chunk("stop")))
    *deltas, whole = await ask(model, request_of(), stream=True)
    assert text_of(whole, thought=True) == "hmso"
    assert text_of(whole) == "4"
    assert "".join(text_of(delta) for delta in deltas) == "4"
    stand_in.on(PATH, completion(content="4", reasoning="hm"))
    (response,) = await ask(model, request_of())
    assert (text_of(response, thought=True), text_of(response)) == ("hm", "4")


async def test_parallel_calls_whose_arguments_are_split_across_frames(
    model: OpenAICompatibleLlm, stand_in: StandIn
) -> None:
    frames = [
        chunk(tool_calls=[piece(0, "call_a", "get_weather", '{"ci')]),
        chunk(tool_calls=[piece(0, arguments='ty": "Oslo"}')]),
        chunk(tool_calls=[piece(1, "call_b", "now", ""), piece(2, "call_c", "get_weather", '{"city": "Rome"}')]),
        chunk("tool_calls"),
    ]
    stand_in.on(PATH, streamed(*frames))
    (whole,) = await ask(model, request_of(tools=[WEATHER]), stream=True)
    calls = [(call.id, call.name, call.args) for call in calls_of(whole)]
    assert calls == [
        ("call_a", "get_weather", {"city": "Oslo"}),
        ("call_b", "now", {}),
        ("call_c", "get_weather", {"city": "Rome"}),
    ]


async def test_a_server_that_does_not_number_its_calls(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    frames = [
        chunk(tool_calls=[piece(None, "a", "f", '{"x": 1}')]),
        chunk(tool_calls=[piece(None, "b", "g", '{"y"')]),
        chunk(tool_calls=[piece(None, arguments=": 2}")]),
    ]
    stand_in.on(PATH, streamed(*frames, chunk("tool_calls")))
    (whole,) = await ask(model, request_of(), stream=True)
    assert [(call.id, call.args) for call in calls_of(whole)] == [("a", {"x": 1}), ("b", {"y": 2})]


async def test_a_server_that_numbers_every_call_zero(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    frames = [chunk(tool_calls=[piece(0, identity, "f", '{"x": 1}')]) for identity in ("a", "b")]
    stand_in.on(PATH, streamed(*frames, chunk("tool_calls")))
    (whole,) = await ask(model, request_of(), stream=True)
    assert [(call.id, call.args) for call in calls_of(whole)] == [("a", {"x": 1}), ("b", {"x": 1})]


async def test_the_conversation_as_chat_messages(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, completion(content="ok"))
    call = types.FunctionCall(id="call_a", name="get_weather", args={"city": "Oslo"})
    answer = types.FunctionResponse(id="call_a", name="get_weather", response={"result": "rain"})
    contents = [
        types.Content(role="user", parts=[types.Part(text="weather?")]),
        types.Content(role="model", parts=[types.Part(text="I wonder", thought=True), types.Part(function_call=call)]),
        types.Content(role="user", parts=[types.Part(function_response=answer)]),
        types.Content(role="model", parts=[types.Part(text="Rain.")]),
        types.Content(
            role="user",
            parts=[
                types.Part(text="and this?"),
                types.Part(inline_data=types.Blob(mime_type="image/png", data=b"png")),
            ],
        ),
    ]
    config = types.GenerateContentConfig(system_instruction="be brief", tools=[WEATHER])
    await ask(model, LlmRequest(contents=contents, config=config))
    (body,) = stand_in.bodies(PATH)
    assert body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_a",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "rain"},
        {"role": "assistant", "content": "Rain."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "and this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
            ],
        },
    ]
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(body["messages"])
    TypeAdapter(list[ChatCompletionToolParam]).validate_python(body["tools"])
    assert body["model"] == "m"


async def test_every_generation_key_reaches_the_wire(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, completion(content="ok"))
    thinking = types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW)
    config = {
        "temperature": 0.0,
        "top_p": 0.5,
        "top_k": 7,
        "max_output_tokens": 9,
        "seed": 3,
        "thinking_config": thinking,
    }
    await ask(model, request_of(**config, stop_sequences=["END"], presence_penalty=0.1, frequency_penalty=0.2))
    (body,) = stand_in.bodies(PATH)
    del body["messages"]
    assert body == {
        "model": "m",
        "temperature": 0.0,
        "top_p": 0.5,
        "top_k": 7,
        "max_tokens": 9,
        "seed": 3,
        "stop": ["END"],
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "reasoning_effort": "low",
        "stream": False,
    }


async def test_a_schema_is_enforced_by_the_server(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, completion(content='{"route": "a"}'))
    await ask(model, request_of(response_schema=SCHEMA))
    await ask(model, request_of(response_mime_type="application/json"))
    first, second = stand_in.bodies(PATH)
    assert first["response_format"] == {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    assert second["response_format"] == {"type": "json_object"}


async def test_beside_tools_a_schema_is_put_in_words(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, completion(content="ok"))
    await ask(model, request_of(response_schema=SCHEMA, tools=[WEATHER], system_instruction="be brief"))
    (body,) = stand_in.bodies(PATH)
    assert "response_format" not in body
    assert body["messages"][0]["content"].startswith("be brief\n\n")
    assert json.dumps(SCHEMA) in body["messages"][0]["content"]


@pytest.mark.parametrize(
    ("names", "choice", "offered"),
    [(None, "required", 2), (["now"], "required", 1), (["now", "get_weather"], "required", 2)],
)
async def test_a_forced_tool(
    names: list[str] | None, choice: str, offered: int, model: OpenAICompatibleLlm, stand_in: StandIn
) -> None:
    stand_in.on(PATH, completion(content="ok"))
    now = types.Tool(function_declarations=[types.FunctionDeclaration(name="now")])
    calling = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY, allowed_function_names=names)
    tool_config = types.ToolConfig(function_calling_config=calling)
    await ask(model, request_of(tools=[WEATHER, now], tool_config=tool_config))
    (body,) = stand_in.bodies(PATH)
    assert (body["tool_choice"], len(body["tools"])) == (choice, offered)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer.json({"error": {"message": "bad key sesame-1234"}}, 401), "auth"),
        (Answer.json({"error": {"message": "no such model"}}, 404), "unknown-model"),
        (Answer.json({"error": {"message": "too long", "type": "exceed_context_size_error"}}, 400), "context-too-long"),
        (Answer.json({"error": {"message": "wrong"}}, 400), "bad-request"),
        (Answer.json({"error": {"message": "slow down"}}, 429), "rate-limited"),
        (Answer.json({"error": {"message": "busy"}}, 503), "overloaded"),
        (Answer(["<html>oops</html>"], 502, "text/html"), "server-error"),
        (Answer.events(chunk(content="Hel")), "stream-cut"),
        (Answer.events(chunk(content="Hel"), drop=True), "stream-cut"),
        (Answer.events("{not json"), "malformed"),
        (Answer.events({"error": {"message": "the model has crashed", "code": 500}}), "server-error"),
    ],
)
async def test_failures_have_a_code_and_the_providers_words(
    answer: Answer, code: str, model: OpenAICompatibleLlm, stand_in: StandIn
) -> None:
    stand_in.on(PATH, answer)
    with pytest.raises(ModelError) as caught:
        await ask(model, request_of(), stream=True)
    assert caught.value.code == code
    assert caught.value.model == "ollama/m"
    assert "sesame" not in f"{caught.value}{caught.value!r}"
    assert len(stand_in.bodies(PATH)) == 1


async def test_nobody_there_is_a_connection_error(stand_in: StandIn) -> None:
    stand_in.close()
    model = OpenAICompatibleLlm.at(Address(f"{stand_in.url}/v1", "key"), "ollama/m")
    with pytest.raises(ModelError, match=stand_in.url) as caught:
        await ask(model, request_of())
    assert caught.value.code == "connection"
    assert caught.value.retryable


async def test_leaving_the_stream_closes_the_connection(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, streamed(*[chunk(content="x" * 10_000)] * 500, pause=0.01))
    async with aclosing(model.generate_content_async(request_of(), stream=True)) as responses:
        async for _ in responses:
            break
    assert await asyncio.to_thread(stand_in.disconnected.wait, 5)
    await model.aclose()


async def test_cancelling_closes_the_connection(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, streamed(*[chunk(content="x" * 10_000)] * 500, pause=0.01))
    task = asyncio.create_task(ask(model, request_of(), stream=True))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stand_in.disconnected.wait, 5)


def test_one_instance_serves_one_event_loop_after_another(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, completion(content="hello"))
    for _ in range(3):
        (response,) = asyncio.run(ask(model, request_of()))
        assert text_of(response) == "hello"


async def test_calls_at_the_same_time_do_not_mix(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, lambda received: completion(content=received.body["messages"][0]["content"]))
    requests = [request_of(f"message {number}") for number in range(8)]
    answers = await asyncio.gather(*(first_text(model, request) for request in requests))
    assert answers == [f"message {number}" for number in range(8)]
    await model.aclose()


async def first_text(model: OpenAICompatibleLlm, request: LlmRequest) -> str:
    return "".join([text_of(response) async for response in model.generate_content_async(request)])


async def test_the_pause_that_a_server_asks_for(model: OpenAICompatibleLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, Answer(['{"error": {"message": "slow down"}}'], 429, headers={"Retry-After": "7"}))
    with pytest.raises(ModelError) as caught:
        await ask(model, request_of())
    assert (caught.value.code, caught.value.retry_after) == ("rate-limited", 7)


@pytest.mark.parametrize(
    ("config", "effort"),
    [({"thinking_budget": 0}, "none"), ({"thinking_level": "MINIMAL"}, "low"), ({"thinking_budget": 64}, None)],
)
def test_how_hard_to_think(config: dict[str, Any], effort: str | None, model: OpenAICompatibleLlm) -> None:
    assert model.body(request_of(thinking_config=types.ThinkingConfig(**config))).get("reasoning_effort") == effort


def test_settings_without_an_equivalent_are_named(model: OpenAICompatibleLlm) -> None:
    request = request_of(thinking_config=types.ThinkingConfig(thinking_budget=64), top_k=3)
    assert model.dropped_settings(request) == ("thinkingBudget",)
