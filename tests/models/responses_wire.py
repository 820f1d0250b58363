"""The Responses wire, frame by frame, as OpenAI's servers send it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tests.models.conftest import Answer

PATH = "/v1/responses"
USAGE = {
    "input_tokens": 12,
    "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 0},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 21,
}
Item = dict[str, Any]


def message(text: str, annotations: Sequence[Item] = ()) -> Item:
    content = {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [content]}


def refusal(text: str) -> Item:
    content = [{"type": "refusal", "refusal": text}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


def reasoning(identity: str, *summaries: str, encrypted: str | None = "gAAAA") -> Item:
    summary = [{"type": "summary_text", "text": text} for text in summaries]
    return {"type": "reasoning", "id": identity, "summary": summary, "encrypted_content": encrypted}


def call(identity: str, name: str, arguments: str = "{}") -> Item:
    head = {"type": "function_call", "id": f"fc_{identity}", "status": "completed"}
    return {**head, "call_id": identity, "name": name, "arguments": arguments}


def web_search(query: str) -> Item:
    return {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": query},
    }


def cited(url: str, title: str) -> Item:
    return {"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": 1}


def response(*items: Item, status: str = "completed", usage: Item | None = USAGE, **more: Any) -> Item:
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5-2026-01-01", "status": status}
    about = {"error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "tools": []}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "output": list(items), "usage": usage}
    return head | about | rest | more


def whole(*items: Item, **more: Any) -> Answer:
    return Answer.json(response(*items, **more))


def streamed(*items: Item, pieces: int = 2, end: str = "completed", pause: float = 0, **more: Any) -> Answer:
    """A stream of these items, each of their texts in so many deltas, and its end."""
    return events(
        *item_events(items, pieces), {"type": f"response.{end}", "response": response(*items, **more)}, pause=pause
    )


def events(*values: Any, **options: Any) -> Answer:
    """The start of a response and then these events, numbered; a text goes as it is."""
    start = [
        {"type": f"response.{name}", "response": response(status="in_progress")} for name in ("created", "in_progress")
    ]
    numbered = [
        {**value, "sequence_number": number} if isinstance(value, dict) else value
        for number, value in enumerate([*start, *values])
    ]
    frames = [f"event: {value['type']}\n" if isinstance(value, dict) and "type" in value else "" for value in numbered]
    answer = Answer.events(*numbered, **options)
    answer.frames = [head + str(frame) for head, frame in zip(frames, answer.frames, strict=True)]
    return answer


def item_events(items: Iterable[Item], pieces: int = 2) -> Iterator[Item]:
    for index, item in enumerate(items):
        at = {"output_index": index}
        yield {"type": "response.output_item.added", **at, "item": {**item, **_BLANK.get(item["type"], {})}}
        at["item_id"] = item["id"]
        match item["type"]:
            case "message":
                yield from _message_events(item, at, pieces)
            case "reasoning":
                yield from _reasoning_events(item, at, pieces)
            case "function_call":
                for delta in _cut(item["arguments"], pieces):
                    yield {"type": "response.function_call_arguments.delta", **at, "delta": delta}
                done = {"arguments": item["arguments"], "name": item["name"]}
                yield {"type": "response.function_call_arguments.done", **at, **done}
            case _:
                yield {"type": "response.web_search_call.completed", **at}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}


_BLANK: dict[str, Item] = {
    "message": {"status": "in_progress", "content": []},
    "reasoning": {"summary": [], "encrypted_content": "unfinished"},
    "function_call": {"status": "in_progress", "arguments": ""},
    "web_search_call": {"status": "in_progress"},
}


def _message_events(item: Item, at: Item, pieces: int) -> Iterator[Item]:
    for index, content in enumerate(item["content"]):
        here = {**at, "content_index": index}
        field = "refusal" if content["type"] == "refusal" else "text"
        kind = "refusal" if field == "refusal" else "output_text"
        yield {"type": "response.content_part.added", **here, "part": {**content, field: ""}}
        for delta in _cut(content[field], pieces):
            yield {"type": f"response.{kind}.delta", **here, "delta": delta, "logprobs": [], "obfuscation": "xyz"}
        yield {"type": f"response.{kind}.done", **here, field: content[field], "logprobs": []}
        yield {"type": "response.content_part.done", **here, "part": content}


def _reasoning_events(item: Item, at: Item, pieces: int) -> Iterator[Item]:
    for index, summary in enumerate(item["summary"]):
        here = {**at, "summary_index": index}
        yield {"type": "response.reasoning_summary_part.added", **here, "part": {**summary, "text": ""}}
        for delta in _cut(summary["text"], pieces):
            yield {"type": "response.reasoning_summary_text.delta", **here, "delta": delta}
        yield {"type": "response.reasoning_summary_text.done", **here, "text": summary["text"]}
        yield {"type": "response.reasoning_summary_part.done", **here, "part": summary}


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // pieces))
    return [text[start : start + size] for start in range(0, len(text), size)]
