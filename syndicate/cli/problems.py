"""How errors and problems look: a line each, a source line and a caret on a terminal, JSON on request."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from syndicate.cli.visible import masked, visible
from syndicate.errors import ConfigError, Location, Problem, RunError, SyndicateError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_WINDOW = 100
"""Characters of a source line that are shown around the caret."""


def show_error(error: SyndicateError) -> None:
    """An error on standard error: its problems when it has some, else one line."""
    if isinstance(error, ConfigError):
        show_problems(error.problems)
    else:
        show_failure(str(error), error.location if isinstance(error, RunError) else None)


def show_failure(line: str, location: Location | None = None) -> None:
    """One line on standard error; one that opens with a place needs no label."""
    text = visible(" ".join(line.split("\n")))
    label = "" if location else "error: "
    if not sys.stderr.isatty():
        click.echo(f"{label}{text}", err=True)
        return
    from rich.text import Text

    _stderr().print(Text.assemble((label, "bold red"), text))


def show_problems(problems: Iterable[Problem]) -> None:
    """Problems on standard error, in their order."""
    if sys.stderr.isatty():
        console = _stderr()
        for problem in problems:
            console.print(_drawn(problem))
        return
    for problem in problems:
        click.echo(visible(" ".join(str(problem).split("\n"))), err=True)


def as_json(problem: Problem) -> dict[str, Any]:
    """The problem as a JSON object."""
    place = problem.location
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "severity": problem.severity,
        "code": problem.code,
        "message": problem.message,
    }


def error_as_json(error: SyndicateError, file: str) -> list[dict[str, Any]]:
    """The problems of an error; one without a place in a file has null for line and column."""
    if isinstance(error, ConfigError):
        return [as_json(problem) for problem in error.problems]
    return [
        {"file": file, "line": None, "column": None, "severity": "error", "code": error.code, "message": str(error)}
    ]


def _drawn(problem: Problem) -> Text:
    from rich.text import Text

    label, style = ("", "red") if problem.severity == "error" else ("warning: ", "yellow")
    head = Text.assemble((f"{problem.location}: ", "bold"), (label, style), visible(problem.message))
    if not problem.source_line.strip():
        return head
    source, caret = _around(masked(problem.source_line), problem.location.column)
    return Text("\n").join([head, Text(f"  {source}", "dim"), Text(f"  {caret}", f"bold {style}")])


def _around(source: str, column: int) -> tuple[str, str]:
    """A window of the source line, and the line below it that points at the column."""
    from rich.cells import cell_len

    index = min(max(column - 1, 0), len(source))
    start = max(0, index - _WINDOW * 2 // 3) if len(source) > _WINDOW else 0
    shown = source[start : start + _WINDOW].rstrip()
    return shown, " " * cell_len(source[start:index]) + "^"


def _stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)
