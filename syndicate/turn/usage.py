"""What the models of a turn report to have used."""

from __future__ import annotations

import time
from decimal import Decimal

from google.genai import types

from syndicate.models.prices import cost_usd
from syndicate.turn.events import Usage


class UsageMeter:
    """Sums the tokens of a turn, all agents together; a kind that no model reports stays unknown."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._input: int | None = None
        self._output: int | None = None
        self._thinking: int | None = None
        self._cached: int | None = None
        self._cost: Decimal | None = Decimal(0)
        self._replies = 0

    def add(self, model_id: str, usage: types.GenerateContentResponseUsageMetadata | None) -> None:
        """Add one reply's report. From a reply without one, or without a price, on the cost is unknown."""
        self._replies += 1
        cost = cost_usd(model_id, usage) if usage else None
        self._cost = None if self._cost is None or cost is None else self._cost + cost
        if usage is None:
            return
        self._input = _plus(self._input, usage.prompt_token_count)
        self._output = _plus(self._output, usage.candidates_token_count)
        self._thinking = _plus(self._thinking, usage.thoughts_token_count)
        self._cached = _plus(self._cached, usage.cached_content_token_count)

    def total(self, calls: int) -> Usage:
        """The sum so far, for a turn of `calls` model calls."""
        return Usage(
            calls=calls,
            input=self._input,
            output=self._output,
            thinking=self._thinking,
            cached=self._cached,
            cost_usd=None if self._cost is None or self._replies < calls else float(self._cost),
            seconds=time.monotonic() - self._began,
        )


def _plus(known: int | None, more: int | None) -> int | None:
    return known if more is None else (known or 0) + more
