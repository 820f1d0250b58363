"""Every cell of the capability matrix: what is claimed works on the provider's wire, what is denied does as it says.

aimock plays the provider where it can, a loopback server that writes the provider's own frames where it cannot.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from syndicate.errors import ModelError
from syndicate.models.capabilities import FEATURES, MATRIX, native_tools, supports
from syndicate.models.server_tools import ServerTool
from syndicate.tools.search import left_out
from tests.models.conformance.conftest import OpenDesk
from tests.models.conformance.desks import PROVIDERS, Desk, Provider
from tests.models.conformance.wires import Called, Said
from tests.models.conftest import WEATHER, Answer, StandIn, calls_of, request_of, text_of

SCHEMA = {
    "type": "object",
    "properties": {"route": {"type": "string", "enum": ["billing", "sales"]}},
    "required": ["route"],
    "additionalProperties": False,
}
NOW = types.Tool(function_declarations=[types.FunctionDeclaration(name="now", description="The time")])
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
THOUGHT, SIGNATURE = "First I count the letters.", "c2lnbmF0dXJl"
ROUTE = Said('{"route": "sales"}')

GAPS = {
    "ollama": {
        "thinking": "sends it as reasoning_content; the daemon's word is thinking",
        "thinking_with_tools": "as above",
        "usage_in_streams": "counts nothing",
    },
    "gemini": {"thinking_with_tools": "signs no call"},
    "openai": {"thinking_with_tools": "encrypts no reasoning"},
    "xai": {"thinking_with_tools": "encrypts no reasoning"},
}
"""Where aimock does not speak a provider's wire; that of no provider has searches or cached tokens."""
NEVER_AT_AIMOCK = {"native_search", "prompt_caching"}

WHERE_A_SCHEMA_GOES: dict[str, tuple[str, ...]] = {
    "gemini": ("generationConfig", "responseJsonSchema"),
    "anthropic": ("output_config", "format", "schema"),
    "openai": ("text", "format", "schema"),
    "xai": ("text", "format", "schema"),
    "ollama": ("format",),
    "local": ("response_format", "json_schema", "schema"),
    "gateway": ("response_format", "json_schema", "schema"),
}
Cell = Callable[[Desk], Awaitable[None]]


def at(body: Any, path: tuple[str, ...]) -> Any:
    """What is at a path of a body; None when nothing is."""
    for key in path:
        body = body.get(key) if isinstance(body, dict) else None
    return body


def answered(request: LlmRequest, reply: LlmResponse, **results: Any) -> LlmRequest:
    """The request after the calls of a reply were answered, each tool by its name."""
    assert reply.content is not None
    responses = [
        types.FunctionResponse(id=call.id, name=call.name, response=results[call.name or ""])
        for call in calls_of(reply)
    ]
    user = types.Content(role="user", parts=[types.Part(function_response=response) for response in responses])
    return request.model_copy(update={"contents": [*request.contents, reply.content, user]})


async def streaming(desk: Desk) -> None:
    desk.script(Said("Hello there, whoever you are."))
    *deltas, whole = await desk.ask(request_of(), stream=True)
    assert len(deltas) > 1
    assert all(delta.partial for delta in deltas)
    assert "".join(map(text_of, deltas)) == text_of(whole) == "Hello there, whoever you are."
    assert (bool(whole.partial), whole.finish_reason) == (False, types.FinishReason.STOP)
    (alone,) = await desk.ask(request_of())
    assert (text_of(alone), bool(alone.partial)) == (text_of(whole), False)


async def tools(desk: Desk) -> None:
    desk.script(Said(calls=(Called("get_weather", {"city": "Oslo"}),)), Said("Rain in Oslo."))
    request = request_of("weather?", tools=[WEATHER])
    *_, first = await desk.ask(request, stream=True)
    (call,) = calls_of(first)
    assert (call.name, call.args) == ("get_weather", {"city": "Oslo"})
    assert call.id
    assert not call.id.startswith("adk-")
    assert "The weather of a city" in desk.sent()
    *_, second = await desk.ask(answered(request, first, get_weather={"result": "rain-4711"}), stream=True)
    assert text_of(second) == "Rain in Oslo."
    assert "rain-4711" in desk.sent()


async def parallel_tools(desk: Desk) -> None:
    desk.script(Said(calls=(Called("get_weather", {"city": "Oslo"}), Called("now"))), Said("Rain at noon."))
    request = request_of("weather and time?", tools=[WEATHER, NOW])
    *_, first = await desk.ask(request, stream=True)
    calls = calls_of(first)
    assert [(call.name, call.args or {}) for call in calls] == [("get_weather", {"city": "Oslo"}), ("now", {})]
    assert len({call.id for call in calls}) == 2
    results = {"get_weather": {"result": "rain"}, "now": {"hour": 12}}
    *_, second = await desk.ask(answered(request, first, **results), stream=True)
    assert text_of(second) == "Rain at noon."


async def structured_output(desk: Desk) -> None:
    desk.script(ROUTE)
    request = request_of("which?", response_json_schema=SCHEMA, response_mime_type="application/json")
    (reply,) = await desk.ask(request)
    assert json.loads(text_of(reply)) == {"route": "sales"}
    sent = at(desk.bodies[-1], WHERE_A_SCHEMA_GOES[desk.provider.id])
    assert sent["properties"]["route"]["enum"] == ["billing", "sales"]


async def structured_output_with_tools(desk: Desk) -> None:
    desk.script(ROUTE)
    request = request_of("which?", response_json_schema=SCHEMA, tools=[WEATHER], system_instruction="Be brief.")
    (reply,) = await desk.ask(request)
    assert json.loads(text_of(reply)) == {"route": "sales"}
    native = at(desk.bodies[-1], WHERE_A_SCHEMA_GOES[desk.provider.id])
    in_words = supports(desk.provider.id, "structured_output_with_tools").note.startswith("beside tools")
    assert (native is None) is in_words
    if in_words:
        assert json.dumps(SCHEMA) in desk.sent().replace('\\"', '"')
    assert "get_weather" in desk.sent()


async def thinking(desk: Desk) -> None:
    desk.script(Said("Four.", thought=THOUGHT, signature=SIGNATURE))
    thoughts = types.ThinkingConfig(include_thoughts=True)
    *deltas, whole = await desk.ask(request_of(thinking_config=thoughts), stream=True)
    assert (text_of(whole, thought=True), text_of(whole)) == (THOUGHT, "Four.")
    assert "".join(text_of(delta, thought=True) for delta in deltas) == THOUGHT
    assert "".join(map(text_of, deltas)) == "Four."
    (alone,) = await desk.ask(request_of(thinking_config=thoughts))
    assert (text_of(alone, thought=True), text_of(alone)) == (THOUGHT, "Four.")


async def thinking_with_tools(desk: Desk) -> None:
    call = Called("get_weather", {"city": "Oslo"})
    desk.script(Said(thought=THOUGHT, signature=SIGNATURE, calls=(call,)), Said("Rain."))
    level = types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW, include_thoughts=True)
    request = request_of("weather?", tools=[WEATHER], thinking_config=level)
    *_, first = await desk.ask(request, stream=True)
    assert text_of(first, thought=True) == THOUGHT
    assert [found.name for found in calls_of(first)] == ["get_weather"]
    *_, second = await desk.ask(answered(request, first, get_weather={"result": "rain"}), stream=True)
    assert text_of(second) == "Rain."
    wants_it_back = desk.provider.id in ("gemini", "anthropic", "openai", "xai")
    signature = base64.b64encode(SIGNATURE.encode()).decode() if desk.provider.id == "gemini" else SIGNATURE
    assert (signature in desk.sent()) is wants_it_back
    if not wants_it_back:
        assert THOUGHT not in desk.sent()


async def images_in(desk: Desk) -> None:
    desk.script(Said("A pixel."))
    image = types.Part(inline_data=types.Blob(mime_type="image/png", data=PIXEL))
    contents = [types.Content(role="user", parts=[types.Part(text="What is it?"), image])]
    *_, reply = await desk.ask(LlmRequest(contents=contents, config=types.GenerateContentConfig()), stream=True)
    assert text_of(reply) == "A pixel."
    assert base64.b64encode(PIXEL).decode() in desk.sent().replace("-", "+").replace("_", "/")


async def native_search(desk: Desk) -> None:
    for kind in sorted(native_tools(desk.provider.id)):
        desk.script(Said("Sunny, it says.", source=("The Weather", "https://weather.example/oslo")))
        request = request_of("weather?", tools=[ServerTool(kind=kind)])  # type: ignore[arg-type]
        for stream in (True, False):
            *_, reply = await desk.ask(request, stream=stream)
            assert text_of(reply) == "Sunny, it says."
            assert reply.grounding_metadata is not None, kind
            sources = [chunk.web for chunk in reply.grounding_metadata.grounding_chunks or () if chunk.web]
            assert [(web.title, web.uri) for web in sources] == [("The Weather", "https://weather.example/oslo")]
        assert desk.bodies[-1]["tools"], kind


async def prompt_caching(desk: Desk) -> None:
    desk.script(Said("Yes.", prompt_tokens=900, cached_tokens=800))
    for stream in (True, False):
        *_, reply = await desk.ask(request_of(system_instruction="Long and always the same. " * 200), stream=stream)
        assert reply.usage_metadata is not None
        assert reply.usage_metadata.cached_content_token_count == 800
        assert reply.usage_metadata.prompt_token_count == 900
    marks = {"anthropic": "cache_control", "local": "cache_prompt"}
    assert marks.get(desk.provider.id, "") in desk.sent()


async def usage_in_streams(desk: Desk) -> None:
    desk.script(Said("Four.", prompt_tokens=12, output_tokens=9, thought_tokens=0))
    *deltas, whole = await desk.ask(request_of(), stream=True)
    assert whole.usage_metadata is not None
    assert whole.usage_metadata.prompt_token_count == 12
    assert whole.usage_metadata.candidates_token_count == 9
    assert whole.usage_metadata.total_token_count == 21
    assert all(delta.usage_metadata is None for delta in deltas[:-1])


CLAIMED: dict[str, Cell] = {
    cell.__name__: cell
    for cell in (
        streaming,
        tools,
        parallel_tools,
        structured_output,
        structured_output_with_tools,
        thinking,
        thinking_with_tools,
        images_in,
        native_search,
        prompt_caching,
        usage_in_streams,
    )
}


async def without_search(desk: Desk) -> None:
    """The request goes without, and the user reads one line."""
    desk.script(Said("I cannot look that up."))
    (reply,) = await desk.ask(request_of("weather?", tools=[ServerTool(kind="web_search")]))
    assert text_of(reply) == "I cannot look that up."
    assert "tools" not in desk.bodies[-1]
    transport = getattr(desk.model, "transport", None)
    (line,) = left_out(["web_search"], desk.model.model, provider=transport)
    assert "web_search left out" in line


async def cached_tokens_unknown(desk: Desk) -> None:
    desk.script(Said("Yes.", cached_tokens=800))
    *_, reply = await desk.ask(request_of(), stream=True)
    assert reply.usage_metadata is not None
    assert reply.usage_metadata.cached_content_token_count is None


async def no_prefix_marked(desk: Desk) -> None:
    desk.script(Said("Yes."))
    await desk.ask(request_of(system_instruction="Long and always the same. " * 200))
    assert "cache" not in desk.sent()


async def images_refused(desk: Desk) -> None:
    """In the words of llama.cpp's server; what a real one says is in `test_live`."""
    assert isinstance(desk.server, StandIn)
    refusal = {"error": {"code": 500, "message": "image input is not supported", "type": "server_error"}}
    desk.server.on(desk.provider.paths[0], Answer.json(refusal, 500))
    image = types.Part(inline_data=types.Blob(mime_type="image/png", data=PIXEL))
    request = LlmRequest(contents=[types.Content(role="user", parts=[image])], config=types.GenerateContentConfig())
    with pytest.raises(ModelError, match="image input is not supported") as caught:
        await desk.ask(request)
    assert (caught.value.code, caught.value.retryable) == ("bad-request", False)


DENIED: dict[tuple[str, str], Cell] = {
    ("ollama", "native_search"): without_search,
    ("local", "native_search"): without_search,
    ("gateway", "native_search"): without_search,
    ("ollama", "prompt_caching"): cached_tokens_unknown,
    ("gateway", "prompt_caching"): no_prefix_marked,
    ("local", "images_in"): images_refused,
}
CELLS = [(provider, feature) for provider, row in MATRIX.items() for feature in row]
AT_AIMOCK = [
    (provider, feature)
    for provider, feature in CELLS
    if MATRIX[provider][feature] and feature not in NEVER_AT_AIMOCK and feature not in GAPS.get(provider, {})
]


@pytest.mark.parametrize(("provider", "feature"), CELLS)
async def test_a_cell_on_the_providers_own_wire(provider: str, feature: str, loopback: OpenDesk) -> None:
    cell = CLAIMED[feature] if supports(provider, feature) else DENIED[provider, feature]
    await cell(loopback(provider))


@pytest.mark.parametrize(("provider", "feature"), AT_AIMOCK)
async def test_a_claimed_cell_against_aimock(provider: str, feature: str, at_aimock: OpenDesk) -> None:
    await CLAIMED[feature](at_aimock(provider))


TAGGED = "<think>First I count.</think>Four."


@pytest.mark.parametrize("place", range(1, len(TAGGED)))
@pytest.mark.parametrize("provider", ["ollama", "local", "gateway"])
async def test_thoughts_between_tags_wherever_a_frame_ends(provider: str, place: int, loopback: OpenDesk) -> None:
    """Where the server has no field for them, which is so with open models only."""
    desk = loopback(provider)
    desk.script(Said(TAGGED, pieces=(TAGGED[:place], TAGGED[place:])))
    *deltas, whole = await desk.ask(request_of(), stream=True)
    assert (text_of(whole, thought=True), text_of(whole)) == ("First I count.", "Four.")
    assert "".join(map(text_of, deltas)) == "Four."


def older(provider: str, model_id: str) -> Provider:
    """The provider with a model of an earlier generation, or a smaller one."""
    newer = PROVIDERS[provider]
    paths = tuple(path.replace(newer.model_id, model_id) for path in newer.paths)
    return replace(newer, model_id=model_id, paths=paths)


@pytest.mark.parametrize(
    ("provider", "model_id", "tools"),
    [
        ("gemini", "gemini-2.5-flash", [WEATHER]),
        ("anthropic", "claude-sonnet-4-20250514", []),
        ("anthropic", "claude-sonnet-4-20250514", [WEATHER]),
        ("anthropic", "claude-opus-4-5", [WEATHER, ServerTool(kind="web_search")]),
    ],
)
async def test_a_schema_in_words(provider: str, model_id: str, tools: list[Any], stand_in: StandIn) -> None:
    desk = Desk(older(provider, model_id), stand_in)
    desk.script(ROUTE)
    (reply,) = await desk.ask(request_of("which?", response_json_schema=SCHEMA, tools=tools))
    assert json.loads(text_of(reply)) == {"route": "sales"}
    assert at(desk.bodies[-1], WHERE_A_SCHEMA_GOES[provider]) is None
    assert json.dumps(SCHEMA) in desk.sent().replace('\\"', '"')
    await desk.aclose()


async def test_a_search_of_an_older_gemini_gives_way_to_other_tools(stand_in: StandIn) -> None:
    desk = Desk(older("gemini", "gemini-2.5-flash"), stand_in)
    desk.script(Said("Hello."))
    for tools, names in (([], {"googleSearch"}), ([WEATHER], {"functionDeclarations"})):
        await desk.ask(request_of(tools=[*tools, ServerTool(kind="web_search")]))
        assert {name for tool in desk.bodies[-1]["tools"] for name in tool} == names
    await desk.aclose()


async def test_a_model_that_calls_no_tools_is_offered_none(stand_in: StandIn) -> None:
    desk = Desk(older("local", "local/smollm2"), stand_in)
    desk.script(Said("Hello."))
    await desk.ask(request_of(tools=[WEATHER]))
    assert "tools" not in desk.bodies[-1]
    await desk.aclose()


async def test_ollama_fetches_no_images(loopback: OpenDesk) -> None:
    desk = loopback("ollama")
    link = types.Part(file_data=types.FileData(mime_type="image/png", file_uri="https://example.com/a.png"))
    request = LlmRequest(contents=[types.Content(role="user", parts=[link])], config=types.GenerateContentConfig())
    with pytest.raises(ModelError, match="bytes of an image"):
        await desk.ask(request)
    assert desk.bodies == []


async def test_a_model_of_ollama_that_cannot_think_is_not_told_to(stand_in: StandIn) -> None:
    desk = Desk(PROVIDERS["ollama"], stand_in)
    stand_in.on("/api/show", Answer.json({"capabilities": ["completion"]}))
    desk.script(Said("Hello."))
    await desk.ask(request_of(thinking_config=types.ThinkingConfig(include_thoughts=True)))
    assert "think" not in desk.bodies[-1]
    await desk.aclose()


def test_the_matrix_is_whole() -> None:
    assert set(MATRIX) == set(PROVIDERS)
    assert all(tuple(row) == FEATURES for row in MATRIX.values())
    assert all(cell.note for row in MATRIX.values() for cell in row.values() if not cell)
    assert all(bool(native_tools(provider)) is bool(row["native_search"]) for provider, row in MATRIX.items())


def test_a_provider_nobody_knows_is_denied_all() -> None:
    assert not any(supports("nobody", feature) for feature in FEATURES)
    with pytest.raises(KeyError):
        supports("gemini", "telepathy")
