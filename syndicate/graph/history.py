"""The past turns that an orchestrator's prompt has room for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.adk.models.llm_request import LlmRequest
    from google.genai import types

    from syndicate.graph.scope import Exchange

BYTES_PER_TOKEN = 3
"""UTF-8 bytes counted as one token: on the safe side of English prose (about 4) for the vocabularies in use."""

_OVERHEAD = 8
"""Tokens a chat template adds to each message, generously."""


def fit(history: Sequence[Exchange], request: LlmRequest, window: int) -> Sequence[Exchange]:
    """The newest turns of `history` that a context window of `window` tokens holds beside the request itself."""
    room = window - _reserve(request, window) - _prompt_tokens(request)
    kept = len(history)
    while kept and (cost := sum(map(_tokens, history[kept - 1]))) <= room:
        room -= cost
        kept -= 1
    return history[kept:]


def joined(contents: Iterable[types.Content]) -> list[types.Content]:
    """The same contents with adjacent messages of the user made one: some models' templates refuse two in a row."""
    result: list[types.Content] = []
    for content in contents:
        if result and _is_message(content) and _is_message(result[-1]):
            parts = [*(result[-1].parts or ()), *(content.parts or ())]
            result[-1] = result[-1].model_copy(update={"parts": parts})
        else:
            result.append(content)
    return result


def drop_older_half(contents: Sequence[types.Content]) -> list[types.Content] | None:
    """The same contents without the older half of the past turns; None when only the running turn is left."""
    starts = [index for index, content in enumerate(contents) if _is_message(content)]
    past = len(starts) - 1
    return list(contents[starts[(past + 1) // 2] :]) if past > 0 else None


def _is_message(content: types.Content) -> bool:
    return content.role == "user" and any(part.text for part in content.parts or ())


def _reserve(request: LlmRequest, window: int) -> int:
    """Tokens to leave for the reply."""
    return request.config.max_output_tokens or min(window // 4, 4096)


def _prompt_tokens(request: LlmRequest) -> int:
    config: Any = request.config  # genai's unions name types of packages that are not installed
    tokens = _text_tokens(str(config.system_instruction or "")) + sum(map(_tokens, request.contents))
    for tool in config.tools or ():
        for declaration in getattr(tool, "function_declarations", None) or ():
            tokens += _text_tokens(declaration.model_dump_json(exclude_none=True))
    return tokens


def _tokens(content: types.Content) -> int:
    return _OVERHEAD + sum(_part_tokens(content.parts or ()))


def _part_tokens(parts: Iterable[types.Part]) -> Iterable[int]:
    for part in parts:
        if part.text:
            yield _text_tokens(part.text)
        elif call := part.function_call or part.function_response:
            payload = getattr(call, "args", None) or getattr(call, "response", None)
            yield _OVERHEAD + _text_tokens(json.dumps(payload, default=str, ensure_ascii=False))


def _text_tokens(text: str) -> int:
    return len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN + 1
