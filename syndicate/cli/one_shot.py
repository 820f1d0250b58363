"""One question, one answer, and out."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from syndicate.cli.boundary import INTERRUPTED, PROBLEMS
from syndicate.cli.keyboard import stopping
from syndicate.cli.notes import Notes
from syndicate.cli.resuming import choose_session
from syndicate.cli.views import JsonView, PlainView, View
from syndicate.turn.events import Answer, Failed

if TYPE_CHECKING:
    from syndicate import Syndicate
    from syndicate.cli.opening import Opening


async def ask_once(opening: Opening, message: str, *, as_json: bool) -> int:
    """Run one turn and show it as it comes. Returns the exit code: 1 when it failed, 130 when Ctrl-C stopped it."""
    answered, cancel = False, asyncio.Event()
    async with opening.open() as syndicate:
        session = await choose_session(syndicate, opening.session)
        if syndicate.note:
            print(syndicate.note, file=sys.stderr)
        view = JsonView(session) if as_json else _view(syndicate)
        try:
            with stopping(cancel):
                async for event in syndicate.stream(message, cancel=cancel):
                    answered = answered or isinstance(event, Answer)
                    if as_json or not (isinstance(event, Failed) and cancel.is_set()):
                        view.show(event)
        finally:
            view.close()
    if answered:
        return 0
    return INTERRUPTED if cancel.is_set() else PROBLEMS


def _view(syndicate: Syndicate) -> View:
    """Drawn on a terminal; plain text where the answer goes elsewhere or the terminal is dumb."""
    notes = Notes({agent.adk_name: agent.name for agent in syndicate.compiled.agents})
    if sys.stdout.isatty():
        from syndicate.cli.console import chat_console, is_drawable
        from syndicate.cli.live_view import LiveView

        console = chat_console()
        if is_drawable(console):
            return LiveView(console, notes, syndicate.compiled.agents[0].name, aside=sys.stderr.isatty())
    return PlainView(notes, sys.stdout, sys.stderr if sys.stderr.isatty() else None)
