"""A reply on the Responses wire: its deltas and items, put together as ADK's contract asks."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from uuid import uuid4

from google.adk.models.llm_response import LlmResponse
from google.genai import types
from openai.types.responses import (
    Response,
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseReasoningItem,
    ResponseStreamEvent,
    ResponseUsage,
)

from syndicate.errors import ModelError
from syndicate.models.failure import failure
from syndicate.models.openai_client import Address, failure_in_answer
from syndicate.models.openai_sources import Sources
from syndicate.models.reply import ThinkTags, Usage
from syndicate.models.signature import seal

Kind = Literal["text", "thought", "call"]

_FINISH = {"max_output_tokens": types.FinishReason.MAX_TOKENS, "content_filter": types.FinishReason.SAFETY}


@dataclass(slots=True)
class _Piece:
    """A part of the reply while it grows. `signature` is what the provider wants back of a thought."""

    kind: Kind
    frames: list[str] = field(default_factory=list[str])
    signature: bytes | None = None
    call: ResponseFunctionToolCall | None = None


class ResponsesReply:
    """Collects one reply of `model` at `provider`: events as they come, or a whole response.

    `begun` tells whether any of it has arrived.
    """

    def __init__(self, model: str, provider: str, address: Address, *, hide_thoughts: bool = False) -> None:
        self.begun = False
        self._model, self._provider, self._address = model, provider, address
        self._hide_thoughts = hide_thoughts
        self._pieces: list[_Piece] = []
        self._tags = ThinkTags()
        self._sources = Sources()
        self._streamed: set[Kind] = set()  # kinds of deltas since the last whole item: that item repeats them
        self._items = 0
        self._refused = False
        self._response: Response | None = None

    def take(self, event: ResponseStreamEvent) -> list[LlmResponse]:
        """Take in one event; the partial responses to stream for it. Raises `ModelError` for a failure it reports."""
        self.begun = True
        match event.type:
            case "response.output_text.delta":
                return self._text(event.delta)
            case "response.refusal.delta":
                self._refused = True
                return self._text(event.delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._thought(event.delta)
            case "response.reasoning_summary_part.added":
                return self._thought("\n\n") if "thought" in self._streamed else []
            case "response.output_item.done":
                return self._item(event.item)
            case "response.completed" | "response.incomplete" | "response.failed":
                return self.finish(event.response)
            case "error":
                raise self._failure(event.to_dict(mode="json", warnings=False), event.message)
            case _:
                return []

    def finish(self, response: Response) -> list[LlmResponse]:
        """Take in the whole response, at the end or instead of events. Raises `TypeError` for what is none."""
        if response.status is None:
            raise TypeError("an answer without a status is no response")
        shown = [partial for item in (response.output or [])[self._items :] for partial in self._item(item)]
        if response.status in ("failed", "cancelled"):
            error = response.error.to_dict(mode="json", warnings=False) if response.error else {}
            raise self._failure(error, f"the response was {response.status}")
        self._response = response
        return [*shown, *(partial for kind, text in self._tags.end() for partial in self._add(kind, text))]

    def whole(self) -> LlmResponse:
        """The reply. Raises `ModelError` when it was cut off, or calls a tool with what is no JSON object."""
        if self._response is None:
            raise failure("the answer broke off", model=self._model, code="stream-cut")
        reason = self._response.incomplete_details.reason if self._response.incomplete_details else None
        ended = self._response.status != "incomplete"
        finish = types.FinishReason.STOP if ended else _FINISH.get(reason or "", types.FinishReason.OTHER)
        return LlmResponse(
            content=types.Content(role="model", parts=[self._part(piece, finish) for piece in self._pieces]),
            partial=False,
            finish_reason=types.FinishReason.SAFETY if self._refused else finish,
            error_code="SAFETY" if finish is types.FinishReason.SAFETY else None,
            model_version=self._model,
            usage_metadata=_usage(self._response.usage),
            grounding_metadata=self._sources.metadata(),
        )

    def _item(self, item: ResponseOutputItem) -> list[LlmResponse]:
        """Take in a whole item, which may have been streamed before."""
        streamed, self._streamed = self._streamed, set()
        self._items += 1
        match item.type:
            case "message":
                return self._message(item, "text" in streamed)
            case "reasoning":
                return self._reasoning(item, "thought" in streamed)
            case "function_call":
                self._pieces.append(_Piece("call", call=item))
            case "web_search_call" | "file_search_call":
                self._sources.searched(item)
                self._sign(item.to_dict(mode="json", warnings=False))
            case _:
                pass
        return []

    def _message(self, item: ResponseOutputMessage, streamed: bool) -> list[LlmResponse]:
        shown: list[LlmResponse] = []
        for content in item.content:
            if content.type == "refusal":
                self._refused = True
                shown += [] if streamed else self._text(content.refusal)
            elif content.type == "output_text":
                self._sources.cited(content.annotations or [])
                shown += [] if streamed else self._text(content.text)
        self._streamed.clear()
        return shown

    def _reasoning(self, item: ResponseReasoningItem, streamed: bool) -> list[LlmResponse]:
        texts = [summary.text for summary in item.summary or ()] or [content.text for content in item.content or ()]
        shown = [] if streamed else self._thought("\n\n".join(texts))
        self._streamed.clear()
        if item.encrypted_content:
            summary = [{"type": "summary_text", "text": part.text} for part in item.summary or ()]
            kept = {"id": item.id, "summary": summary, "encrypted_content": item.encrypted_content}
            self._sign({"type": "reasoning", **kept})
        return shown

    def _sign(self, item: dict[str, Any]) -> None:
        """Keep an item that the provider wants back, on the thought that it ends or on an empty one."""
        if not self._pieces or self._pieces[-1].kind != "thought" or self._pieces[-1].signature is not None:
            self._pieces.append(_Piece("thought"))
        self._pieces[-1].signature = seal(self._provider, json.dumps(item, ensure_ascii=False).encode())

    def _text(self, frame: str) -> list[LlmResponse]:
        self._streamed.add("text")
        return [partial for kind, text in self._tags.feed(frame or "") for partial in self._add(kind, text)]

    def _thought(self, frame: str) -> list[LlmResponse]:
        self._streamed.add("thought")
        return self._add("thought", frame or "")

    def _add(self, kind: Literal["text", "thought"], text: str) -> list[LlmResponse]:
        if not text or (kind == "thought" and self._hide_thoughts):
            return []
        last = self._pieces[-1] if self._pieces else None
        if last is None or last.kind != kind or last.signature is not None:
            last = _Piece(kind)
            self._pieces.append(last)
        last.frames.append(text)
        part = types.Part(text=text, thought=True) if kind == "thought" else types.Part(text=text)
        return [LlmResponse(content=types.Content(role="model", parts=[part]), partial=True)]

    def _part(self, piece: _Piece, finish: types.FinishReason) -> types.Part:
        if piece.call is not None:
            return types.Part(function_call=self._call(piece.call, cut=finish is types.FinishReason.MAX_TOKENS))
        text = "".join(piece.frames)
        if piece.kind == "text":
            return types.Part(text=text)
        return types.Part(text=text, thought=True, thought_signature=piece.signature)

    def _call(self, item: ResponseFunctionToolCall, *, cut: bool) -> types.FunctionCall:
        try:
            arguments = json.loads((item.arguments or "").strip() or "{}")
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            wrong = "cut off" if cut else "no JSON object"
            raise ModelError(
                f"{self._model!r} called {item.name!r} with arguments that are {wrong}",
                code="malformed",
                remediation="raise maxOutputTokens" if cut else "",
                retryable=not cut,
                model=self._model,
            )
        identity = item.call_id or f"call_{uuid4().hex[:24]}"
        return types.FunctionCall(id=identity, name=item.name, args=cast("dict[str, Any]", arguments))

    def _failure(self, error: dict[str, Any], message: str) -> ModelError:
        return failure_in_answer(error, message, model=self._model, address=self._address)


def _usage(usage: ResponseUsage | None) -> types.GenerateContentResponseUsageMetadata | None:
    """Some servers count reasoning apart from output: what is neither prompt nor anything else was output."""
    if usage is None:
        return None
    details, prompt = usage.output_tokens_details, usage.input_tokens_details
    return Usage(
        prompt=usage.input_tokens,
        output=max(usage.output_tokens, (usage.total_tokens or 0) - usage.input_tokens),
        thoughts=details.reasoning_tokens if details else None,
        cached=prompt.cached_tokens if prompt else None,
    ).metadata()
