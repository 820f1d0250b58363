"""What a provider adapter reads from ADK's request, in plain data: the same on every wire format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from google.adk.models.llm_request import LlmRequest
from google.genai import types
from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from syndicate.errors import ModelError
from syndicate.models.json_schema import normalised

JsonObject = dict[str, Any]
"""A JSON object: schemas, arguments and messages are whatever the wire format says."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: its bytes, or the address the provider is to fetch it from."""

    mime_type: str
    data: bytes = b""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model. `id` is never empty."""

    id: str
    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool returned: text, JSON where it was not text already. `id` and `name` are those of its call."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Results come before text in a user message; calls and results are always in pairs."""

    role: str
    text: str = ""
    images: tuple[Image, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool on offer; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The JSON Schema that the reply must fit; `name` has only letters, digits, `_` and `-`."""

    name: str
    schema: JsonObject


def system_text(request: LlmRequest) -> str:
    """The system instruction as one text."""
    config: Any = request.config  # genai's own type of this field names classes of libraries that may not be there
    instruction = config.system_instruction
    if instruction is None or isinstance(instruction, str):
        return instruction or ""
    items = cast("list[Any]", instruction if isinstance(instruction, list) else [instruction])
    return "\n\n".join(text for item in items if (text := _instruction_text(item)))


def messages(request: LlmRequest) -> tuple[Message, ...]:
    """The conversation without thoughts. Neighbouring user messages become one; a call that was never answered gets
    an answer saying so, and a result whose call is gone becomes text: servers refuse unpaired ones."""
    waiting: list[Call] = []
    found: list[Message] = []
    for content in request.contents:
        message = _model_message(content) if content.role == "model" else _user_message(content, waiting)
        if content.role == "model" or not message.results:
            found += [Message("user", results=tuple(_unanswered(call) for call in waiting))] if waiting else []
            waiting = []
        waiting += message.calls
        if message.text or message.images or message.calls or message.results:
            _append(found, message)
    return tuple(found)


def tools(request: LlmRequest) -> tuple[Tool, ...]:
    """The declared functions. A provider's own server tools have no meaning here and are left out."""
    config: Any = request.config  # as above
    return tuple(
        Tool(declaration.name or "", declaration.description or "", _parameters(declaration))
        for tool in config.tools or ()
        if isinstance(tool, types.Tool)
        for declaration in tool.function_declarations or ()
    )


def output_schema(request: LlmRequest) -> OutputSchema | None:
    """The schema asked for, whatever it was given as: pydantic class, `list[...]`, dict or genai schema."""
    given: Any = request.config.response_schema  # a class, a generic alias, a dict or a genai schema
    if given is None:
        given = request.config.response_json_schema
    if given is None:
        return None
    if isinstance(given, types.Schema):
        schema = normalised(given.model_dump(exclude_none=True, mode="json", by_alias=True))
    elif isinstance(given, Mapping):
        schema = normalised(cast("Mapping[str, Any]", given))
    else:
        schema = TypeAdapter(given).json_schema()
    title = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in str(schema.get("title", "")))
    return OutputSchema(title[:64] or "answer", schema)


def schema_instruction(schema: OutputSchema) -> str:
    """The schema in words, where the server cannot enforce it beside tools."""
    text = json.dumps(schema.schema, ensure_ascii=False)
    return (
        f"When you do not call a tool, answer with one JSON value that fits this JSON Schema, and nothing else:\n{text}"
    )


def wants_json(request: LlmRequest) -> bool:
    """Whether JSON of any shape is asked for."""
    return request.config.response_mime_type == "application/json" and output_schema(request) is None


def tool_choice(request: LlmRequest) -> str:
    """`auto`, `none`, `required`, or the name of the one tool that must be called."""
    calling = request.config.tool_config and request.config.tool_config.function_calling_config
    mode = calling.mode if calling else None
    if mode is types.FunctionCallingConfigMode.NONE:
        return "none"
    if mode is not types.FunctionCallingConfigMode.ANY:
        return "auto"
    names = (calling and calling.allowed_function_names) or []
    return names[0] if len(names) == 1 else "required"


def thinking_off(request: LlmRequest) -> bool:
    """Whether the configuration switches thinking off (`thinkingBudget: 0`)."""
    config = request.config.thinking_config
    return config is not None and config.thinking_budget == 0


def thinking_level(request: LlmRequest) -> str:
    """How hard to think: `minimal`, `low`, `medium` or `high`; empty when nothing is said of it."""
    config = request.config.thinking_config
    level = config.thinking_level if config else None
    return "" if level in (None, types.ThinkingLevel.THINKING_LEVEL_UNSPECIFIED) else level.value.lower()


def settings_given(request: LlmRequest, *names: str) -> tuple[str, ...]:
    """Those of these settings (as files spell them) that the request sets. `thinkingBudget` is one above 0."""
    config = request.config
    budget = config.thinking_config.thinking_budget if config.thinking_config else None
    given = {
        "thinkingBudget": (budget or 0) > 0,
        "safetySettings": bool(config.safety_settings),
        "responseMimeType": config.response_mime_type not in (None, "text/plain", "application/json"),
    }
    return tuple(name for name in names if given[name])


def thoughts_hidden(request: LlmRequest) -> bool:
    """Whether thoughts must not be handed on (`includeThoughts: false`)."""
    config = request.config.thinking_config
    return config is not None and config.include_thoughts is False


def _instruction_text(item: Any) -> str:
    """The text of one item of an instruction, which ADK lets be text, a part or a content."""
    if isinstance(item, str):
        return item
    parts = item.parts or [] if isinstance(item, types.Content) else [item]
    return "\n\n".join(part.text for part in parts if isinstance(part, types.Part) and part.text)


def _model_message(content: types.Content) -> Message:
    calls: list[Call] = []
    texts: list[str] = []
    for part in content.parts or ():
        if part.function_call is not None:
            call = part.function_call
            arguments = cast("JsonObject", json_safe(call.args or {}))
            calls.append(Call(call.id or f"call_{call.name}_{len(calls)}", call.name or "", arguments))
        elif part.text and not part.thought:
            texts.append(part.text)
    return Message("assistant", "".join(texts), calls=tuple(calls))


def _user_message(content: types.Content, waiting: list[Call]) -> Message:
    """Takes the calls it answers off `waiting`."""
    message = Message("user")
    for part in content.parts or ():
        if part.function_response is not None:
            message = _with_result(message, part.function_response, waiting)
        elif part.text and not part.thought:
            message = replace(message, text=f"{message.text}\n\n{part.text}" if message.text else part.text)
        elif part.inline_data is not None or part.file_data is not None:
            message = _with_data(message, part)
    return message


def _with_result(message: Message, response: types.FunctionResponse, waiting: list[Call]) -> Message:
    text = _result_text(response.response or {})
    matches = (call for call in waiting if call.id == response.id)
    by_name = (call for call in waiting if not response.id and call.name == response.name)
    call = next(matches, None) or next(by_name, None)
    if call is None:
        return replace(message, text=f"{message.text}\n\n[{response.name}] {text}".strip())
    waiting.remove(call)
    return replace(message, results=(*message.results, Result(call.id, call.name, text)))


def _with_data(message: Message, part: types.Part) -> Message:
    blob, file = part.inline_data, part.file_data
    mime_type = (blob.mime_type if blob else file.mime_type if file else "") or ""
    if blob and blob.data and mime_type.startswith("image/"):
        return replace(message, images=(*message.images, Image(mime_type, data=blob.data)))
    if file and file.file_uri and mime_type.startswith("image/"):
        return replace(message, images=(*message.images, Image(mime_type, url=file.file_uri)))
    if blob and blob.data and mime_type.startswith("text/"):
        text = blob.data.decode("utf-8", "replace")
        return replace(message, text=f"{message.text}\n\n{text}".strip())
    raise ModelError(
        f"this provider takes text and images, not {mime_type or 'data without a type'!r}",
        code="bad-request",
        remediation="send text or an image",
    )


def _append(found: list[Message], message: Message) -> None:
    """Add a message; user messages in a row are one, since many chat templates insist on alternation."""
    last = found[-1] if found else None
    if last is None or message.role != "user" or last.role != "user" or (message.results and last.text):
        found.append(message)
        return
    found[-1] = Message(
        "user",
        "\n\n".join(filter(None, (last.text, message.text))),
        last.images + message.images,
        results=last.results + message.results,
    )


def _unanswered(call: Call) -> Result:
    return Result(call.id, call.name, '{"error": "there is no result of this call"}')


def _result_text(response: Mapping[str, Any]) -> str:
    """A tool that returned text is read as that text; anything else as JSON, live objects in it included."""
    safe = cast("JsonObject", json_safe(dict(response)))
    if list(safe) == ["result"] and isinstance(safe["result"], str):
        return safe["result"]
    return json.dumps(safe, ensure_ascii=False)


def json_safe(value: Any) -> Any:
    """JSON data out of what a tool was given or returned, which may hold pydantic objects."""
    return to_jsonable_python(value, exclude_none=True, fallback=str)


def _parameters(declaration: types.FunctionDeclaration) -> JsonObject:
    if declaration.parameters_json_schema is not None:
        return cast("JsonObject", declaration.parameters_json_schema)
    if declaration.parameters is None:
        return {"type": "object", "properties": {}}
    return normalised(declaration.parameters.model_dump(exclude_none=True, mode="json", by_alias=True))
