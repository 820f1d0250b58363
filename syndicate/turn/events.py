"""What a surface renders of a turn: a small closed union of frozen dataclasses.

Each has `agent`, the display name of who it comes from (empty: no agent), and `time`, seconds since the epoch.
"""

from __future__ import annotations

import re
import time
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Via = Literal["classifier", "override", "fallback"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    agent: str = ""
    time: float = field(default_factory=time.time)


@dataclass(frozen=True, slots=True)
class Status(_Event):
    """A line of progress for a waiting person; a `warning` is to reach them even where nobody watches."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Routed(_Event):
    """Plan-dispatch chose a specialist; `fallback_reason` says why the default route was taken, else None."""

    route: str
    reason: str
    via: Via
    fallback_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Thinking(_Event):
    """A piece of an agent's thinking; never part of the answer or of the history."""

    delta: str


@dataclass(frozen=True, slots=True)
class Text(_Event):
    """A piece of the answer. All of them in order, joined, are the answer."""

    delta: str


@dataclass(frozen=True, slots=True)
class ToolStarted(_Event):
    """A tool call or a delegation begins. `id` pairs it with its `ToolFinished`."""

    name: str
    args: dict[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class ToolFinished(_Event):
    """A tool call or a delegation ended after `seconds`; `preview` is the start of what it returned."""

    name: str
    ok: bool
    preview: str
    seconds: float
    id: str = ""


@dataclass(frozen=True, slots=True)
class Confirm(_Event):
    """A tool waits for a person's yes."""

    id: str
    tool: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class GuardNote(_Event):
    """A guard's remark on the answer."""

    guard: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer(_Event):
    """The whole answer; `agent` is who gives it."""

    text: str


@dataclass(frozen=True, slots=True)
class Failed(_Event):
    """The turn ended without an answer. `error` is the exception behind it; it is not part of the JSON."""

    code: str
    message: str
    remediation: str
    retryable: bool
    error: Exception | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Usage(_Event):
    """What the turn took, all agents together. Token counts are None when no model reported them.

    `cost_usd` is None when a price is unknown. `thinking` is not part of `output`; `cached` is part of `input`.
    """

    calls: int
    input: int | None
    output: int | None
    thinking: int | None
    cached: int | None
    cost_usd: float | None
    seconds: float


TurnEvent = (
    Status | Routed | Thinking | Text | ToolStarted | ToolFinished | Confirm | GuardNote | Answer | Failed | Usage
)


def to_json(event: TurnEvent) -> dict[str, Any]:
    """The event as a JSON object: `type` (the class's name in snake case), `agent`, `time` and its own fields."""
    values = asdict(replace(event, error=None) if isinstance(event, Failed) else event)
    values.pop("error", None)
    return {"type": _snake(type(event).__name__), **values}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
