"""Markdown that arrives in pieces: finished blocks are split off and drawn once."""

from __future__ import annotations

from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.theme import Theme

_parser = MarkdownIt().enable(["table", "strikethrough"])

THEME = Theme(
    {
        "markdown.h1": "bold",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "bold dim",
        "markdown.code": "cyan",
        "markdown.item.bullet": "cyan",
        "markdown.item.number": "cyan",
        "markdown.block_quote": "dim",
        "markdown.hr": "dim",
        "markdown.link": "underline",
        "markdown.link_url": "dim underline",
        "note.mark": "cyan",
        "note.failed": "red",
        "note.detail": "dim",
        "thinking": "dim italic",
    }
)


class _PlainHeading(Heading):
    """A heading at the left margin, bold and without a frame."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class Block(Markdown):
    """A piece of Markdown as the chat draws it: links written out, code on the terminal's own background."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": _PlainHeading}

    def __init__(self, text: str) -> None:
        super().__init__(text, code_theme="ansi_dark", hyperlinks=False)


def split(text: str) -> tuple[str, str]:
    """The blocks of a growing text that can change no more, and the rest.

    Only whole lines count: a line that is still being written may yet join the block before it.
    """
    whole = text[: text.rfind("\n") + 1]
    tokens = _parser.parse(whole)
    starts = [token.map[0] for token in tokens if token.level == 0 and token.map and token.nesting >= 0]
    if len(starts) < 2:
        return "", text
    finished = "".join(line + "\n" for line in whole.split("\n")[: starts[-1]])
    return finished, text[len(finished) :]
