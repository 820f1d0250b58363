"""The Messages API as a stand-in speaks it: its events, its errors, and an adapter that is pointed at one."""

from __future__ import annotations

import json
from typing import Any

from syndicate.models.anthropic import AnthropicLlm
from syndicate.settings import Settings
from tests.models.conftest import Answer, StandIn
from tests.models.wire import check

PATH = "/v1/messages"
KEY = "sesame-1234"
SAMPLING = ("temperature", "top_p", "top_k")  # which the API takes for older models, and the SDK's types know no more
USAGE = {
    "input_tokens": 12,
    "cache_read_input_tokens": 8,
    "cache_creation_input_tokens": 3,
    "output_tokens": 9,
    "output_tokens_details": {"thinking_tokens": 4},
}


def claude(stand_in: StandIn, settings: Settings, model_id: str = "claude-haiku-4-5") -> AnthropicLlm:
    """The adapter of a model, asking the stand-in."""
    values = {**settings.model_dump(), "anthropic_api_key": KEY, "anthropic_base_url": stand_in.url}
    return AnthropicLlm.from_settings(model_id, Settings.read(values, env_file=None))


def check_all(stand_in: StandIn) -> None:
    """Every request was one that the API could take."""
    for body in stand_in.bodies(PATH):
        check(PATH, body, beyond=SAMPLING)


def message(*content: dict[str, Any], stop: str | None = "end_turn", usage: Any = USAGE, **more: Any) -> dict[str, Any]:
    """A whole message."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
        **more,
    }


def events(*values: dict[str, Any] | str | bytes, **options: Any) -> Answer:
    """Server-sent events with their names, as the API sends them; a text goes as it is."""
    frames = [
        value if isinstance(value, str | bytes) else f"event: {value['type']}\ndata: {json.dumps(value)}\n\n"
        for value in values
    ]
    return Answer(frames, content_type="text/event-stream", **options)


def start(usage: Any = None) -> dict[str, Any]:
    counted = usage or {**USAGE, "output_tokens": 1, "output_tokens_details": None}
    return {"type": "message_start", "message": message(stop=None, usage=counted)}


def stop(reason: str = "end_turn", usage: Any = None, **delta: Any) -> list[dict[str, Any]]:
    counted = usage or {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}
    ended = {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None, **delta},
        "usage": counted,
    }
    return [ended, {"type": "message_stop"}]


def block(index: int, opening: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of one block."""
    pieces = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    first = {"type": "content_block_start", "index": index, "content_block": opening}
    return [first, *pieces, {"type": "content_block_stop", "index": index}]


def text(index: int, *pieces: str) -> list[dict[str, Any]]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, {"type": "text", "text": ""}, *deltas)


def thinking(index: int, *pieces: str, signature: str = "c2lnbmVk") -> list[dict[str, Any]]:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    signed = {"type": "signature_delta", "signature": signature}
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, *deltas, signed)


def tool_use(index: int, identity: str, name: str, *pieces: str) -> list[dict[str, Any]]:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, {"type": "tool_use", "id": identity, "name": name, "input": {}}, *deltas)


def refusal(status: int, words: str, kind: str, **headers: str) -> Answer:
    answer = Answer.json({"type": "error", "error": {"type": kind, "message": words}}, status)
    answer.headers = headers
    return answer
