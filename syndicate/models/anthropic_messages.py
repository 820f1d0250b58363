"""The conversation as the Messages API takes it, with what Claude wants back of its own thinking."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from google.adk.models.llm_request import LlmRequest
from google.genai import types

from syndicate.models import request as asked
from syndicate.models.request import JsonObject
from syndicate.models.signature import opened, seal

PROVIDER = "anthropic"
_OWN = frozenset({"thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result"})
_GO_ON = "Continue."


def sealed(block: JsonObject) -> types.Part:
    """A block of a reply that only Claude can read, as a thought that is kept with the reply until it is replayed."""
    text = str(block.get("thinking") or "")
    rest = {key: value for key, value in block.items() if key != "thinking"}
    signature = seal(PROVIDER, json.dumps(rest, separators=(",", ":")).encode())
    return types.Part(text=text or None, thought=True, thought_signature=signature)


def conversation(request: LlmRequest) -> list[JsonObject]:
    """Messages that alternate, the user's first and last, results right after their calls.

    Claude's own thinking is in those of the running turn, before the calls it led to.
    """
    ids = _CallIds()
    spoken = iter(content for content in request.contents if content.role == "model" and _speaks(content))
    messages: list[JsonObject] = []
    for message in asked.messages(_ended(request)):
        if message.role == "assistant":
            _add(messages, "assistant", list(_assistant(next(spoken), message, ids)))
        else:
            _add(messages, "user", list(_user(message, ids)))
    if not messages or messages[0]["role"] != "user":
        messages.insert(0, _message("user", [_text(_GO_ON)]))
    if messages[-1]["role"] != "user":
        messages.append(_message("user", [_text(_GO_ON)]))
    return _without_old_thoughts(messages)


def thinks_from_the_start(messages: list[JsonObject]) -> bool:
    """Whether the running turn, if Claude has called tools in it, began with its thinking: else a budget is refused,
    as when another model made the calls."""
    running = [message for message in messages[_turn_start(messages) :] if message["role"] == "assistant"]
    return not running or running[0]["content"][0]["type"] in ("thinking", "redacted_thinking")


def without_thoughts(messages: list[JsonObject]) -> list[JsonObject]:
    """The messages without anything that only Claude can read."""
    return [
        {**message, "content": [block for block in message["content"] if block["type"] not in _OWN]}
        for message in messages
    ]


@dataclass(slots=True)
class _CallIds:
    """Ids of calls as the API takes them: plain characters, none twice in a request."""

    _taken: set[str] = field(default_factory=set[str])
    _wire: dict[str, str] = field(default_factory=dict[str, str])

    def of_call(self, given: str) -> str:
        plain = re.sub(r"[^a-zA-Z0-9_-]", "_", given)
        wire = next(
            name for n in range(len(self._taken) + 1) if (name := f"{plain}_{n}" if n else plain) not in self._taken
        )
        self._taken.add(wire)
        self._wire[given] = wire
        return wire

    def of_result(self, given: str) -> str:
        return self._wire[given]


def _ended(request: LlmRequest) -> LlmRequest:
    """The request with an end that has `request.messages` answer the last calls too, when they wait for results."""
    return request.model_copy(update={"contents": [*request.contents, types.Content(role="user", parts=[])]})


def _speaks(content: types.Content) -> bool:
    """Whether `request.messages` makes a message of it."""
    return any(part.function_call is not None or (part.text and not part.thought) for part in content.parts or ())


def _assistant(content: types.Content, message: asked.Message, ids: _CallIds) -> Iterator[JsonObject]:
    """The blocks of a reply in the order in which it came."""
    calls = iter(message.calls)
    for part in content.parts or ():
        if part.function_call is not None:
            call = next(calls)
            yield {"type": "tool_use", "id": ids.of_call(call.id), "name": call.name, "input": call.arguments}
        elif part.thought:
            yield from _unsealed(part)
        elif part.text and part.text.strip():
            yield _text(part.text)


def _unsealed(part: types.Part) -> Iterable[JsonObject]:
    """Claude's own block out of a thought; nothing for other models' thoughts."""
    data = opened(PROVIDER, part.thought_signature)
    if data is None:
        return ()
    block = cast("JsonObject", json.loads(data))
    return ({**block, "thinking": part.text or ""} if block["type"] == "thinking" else block,)


def _user(message: asked.Message, ids: _CallIds) -> Iterator[JsonObject]:
    for result in message.results:
        yield _result(result, ids)
    yield from map(_image, message.images)
    if message.text.strip():
        yield _text(message.text)


def _result(result: asked.Result, ids: _CallIds) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": ids.of_result(result.id), "content": result.text}
    return {**block, "is_error": True} if _is_error(result.text) else block


def _is_error(text: str) -> bool:
    """Whether a tool reported an error: an object that holds nothing else."""
    if not text.startswith('{"error"'):
        return False
    try:
        value: Any = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and list(cast("JsonObject", value)) == ["error"]


def _image(image: asked.Image) -> JsonObject:
    if image.url:
        return {"type": "image", "source": {"type": "url", "url": image.url}}
    data = base64.b64encode(image.data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": image.mime_type, "data": data}}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _message(role: str, content: list[JsonObject]) -> JsonObject:
    return {"role": role, "content": content}


def _add(messages: list[JsonObject], role: str, content: list[JsonObject]) -> None:
    """Add a message, or its blocks to the last one of the same role; results stay before everything else."""
    if all(block["type"] in _OWN for block in content):
        return
    if not messages or messages[-1]["role"] != role:
        messages.append(_message(role, content))
        return
    blocks = [*messages[-1]["content"], *content]
    messages[-1]["content"] = blocks if role == "assistant" else sorted(blocks, key=_is_no_result)


def _is_no_result(block: JsonObject) -> bool:
    return block["type"] != "tool_result"


def _turn_start(messages: list[JsonObject]) -> int:
    """Index of the message that the running turn answers."""
    begins = (
        index
        for index in range(len(messages) - 1, -1, -1)
        if messages[index]["role"] == "user" and all(map(_is_no_result, messages[index]["content"]))
    )
    return next(begins, 0)


def _without_old_thoughts(messages: list[JsonObject]) -> list[JsonObject]:
    start = _turn_start(messages)
    return [*without_thoughts(messages[:start]), *messages[start:]]
