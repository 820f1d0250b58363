"""What Claude is asked: the conversation, tools, schemas, thinking and settings, as the bodies that go out say it."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types
from pydantic import BaseModel

from syndicate.models.anthropic import AnthropicLlm
from syndicate.models.server_tools import ServerTool
from syndicate.models.signature import seal
from tests.models.anthropic_wire import PATH, SAMPLING
from tests.models.conftest import WEATHER, request_of
from tests.models.wire import check

SCHEMA = {"type": "object", "properties": {"route": {"enum": ["a", "b"]}}, "required": ["route"]}
OLD, BUDGETED, EITHER, NEW = "claude-3-5-sonnet-20241022", "claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-5"
LOW, HIGH = types.ThinkingLevel.LOW, types.ThinkingLevel.HIGH


def body_of(request: LlmRequest, model_id: str = BUDGETED) -> dict[str, Any]:
    """The body, which the API could take."""
    before = request.model_copy(deep=True)
    body = AnthropicLlm(model=model_id).body(request)
    check(PATH, body, beyond=SAMPLING)
    assert request.contents == before.contents
    return body


def dropped(model_id: str, **config: Any) -> tuple[str, ...]:
    return AnthropicLlm(model=model_id).dropped_settings(request_of(**config))


def conversation(*contents: types.Content, **config: Any) -> LlmRequest:
    return LlmRequest(contents=list(contents), config=types.GenerateContentConfig(**config))


def user(*parts: types.Part | str) -> types.Content:
    return types.Content(
        role="user", parts=[types.Part(text=part) if isinstance(part, str) else part for part in parts]
    )


def model(*parts: types.Part | str) -> types.Content:
    return types.Content(
        role="model", parts=[types.Part(text=part) if isinstance(part, str) else part for part in parts]
    )


def call(identity: str | None, name: str = "get_weather", **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(id=identity, name=name, args=args))


def result(identity: str | None, name: str = "get_weather", **response: Any) -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=identity, name=name, response=response))


def own_thought(text: str = "hm") -> types.Part:
    sealed = seal("anthropic", b'{"type":"thinking","signature":"c2ln"}')
    return types.Part(text=text, thought=True, thought_signature=sealed)


FOREIGN = [
    types.Part(text="I wonder", thought=True),
    types.Part(text="I wonder", thought=True, thought_signature=b"\xff\xfe raw"),
    types.Part(thought=True, thought_signature=seal("gemini", b"\xff\xfe")),
    types.Part(text="I wonder", thought=True, thought_signature=seal("openai", b"{}")),
]


def blocks(body: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [(message["role"], [block["type"] for block in message["content"]]) for message in body["messages"]]


def test_the_conversation_on_the_wire() -> None:
    image = types.Part(inline_data=types.Blob(mime_type="image/png", data=b"png"))
    linked = types.Part(file_data=types.FileData(mime_type="image/png", file_uri="https://a.example/b.png"))
    request = conversation(
        user("weather?"),
        model("I look.", call("call_a", city="Oslo"), call("call_b")),
        user(result("call_b", error="no city"), result("call_a", result="rain")),
        model("Rain."),
        user("and this?", image, linked),
        system_instruction="be brief",
    )
    body = body_of(request)
    assert body["system"] == [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}]
    asked, called, answered, said, again = body["messages"]
    assert asked == {"role": "user", "content": [{"type": "text", "text": "weather?"}]}
    assert called["content"] == [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "call_a", "name": "get_weather", "input": {"city": "Oslo"}},
        {"type": "tool_use", "id": "call_b", "name": "get_weather", "input": {}},
    ]
    assert answered["content"] == [
        {"type": "tool_result", "tool_use_id": "call_b", "content": '{"error": "no city"}', "is_error": True},
        {"type": "tool_result", "tool_use_id": "call_a", "content": "rain"},
    ]
    assert said == {"role": "assistant", "content": [{"type": "text", "text": "Rain."}]}
    assert again["content"][:2] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
        {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
    ]


def test_messages_alternate_and_the_users_are_first_and_last() -> None:
    request = conversation(model("a summary"), user("one"), user("two"), model("  "), user("three"), model("so far"))
    body = body_of(request)
    assert blocks(body) == [
        ("user", ["text"]),
        ("assistant", ["text"]),
        ("user", ["text", "text"]),
        ("assistant", ["text"]),
        ("user", ["text"]),
    ]
    assert [block["text"] for block in body["messages"][2]["content"]] == ["one\n\ntwo", "three"]


@pytest.mark.parametrize("contents", [(), (user(" "),), (model(own_thought()),)])
def test_nothing_to_say_is_still_a_request(contents: tuple[types.Content, ...]) -> None:
    assert blocks(body_of(conversation(*contents))) == [("user", ["text"])]


def test_calls_and_results_are_always_in_pairs() -> None:
    request = conversation(
        user("go"),
        model(call("a"), call("b")),
        user(result("a", result="rain"), "by the way"),
        user(result("b", result="sun")),
        model(call("c")),
        user("never mind"),
        user(result("gone", result="fog")),
    )
    body = body_of(request)
    assert blocks(body)[1:3] == [
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result", "text"]),
    ]
    assert body["messages"][4]["content"][0]["is_error"] is True


def test_ids_of_other_models_become_such_as_the_api_takes() -> None:
    request = conversation(
        user("go"),
        model(call("call|1.x"), call(None, "now")),
        user(result("call|1.x", result="rain"), result(None, "now", result="noon")),
        model(call("call|1.x"), call(None, "now")),
        user(result("call|1.x", result="sun"), result(None, "now", result="night")),
    )
    body = body_of(request)
    used = [block["id"] for message in body["messages"] for block in message["content"] if block["type"] == "tool_use"]
    assert len(set(used)) == 4
    assert all(identity.replace("_", "").isalnum() for identity in used)


@pytest.mark.parametrize("thought", FOREIGN)
@pytest.mark.parametrize("config", [{}, {"thinking_config": types.ThinkingConfig(thinking_budget=2048)}])
def test_other_models_thoughts_never_reach_it(thought: types.Part, config: dict[str, Any]) -> None:
    foreign = types.Part(function_call=call("a").function_call, thought_signature=b"\xff\xfe raw")
    request = conversation(
        user("go"), model(thought, foreign), user(result("a", result="rain")), tools=[WEATHER], **config
    )
    body = body_of(request)
    assert blocks(body)[1] == ("assistant", ["tool_use"])
    assert "wonder" not in str(body)
    # A budget would be refused in the middle of a turn that did not begin with its own thinking.
    assert body.get("thinking") == ({"type": "disabled"} if config else None)


def test_its_own_thinking_is_sent_back_in_the_running_turn_only() -> None:
    thinks = types.ThinkingConfig(thinking_budget=2048)
    request = conversation(
        user("go"),
        model(own_thought("old"), call("a")),
        user(result("a", result="rain")),
        model(own_thought("old"), "Rain."),
        user("again"),
        model(own_thought("new"), "I look.", call("b")),
        user(result("b", result="sun")),
        model(call("c")),
        user(result("c", result="sun")),
        tools=[WEATHER],
        thinking_config=thinks,
    )
    body = body_of(request)
    assert "old" not in str(body)
    assert body["messages"][5]["content"][0] == {"type": "thinking", "thinking": "new", "signature": "c2ln"}
    assert body["thinking"]["type"] == "enabled"
    request.config.thinking_config = types.ThinkingConfig(thinking_budget=0)
    assert "new" not in str(body_of(request))


def test_what_comes_again_is_marked_to_be_cached() -> None:
    body = body_of(
        conversation(user("go"), model(call("a")), user(result("a", result="rain")), tools=[WEATHER, WEATHER])
    )
    marked = {"type": "ephemeral"}
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, marked]
    assert body["messages"][-1]["content"][-1]["cache_control"] == marked
    assert str(body).count("ephemeral") == 2


@pytest.mark.parametrize(
    ("mode", "names", "choice"),
    [
        ("AUTO", None, None),
        ("NONE", None, {"type": "none"}),
        ("ANY", None, {"type": "any"}),
        ("ANY", ["get_weather"], {"type": "tool", "name": "get_weather"}),
    ],
)
def test_which_tool_to_call(mode: Any, names: list[str] | None, choice: dict[str, str] | None) -> None:
    calling = types.FunctionCallingConfig(mode=mode, allowed_function_names=names)
    forced = types.ToolConfig(function_calling_config=calling)
    assert body_of(request_of(tools=[WEATHER], tool_config=forced)).get("tool_choice") == choice
    assert "tool_choice" not in body_of(request_of(tool_config=forced))
    thinks = types.ThinkingConfig(thinking_budget=-1)
    thinking = {"tools": [WEATHER], "tool_config": forced, "thinking_config": thinks}
    assert body_of(request_of(**thinking)).get("tool_choice") == (choice if mode == "NONE" else None)
    assert bool(dropped(BUDGETED, **thinking)) is (mode == "ANY")


def test_a_conversation_with_calls_names_tools_even_when_none_are_on_offer() -> None:
    body = body_of(conversation(user("go"), model(call("a"), call("b")), user(result("a", result="x"))))
    assert [(tool["name"], tool["input_schema"]) for tool in body["tools"]] == [("get_weather", {"type": "object"})]
    assert body["tool_choice"] == {"type": "none"}


def test_a_search_beside_other_tools() -> None:
    tools = body_of(request_of(tools=[WEATHER, ServerTool(kind="web_search")]))["tools"]
    assert [tool["name"] for tool in tools] == ["get_weather", "web_search"]
    assert "tools" not in body_of(request_of(tools=[ServerTool(kind="google_search"), ServerTool(kind="x_search")]))
    assert "tools" not in body_of(request_of(tools=[ServerTool(kind="web_search")]), "claude-3-haiku-20240307")


class Leaf(BaseModel):
    name: str
    size: int | None = None


class Tree(BaseModel):
    leaves: list[Tree] = []


@pytest.mark.parametrize("schema", [SCHEMA, Leaf, list[Leaf], types.Schema(type=types.Type.STRING, nullable=True)])
@pytest.mark.parametrize("tools", [[], [WEATHER]])
def test_a_schema_is_native_with_tools_and_without(schema: Any, tools: list[types.Tool]) -> None:
    body = body_of(request_of(response_schema=schema, tools=tools))
    form = body["output_config"]["format"]
    assert form["type"] == "json_schema"
    assert "system" not in body
    assert objects_are_closed(form["schema"])


def objects_are_closed(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(map(objects_are_closed, schema))
    if not isinstance(schema, dict):
        return True
    closed = schema.get("type") != "object" or schema.get("additionalProperties") is False
    return closed and all(map(objects_are_closed, schema.values()))


def test_the_fitted_schema_means_the_same() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}, "t": {"type": ["string", "null"], "description": "why"}},
        "required": ["n"],
    }
    fitted = body_of(request_of(response_json_schema=schema))["output_config"]["format"]["schema"]
    assert fitted["properties"]["n"] == {"type": "integer", "description": "{minimum: 1}"}
    assert fitted["properties"]["t"] == {"description": "why", "anyOf": [{"type": "string"}, {"type": "null"}]}
    assert (fitted["required"], fitted["additionalProperties"]) == (["n"], False)


@pytest.mark.parametrize(
    ("schema", "model_id"),
    [
        (SCHEMA, OLD),
        (SCHEMA, "claude-opus-4-1-20250805"),
        (SCHEMA, "claude-3-7-sonnet-latest"),
        (Tree, BUDGETED),
        (dict[str, int], BUDGETED),
        ({"type": "object"}, BUDGETED),
        ({"properties": {"any": {}}, "type": "object"}, BUDGETED),
        ({"type": "array", "items": {"$ref": "#/definitions/x"}}, BUDGETED),
        ({"type": "object", "properties": {"self": {"$ref": "#"}}}, BUDGETED),
    ],
)
def test_a_schema_that_the_api_cannot_hold_it_to_is_put_in_words(schema: Any, model_id: str) -> None:
    body = body_of(request_of(response_schema=schema, system_instruction="be brief"), model_id)
    assert "output_config" not in body
    assert body["system"][0]["text"].startswith("be brief\n\n")
    assert "JSON Schema" in body["system"][0]["text"]


def test_beside_a_search_a_schema_is_put_in_words() -> None:
    body = body_of(request_of(response_schema=SCHEMA, tools=[ServerTool(kind="web_search")]))
    assert "output_config" not in body
    assert '"enum": ["a", "b"]' in body["system"][0]["text"]


def test_json_of_any_shape_is_asked_for_in_words() -> None:
    assert "JSON" in body_of(request_of(response_mime_type="application/json"))["system"][0]["text"]


ENABLED = {"type": "enabled", "display": "summarized"}
ADAPTIVE = {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize(
    ("model_id", "config", "thinking", "effort"),
    [
        (BUDGETED, {}, None, None),
        (BUDGETED, {"thinking_budget": 2048}, {**ENABLED, "budget_tokens": 2048}, None),
        (BUDGETED, {"thinking_budget": 5}, {**ENABLED, "budget_tokens": 1024}, None),
        (BUDGETED, {"thinking_budget": -1}, {**ENABLED, "budget_tokens": 8192}, None),
        (BUDGETED, {"thinking_budget": 0}, {"type": "disabled"}, None),
        (BUDGETED, {"thinking_level": HIGH}, {**ENABLED, "budget_tokens": 16_384}, None),
        (BUDGETED, {"include_thoughts": True}, {**ENABLED, "budget_tokens": 8192}, None),
        (BUDGETED, {"include_thoughts": False}, None, None),
        ("claude-opus-4-5", {"thinking_level": LOW}, {**ENABLED, "budget_tokens": 4096}, "low"),
        (EITHER, {"thinking_budget": 2048}, {**ENABLED, "budget_tokens": 2048}, None),
        (EITHER, {"thinking_budget": -1}, ADAPTIVE, None),
        (EITHER, {"thinking_level": HIGH}, ADAPTIVE, "high"),
        (NEW, {"thinking_budget": -1}, ADAPTIVE, None),
        (NEW, {"thinking_budget": 2048}, ADAPTIVE, None),
        (NEW, {"thinking_budget": 0}, {"type": "disabled"}, None),
        (NEW, {"thinking_budget": -1, "include_thoughts": False}, {"type": "adaptive", "display": "omitted"}, None),
        (NEW, {"thinking_level": types.ThinkingLevel.MINIMAL}, ADAPTIVE, "low"),
        (OLD, {"thinking_budget": 2048}, None, None),
        (OLD, {"thinking_budget": 0}, None, None),
        ("claude-mythos-5", {"thinking_budget": 0}, None, None),
    ],
)
def test_how_much_it_is_to_think(
    model_id: str, config: dict[str, Any], thinking: dict[str, Any] | None, effort: str | None
) -> None:
    body = body_of(request_of(thinking_config=types.ThinkingConfig(**config)), model_id)
    assert body.get("thinking") == thinking
    assert body.get("output_config", {}).get("effort") == effort


@pytest.mark.parametrize(
    ("model_id", "budget", "limit", "most"),
    [
        (BUDGETED, None, None, 32_000),
        (BUDGETED, None, 100, 100),
        (BUDGETED, 2048, 4000, 4000),
        (BUDGETED, 2048, 100, 2148),
        (BUDGETED, 2048, None, 34_048),
        (BUDGETED, 60_000, None, 64_000),
        (BUDGETED, 64_000, 9, 64_001),
        (OLD, None, None, 8192),
        ("claude-3-haiku-20240307", None, None, 4096),
    ],
)
def test_the_limit_of_an_answer_is_above_its_budget(
    model_id: str, budget: int | None, limit: int | None, most: int
) -> None:
    thinks = types.ThinkingConfig(thinking_budget=budget) if budget else None
    assert body_of(request_of(thinking_config=thinks, max_output_tokens=limit), model_id)["max_tokens"] == most


ALL = {"temperature": 0.5, "top_p": 0.9, "top_k": 7.0}


@pytest.mark.parametrize(
    ("model_id", "config", "sent", "names"),
    [
        (OLD, ALL, {"temperature": 0.5, "top_p": 0.9, "top_k": 7}, []),
        (BUDGETED, ALL, {"temperature": 0.5, "top_k": 7}, ["topP"]),
        (BUDGETED, {"top_p": 0.9}, {"top_p": 0.9}, []),
        (BUDGETED, {"temperature": 0.0}, {"temperature": 0.0}, []),
        (BUDGETED, {"temperature": 1.7}, {"temperature": 1.0}, ["temperature"]),
        (
            BUDGETED,
            {**ALL, "thinking_config": types.ThinkingConfig(thinking_budget=-1)},
            {},
            ["temperature", "topP", "topK"],
        ),
        (NEW, ALL, {}, ["temperature", "topP", "topK"]),
        (NEW, {"thinking_config": types.ThinkingConfig(thinking_budget=9000)}, {}, ["thinkingBudget"]),
        (OLD, {"thinking_config": types.ThinkingConfig(thinking_budget=9000)}, {}, ["thinkingConfig"]),
        ("claude-mythos-5", {"thinking_config": types.ThinkingConfig(thinking_budget=0)}, {}, ["thinkingBudget"]),
        (
            BUDGETED,
            {"thinking_config": types.ThinkingConfig(thinking_budget=9000, thinking_level=LOW)},
            {},
            ["thinkingLevel"],
        ),
        (
            BUDGETED,
            {
                "seed": 1,
                "presence_penalty": 0.1,
                "frequency_penalty": 0.1,
                "candidate_count": 2,
                "response_mime_type": "text/x",
            },
            {},
            ["seed", "presencePenalty", "frequencyPenalty", "candidateCount", "responseMimeType"],
        ),
        (BUDGETED, {"candidate_count": 1, "response_mime_type": "text/plain"}, {}, []),
        (BUDGETED, {"safety_settings": [types.SafetySetting(category=None, threshold=None)]}, {}, ["safetySettings"]),
    ],
)
def test_each_setting_is_sent_or_named(
    model_id: str, config: dict[str, Any], sent: dict[str, Any], names: list[str]
) -> None:
    body = body_of(request_of(**config), model_id)
    assert {name: body[name] for name in SAMPLING if name in body} == sent
    assert [name.split()[0] for name in dropped(model_id, **config)] == names


def test_stop_sequences_of_blank_space_are_left_out() -> None:
    assert body_of(request_of(stop_sequences=["END", "\n"]))["stop_sequences"] == ["END"]
    assert "stop_sequences" not in body_of(request_of(stop_sequences=["\n"]))
