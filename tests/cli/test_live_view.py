"""What is left on a screen when a turn has been drawn."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Iterable

import pytest
from rich.console import Console

from syndicate.cli.live_view import LiveView
from syndicate.cli.markdown import THEME
from syndicate.cli.notes import Notes
from syndicate.turn.events import Answer, Failed, Text, Thinking, ToolFinished, ToolStarted, TurnEvent

ANSWER = "Here is **a plan**:\n\n1. one\n2. two\n\n```python\na = 1\n```\n\n" + "and so on " * 30


def screen(output: str) -> list[str]:
    """The rows of a terminal that was sent `output`, for the few sequences that drawing over rows needs."""
    rows, row, column = [""], 0, 0
    for sequence, char in re.findall(r"(\x1b\[[0-9;?]*[A-Za-z])|([\s\S])", output):
        if sequence.endswith("A"):
            row -= int(sequence[2:-1] or 1)
        elif sequence.endswith("K"):
            rows[row] = ""
        elif char == "\r":
            column = 0
        elif char == "\n":
            row, column = row + 1, 0
            rows += [""] * (row + 1 - len(rows))
        elif char:
            rows[row] = rows[row][:column].ljust(column) + char + rows[row][column + 1 :]
            column += 1
        assert row >= 0, "drew above the screen"
    return [line.rstrip() for line in rows]


async def draw(events: Iterable[TurnEvent], *, pause: float = 0.0, aside: bool = True) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, theme=THEME, force_terminal=True, width=60, height=20, legacy_windows=False)
    view = LiveView(console, Notes({"researcher": "Researcher"}), "Lead", aside=aside)
    for event in events:
        view.show(event)
        await asyncio.sleep(pause)
    view.close()
    return screen(out.getvalue())


def turn(size: int) -> list[TurnEvent]:
    pieces = [ANSWER[start : start + size] for start in range(0, len(ANSWER), size)]
    return [
        Thinking("let me see\nwhat there is"),
        Text("I ask."),
        ToolStarted("researcher", {"request": "look"}, "1"),
        ToolFinished("researcher", True, "seen", 1.0, "1"),
        *(Text(piece) for piece in pieces),
        Answer("I ask." + ANSWER),
    ]


@pytest.mark.parametrize(("size", "pause"), [(1000, 0.0), (7, 0.0), (5, 0.011), (40, 0.15)])
async def test_the_screen_is_the_same_however_the_turn_came(size: int, pause: float) -> None:
    rows = await draw(turn(size), pause=pause)
    assert rows[:12] == [
        "let me see",
        "what there is",
        "",
        "I ask.",
        "",
        "→ Researcher  look  1.0 s",
        "",
        "Here is a plan:",
        "",
        "1. one",
        "2. two",
        "",
    ]
    assert rows[12:14] == ["  a = 1", ""]
    assert " ".join(rows[14:]).split() == ("and so on " * 30).split()


async def test_an_answer_taller_than_the_screen_is_whole_and_there_once() -> None:
    lines = [f"- item {number}" for number in range(60)]
    rows = await draw([Text(f"{line}\n") for line in lines], pause=0.01)
    assert [row.strip(" •") for row in rows if row] == [line.removeprefix("- ") for line in lines]


async def test_without_progress_there_is_the_answer_alone() -> None:
    rows = await draw(turn(1000), aside=False)
    assert rows[:3] == ["I ask.", "", "Here is a plan:"]


async def test_an_answer_that_did_not_stream_is_shown() -> None:
    assert (await draw([Answer("all at once")]))[0] == "all at once"


async def test_what_was_said_before_a_failure_stays(capsys: pytest.CaptureFixture[str]) -> None:
    rows = await draw([Text("half a sen"), Failed("auth", "the key was refused", "check it", False)])
    assert rows[0] == "half a sen"
    assert capsys.readouterr().err == "error: the key was refused; check it [auth]\n"
