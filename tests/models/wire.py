"""Whether a request body is well formed: by the SDKs' own parameter types, no key too many, calls and results in pairs.

Mock servers take nearly anything; `check` is what holds our adapters to the formats.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NotRequired, cast

from anthropic.types import message_create_params
from google.genai import types as genai
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from ollama import _types as ollama
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params
from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator
from typing_extensions import TypedDict

Body = dict[str, Any]


class GeminiBody(TypedDict):
    """The body of `generateContent`, of which the SDK has only the pieces."""

    contents: list[genai.Content]
    systemInstruction: NotRequired[genai.Content]
    tools: NotRequired[list[genai.Tool]]
    toolConfig: NotRequired[genai.ToolConfig]
    generationConfig: NotRequired[genai.GenerationConfig]
    safetySettings: NotRequired[list[genai.SafetySetting]]
    cachedContent: NotRequired[str]


class OllamaBody(TypedDict):
    """The body of `/api/chat`; the SDK's own class takes any mapping for a message."""

    model: str
    messages: list[ollama.Message]
    stream: NotRequired[bool]
    tools: NotRequired[list[ollama.Tool]]
    format: NotRequired[str | dict[str, Any]]
    options: NotRequired[ollama.Options]
    think: NotRequired[bool | str]
    keep_alive: NotRequired[float | str]


def check(path: str, body: Body, *, beyond: Iterable[str] = ()) -> None:
    """Raises `AssertionError` for a body that the provider at `path` would have to refuse.

    `beyond` are keys at the top that a compatible server knows and the SDK does not.
    """
    kind = _kind(path)
    plain = copy.deepcopy({key: value for key, value in body.items() if key not in set(beyond)})
    _check_tool_schemas(kind, plain)
    if kind == "ollama":
        plain = _known_to_ollamas_sdk(plain)
    try:
        _validator(kind).validate_json(json.dumps(plain))
    except ValidationError as error:
        raise AssertionError(f"not a body of {kind}: {_nearest(error)}") from None
    _PAIRING[kind](body)


def _kind(path: str) -> str:
    ends = {
        "/chat/completions": "chat",
        "/responses": "responses",
        "/messages": "anthropic",
        "enerateContent": "gemini",
        "/api/chat": "ollama",
    }
    found = next((kind for end, kind in ends.items() if path.endswith(end)), None)
    assert found is not None, f"no wire format has a path {path!r}"
    return found


def _nearest(error: ValidationError) -> str:
    """What is wrong, told by those alternatives of the SDK's unions that fit best."""
    found = error.errors(include_url=False)
    wrong = Counter(line["loc"][:-1] for line in found)
    found.sort(key=lambda line: (wrong[line["loc"][:-1]], -len(line["loc"])))
    return "; ".join(f"{_place(line['loc'])}: {line['msg']}" for line in found[:4])


def _place(location: Sequence[int | str]) -> str:
    """A path without pydantic's long names of unions."""
    return ".".join(str(step) for step in location if len(str(step)) < 60)


@cache
def _validator(kind: str) -> SchemaValidator:
    kinds: dict[str, Any] = {
        "chat": completion_create_params.CompletionCreateParams,
        "responses": response_create_params.ResponseCreateParams,
        "anthropic": message_create_params.MessageCreateParams,
        "gemini": GeminiBody,
        "ollama": OllamaBody,
    }
    adapter = TypeAdapter(
        kinds[kind], config=None if kind in ("gemini", "ollama") else {"arbitrary_types_allowed": True}
    )
    return SchemaValidator(cast("Any", _strict(adapter.core_schema)), _use_prebuilt=False)


def _strict(schema: Any) -> Any:
    """The schema with keys too many forbidden, and lists where the SDK takes what can be iterated once."""
    if isinstance(schema, list | tuple):
        return type(schema)(_strict(item) for item in cast("Sequence[Any]", schema))
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(value) for key, value in cast("dict[str, Any]", schema).items()}
    if strict.get("type") == "generator":
        strict["type"] = "list"
    if strict.get("type") in ("typed-dict", "model-fields"):
        strict["extra_behavior"] = "forbid"
        strict.pop("config", None)
    return strict


def _check_tool_schemas(kind: str, body: Body) -> None:
    """Each tool's parameters are a JSON Schema of an object."""
    for name, parameters in _parameters(kind, body):
        assert parameters.get("type") == "object", f"the parameters of {name!r} are no object: {parameters}"
        try:
            Draft202012Validator.check_schema(parameters)
        except SchemaError as error:
            raise AssertionError(f"the parameters of {name!r} are no JSON Schema: {error.message}") from None


def _parameters(kind: str, body: Body) -> Iterable[tuple[str, Body]]:
    for tool in body.get("tools") or ():
        if kind in ("chat", "ollama"):
            yield tool["function"]["name"], tool["function"].get("parameters", {"type": "object"})
        elif kind == "responses" and tool.get("type") == "function":
            yield tool["name"], tool["parameters"]
        elif kind == "anthropic" and "input_schema" in tool:
            yield tool["name"], tool["input_schema"]
        elif kind == "gemini":
            for declared in tool.get("functionDeclarations") or ():
                yield declared["name"], declared.get("parametersJsonSchema", {"type": "object"})


def _known_to_ollamas_sdk(body: Body) -> Body:
    """Without what Ollama's interface has and its Python package has not: ids of calls, whole schemas, `truncate`."""
    body.pop("truncate", None)
    for tool in body.get("tools") or ():
        tool["function"].pop("parameters", None)
    for message in body["messages"]:
        message.pop("tool_call_id", None)
        message["images"] = [{"value": image} for image in message.get("images") or ()]
        for call in message.get("tool_calls") or ():
            call.pop("id", None)
    return body


def _check_chat(body: Body) -> None:
    waiting: set[str] = set()
    for message in body["messages"]:
        if message["role"] == "tool":
            _answered(waiting, message["tool_call_id"])
        else:
            _all_answered(waiting)
        waiting |= {call["id"] for call in message.get("tool_calls") or ()}
    _all_answered(waiting)


def _check_responses(body: Body) -> None:
    if isinstance(body["input"], str):
        return
    waiting: set[str] = set()
    for item in body["input"]:
        if item.get("type") == "function_call":
            waiting.add(item["call_id"])
        elif item.get("type") == "function_call_output":
            _answered(waiting, item["call_id"])
        elif item.get("role") in ("user", "assistant"):
            _all_answered(waiting)
    _all_answered(waiting)


def _check_anthropic(body: Body) -> None:
    assert body["messages"][0]["role"] == "user", "the first message is not the user's"
    waiting: set[str] = set()
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text"}] if isinstance(content, str) else list(content)
        assert blocks, "a message without content"
        results = [block["type"] == "tool_result" for block in blocks]
        assert results == sorted(results, reverse=True), "tool results come before all else in a message"
        for block in blocks:
            if block["type"] == "tool_result":
                _answered(waiting, block["tool_use_id"])
        _all_answered(waiting)
        waiting = {block["id"] for block in blocks if block["type"] == "tool_use"}
    _all_answered(waiting)


def _check_gemini(body: Body) -> None:
    waiting: list[str] = []
    for content in body["contents"]:
        assert content["role"] in ("user", "model"), f"no role of Gemini: {content['role']!r}"
        assert content["parts"], "a content without parts"
        results = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        found = sorted(result["name"] for result in results)
        assert found == sorted(waiting), f"calls {waiting} were answered by {found}"
        waiting = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
        ids = [result.get("id") for result in results]
        assert len(set(ids)) == len(ids) or not any(ids), f"one id answered twice: {ids}"
    assert not waiting, f"calls {waiting} were not answered"


def _check_ollama(body: Body) -> None:
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_name"] in waiting, f"{message['tool_name']!r} answers no call"
            waiting.remove(message["tool_name"])
        else:
            assert not waiting, f"calls {waiting} were not answered"
        waiting += [call["function"]["name"] for call in message.get("tool_calls") or ()]
    assert not waiting, f"calls {waiting} were not answered"


def _answered(waiting: set[str], identity: str) -> None:
    assert identity in waiting, f"{identity!r} answers no call that waits"
    waiting.remove(identity)


def _all_answered(waiting: set[str]) -> None:
    assert not waiting, f"calls {sorted(waiting)} were not answered"


_PAIRING: Mapping[str, Callable[[Body], None]] = {
    "chat": _check_chat,
    "responses": _check_responses,
    "anthropic": _check_anthropic,
    "gemini": _check_gemini,
    "ollama": _check_ollama,
}
