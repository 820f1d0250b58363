"""The terminal the chat draws on."""

from __future__ import annotations

from rich.console import Console

from syndicate.cli.markdown import THEME


def chat_console() -> Console:
    """Standard output in the chat's colours; no text is taken for markup. Colours go where NO_COLOR asks for it."""
    return Console(theme=THEME, highlight=False, markup=False, emoji=False)


def is_drawable(console: Console) -> bool:
    """Whether rows can be drawn over."""
    return console.is_terminal and not console.is_dumb_terminal
