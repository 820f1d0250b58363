"""What each generation of Claude takes: of the rows below the first that matches counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Claude:
    """Of one generation. `longest` counts the tokens of an answer, thinking included.

    `budgeted`: thinks within a budget of tokens; `adaptive`: thinks as much as it finds right, guided by `effort`.
    `sampling`: which of temperature, top_p and top_k may be set: all, only one of the first two, or none.
    """

    longest: int = 64_000
    budgeted: bool = True
    adaptive: bool = False
    effort: bool = False
    always_thinks: bool = False
    sampling: Literal["all", "one", "none"] = "one"
    output_schema: bool = True
    web_search: bool = True

    @property
    def usual(self) -> int:
        """Tokens of an answer for which nobody has set a limit."""
        return min(self.longest, 32_000)

    @property
    def thinks(self) -> bool:
        """Whether it can think at all."""
        return self.budgeted or self.adaptive


def _early(longest: int, *, web_search: bool = False) -> Claude:
    return Claude(longest, budgeted=False, sampling="all", output_schema=False, web_search=web_search)


_TABLE: tuple[tuple[re.Pattern[str], Claude], ...] = tuple(
    (re.compile(pattern), claude)
    for pattern, claude in (
        (r"claude-(?:instant|1|2|3-(?:opus|sonnet|haiku)).*", _early(4096)),
        (r"claude-3-5-.*", _early(8192, web_search=True)),
        (r"claude-3-.*", Claude(sampling="all", output_schema=False)),
        (r"claude-(?:4-opus|opus-4)(?:-[01])?(?:-\d{8})?", Claude(32_000, output_schema=False)),
        (r"claude-(?:4-sonnet|sonnet-4)(?:-0)?(?:-\d{8})?", Claude(output_schema=False)),
        (r"claude-opus-4-5.*", Claude(effort=True)),
        (r"claude-(?:sonnet|haiku)-4-5.*", Claude()),
        (r"claude-(?:opus|sonnet)-4-6.*", Claude(adaptive=True, effort=True)),
        (
            r"claude-mythos-.*",
            Claude(budgeted=False, adaptive=True, effort=True, always_thinks=True, sampling="none"),
        ),
    )
)
_NEWEST = Claude(budgeted=False, adaptive=True, effort=True, sampling="none")


def claude_of(model_id: str) -> Claude:
    """The row of a model id; an unknown one is taken for a model of the newest generation."""
    return next((claude for pattern, claude in _TABLE if pattern.fullmatch(model_id)), _NEWEST)
