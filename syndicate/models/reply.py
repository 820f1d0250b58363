"""A model's reply, put together from the pieces of any wire format and handed to ADK as its contract asks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from uuid import uuid4

from google.adk.models.llm_response import LlmResponse
from google.genai import types

from syndicate.errors import ModelError
from syndicate.models.failure import failure

Kind = Literal["text", "thought"]
Piece = tuple[Kind, str]

_FINISH = {
    "stop": types.FinishReason.STOP,
    "tool_calls": types.FinishReason.STOP,
    "function_call": types.FinishReason.STOP,
    "length": types.FinishReason.MAX_TOKENS,
    "content_filter": types.FinishReason.SAFETY,
}


@dataclass(slots=True)
class ThinkTags:
    """Tells thoughts from text where a model writes `<think>…</think>` before its answer, wherever a frame ends.

    Only tags that open the reply, or directly follow a closed block, count: an answer may speak of the tag.
    """

    _held: str = ""
    _state: Literal["start", "thinking", "after", "text"] = "start"

    def feed(self, frame: str) -> Iterator[Piece]:
        """The pieces that are certain by now; an undecided rest is kept."""
        self._held += frame
        while self._held:
            before = (self._state, self._held)
            piece = self._step()
            if piece is not None and piece[1]:
                yield piece
            if (self._state, self._held) == before:
                return

    def end(self) -> Iterator[Piece]:
        """What was still undecided when the reply ended."""
        if self._held and self._state == "thinking":
            yield ("thought", self._held)
        elif self._held.strip():
            yield ("text", self._held)
        self._held = ""

    def _step(self) -> Piece | None:
        if self._state == "text":
            return ("text", self._take(len(self._held)))
        if self._state == "thinking":
            return self._think()
        self._decide()
        return None

    def _decide(self) -> None:
        """A tag, the beginning of one (wait), or text. Blank space decides nothing; after a block it is dropped."""
        rest = self._held.lstrip()
        if rest.startswith("<think>"):
            self._held, self._state = rest.removeprefix("<think>"), "thinking"
        elif not "<think>".startswith(rest):
            self._held = rest if self._state == "after" else self._held
            self._state = "text"

    def _think(self) -> Piece:
        thought, tag, rest = self._held.partition("</think>")
        if tag:
            self._held, self._state = rest, "after"
            return ("thought", thought)
        return ("thought", self._take(len(self._held) - _overlap(self._held, "</think>")))

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        return taken


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of `text` may be the beginning of `tag`."""
    return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)


@dataclass(slots=True)
class PartialCall:
    """A tool call while its pieces arrive; arguments are JSON text, or an object where the wire sends one."""

    id: str = ""
    name: str = ""
    arguments: str | dict[str, Any] = ""


@dataclass(slots=True)
class Usage:
    """Tokens as the provider counted them; None is unknown. `thoughts` is part of `output`, `cached` of `prompt`."""

    prompt: int | None = None
    output: int | None = None
    thoughts: int | None = None
    cached: int | None = None

    def metadata(self) -> types.GenerateContentResponseUsageMetadata:
        """As ADK counts: candidates and thoughts apart."""
        visible = None if self.output is None else max(self.output - (self.thoughts or 0), 0)
        total = None if self.prompt is None or self.output is None else self.prompt + self.output
        return types.GenerateContentResponseUsageMetadata(
            prompt_token_count=self.prompt,
            candidates_token_count=visible,
            thoughts_token_count=self.thoughts or None,
            cached_content_token_count=self.cached,
            total_token_count=total,
        )


@dataclass(slots=True)
class Reply:
    """Collects one reply. `finish` is the wire's word for why it ended, empty until it has."""

    model: str
    hide_thoughts: bool = False
    finish: str = ""
    usage: Usage | None = None
    calls: list[PartialCall] = field(default_factory=list[PartialCall])
    begun: bool = False
    _pieces: list[Piece] = field(default_factory=list[Piece])
    _tags: ThinkTags = field(default_factory=ThinkTags)

    def add_text(self, frame: str) -> list[LlmResponse]:
        """Take in text, which may hold thoughts between tags; the partial responses to stream for it."""
        return self._add(self._tags.feed(frame))

    def add_thought(self, frame: str) -> list[LlmResponse]:
        """Take in a thought that the wire keeps apart from text."""
        pieces: list[Piece] = [("thought", frame)] if frame else []
        return self._add(pieces)

    def end(self) -> list[LlmResponse]:
        """The last partial responses, then the whole reply. Raises `ModelError` when it was cut off."""
        if not self.finish:
            raise failure("the answer broke off", model=self.model, code="stream-cut")
        return [*self._add(self._tags.end()), self._whole()]

    def _add(self, pieces: Iterable[Piece]) -> list[LlmResponse]:
        shown: list[LlmResponse] = []
        for kind, text in pieces:
            if kind == "thought" and self.hide_thoughts:
                continue
            if self._pieces and self._pieces[-1][0] == kind:
                self._pieces[-1] = (kind, self._pieces[-1][1] + text)
            else:
                self._pieces.append((kind, text))
            self.begun = True
            shown.append(LlmResponse(content=_content([_part(kind, text)]), partial=True))
        return shown

    def _whole(self) -> LlmResponse:
        parts = [_part(kind, text) for kind, text in self._pieces]
        parts += [self._call(call) for call in self.calls]
        return LlmResponse(
            content=_content(parts),
            partial=False,
            finish_reason=_FINISH.get(self.finish, types.FinishReason.OTHER),
            model_version=self.model,
            error_code="SAFETY" if self.finish == "content_filter" else None,
            usage_metadata=self.usage.metadata() if self.usage else None,
        )

    def _call(self, call: PartialCall) -> types.Part:
        identity = call.id or f"call_{uuid4().hex[:24]}"
        return types.Part(function_call=types.FunctionCall(id=identity, name=call.name, args=self._arguments(call)))

    def _arguments(self, call: PartialCall) -> dict[str, Any]:
        if not isinstance(call.arguments, str):
            return call.arguments
        try:
            parsed = json.loads(call.arguments.strip() or "{}")
        except ValueError:
            parsed = None
        if isinstance(parsed, dict):
            return cast("dict[str, Any]", parsed)
        cut = self.finish == "length"
        raise ModelError(
            f"{self.model!r} called {call.name!r} with arguments that are {'cut off' if cut else 'no JSON object'}",
            code="malformed",
            remediation="raise maxOutputTokens" if cut else "",
            retryable=not cut,
            model=self.model,
        )


def _part(kind: Kind, text: str) -> types.Part:
    return types.Part(text=text, thought=True) if kind == "thought" else types.Part(text=text)


def _content(parts: list[types.Part]) -> types.Content:
    return types.Content(role="model", parts=parts)
