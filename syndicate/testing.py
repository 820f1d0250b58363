"""A scripted model for tests: yours and ours.

model = ScriptedModel(["hello", Reply(calls=[ToolCall("roll", {"sides": 6})]), "you rolled a 4"])
async with Syndicate.open("tutor", models={"*": model}) as s: ...
model.requests[0].contents      # what the model was sent
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.adk.models import BaseLlm, LlmCapabilities
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr


@dataclass(frozen=True)
class ToolCall:
    """One function call of a scripted reply. An empty `id` gets one of its own."""

    name: str
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str = ""


@dataclass(frozen=True)
class Reply:
    """One scripted reply: thinking first, then text (whole, or as `deltas`), then calls, or `error` instead.

    `delay` is the pause in seconds before each piece; `usage` is (input, output) tokens, None for a model that
    reports none; `fail_after` deltas the error is raised, when both are given.
    """

    text: str = ""
    deltas: tuple[str, ...] | list[str] = ()
    thinking: str = ""
    calls: tuple[ToolCall, ...] | list[ToolCall] = ()
    error: Exception | None = None
    fail_after: int = 0
    delay: float = 0.0
    usage: tuple[int, int] | None = (10, 5)
    finish_reason: types.FinishReason = types.FinishReason.STOP

    @property
    def pieces(self) -> tuple[str, ...]:
        """The text as it streams."""
        return tuple(self.deltas) or ((self.text,) if self.text else ())


Script = str | Reply | Exception | Callable[[LlmRequest], "str | Reply | Exception"]


class ScriptedModel(BaseLlm):
    """Answers with `replies`, in order; each is a text, a `Reply`, an exception to raise, or a function of the request.

    With `cycle=True` it starts over at the end; else one call too many raises `AssertionError`. `requests` holds a
    copy of every request, in order.
    """

    model: str = "scripted"
    _replies: list[Script] = PrivateAttr(default_factory=list[Script])
    _requests: list[LlmRequest] = PrivateAttr(default_factory=list[LlmRequest])
    _cycle: bool = PrivateAttr(default=False)
    _cancelled: int = PrivateAttr(default=0)
    _called: asyncio.Condition = PrivateAttr(default_factory=asyncio.Condition)

    def __init__(self, replies: Iterable[Script] = (), *, model: str = "scripted", cycle: bool = False) -> None:
        super().__init__(model=model)
        self._replies = list(replies)
        self._cycle = cycle

    @property
    def capabilities(self) -> LlmCapabilities:
        return LlmCapabilities(output_schema_and_tools=True)

    @property
    def requests(self) -> list[LlmRequest]:
        """Every request so far."""
        return self._requests

    async def called(self, times: int) -> None:
        """Wait until this many requests have come."""
        async with self._called:
            await self._called.wait_for(lambda: len(self._requests) >= times)

    @property
    def cancelled(self) -> int:
        """How many calls were abandoned before they ended."""
        return self._cancelled

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        reply = self._next(llm_request)
        async with self._called:
            self._called.notify_all()
        finished = False
        try:
            if stream:
                async for response in _deltas(reply):
                    yield response
            await _pause_or_fail(reply, at_end=True)
            finished = True
            yield _whole(reply, f"call_{len(self._requests)}")
        except Exception:
            finished = True
            raise
        finally:
            self._cancelled += not finished

    def _next(self, request: LlmRequest) -> Reply:
        index = len(self._requests)
        self._requests.append(request.model_copy(update={"contents": list(request.contents)}))
        if index >= len(self._replies) and not (self._cycle and self._replies):
            raise AssertionError(f"the scripted model has {len(self._replies)} replies; call {index + 1} came")
        script = self._replies[index % len(self._replies)]
        if callable(script):
            script = script(request)
        if isinstance(script, str):
            return Reply(text=script)
        return Reply(error=script) if isinstance(script, Exception) else script


async def _pause_or_fail(reply: Reply, *, at_end: bool = False) -> None:
    if reply.delay:
        await asyncio.sleep(reply.delay)
    if reply.error is not None and at_end:
        raise reply.error


async def _deltas(reply: Reply) -> AsyncGenerator[LlmResponse, None]:
    parts = [types.Part(text=reply.thinking, thought=True)] if reply.thinking else []
    parts += [types.Part(text=piece) for piece in reply.pieces]
    for count, part in enumerate(parts):
        if reply.error is not None and count >= reply.fail_after:
            raise reply.error
        await _pause_or_fail(reply)
        yield LlmResponse(partial=True, content=types.Content(role="model", parts=[part]))


def _whole(reply: Reply, call_id: str) -> LlmResponse:
    parts = [types.Part(text=reply.thinking, thought=True)] if reply.thinking else []
    text = "".join(reply.pieces)
    parts += [types.Part(text=text)] if text else []
    for number, call in enumerate(reply.calls):
        function_call = types.FunctionCall(id=call.id or f"{call_id}_{number}", name=call.name, args=dict(call.args))
        parts.append(types.Part(function_call=function_call))
    usage = None
    if reply.usage is not None:
        prompt, output = reply.usage
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=prompt, candidates_token_count=output, total_token_count=prompt + output
        )
    return LlmResponse(
        content=types.Content(role="model", parts=parts),
        partial=False,
        finish_reason=reply.finish_reason,
        usage_metadata=usage,
    )
