"""What happens in a turn beside its answer, as one line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from syndicate.cli.visible import one_line
from syndicate.turn.events import GuardNote, Routed, Status, ToolFinished, ToolStarted, TurnEvent


@dataclass(frozen=True, slots=True)
class Note:
    """A line of progress: `mark` and `head` stand out, `detail` is dimmed."""

    mark: str
    head: str
    detail: str = ""
    ok: bool = True

    def __str__(self) -> str:
        return "  ".join(part for part in (f"{self.mark} {self.head}".strip(), self.detail) if part)


@dataclass(slots=True)
class Notes:
    """Turns events into notes. `agents` maps ADK names to display names: a call to one of them is a delegation."""

    agents: Mapping[str, str]
    running: dict[str, ToolStarted] = field(default_factory=dict[str, ToolStarted])

    def note(self, event: TurnEvent) -> Note | None:
        """The line for an event, or None when it has none. A call's line comes when it has ended."""
        match event:
            case Status():
                return Note("·", "", one_line(event.text, 200))
            case Routed():
                why = event.fallback_reason or event.reason
                return Note("→", one_line(event.route), one_line(f"{event.via}: {why}" if why else event.via, 160))
            case GuardNote():
                return Note("!", one_line(event.guard), one_line(event.text, 200))
            case ToolStarted():
                self.running[event.id or event.name] = event
            case ToolFinished():
                return self._finished(event)
            case _:
                pass
        return None

    def label(self, name: str) -> str:
        """How a tool or a subagent is called in front of a person."""
        return one_line(self.agents.get(name, name))

    def _finished(self, event: ToolFinished) -> Note:
        started = self.running.pop(event.id or event.name, None)
        mark = "→" if event.name in self.agents else "•"
        took = f"{event.seconds:.1f} s"
        if not event.ok:
            return Note("✗", self.label(event.name), f"{one_line(event.preview, 160)}  {took}", ok=False)
        request = preview(started.args) if started else ""
        return Note(mark, self.label(event.name), f"{request}  {took}" if request else took)


def preview(args: Mapping[str, Any], limit: int = 64) -> str:
    """The arguments of a call on one line; a single one without its name."""
    if len(args) == 1:
        return one_line(str(next(iter(args.values()))), limit)
    return one_line(", ".join(f"{name}={value}" for name, value in args.items()), limit)
