"""A conversation as the items of the Responses wire, with the thinking of the running turn among them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.genai import types

from syndicate.models import request as asked
from syndicate.models.openai_schema import parameters_schema
from syndicate.models.request import JsonObject
from syndicate.models.signature import opened

_Place = tuple[str, str]
"""Before the `text` or the `call` of a message: which, and the id of the message's first call, or of the call."""


def input_items(request: LlmRequest, provider: str) -> Iterator[JsonObject]:
    """The conversation. What `provider` itself thought in the running turn goes before what it led to."""
    thinking = _thinking(request, provider)
    for message in asked.messages(request):
        for result in message.results:
            yield {"type": "function_call_output", "call_id": result.id, "output": result.text}
        if message.role == "assistant":
            yield from _said(message, thinking)
        elif message.text or message.images:
            yield {"type": "message", "role": "user", "content": _content(message)}


def function_tools(request: LlmRequest) -> list[JsonObject]:
    """The tools on offer; of those a forced call may not take, none."""
    allowed = _allowed_names(request)
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters_schema(tool.parameters),
            "strict": False,
        }
        for tool in asked.tools(request)
        if not allowed or tool.name in allowed
    ]


def tool_choice(request: LlmRequest) -> str | JsonObject | None:
    """None is up to the model."""
    choice = asked.tool_choice(request)
    if choice in ("none", "required"):
        return choice
    return None if choice == "auto" else {"type": "function", "name": choice}


def _thinking(request: LlmRequest, provider: str) -> dict[_Place, list[JsonObject]]:
    """The items that were sealed in the thoughts of the running turn, by where they go."""
    found: dict[_Place, list[JsonObject]] = {}
    for content in _running_turn(request.contents):
        parts = content.parts or []
        calls = [part.function_call.id for part in parts if part.function_call and part.function_call.id]
        waiting: list[JsonObject] = []
        for part in parts:
            place = _place(part, calls)
            if place is not None:
                found.setdefault(place, []).extend(waiting)
                waiting = []
            elif (sealed := opened(provider, part.thought_signature)) is not None:
                waiting.append(json.loads(sealed))
    return found


def _place(part: types.Part, calls: Sequence[str]) -> _Place | None:
    """Where thinking that stands before this part goes. A message without a call ended a turn: nothing does."""
    if part.function_call is not None and part.function_call.id:
        return ("call", part.function_call.id)
    return ("text", calls[0]) if calls and part.text and not part.thought else None


def _running_turn(contents: Sequence[types.Content]) -> Sequence[types.Content]:
    """What was said since the user last spoke."""
    spoken = [
        index
        for index, content in enumerate(contents)
        if content.role == "user" and not any(part.function_response for part in content.parts or ())
    ]
    return [content for content in contents[spoken[-1] + 1 if spoken else 0 :] if content.role == "model"]


def _said(message: asked.Message, thinking: dict[_Place, list[JsonObject]]) -> Iterator[JsonObject]:
    """A message of the model's: text, then calls, each after the thinking that led to it."""
    if message.text:
        yield from thinking.get(("text", message.calls[0].id), ()) if message.calls else ()
        yield {"type": "message", "role": "assistant", "content": message.text}
    for call in message.calls:
        yield from thinking.get(("call", call.id), ())
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def _content(message: asked.Message) -> str | list[JsonObject]:
    if not message.images:
        return message.text
    text: list[JsonObject] = [{"type": "input_text", "text": message.text}] if message.text else []
    return text + [{"type": "input_image", "detail": "auto", "image_url": _url(image)} for image in message.images]


def _url(image: asked.Image) -> str:
    return image.url or f"data:{image.mime_type};base64,{base64.b64encode(image.data).decode()}"


def _allowed_names(request: LlmRequest) -> Sequence[str]:
    calling: Any = request.config.tool_config and request.config.tool_config.function_calling_config
    if calling is None or calling.mode is not types.FunctionCallingConfigMode.ANY:
        return ()
    return calling.allowed_function_names or ()
