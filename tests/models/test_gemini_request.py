"""What each generation of Gemini is asked, and what it wants back of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from syndicate.models.gemini import GeminiLlm
from syndicate.models.server_tools import ServerTool
from syndicate.models.signature import seal
from syndicate.settings import Settings
from tests.models.conftest import WEATHER, Answer, StandIn, ask, calls_of, request_of, text_of
from tests.models.test_gemini import SCHEMA, gemini, reply
from tests.models.wire import check

SECOND, THIRD, PRO = "gemini-2.5-flash", "gemini-3-flash-preview", "gemini-3-pro-preview"
FUNCTION = {"functionCall": {"id": "call_a", "name": "get_weather", "args": {"city": "Oslo"}}}
UNSIGNED = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
LOW, MEDIUM, HIGH = types.ThinkingLevel.LOW, types.ThinkingLevel.MEDIUM, types.ThinkingLevel.HIGH


@pytest.fixture(autouse=True)
def _requests_are_well_formed(stand_in: StandIn) -> Iterator[None]:
    yield
    for request in stand_in.received:
        check(request.path, request.body)


def path(model_id: str, *, stream: bool = False) -> str:
    return f"/v1beta/models/{model_id}:{'streamGenerateContent' if stream else 'generateContent'}"


async def body_of(stand_in: StandIn, settings: Settings, model_id: str, request: LlmRequest) -> dict[str, Any]:
    """The body that a model is sent."""
    stand_in.on(path(model_id), Answer.json(reply({"text": "ok"})))
    await ask(gemini(stand_in, settings, model_id), request)
    return stand_in.bodies(path(model_id))[-1]


def parts_of(body: dict[str, Any], index: int) -> list[types.Part]:
    """The parts of a content, however the SDK spells their keys."""
    return [types.Part.model_validate(part) for part in body["contents"][index]["parts"]]


def dropped(model_id: str, **config: Any) -> tuple[str, ...]:
    return GeminiLlm(model=model_id).dropped_settings(request_of(**config))


@pytest.mark.parametrize("kind", ["web_search", "google_search"])
@pytest.mark.parametrize("model_id", [SECOND, THIRD])
async def test_a_search_alone(kind: Any, model_id: str, stand_in: StandIn, settings: Settings) -> None:
    tools = [ServerTool(kind=kind), ServerTool(kind="x_search")]
    body = await body_of(stand_in, settings, model_id, request_of(tools=tools))
    assert body["tools"] == [{"googleSearch": {}}]
    assert "toolConfig" not in body
    assert dropped(model_id, tools=tools) == ()


async def test_a_search_beside_tools_where_the_model_can(stand_in: StandIn, settings: Settings) -> None:
    tools = [WEATHER, ServerTool(kind="web_search")]
    body = await body_of(stand_in, settings, THIRD, request_of(tools=tools))
    assert sorted(key for tool in body["tools"] for key in tool) == ["functionDeclarations", "googleSearch"]
    assert body["toolConfig"] == {"includeServerSideToolInvocations": True}
    assert dropped(THIRD, tools=tools) == ()


async def test_a_search_beside_tools_is_left_out_and_named_where_it_cannot(
    stand_in: StandIn, settings: Settings
) -> None:
    tools = [WEATHER, ServerTool(kind="web_search")]
    body = await body_of(stand_in, settings, SECOND, request_of(tools=tools))
    assert [list(tool) for tool in body["tools"]] == [["functionDeclarations"]]
    assert "toolConfig" not in body
    assert dropped(SECOND, tools=tools) == ("web_search (not beside other tools)",)


async def test_other_providers_tools_leave_nothing(stand_in: StandIn, settings: Settings) -> None:
    body = await body_of(stand_in, settings, SECOND, request_of(tools=[ServerTool(kind="x_search")]))
    assert "tools" not in body


@pytest.mark.parametrize("stream", [False, True])
async def test_where_an_answer_was_found_is_kept(stream: bool, stand_in: StandIn, settings: Settings) -> None:
    answer = reply({"text": "It rains."})
    page = {"web": {"uri": "https://a.example/", "title": "A"}}
    answer["candidates"][0]["groundingMetadata"] = {"groundingChunks": [page], "webSearchQueries": ["rain in Oslo"]}
    stand_in.on(path(SECOND, stream=stream), Answer.events(answer) if stream else Answer.json(answer))
    request = request_of(tools=[ServerTool(kind="web_search")])
    whole = (await ask(gemini(stand_in, settings), request, stream=stream))[-1]
    assert whole.grounding_metadata.web_search_queries == ["rain in Oslo"]
    assert whole.grounding_metadata.grounding_chunks[0].web.uri == "https://a.example/"


@pytest.mark.parametrize(("model_id", "native"), [(SECOND, False), (THIRD, True)])
async def test_beside_a_search_the_form_is_native_where_the_model_can(
    model_id: str, native: bool, stand_in: StandIn, settings: Settings
) -> None:
    search = ServerTool(kind="web_search")
    forms: list[dict[str, Any]] = [{"response_schema": SCHEMA}, {"response_mime_type": "application/json"}]
    for config in forms:
        body = await body_of(stand_in, settings, model_id, request_of(tools=[search], **config))
        assert ("responseMimeType" in body.get("generationConfig", {})) is native
        assert ("JSON" in str(body.get("systemInstruction"))) is not native


@pytest.mark.parametrize("stream", [False, True])
async def test_signatures_come_back_to_it_as_it_made_them(stream: bool, stand_in: StandIn, settings: Settings) -> None:
    parts = [
        {"text": "I wonder", "thought": True},
        {**FUNCTION, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "call_b", "name": "get_weather", "args": {}}},
    ]
    searched = [
        {
            "toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}},
            "thoughtSignature": "c2VhcmNo",
        },
        {"toolResponse": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "response": {"found": "y"}}},
    ]
    answer = reply(*searched, *parts)
    stand_in.on(path(THIRD, stream=stream), Answer.events(answer) if stream else Answer.json(answer))
    request = request_of(tools=[WEATHER, ServerTool(kind="web_search")])
    *deltas, whole = await ask(gemini(stand_in, settings, THIRD), request, stream=stream)
    assert all(b"c2ln" not in delta.model_dump_json().encode() for delta in deltas)
    step = continued(request, whole.content)
    body = await body_of(stand_in, settings, THIRD, step)
    assert parts_of(body, 1) == [types.Part.model_validate(part) for part in (*searched, *parts[1:])]
    assert body["contents"][2]["role"] == "user"
    without_search = LlmRequest(contents=step.contents, config=types.GenerateContentConfig(tools=[WEATHER]))
    assert (await body_of(stand_in, settings, SECOND, without_search))["contents"][1]["parts"] == parts[1:]


def continued(request: LlmRequest, content: types.Content | None) -> LlmRequest:
    """The request with a reply as ADK would store and load it, and the results of its calls."""
    assert content is not None
    stored = types.Content.model_validate_json(content.model_dump_json(exclude_none=True))
    results = [
        types.Part(function_response=types.FunctionResponse(id=part.function_call.id, name="get_weather", response={}))
        for part in stored.parts or ()
        if part.function_call
    ]
    contents = [*request.contents, stored, types.Content(role="user", parts=results)]
    return LlmRequest(contents=contents, config=request.config)


@pytest.mark.parametrize(
    "thought",
    [
        types.Part(text="I wonder", thought=True),
        types.Part(text="I wonder", thought=True, thought_signature=b"\xff raw"),
        types.Part(text="I wonder", thought=True, thought_signature=seal("anthropic", b"{}")),
        types.Part(thought=True, thought_signature=seal("openai", b"{}")),
        types.Part(text="", thought_signature=seal("openai", b"{}")),
    ],
)
@pytest.mark.parametrize(("model_id", "signature"), [(SECOND, {}), (THIRD, {"thoughtSignature": UNSIGNED})])
async def test_other_models_thoughts_never_reach_it(
    thought: types.Part, model_id: str, signature: dict[str, str], stand_in: StandIn, settings: Settings
) -> None:
    made = types.FunctionCall(id="call_a", name="get_weather", args={"city": "Oslo"})
    foreign = types.Part(function_call=made, thought_signature=seal("openai", b"{}"))
    request = continued(request_of(tools=[WEATHER]), types.Content(role="model", parts=[thought, foreign]))
    body = await body_of(stand_in, settings, model_id, request)
    assert body["contents"][1]["parts"] == [{**FUNCTION, **signature}]


async def test_only_users_and_models_speak_and_the_user_first(stand_in: StandIn, settings: Settings) -> None:
    call = types.Part(function_call=types.FunctionCall(id="a", name="f", args={}))
    result = types.Part(function_response=types.FunctionResponse(id="a", name="f", response={"result": "x"}))
    contents = [
        types.Content(role="model", parts=[types.Part(text="a summary")]),
        types.Content(role="user", parts=[types.Part(text="go")]),
        types.Content(role="model", parts=[call]),
        types.Content(role="function", parts=[result]),
    ]
    body = await body_of(stand_in, settings, SECOND, LlmRequest(contents=contents))
    assert [content["role"] for content in body["contents"]] == ["user", "model", "user", "model", "user"]


async def test_images_as_bytes_and_by_address(stand_in: StandIn, settings: Settings) -> None:
    parts = [
        types.Part(inline_data=types.Blob(mime_type="image/png", data=b"png")),
        types.Part(file_data=types.FileData(mime_type="image/png", file_uri="https://a.example/b.png")),
    ]
    request = LlmRequest(contents=[types.Content(role="user", parts=parts)])
    body = await body_of(stand_in, settings, SECOND, request)
    assert parts_of(body, 0) == parts


@pytest.mark.parametrize(
    ("model_id", "config", "sent", "names"),
    [
        (SECOND, {"thinking_budget": 2048}, {"thinking_budget": 2048}, []),
        (SECOND, {"thinking_budget": 0}, {"thinking_budget": 0}, []),
        (SECOND, {"thinking_budget": -1}, {"thinking_budget": -1}, []),
        (SECOND, {"thinking_level": LOW}, {"thinking_budget": 1024}, []),
        (SECOND, {"thinking_level": LOW, "thinking_budget": 7}, {"thinking_budget": 7}, ["thinkingLevel"]),
        (SECOND, {"include_thoughts": True}, {"include_thoughts": True}, []),
        ("gemini-2.5-pro", {"thinking_budget": 0}, {"thinking_budget": 128}, ["thinkingBudget"]),
        ("gemini-2.0-flash", {"thinking_budget": 2048}, None, ["thinkingConfig"]),
        ("gemini-2.0-flash", {"thinking_budget": 0}, None, []),
        (THIRD, {"thinking_level": MEDIUM}, {"thinking_level": "MEDIUM"}, []),
        (THIRD, {"thinking_level": LOW, "thinking_budget": 7}, {"thinking_level": "LOW"}, ["thinkingBudget"]),
        (THIRD, {"thinking_budget": 0}, {"thinking_level": "MINIMAL"}, []),
        (THIRD, {"thinking_budget": -1, "include_thoughts": True}, {"include_thoughts": True}, []),
        (THIRD, {"thinking_budget": 5000}, {"thinking_level": "MEDIUM"}, []),
        (THIRD, {"thinking_budget": 100_000}, {"thinking_level": "HIGH"}, []),
        (PRO, {"thinking_budget": 0}, {"thinking_level": "LOW"}, []),
        (PRO, {"thinking_level": MEDIUM}, {"thinking_level": "HIGH"}, []),
        ("gemini-3.1-pro-preview", {"thinking_level": MEDIUM}, {"thinking_level": "MEDIUM"}, []),
        ("gemini-flash-latest", {"thinking_budget": 5000}, {"thinking_level": "MEDIUM"}, []),
    ],
)
async def test_how_much_it_is_to_think(
    model_id: str,
    config: dict[str, Any],
    sent: dict[str, Any] | None,
    names: list[str],
    stand_in: StandIn,
    settings: Settings,
) -> None:
    thinking = types.ThinkingConfig(**config)
    body = await body_of(stand_in, settings, model_id, request_of(thinking_config=thinking))
    assert body.get("generationConfig", {}).get("thinkingConfig") == sent
    assert [name.split()[0] for name in dropped(model_id, thinking_config=thinking)] == names


async def test_one_answer_is_enough(stand_in: StandIn, settings: Settings) -> None:
    body = await body_of(stand_in, settings, SECOND, request_of(candidate_count=3))
    assert not body.get("generationConfig")
    assert dropped(SECOND, candidate_count=3) == ("candidateCount",)
    assert dropped(SECOND, candidate_count=1, seed=1, presence_penalty=0.1) == ()


@pytest.mark.parametrize("variable", ["GOOGLE_GENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"])
async def test_built_by_its_name_it_reads_the_environment(
    variable: str, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, " sesame-1234 ")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", stand_in.url)
    stand_in.on(path(SECOND, stream=True), Answer.events(reply({"text": "hello"})))
    *_, whole = await ask(GeminiLlm(model=SECOND), request_of(), stream=True)
    assert text_of(whole) == "hello"
    assert stand_in.received[0].headers["x-goog-api-key"] == "sesame-1234"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_without_arguments(stream: bool, stand_in: StandIn, settings: Settings) -> None:
    answer = reply({"functionCall": {"name": "now"}})
    stand_in.on(path(SECOND, stream=stream), Answer.events(answer) if stream else Answer.json(answer))
    whole = (await ask(gemini(stand_in, settings), request_of(tools=[WEATHER]), stream=stream))[-1]
    assert [(call.name, call.args or {}) for call in calls_of(whole)] == [("now", {})]
