"""Markdown that arrives in pieces: finished blocks are split off and drawn once."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, ListItem, Markdown, MarkdownElement
from rich.segment import Segment
from rich.syntax import Syntax
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


class _OpenCode(CodeBlock):
    """Code indented by two, on the terminal's own background."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(
            code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 2), background_color="default"
        )


class _DottedItem(ListItem):
    """A list item whose number has a dot."""

    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        width = len(str(last_number)) + 2
        lines = console.render_lines(self.elements, options.update(width=options.max_width - width), style=self.style)
        style = console.get_style("markdown.item.number", default="none")
        first = Segment(f"{number}.".rjust(width - 1) + " ", style)
        for position, line in enumerate(lines):
            yield Segment(" " * width, style) if position else first
            yield from line
            yield Segment.line()


class _Blocks(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _PlainHeading,
        "fence": _OpenCode,
        "code_block": _OpenCode,
        "list_item_open": _DottedItem,
    }


class Block:
    """One block of Markdown as the chat draws it: links written out, no blank row before or after."""

    def __init__(self, text: str) -> None:
        self._markdown = _Blocks(text, code_theme="ansi_dark", hyperlinks=False)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = console.render_lines(self._markdown, options, pad=False)
        written = [index for index, row in enumerate(rows) if any(part.text.strip() for part in row)]
        for row in rows[written[0] : written[-1] + 1] if written else []:
            yield from row
            yield Segment.line()


def split(text: str) -> tuple[list[str], str]:
    """The blocks of a growing text that can change no more, and the rest.

    Only whole lines count: a line that is still being written may yet join the block before it.
    """
    whole = text[: text.rfind("\n") + 1]
    parts = blocks(whole)
    finished = parts[:-1]
    return finished, text[sum(map(len, finished)) :]


def blocks(text: str) -> list[str]:
    """The text cut before each of its top-level blocks; joined, they are the text."""
    starts = [token.map[0] for token in _parser.parse(text) if token.level == 0 and token.map and token.nesting >= 0]
    lines = text.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + lines[-1:]
    bounds = [0, *starts[1:], len(lines)]
    return ["".join(lines[start:end]) for start, end in pairwise(bounds)]
