"""A turn on a terminal: finished blocks scroll by once, what is still being written is redrawn below them."""

from __future__ import annotations

import asyncio
import time
from typing import Literal

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text as Line

from syndicate.cli.markdown import Block, blocks, split
from syndicate.cli.notes import Note, Notes
from syndicate.cli.views import show_failed
from syndicate.cli.visible import VisibleStream, one_line, visible
from syndicate.turn.events import Answer, Failed, Text, Thinking, ToolStarted, TurnEvent

_PERIOD = 0.1
_ANSWER_ROWS, _THINKING_ROWS = 40, 4

Kind = Literal["nothing", "thinking", "note", "answer"]


class LiveView:
    """Shows one turn, from when it is made, in a running event loop, until `close`.

    Only its last rows are ever drawn over. Without `aside` nothing but the answer is printed.
    """

    def __init__(self, console: Console, notes: Notes, agent: str, *, aside: bool = True) -> None:
        self._console = console
        self._notes = notes
        self._agent = agent
        self._aside = aside
        self._thinking, self._thought_stream = "", VisibleStream()
        self._pending, self._text_stream = "", VisibleStream()
        self._answered = False
        self._last: Kind = "nothing"
        self._since = time.monotonic()
        self._spinner = Spinner("dots", style="cyan")
        self._live = Live(self, console=console, auto_refresh=False, transient=True)
        self._live.start()
        self._timer = asyncio.get_running_loop().call_soon(self._tick)

    def show(self, event: TurnEvent) -> None:
        match event:
            case Text():
                self._answer(self._text_stream.feed(event.delta))
            case Answer() if not self._answered:
                self._answer(visible(event.text))
            case Thinking():
                self._think(self._thought_stream.feed(event.delta))
            case Failed():
                self.close()
                show_failed(event)
            case _:
                self._note(event)

    def close(self) -> None:
        self._timer.cancel()
        self._settle()
        self._live.stop()

    def _tick(self) -> None:
        """Draw the open rows again; in the loop's own thread, since rich's and a print can overtake each other."""
        self._live.refresh()
        self._timer = asyncio.get_running_loop().call_later(_PERIOD, self._tick)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The rows that are still open, cropped to their end so that they fit the screen."""
        rows = max(3, min(options.size.height - 4, _ANSWER_ROWS))
        if self._pending.strip():
            if self._spaces("answer"):
                yield Segment.line()
            yield from _tail(console, options, Block(self._pending), rows)
        elif self._aside and self._thinking.strip():
            yield from _tail(console, options, _thought(self._thinking), _THINKING_ROWS)
        else:
            yield self._waiting()

    def _waiting(self) -> RenderableType:
        running = [self._notes.label(call.name) for call in list(self._notes.running.values())]
        label = ", ".join(running) if running and self._aside else self._agent
        seconds = int(time.monotonic() - self._since)
        self._spinner.update(text=Line(f"{one_line(label)}{f'  {seconds} s' if seconds else ''}", style="dim"))
        return self._spinner

    def _answer(self, text: str) -> None:
        if not text:
            return
        self._settle_thinking()
        self._answered = True
        self._pending += text
        if "\n" in text:
            finished, self._pending = split(self._pending)
            self._print_answer(finished)

    def _think(self, text: str) -> None:
        self._settle_answer()
        self._thinking += text

    def _note(self, event: TurnEvent) -> None:
        note = self._notes.note(event)
        if note is not None or isinstance(event, ToolStarted):
            self._since = time.monotonic()
            self._settle()
        if note is not None:
            self._print("note", drawn(note))

    def _settle(self) -> None:
        self._settle_thinking()
        self._settle_answer()

    def _settle_thinking(self) -> None:
        text, self._thinking = self._thinking, ""
        if text.strip():
            self._print("thinking", _thought(text))

    def _settle_answer(self) -> None:
        text, self._pending = self._pending, ""
        self._print_answer(blocks(text))

    def _print_answer(self, finished: list[str]) -> None:
        for block in finished:
            if block.strip():
                self._print("answer", Block(block))

    def _print(self, kind: Kind, content: RenderableType) -> None:
        """Print above what is still open; a blank row parts blocks of the answer, and the answer from the rest."""
        if kind != "answer" and not self._aside:
            return
        if self._spaces(kind):
            self._console.print()
        self._console.print(content)
        self._last = kind

    def _spaces(self, kind: Kind) -> bool:
        return self._last != "nothing" and "answer" in (kind, self._last)


def drawn(note: Note) -> Line:
    """A note as a styled line."""
    style = "note.mark" if note.ok else "note.failed"
    line = Line.assemble((note.mark, style), " ", note.head, "  " if note.head else "", (note.detail, "note.detail"))
    line.overflow, line.no_wrap = "ellipsis", True
    return line


def _thought(text: str) -> Line:
    return Line(text.strip(), style="thinking")


def _tail(console: Console, options: ConsoleOptions, content: RenderableType, rows: int) -> RenderResult:
    """The last rows of what the content looks like."""
    lines = console.render_lines(content, options, pad=False)
    for line in lines[-rows:]:
        yield from line
        yield Segment.line()
