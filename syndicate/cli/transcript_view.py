"""A transcript on standard output: plain text, and on a terminal with colours and Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import click

from syndicate.cli.transcript import Kind, Row

if TYPE_CHECKING:
    from rich.console import Console

_INDENT = "  "
_STYLES: dict[Kind, str] = {
    "day": "dim",
    "author": "bold cyan",
    "call": "note.mark",
    "detail": "note.detail",
    "failed": "note.failed",
}


def print_transcript(title: str, about: str, rows: Iterable[Row]) -> None:
    """A heading, a line about the session, and the rows."""
    from syndicate.cli.console import chat_console

    console = chat_console()
    listed = [Row("author", title), Row("detail", about), *rows]
    show = _draw if console.is_terminal else _write
    show(console, listed[0])
    for before, row in pairwise(listed):
        if _is_apart(before, row):
            console.print()
        show(console, row)


def _is_apart(before: Row, row: Row) -> bool:
    """Whether a blank row stands between two: before a day and an author, and between an answer and calls."""
    if row.kind in ("day", "author"):
        return before.kind != "day"
    return before.kind != "author" and "said" in (before.kind, row.kind)


def _write(_console: Console, row: Row) -> None:
    for line in row.text.split("\n"):
        click.echo(f"{_INDENT * row.depth}{line}".rstrip())


def _draw(console: Console, row: Row) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from syndicate.cli.markdown import Block, blocks

    left = (0, 0, 0, len(_INDENT) * row.depth)
    if row.kind == "said":
        parts = [part for part in blocks(row.text) if part.strip()]
        for index, part in enumerate(parts):
            if index:
                console.print()
            console.print(Padding(Block(part), left))
        return
    line = Text(row.text, style=_STYLES.get(row.kind, ""))
    if row.kind != "user":
        line.overflow, line.no_wrap = "ellipsis", True
    console.print(Padding(line, left))
