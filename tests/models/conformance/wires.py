"""One reply, written as each provider's servers write it: whole, or streamed in small frames."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.models.conftest import Answer

Frame = dict[str, Any]


@dataclass(frozen=True)
class Called:
    """A tool call of the reply."""

    name: str
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Said:
    """A reply. Tokens count as providers count: `thought_tokens` are part of `output_tokens`, but not with Gemini."""

    text: str = ""
    thought: str = ""
    signature: str = ""
    calls: tuple[Called, ...] = ()
    prompt_tokens: int = 12
    output_tokens: int = 9
    thought_tokens: int = 4
    cached_tokens: int = 0
    source: tuple[str, str] | None = None
    pieces: tuple[str, ...] = ()

    def frames(self) -> Iterable[str]:
        """The text in frames: in those of `pieces` where there are any."""
        return self.pieces or halves(self.text)

    def ids(self) -> Iterator[tuple[str, Called]]:
        """The calls under the ids that the provider gives them."""
        return ((f"call_{number}", call) for number, call in enumerate(self.calls))


Wire = Callable[[Said, bool], Answer]


def halves(text: str) -> Iterable[str]:
    """A text in two frames."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def chat(said: Said, stream: bool) -> Answer:
    """OpenAI's chat completions, as llama.cpp and gateways write them."""
    head = {"id": "c1", "created": 1, "model": "m"}
    calls = [
        {"index": index, "id": name, "type": "function", "function": {"name": call.name, "arguments": _json(call.args)}}
        for index, (name, call) in enumerate(said.ids())
    ]
    finish = "tool_calls" if calls else "stop"
    usage = {
        "prompt_tokens": said.prompt_tokens,
        "completion_tokens": said.output_tokens,
        "total_tokens": said.prompt_tokens + said.output_tokens,
        "prompt_tokens_details": {"cached_tokens": said.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": said.thought_tokens},
    }
    if not stream:
        message = {"role": "assistant", "content": said.text or None, "reasoning_content": said.thought or None}
        choice = {"index": 0, "finish_reason": finish, "message": message | ({"tool_calls": calls} if calls else {})}
        return Answer.json({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    deltas: list[Frame] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in halves(said.thought)]
    deltas += [{"content": piece} for piece in said.frames()]
    for call in calls:
        start, *rest = halves(call["function"]["arguments"])
        deltas.append({"tool_calls": [{**call, "function": {**call["function"], "arguments": start}}]})
        deltas += [{"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]} for piece in rest]
    chunk = {**head, "object": "chat.completion.chunk"}
    frames = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    frames.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return Answer.events(*frames, {**chunk, "choices": [], "usage": usage}, "[DONE]")


def responses(said: Said, stream: bool) -> Answer:
    """OpenAI's Responses, which xAI speaks too."""
    items = list(_items(said))
    usage = {
        "input_tokens": said.prompt_tokens,
        "input_tokens_details": {"cached_tokens": said.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": said.output_tokens,
        "output_tokens_details": {"reasoning_tokens": said.thought_tokens},
        "total_tokens": said.prompt_tokens + said.output_tokens,
    }
    about = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "parallel_tool_calls": True}
    rest = {"tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None, "metadata": {}}
    whole = {**about, **rest, "status": "completed", "output": items, "usage": usage}
    if not stream:
        return Answer.json(whole)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[Frame] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(items):
        events += _item_events(index, item)
    events.append({"type": "response.completed", "response": whole})
    return _named([{**event, "sequence_number": number} for number, event in enumerate(events)])


def _items(said: Said) -> Iterator[Frame]:
    if said.thought:
        summary = [{"type": "summary_text", "text": said.thought}]
        yield {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": said.signature or None}
    if said.source:
        action = {"type": "search", "query": "q"}
        yield {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": action}
    if said.text:
        notes: list[Frame] = []
        if said.source:
            title, url = said.source
            notes = [{"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": 1}]
        content = [{"type": "output_text", "text": said.text, "annotations": notes, "logprobs": []}]
        yield {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    for name, call in said.ids():
        head = {"type": "function_call", "id": f"fc_{name}", "call_id": name, "status": "completed"}
        yield {**head, "name": call.name, "arguments": _json(call.args)}


def _item_events(index: int, item: Frame) -> Iterator[Frame]:
    place = {"output_index": index, "item_id": item["id"]}
    empty = {"reasoning": {"summary": []}, "message": {"content": []}, "function_call": {"arguments": ""}}
    yield {"type": "response.output_item.added", "output_index": index, "item": item | empty.get(item["type"], {})}
    match item["type"]:
        case "reasoning":
            for piece in halves(item["summary"][0]["text"]):
                yield {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": piece, **place}
        case "message":
            for piece in halves(item["content"][0]["text"]):
                kind = "response.output_text.delta"
                yield {"type": kind, "content_index": 0, "delta": piece, "logprobs": [], **place}
        case "function_call":
            for piece in halves(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", "delta": piece, **place}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def anthropic(said: Said, stream: bool) -> Answer:
    """Anthropic's Messages."""
    blocks = list(_blocks(said))
    stop = "tool_use" if said.calls else "end_turn"
    usage = {
        "input_tokens": said.prompt_tokens - said.cached_tokens,
        "cache_read_input_tokens": said.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": said.output_tokens,
        "output_tokens_details": {"thinking_tokens": said.thought_tokens},
    }
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    if not stream:
        return Answer.json({**message, "content": blocks, "stop_reason": stop, "usage": usage})
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[Frame] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(blocks):
        events += _block_events(index, block)
    end = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": usage})
    return _named([*events, {"type": "message_stop"}])


def _blocks(said: Said) -> Iterator[Frame]:
    if said.thought:
        yield {"type": "thinking", "thinking": said.thought, "signature": said.signature}
    citations: list[Frame] = []
    if said.source:
        title, url = said.source
        yield {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
        found = {"type": "web_search_result", "url": url, "title": title, "encrypted_content": "e", "page_age": None}
        yield {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found]}
        place = {"type": "web_search_result_location", "encrypted_index": "e", "cited_text": "t"}
        citations = [{**place, "url": url, "title": title}]
    if said.text:
        yield {"type": "text", "text": said.text, "citations": citations or None}
    for name, call in said.ids():
        yield {"type": "tool_use", "id": name, "name": call.name, "input": dict(call.args)}


def _block_events(index: int, block: Frame) -> Iterator[Frame]:
    empty: dict[str, Frame] = {
        "thinking": {"thinking": "", "signature": ""},
        "text": {"text": "", "citations": []} if block.get("citations") else {"text": ""},
        "tool_use": {"input": {}},
        "server_tool_use": {"input": {}},
    }
    yield {"type": "content_block_start", "index": index, "content_block": block | empty.get(block["type"], {})}
    deltas: list[Frame] = []
    match block["type"]:
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in halves(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "text":
            deltas = [{"type": "citations_delta", "citation": citation} for citation in block["citations"] or ()]
            deltas += [{"type": "text_delta", "text": piece} for piece in halves(block["text"])]
        case "tool_use" | "server_tool_use":
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in halves(_json(block["input"]))]
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def gemini(said: Said, stream: bool) -> Answer:
    """Gemini's `generateContent`, whose thoughts are not part of the candidates' tokens."""
    usage = {
        "promptTokenCount": said.prompt_tokens,
        "candidatesTokenCount": said.output_tokens - said.thought_tokens,
        "thoughtsTokenCount": said.thought_tokens,
        "cachedContentTokenCount": said.cached_tokens,
        "totalTokenCount": said.prompt_tokens + said.output_tokens,
    }
    signed = {"thoughtSignature": base64.b64encode(said.signature.encode()).decode()} if said.signature else {}
    parts: list[Frame] = [{"text": piece, "thought": True} for piece in halves(said.thought)]
    parts += [{"text": piece} for piece in said.frames()]
    calls: list[Frame] = [
        {"functionCall": {"id": name, "name": call.name, "args": dict(call.args)}} for name, call in said.ids()
    ]
    if calls:
        calls[0] = {**calls[0], **signed}
    elif said.text:
        parts[-1] = {**parts[-1], **signed}
    grounding: Frame = {}
    if said.source:
        title, url = said.source
        chunk = {"web": {"uri": url, "title": title}}
        grounding = {"groundingMetadata": {"groundingChunks": [chunk], "webSearchQueries": ["q"]}}
    last = {"finishReason": "STOP", "index": 0, **grounding}
    if not stream:
        content = {"role": "model", "parts": [*parts, *calls]}
        return Answer.json({"candidates": [{"content": content, **last}], "usageMetadata": usage, "modelVersion": "m"})
    frames = [{"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts]
    end = {"role": "model", "parts": calls or [{"text": ""}]}
    return Answer.events(*frames, {"candidates": [{"content": end, **last}], "usageMetadata": usage})


def ollama(said: Said, stream: bool) -> Answer:
    """Ollama's native chat. Our adapter always streams it; the daemon gives calls no ids."""
    deltas: list[Frame] = [{"content": "", "thinking": piece} for piece in halves(said.thought)]
    deltas += [{"content": piece} for piece in said.frames()]
    if said.calls:
        calls = [{"function": {"name": call.name, "arguments": dict(call.args)}} for call in said.calls]
        deltas.append({"content": "", "tool_calls": calls})
    frames = [{"model": "m", "message": {"role": "assistant", **delta}, "done": False} for delta in deltas]
    counts = {"prompt_eval_count": said.prompt_tokens, "eval_count": said.output_tokens}
    end = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", **counts}
    return Answer.lines(*frames, end)


def broken_off(answer: Answer, frames: int = 2) -> Answer:
    """The beginning of a streamed answer, after which the connection is gone."""
    return replace(answer, frames=list(answer.frames)[:frames], drop=True)


def unfinished(answer: Answer, frames: int = 2) -> Answer:
    """The beginning of a streamed answer, ended as if that were all."""
    return replace(answer, frames=list(answer.frames)[:frames])


def garbled(answer: Answer, frames: int = 2) -> Answer:
    """The beginning of a streamed answer, then a frame that is no JSON."""
    begun = [str(frame) for frame in answer.frames][:frames]
    name = f"{begun[-1].splitlines()[0]}\n" if begun[-1].startswith("event:") else ""
    broken = "{not json\n" if "ndjson" in answer.content_type else f"{name}data: {{not json\n\n"
    return replace(answer, frames=[*begun, broken])


def _named(events: Iterable[Frame]) -> Answer:
    frames = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return Answer(frames, content_type="text/event-stream")


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value))
