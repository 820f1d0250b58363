"""Ask again: one place for all providers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from google.adk.models.llm_response import LlmResponse

from syndicate.errors import ModelError

RETRIED = frozenset({"rate-limited", "overloaded", "server-error", "connection", "timeout", "stream-cut", "malformed"})
"""Codes of failures that another attempt may mend (HTTP 408, 409, 425, 429, 5xx, and connections that broke)."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long. `attempts` counts the first one; pauses are seconds.

    The pause before attempt n+1 is random between half and all of `first * 2**n`, at most `longest`. A provider's
    `Retry-After` goes before it; one longer than `patience` ends the attempts.
    """

    attempts: int = 3
    first: float = 0.5
    longest: float = 8.0
    patience: float = 30.0

    def pause(self, attempt: int, error: ModelError) -> float | None:
        """Seconds to wait after failed attempt number `attempt` (from 0); None when it was the last."""
        if attempt + 1 >= self.attempts or error.code not in RETRIED:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.patience else None
        return min(self.first * 2**attempt, self.longest) * random.uniform(0.5, 1)


async def retrying(
    attempt: Callable[[], AsyncGenerator[LlmResponse, None]],
    policy: RetryPolicy,
    waiting: Callable[[ModelError, float], None] | None = None,
) -> AsyncGenerator[LlmResponse, None]:
    """The responses of the first attempt that succeeds. Raises the last `ModelError`.

    Once a response has been yielded nothing is retried: it has been shown. `waiting` is told before each pause.
    """
    number = 0
    while True:
        begun = False
        try:
            async with aclosing(attempt()) as responses:
                async for response in responses:
                    begun = True
                    yield response
            return
        except ModelError as error:
            pause = None if begun else policy.pause(number, error)
            if pause is None:
                raise
            if waiting is not None:
                waiting(error, pause)
        await asyncio.sleep(pause)
        number += 1
