"""How many model calls a turn may make, all agents together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syndicate.errors import StepLimitError
from syndicate.graph.agents import AgentInfo, FileLimit


@dataclass(frozen=True, slots=True)
class Limits:
    """The caller's own bounds on a turn, beside those of the files: model calls, and seconds of wall time."""

    max_steps: int | None = None
    seconds: float | None = None


class StepCounter:
    """Counts a turn's model calls, in all and for each nested file."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._spent: dict[Path, int] = {}
        self.calls = 0

    def count(self, agent: AgentInfo, files: Sequence[FileLimit]) -> None:
        """One more call, spent on the account of each of `files`. Raises `StepLimitError` instead of counting it."""
        cap = self._limits.max_steps
        if cap is not None and self.calls >= cap:
            raise _limit_reached(agent, cap, "the caller's limit")
        for limit in files:
            if self._spent.get(limit.file, 0) >= limit.max_steps:
                raise _limit_reached(agent, limit.max_steps, f"max_steps of {limit.file.name}")
        for limit in files:
            self._spent[limit.file] = self._spent.get(limit.file, 0) + 1
        self.calls += 1


def _limit_reached(agent: AgentInfo, steps: int, which: str) -> StepLimitError:
    return StepLimitError(
        f"the turn made {steps} model call{'' if steps == 1 else 's'}, as many as {which} allows",
        remediation="raise max_steps, or ask for less in one turn",
        agent=agent.name,
        location=agent.location,
    )
