"""What a session has taken so far."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from syndicate.turn.events import Usage


@dataclass(slots=True)
class Spend:
    """Sums the usage of turns; a number that one turn does not know is unknown in the sum."""

    turns: int = 0
    total: Usage = field(default_factory=lambda: Usage(0, 0, 0, 0, 0, 0.0, 0.0))

    def add(self, usage: Usage) -> None:
        """Count one more turn."""
        self.turns += 1
        self.total = replace(
            self.total,
            **{
                entry.name: _sum(getattr(self.total, entry.name), getattr(usage, entry.name))
                for entry in fields(Usage)
                if entry.name not in ("agent", "time")
            },
        )

    def lines(self) -> list[str]:
        """The sum as lines for a person."""
        total = self.total
        return [
            f"turns        {self.turns}, {total.seconds:.1f} s",
            f"model calls  {total.calls}",
            f"tokens       {_count(total.input)} in, {_count(total.output)} out",
            f"thinking     {_count(total.thinking)}",
            f"cached       {_count(total.cached)}",
            f"cost         {'unknown' if total.cost_usd is None else f'${total.cost_usd:.4f}'}",
        ]


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"
