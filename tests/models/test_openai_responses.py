"""OpenAI's models: what is asked and answered, against a stand-in that speaks the Responses wire over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import BaseModel

from syndicate.models.openai_client import Address
from syndicate.models.openai_responses import OpenAIResponsesLlm
from syndicate.models.server_tools import ServerTool
from syndicate.models.signature import seal
from syndicate.settings import Settings
from tests.models.aimock import Aimock
from tests.models.conftest import WEATHER, StandIn, ask, calls_of, request_of, text_of
from tests.models.responses_wire import (
    PATH,
    USAGE,
    Item,
    call,
    cited,
    events,
    item_events,
    message,
    reasoning,
    refusal,
    response,
    streamed,
    web_search,
    whole,
)
from tests.models.wire import check

SCHEMA = {"type": "object", "properties": {"route": {"enum": ["a", "b"]}}, "required": ["route"]}


@pytest.fixture
def model(stand_in: StandIn) -> OpenAIResponsesLlm:
    return model_at(stand_in)


def model_at(stand_in: StandIn, model_id: str = "gpt-5.2", **options: Any) -> OpenAIResponsesLlm:
    return OpenAIResponsesLlm.at(Address(f"{stand_in.url}/v1", "sesame-1234"), model_id, **options)


def bodies(stand_in: StandIn) -> list[Any]:
    """What was sent, every body held to the types of OpenAI's SDK."""
    sent = stand_in.bodies(PATH)
    for body in sent:
        check(PATH, body)
    return sent


def continued(request: LlmRequest, reply: LlmResponse, *results: Any) -> LlmRequest:
    """The request after a reply that called tools, and after their results."""
    answers = [
        types.FunctionResponse(id=made.id, name=made.name, response={"result": result})
        for made, result in zip(calls_of(reply), results, strict=True)
    ]
    result_parts = [types.Part(function_response=answer) for answer in answers]
    contents = [*request.contents, reply.content, types.Content(role="user", parts=result_parts)]
    return LlmRequest(contents=contents, config=request.config)


async def test_one_response_with_text_and_usage(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message("hello")))
    (reply,) = await ask(model, request_of())
    assert (text_of(reply), reply.partial) == ("hello", False)
    assert reply.finish_reason is types.FinishReason.STOP
    assert counts(reply) == (12, 5, 4, 8, 21)
    (body,) = bodies(stand_in)
    assert body == {
        "model": "gpt-5.2",
        "input": [{"type": "message", "role": "user", "content": "hello"}],
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
        "stream": False,
    }
    assert stand_in.received[0].headers["authorization"] == "Bearer sesame-1234"


def counts(reply: LlmResponse) -> tuple[int | None, ...]:
    """Tokens of prompt, answer, thoughts and cache, and all of them."""
    usage = reply.usage_metadata
    thoughts, cached = usage.thoughts_token_count, usage.cached_content_token_count
    return usage.prompt_token_count, usage.candidates_token_count, thoughts, cached, usage.total_token_count


async def test_reasoning_counted_apart_from_output_is_not_lost(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message("hello"), usage={**USAGE, "output_tokens": 5}))
    (reply,) = await ask(model, request_of())
    assert counts(reply) == (12, 5, 4, 8, 21)


async def test_a_server_that_counts_nothing_leaves_usage_unknown(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message("hello"), usage=None))
    assert (await ask(model, request_of()))[0].usage_metadata is None


async def test_deltas_then_the_whole(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, streamed(message("Hello")))
    *deltas, last = await ask(model, request_of(), stream=True)
    assert [text_of(delta) for delta in deltas] == ["Hel", "lo"]
    assert all(delta.partial for delta in deltas)
    assert (last.partial, text_of(last)) == (False, "Hello")
    assert counts(last) == (12, 5, 4, 8, 21)
    assert bodies(stand_in)[0]["stream"] is True


@pytest.mark.parametrize("stream", [False, True])
async def test_summaries_are_thoughts_apart_from_text(
    stream: bool, model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    items = [reasoning("rs_1", "Four, I think.", "Yes."), message("4")]
    stand_in.on(PATH, streamed(*items) if stream else whole(*items))
    *deltas, last = await ask(model, request_of(), stream=stream)
    assert (text_of(last, thought=True), text_of(last)) == ("Four, I think.\n\nYes.", "4")
    if stream:
        shown = "".join(text_of(delta, thought=True) for delta in deltas)
        assert (shown, "".join(text_of(delta) for delta in deltas)) == ("Four, I think.\n\nYes.", "4")


async def test_hidden_thoughts_are_not_asked_for_nor_handed_on(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, streamed(reasoning("rs_1", "hm"), call("call_a", "get_weather", '{"city": "Oslo"}')))
    request = request_of(tools=[WEATHER], thinking_config=types.ThinkingConfig(include_thoughts=False))
    *deltas, last = await ask(model, request, stream=True)
    assert (deltas, text_of(last, thought=True)) == ([], "")
    stand_in.on(PATH, whole(message("Rain.")))
    await ask(model, continued(request, last, "rain"))
    first, second = bodies(stand_in)
    assert "reasoning" not in first
    assert [item["type"] for item in second["input"]] == [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
    ]


async def test_think_tags_split_across_frames(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, streamed(message("<think>hm</think>4"), pieces=17))
    *deltas, last = await ask(model, request_of(), stream=True)
    assert (text_of(last, thought=True), text_of(last)) == ("hm", "4")
    assert "".join(text_of(delta) for delta in deltas) == "4"


@pytest.mark.parametrize("stream", [False, True])
async def test_parallel_calls_and_arguments_split_across_frames(
    stream: bool, model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    items = [
        call("call_a", "get_weather", '{"city": "Oslo"}'),
        call("call_b", "now", ""),
        call("call_c", "get_weather", '{"city": "Rome"}'),
    ]
    stand_in.on(PATH, streamed(*items, pieces=5) if stream else whole(*items))
    *deltas, last = await ask(model, request_of(tools=[WEATHER]), stream=stream)
    assert deltas == []
    assert [(made.id, made.name, made.args) for made in calls_of(last)] == [
        ("call_a", "get_weather", {"city": "Oslo"}),
        ("call_b", "now", {}),
        ("call_c", "get_weather", {"city": "Rome"}),
    ]
    (body,) = bodies(stand_in)
    assert body["parallel_tool_calls"] is True
    assert (body["tools"][0]["name"], body["tools"][0]["strict"]) == ("get_weather", False)


@pytest.mark.parametrize("stream", [False, True])
async def test_reasoning_is_sent_back_before_the_call_it_led_to(
    stream: bool, model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    items = [
        reasoning("rs_1", "Ask.", encrypted="one"),
        message("Let me see."),
        reasoning("rs_2", encrypted="two"),
        call("call_a", "get_weather", '{"city": "Oslo"}'),
        reasoning("rs_3", "And Rome.", encrypted="three"),
        call("call_b", "get_weather", '{"city": "Rome"}'),
    ]
    stand_in.on(PATH, streamed(*items) if stream else whole(*items))
    request = request_of(tools=[WEATHER])
    *_, first = await ask(model, request, stream=stream)
    stand_in.on(PATH, whole(message("Rain.")))
    await ask(model, continued(request, stored(first), "rain", "sun"))
    sent = bodies(stand_in)[1]["input"]
    assert sent == [
        {"type": "message", "role": "user", "content": "hello"},
        {"type": "reasoning", **reasoned("rs_1", "one", "Ask.")},
        {"type": "message", "role": "assistant", "content": "Let me see."},
        {"type": "reasoning", **reasoned("rs_2", "two")},
        {"type": "function_call", "call_id": "call_a", "name": "get_weather", "arguments": '{"city": "Oslo"}'},
        {"type": "reasoning", **reasoned("rs_3", "three", "And Rome.")},
        {"type": "function_call", "call_id": "call_b", "name": "get_weather", "arguments": '{"city": "Rome"}'},
        {"type": "function_call_output", "call_id": "call_a", "output": "rain"},
        {"type": "function_call_output", "call_id": "call_b", "output": "sun"},
    ]


def stored(reply: LlmResponse) -> LlmResponse:
    """The reply as a session gives it back."""
    return LlmResponse.model_validate_json(reply.model_dump_json(exclude_none=True))


def reasoned(identity: str, encrypted: str, *summaries: str) -> Item:
    summary = [{"type": "summary_text", "text": text} for text in summaries]
    return {"id": identity, "summary": summary, "encrypted_content": encrypted}


async def test_a_search_between_reasoning_and_call_is_sent_back_too(
    model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    items = [
        reasoning("rs_1"),
        web_search("oslo"),
        reasoning("rs_2"),
        call("call_a", "get_weather", '{"city": "Oslo"}'),
    ]
    stand_in.on(PATH, streamed(*items))
    request = request_of(tools=[WEATHER, ServerTool(kind="web_search")])
    *_, first = await ask(model, request, stream=True)
    stand_in.on(PATH, whole(message("Rain.")))
    await ask(model, continued(request, stored(first), "rain"))
    sent = [item.get("id") or item["type"] for item in bodies(stand_in)[1]["input"]]
    assert sent == ["message", "rs_1", "ws_1", "rs_2", "function_call", "function_call_output"]


async def test_only_the_running_turns_own_thinking_is_sent_back(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message("ok")))
    own = seal("openai", json.dumps({"type": "reasoning", **reasoned("rs_1", "one")}).encode())
    foreign = [seal("xai", own), b"\xff\x00raw", None]
    made = types.Part(function_call=types.FunctionCall(id="call_a", name="get_weather", args={}))
    thoughts = [types.Part(text="secret", thought=True, thought_signature=signature) for signature in foreign]
    answer = types.FunctionResponse(id="call_a", name="get_weather", response={"result": "rain"})
    contents = [
        types.Content(role="user", parts=[types.Part(text="weather?")]),
        types.Content(role="model", parts=[types.Part(thought=True, thought_signature=own), made]),
        types.Content(role="user", parts=[types.Part(function_response=answer)]),
        types.Content(role="model", parts=[types.Part(text="Rain.")]),
        types.Content(role="user", parts=[types.Part(text="and now?")]),
        types.Content(role="model", parts=[*thoughts, made]),
        types.Content(role="user", parts=[types.Part(function_response=answer)]),
    ]
    await ask(model, LlmRequest(contents=contents, config=types.GenerateContentConfig(tools=[WEATHER])))
    (body,) = bodies(stand_in)
    assert "reasoning" not in [item["type"] for item in body["input"]]
    assert "secret" not in json.dumps(body)


async def test_thinking_that_led_to_nothing_is_not_sent_back(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(call("call_a", "get_weather"), reasoning("rs_1")))
    request = request_of(tools=[WEATHER])
    (first,) = await ask(model, request)
    await ask(model, continued(request, first, "rain"))
    assert "reasoning" not in [item["type"] for item in bodies(stand_in)[1]["input"]]


class Facts(BaseModel):
    facts: list[str]


async def test_tool_results_of_any_kind_and_images(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message("ok")))
    made = types.FunctionCall(id="call_a", name="recall", args={})
    answer = types.FunctionResponse(id="call_a", name="recall", response={"result": Facts(facts=["rain"])})
    contents = [
        types.Content(role="user", parts=[types.Part(text="what?")]),
        types.Content(role="model", parts=[types.Part(function_call=made)]),
        types.Content(role="user", parts=[types.Part(function_response=answer)]),
        types.Content(role="model", parts=[types.Part(text="Rain.")]),
        types.Content(
            role="user",
            parts=[
                types.Part(text="and this?"),
                types.Part(inline_data=types.Blob(mime_type="image/png", data=b"png")),
                types.Part(file_data=types.FileData(mime_type="image/png", file_uri="https://images.example/a.png")),
            ],
        ),
    ]
    await ask(model, LlmRequest(contents=contents, config=types.GenerateContentConfig(system_instruction="be brief")))
    (body,) = bodies(stand_in)
    assert body["instructions"] == "be brief"
    assert body["input"][2] == {
        "type": "function_call_output",
        "call_id": "call_a",
        "output": '{"result": {"facts": ["rain"]}}',
    }
    assert body["input"][4]["content"] == [
        {"type": "input_text", "text": "and this?"},
        {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,cG5n"},
        {"type": "input_image", "detail": "auto", "image_url": "https://images.example/a.png"},
    ]


async def test_a_schema_is_enforced_beside_tools_too(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message('{"route": "a"}')))
    await ask(model, request_of(response_json_schema=SCHEMA, tools=[WEATHER]))
    (body,) = bodies(stand_in)
    closed = {
        "type": "object",
        "properties": {"route": {"type": "string", "enum": ["a", "b"]}},
        "required": ["route"],
        "additionalProperties": False,
    }
    assert body["text"] == {"format": {"type": "json_schema", "name": "answer", "schema": closed, "strict": True}}
    assert [tool["name"] for tool in body["tools"]] == ["get_weather"]


async def test_a_schema_that_strict_mode_cannot_say_goes_as_it_is(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message("{}")))
    optional = {"type": "object", "properties": {"route": {"type": "string"}}}
    await ask(model, request_of(response_json_schema=optional))
    assert bodies(stand_in)[0]["text"]["format"] == {
        "type": "json_schema",
        "name": "answer",
        "schema": optional,
        "strict": False,
    }


async def test_json_without_an_object_at_the_top_is_asked_for_in_words(
    model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    stand_in.on(PATH, whole(message("[]")))
    await ask(model, request_of(response_schema=list[str]))
    await ask(model, request_of(response_mime_type="application/json"))
    first, second = bodies(stand_in)
    assert "text" not in first
    assert '{"items": {"type": "string"}, "type": "array"}' in first["input"][0]["content"]
    assert second["text"] == {"format": {"type": "json_object"}}
    assert "JSON" in second["input"][0]["content"]


@pytest.mark.parametrize(
    ("mode", "names", "choice", "offered"),
    [
        ("AUTO", None, None, ["get_weather", "now"]),
        ("NONE", None, "none", ["get_weather", "now"]),
        ("ANY", None, "required", ["get_weather", "now"]),
        ("ANY", ["now"], {"type": "function", "name": "now"}, ["now"]),
        ("ANY", ["now", "get_weather"], "required", ["get_weather", "now"]),
    ],
)
async def test_a_forced_tool(
    mode: str, names: list[str] | None, choice: Any, offered: list[str], model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    stand_in.on(PATH, whole(message("ok")))
    now = types.Tool(function_declarations=[types.FunctionDeclaration(name="now")])
    calling = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode(mode), allowed_function_names=names)
    config = types.ToolConfig(function_calling_config=calling)
    await ask(model, request_of(tools=[WEATHER, now], tool_config=config))
    (body,) = bodies(stand_in)
    assert (body.get("tool_choice"), [tool["name"] for tool in body["tools"]]) == (choice, offered)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_refusal_is_the_answer(stream: bool, model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, streamed(refusal("I must not.")) if stream else whole(refusal("I must not.")))
    *deltas, last = await ask(model, request_of(), stream=stream)
    assert (text_of(last), last.finish_reason) == ("I must not.", types.FinishReason.SAFETY)
    assert [text_of(delta) for delta in deltas] == (["I must", " not."] if stream else [])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("reason", "finish", "code"),
    [
        ("max_output_tokens", types.FinishReason.MAX_TOKENS, None),
        ("content_filter", types.FinishReason.SAFETY, "SAFETY"),
        ("something_new", types.FinishReason.OTHER, None),
    ],
)
async def test_an_incomplete_answer_says_why(
    stream: bool, reason: str, finish: Any, code: str | None, model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    details: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    stand_in.on(
        PATH, streamed(message("Hel"), end="incomplete", **details) if stream else whole(message("Hel"), **details)
    )
    *_, last = await ask(model, request_of(), stream=stream)
    assert (text_of(last), last.finish_reason, last.error_code) == ("Hel", finish, code)
    assert counts(last) == (12, 5, 4, 8, 21)


@pytest.mark.parametrize("stream", [False, True])
async def test_searches_and_citations_are_kept_in_the_response(
    stream: bool, model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    sources = [cited("https://a.example", "A"), cited("https://b.example", "B"), cited("https://a.example", "A")]
    items = [reasoning("rs_1"), web_search("oslo weather"), message("Rain.", sources)]
    stand_in.on(PATH, streamed(*items) if stream else whole(*items))
    *_, last = await ask(
        model, request_of(tools=[ServerTool(kind="web_search"), ServerTool(kind="x_search")]), stream=stream
    )
    found = last.grounding_metadata
    assert [(chunk.web.uri, chunk.web.title) for chunk in found.grounding_chunks] == [
        ("https://a.example", "A"),
        ("https://b.example", "B"),
    ]
    assert found.web_search_queries == ["oslo weather"]
    (body,) = bodies(stand_in)
    assert body["tools"] == [{"type": "web_search"}]
    assert "parallel_tool_calls" not in body


async def test_a_reply_without_a_search_has_no_sources(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message("hello")))
    assert (await ask(model, request_of()))[0].grounding_metadata is None


async def test_a_server_that_sends_items_without_deltas_and_items_only_at_the_end(
    model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    items = [reasoning("rs_1", "hm"), message("Hello"), call("call_a", "now")]
    done = [event for event in item_events(items[:2]) if event["type"] == "response.output_item.done"]
    stand_in.on(PATH, events(*done, {"type": "response.completed", "response": response(*items)}))
    *deltas, last = await ask(model, request_of(), stream=True)
    assert [text_of(delta) + text_of(delta, thought=True) for delta in deltas] == ["hm", "Hello"]
    assert (text_of(last), len(calls_of(last))) == ("Hello", 1)


async def test_settings_make_the_adapter(
    settings: Settings, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.on(PATH, whole(message("hello")))
    values = {"openai_api_key": "sesame-5678", "openai_base_url": f"{stand_in.url}/v1"}
    await ask(OpenAIResponsesLlm.from_settings("gpt-5", Settings.read(values, env_file=None)), request_of())
    monkeypatch.setenv("OPENAI_API_KEY", "sesame-9")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{stand_in.url}/v1")
    await ask(OpenAIResponsesLlm(model="gpt-5"), request_of())
    keys = [request.headers["authorization"] for request in stand_in.received]
    assert keys == ["Bearer sesame-5678", "Bearer sesame-9"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_tool_loop_with_a_server_of_all_formats(stream: bool, aimock: Aimock) -> None:
    made = {"id": "call_a", "name": "get_weather", "arguments": '{"city": "Oslo"}'}
    aimock.reply("It rains.", match={"toolCallId": "call_a"})
    aimock.reply("", calls=[made], match={"userMessage": "weather"}, reasoning="I should look.")
    model = OpenAIResponsesLlm.at(Address(f"{aimock.url}/v1", "key"), "gpt-5.2")
    request = request_of("weather", tools=[WEATHER])
    *_, first = await ask(model, request, stream=stream)
    assert [(made.name, made.args) for made in calls_of(first)] == [("get_weather", {"city": "Oslo"})]
    assert text_of(first, thought=True) == "I should look."
    *_, last = await ask(model, continued(request, first, "rain"), stream=stream)
    assert (text_of(last), last.finish_reason) == ("It rains.", types.FinishReason.STOP)
    for body in aimock.bodies("/responses"):
        check(PATH, body)
