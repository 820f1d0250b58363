"""A reply of Claude's, put together from the blocks of the Messages API and handed to ADK as its contract asks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any, cast

from anthropic import BaseModel
from anthropic.types import Message, RawContentBlockDelta, RawMessageStreamEvent
from anthropic.types.raw_message_delta_event import Delta
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from syndicate.errors import ModelError
from syndicate.models.anthropic_messages import sealed
from syndicate.models.failure import failure
from syndicate.models.reply import Usage
from syndicate.models.request import JsonObject

_FINISH = {
    "end_turn": types.FinishReason.STOP,
    "stop_sequence": types.FinishReason.STOP,
    "tool_use": types.FinishReason.STOP,
    "max_tokens": types.FinishReason.MAX_TOKENS,
    "model_context_window_exceeded": types.FinishReason.MAX_TOKENS,
    "refusal": types.FinishReason.SAFETY,
}
_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


@dataclass(slots=True)
class AnthropicReply:
    """Collects the blocks of one reply, over several messages where the API pauses in between.

    `finish` is the API's word for why the last message ended, empty until it has; `begun` tells whether anything of
    the reply has arrived.
    """

    model: str
    hide_thoughts: bool = False
    finish: str = ""
    begun: bool = False
    blocks: list[JsonObject] = field(default_factory=list[JsonObject])
    _version: str = ""
    _reason: str = ""
    _refusal: str = ""
    _first: int = 0
    _pieces: dict[tuple[int, str], list[str]] = field(default_factory=dict[tuple[int, str], list[str]])
    _counts: list[dict[str, int]] = field(default_factory=list[dict[str, int]])

    @property
    def said(self) -> list[JsonObject]:
        """The blocks as they are sent back, where the reply is to go on."""
        return [block for block in self.blocks if block["type"] != "text" or str(block["text"]).strip()]

    def begin(self) -> None:
        """Another message follows: the first one, or one that goes on where the last one paused."""
        self.finish, self._reason, self._first = "", "", len(self.blocks)
        self._counts.append({})

    def take(self, message: Message) -> None:
        """Take in a message that came whole. Raises `ModelError`."""
        try:
            self.begun, self._version = True, message.model
            self.blocks += [cast("JsonObject", _plain(block)) for block in message.content]
            self._ends(message)
            self._count(message.usage)
            self.finish = self._reason
        except (AttributeError, TypeError):  # the SDK does not check what it reads
            raise self._malformed() from None

    def feed(self, event: RawMessageStreamEvent) -> LlmResponse | None:
        """Take in an event of a stream; the partial response to show for it. Raises `ModelError`."""
        self.begun = True
        try:
            if event.type == "content_block_delta":
                return self._add(self._first + event.index, event.delta)
            self._take_event(event)
        except (AttributeError, LookupError, TypeError):  # the SDK does not check what it reads
            raise self._malformed() from None
        return None

    def whole(self) -> LlmResponse:
        """The whole reply. Raises `ModelError` when it was cut off."""
        if not self.finish:
            raise failure("the answer broke off", model=self.model, code="stream-cut")
        try:
            content, sources = types.Content(role="model", parts=list(self._parts())), _grounding(self.blocks)
        except (LookupError, TypeError, ValueError):
            raise self._malformed() from None
        refused = self.finish == "refusal"
        return LlmResponse(
            content=content,
            partial=False,
            finish_reason=_FINISH.get(self.finish, types.FinishReason.OTHER),
            model_version=self._version or self.model,
            error_code="SAFETY" if refused else None,
            error_message=(self._refusal or "the model refused to answer") if refused else None,
            usage_metadata=self._usage(),
            grounding_metadata=sources,
        )

    def _take_event(self, event: RawMessageStreamEvent) -> None:
        match event.type:
            case "content_block_start":
                self.blocks.append(cast("JsonObject", _plain(event.content_block)))
            case "message_start":
                self._version = event.message.model
                self._count(event.message.usage)
            case "message_delta":
                self._ends(event.delta)
                self._count(event.usage)
            case "message_stop":
                self._settle()
                self.finish = self._reason or "end_turn"
            case _:  # the end of a block says nothing new, and other events are not for us
                pass

    def _add(self, index: int, delta: RawContentBlockDelta) -> LlmResponse | None:
        """A piece of a block, to be joined when the message ends."""
        match delta.type:
            case "text_delta":
                return self._piece(index, "text", delta.text, shown=True)
            case "thinking_delta":
                return self._piece(index, "thinking", delta.thinking, shown=not self.hide_thoughts)
            case "signature_delta":
                return self._piece(index, "signature", delta.signature)
            case "input_json_delta":
                return self._piece(index, "input", delta.partial_json)
            case "citations_delta":
                self.blocks[index]["citations"] = [*(self.blocks[index].get("citations") or ()), _plain(delta.citation)]
        return None

    def _piece(self, index: int, name: str, text: str, *, shown: bool = False) -> LlmResponse | None:
        self._pieces.setdefault((index, name), []).append(text)
        if not shown or not text:
            return None
        part = types.Part(text=text, thought=True) if name == "thinking" else types.Part(text=text)
        return LlmResponse(content=types.Content(role="model", parts=[part]), partial=True)

    def _settle(self) -> None:
        """Join the pieces that a message came in."""
        for (index, name), texts in self._pieces.items():
            block, text = self.blocks[index], "".join(texts)
            if name == "input":
                block["input"] = self._arguments(block, text)
            else:
                block[name] = f"{block.get(name) or ''}{text}"
        self._pieces.clear()

    def _arguments(self, block: JsonObject, text: str) -> JsonObject:
        try:
            value: Any = json.loads(text) if text.strip() else {}
        except ValueError:
            value = None
        if isinstance(value, dict):
            return cast("JsonObject", value)
        cut = self._reason in ("max_tokens", "model_context_window_exceeded")
        raise ModelError(
            f"{self.model!r} called {block['name']!r} with arguments that are {'cut off' if cut else 'no JSON object'}",
            code="malformed",
            remediation="raise maxOutputTokens" if cut else "",
            retryable=not cut,
            model=self.model,
        )

    def _ends(self, last: Message | Delta) -> None:
        self._reason = last.stop_reason or self._reason
        self._refusal = (last.stop_details.explanation if last.stop_details else None) or self._refusal

    def _count(self, usage: object) -> None:
        """Later counts of a message go over earlier ones; what is not counted stays unknown."""
        found = {name: getattr(usage, name, None) for name in _COUNTS}
        found["thinking_tokens"] = getattr(getattr(usage, "output_tokens_details", None), "thinking_tokens", None)
        self._counts[-1] |= {name: count for name, count in found.items() if isinstance(count, int)}

    def _usage(self) -> types.GenerateContentResponseUsageMetadata | None:
        prompt = self._sum(*_COUNTS[:3])
        output, thoughts = self._sum("output_tokens"), self._sum("thinking_tokens")
        if prompt is None and output is None:
            return None
        return Usage(prompt, output, thoughts, self._sum("cache_read_input_tokens")).metadata()

    def _sum(self, *names: str) -> int | None:
        """Over all messages of the reply; None when nobody counted."""
        counts = [counted[name] for counted in self._counts for name in names if name in counted]
        return sum(counts) if counts else None

    def _parts(self) -> Iterator[types.Part]:
        """The blocks as ADK's parts, text between two others as one. What searches found is kept only where the model
        goes on with it, after the results of calls."""
        goes_on = any(block["type"] == "tool_use" for block in self.blocks)
        for kind, blocks in groupby(self.blocks, key=_kind):
            match kind:
                case "text":
                    text = "".join(str(block["text"]) for block in blocks)
                    yield from [types.Part(text=text)] if text else []
                case "tool_use":
                    yield from map(_call, blocks)
                case "thinking":
                    yield from chain.from_iterable(map(self._thought, blocks))
                case "redacted_thinking":
                    yield from map(sealed, blocks)
                case "server_tool_use" | "web_search_tool_result" if goes_on:
                    yield from map(sealed, blocks)
                case _:
                    pass

    def _thought(self, block: JsonObject) -> Iterable[types.Part]:
        """A thought; one without a signature, as compatible servers send it, cannot be replayed."""
        if block.get("signature"):
            return (sealed({**block, "thinking": ""} if self.hide_thoughts else block),)
        text = "" if self.hide_thoughts else str(block["thinking"])
        return (types.Part(text=text, thought=True),) if text else ()

    def _malformed(self) -> ModelError:
        return failure("the answer cannot be read", model=self.model, code="malformed")


def _plain(value: BaseModel) -> dict[str, object]:
    return value.to_dict(mode="json", warnings=False)


def _kind(block: JsonObject) -> str:
    return str(block["type"])


def _call(block: JsonObject) -> types.Part:
    call = types.FunctionCall(id=str(block["id"]), name=str(block["name"]), args=block.get("input") or {})
    return types.Part(function_call=call)


def _grounding(blocks: Iterable[JsonObject]) -> types.GroundingMetadata | None:
    """What was searched for, and the pages the answer cites, each once; None where nothing was searched."""
    queries: list[str] = []
    pages: dict[str, str] = {}
    for block in blocks:
        if block["type"] == "server_tool_use" and "query" in (block.get("input") or {}):
            queries.append(str(block["input"]["query"]))
        for citation in block.get("citations") or ():
            if url := citation.get("url"):
                pages.setdefault(url, citation.get("title") or url)
    if not queries and not pages:
        return None
    chunks = [types.GroundingChunk(web=types.GroundingChunkWeb(uri=url, title=title)) for url, title in pages.items()]
    return types.GroundingMetadata(grounding_chunks=chunks, web_search_queries=queries)
