"""Ways to show a turn where nothing can be drawn over: plain text, and lines of JSON."""

from __future__ import annotations

import sys
from typing import Any, Protocol, TextIO

from syndicate.cli.notes import Notes
from syndicate.cli.visible import VisibleStream, json_line, one_line, visible
from syndicate.turn.events import Answer, Failed, Routed, Status, Text, Thinking, TurnEvent, Usage, to_json


class View(Protocol):
    """Shows the events of one turn as they come."""

    def show(self, event: TurnEvent) -> None:
        """Show one event."""
        ...

    def close(self) -> None:
        """The turn is over, or was stopped."""
        ...


class PlainView:
    """The answer as plain text on `out`; everything else on `aside`, when there is one."""

    def __init__(self, notes: Notes, out: TextIO, aside: TextIO | None) -> None:
        self._notes = notes
        self._out = out
        self._aside = aside
        self._open = ""  # the stream whose line is not ended: "out", "aside" or none
        self._answered = False
        self._text, self._thought = VisibleStream(), VisibleStream()

    def show(self, event: TurnEvent) -> None:
        match event:
            case Text():
                self._write_answer(self._text.feed(event.delta))
            case Answer() if not self._answered:
                self._write_answer(visible(event.text))
            case Thinking():
                self._think(self._thought.feed(event.delta))
            case Failed():
                self._end_line()
                show_failed(event)
            case _:
                self._write_note(event)

    def close(self) -> None:
        self._end_line()

    def _write_answer(self, text: str) -> None:
        if not text:
            return
        if self._open == "aside":
            self._end_line()
        self._answered = True
        self._out.write(text)
        self._out.flush()
        self._open = "" if text.endswith("\n") else "out"

    def _think(self, text: str) -> None:
        if self._aside is None or not text:
            return
        self._aside.write(text)
        self._aside.flush()
        self._open = "aside"

    def _write_note(self, event: TurnEvent) -> None:
        note = self._notes.note(event)
        if self._aside is None and isinstance(event, Status) and event.warning:
            print(one_line(f"{event.agent}: {event.text}", 400), file=sys.stderr)
        if note is None or self._aside is None:
            return
        if self._open == "aside":
            self._end_line()
        elif self._open == "out":  # which may end on the same terminal
            self._aside.write("\n")
        self._aside.write(f"{note}\n")
        self._aside.flush()

    def _end_line(self) -> None:
        stream = {"out": self._out, "aside": self._aside}.get(self._open)
        if stream is not None:
            stream.write("\n")
            stream.flush()
        self._open = ""


class JsonView:
    """Each event as one line of JSON; `close` writes the last one, the result."""

    def __init__(self, session: str) -> None:
        self._result: dict[str, Any] = {
            "type": "result", "answer": None, "agent": None, "route": None, "usage": None, "session": session
        }  # fmt: skip

    def show(self, event: TurnEvent) -> None:
        self._write(to_json(event))
        match event:
            case Routed():
                self._result["route"] = event.route
            case Answer():
                self._result.update(answer=event.text, agent=event.agent)
            case Usage():
                self._result["usage"] = {
                    key: value for key, value in to_json(event).items() if key not in ("type", "agent", "time")
                }
            case Failed():
                keys = ("code", "message", "remediation", "retryable")
                self._result.update(agent=event.agent, error={key: getattr(event, key) for key in keys})
                show_failed(event)
            case _:
                pass

    def close(self) -> None:
        self._write(self._result)

    def _write(self, value: dict[str, Any]) -> None:
        sys.stdout.write(json_line(value) + "\n")
        sys.stdout.flush()


def show_failed(event: Failed) -> None:
    """A failed turn: one line on standard error, and the traceback where `--debug` asks for it."""
    from syndicate.cli.boundary import show_traceback
    from syndicate.cli.problems import show_failure
    from syndicate.errors import RunError

    if event.error is not None:
        show_traceback(event.error)
    location = event.error.location if isinstance(event.error, RunError) else None
    line = "; ".join(part for part in (event.message, event.remediation) if part)
    show_failure(f"{line} [{event.code}]", location)
