"""The conversation in a terminal: a prompt, a turn, and again."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text as Line

from syndicate.cli.boundary import show_traceback
from syndicate.cli.console import chat_console, is_drawable
from syndicate.cli.keyboard import no_echo, stopping
from syndicate.cli.live_view import LiveView
from syndicate.cli.loading import to_type
from syndicate.cli.notes import Notes
from syndicate.cli.problems import show_error, show_failure
from syndicate.cli.resuming import choose_session
from syndicate.cli.spend import Spend
from syndicate.cli.views import PlainView, View
from syndicate.cli.visible import one_line
from syndicate.errors import RunError, SyndicateError
from syndicate.turn.events import Failed, Usage

if TYPE_CHECKING:
    from syndicate import Syndicate
    from syndicate.cli.opening import Opening


async def converse(opening: Opening) -> int:
    """Open the syndicate and talk until the person leaves. Returns the exit code."""
    async with opening.open() as syndicate:
        await choose_session(syndicate, opening.session)
        await Repl(opening, syndicate, chat_console()).run()
    return 0


class Repl:
    """One conversation. `spend` is that of the current session; `leaving` ends the loop."""

    def __init__(self, opening: Opening, syndicate: Syndicate, console: Console) -> None:
        self.opening = opening
        self.syndicate = syndicate
        self.console = console
        self.spend = Spend()
        self.leaving = False

    @property
    def agents(self) -> list[str]:
        """Display names, the orchestrator first."""
        return [agent.name for agent in self.syndicate.compiled.agents]

    def say(self, text: str = "", style: str = "") -> None:
        """Print text as it is, without taking any of it for markup."""
        self.console.print(Line(text, style=style))

    async def run(self) -> None:
        from syndicate.cli.prompt import ChatCompleter, open_prompt
        from syndicate.cli.slash import completions, table

        await self._greet()
        completer = ChatCompleter(table(), lambda verb: completions(self, verb), self.agents)
        prompt = open_prompt(completer, self.opening.settings.home / "chat-history")
        while not self.leaving:
            try:
                text = await prompt.prompt_async()
            except EOFError:
                return
            except KeyboardInterrupt:
                self.say("Ctrl-D or /exit leaves", "dim")
                continue
            if text.strip():
                await self._handle(text.strip())

    async def _greet(self) -> None:
        config = self.opening.loaded.config
        title = Line(one_line(config.syndicate_name), style="bold cyan")
        if config.description:
            title.append(f"  {one_line(config.description, 200)}", style="not bold default")
        self.console.print(title)
        try:
            who = f"{one_line(self.agents[0])} answers with {one_line(await self.syndicate.answering_model())}"
        except RunError as error:
            who = one_line(str(error), 400)
        self.say(f"{who} · /help for commands", "dim")
        if self.syndicate.note:
            self.say(one_line(self.syndicate.note, 400), "dim yellow")
        if self.opening.session and (said := await self.syndicate.transcript()):
            turns = "1 turn" if len(said) == 1 else f"{len(said)} turns"
            self.say(f"session {one_line(self.syndicate.session_id, 200)}: {turns} so far", "dim")
        warnings = len(self.syndicate.warnings)
        if warnings:
            noun = "warning" if warnings == 1 else "warnings"
            file = one_line(to_type(self.opening.loaded, self.opening.settings), 400)
            self.say(f"{warnings} {noun}: syndicate validate {file}", "dim yellow")
        self.say()

    async def _handle(self, text: str) -> None:
        """Answer one input. Whatever goes wrong is one line, and the conversation goes on."""
        from syndicate.cli.slash import obey

        try:
            if text.startswith("/"):
                await obey(self, text)
            else:
                await self._turn(text)
        except SyndicateError as error:
            show_error(error)
        except Exception as error:
            show_traceback(error)
            show_failure(f"{type(error).__name__}: {one_line(str(error), 300)}; this is a bug in syndicate")
        if not self.leaving:
            self.say()

    async def _turn(self, message: str) -> None:
        self.say()
        view, cancel = self._view(), asyncio.Event()
        try:
            with stopping(cancel), no_echo():
                await self._show(message, view, cancel)
        finally:
            view.close()
        if cancel.is_set():
            self.say("stopped", "dim")

    async def _show(self, message: str, view: View, cancel: asyncio.Event) -> None:
        async for event in self.syndicate.stream(message, cancel=cancel):
            if isinstance(event, Usage):
                self.spend.add(event)
            if not (isinstance(event, Failed) and cancel.is_set()):
                view.show(event)

    def _view(self) -> View:
        notes = Notes({agent.adk_name: agent.name for agent in self.syndicate.compiled.agents})
        if is_drawable(self.console):
            return LiveView(self.console, notes, self.agents[0])
        return PlainView(notes, sys.stdout, sys.stderr if sys.stderr.isatty() else None)

    def start_session(self, session: str | None = None) -> str:
        """Go on in another session, a new one without an id; what was spent starts over with it."""
        self.spend = Spend()
        return self.syndicate.new_session(session)

    async def save(self, path: Path) -> int:
        """Write the transcript as Markdown; returns how many exchanges it holds. Never overwrites."""
        exchanges = await self.syndicate.transcript()
        parts = [f"# {self.opening.loaded.config.syndicate_name}\n"]
        for exchange in exchanges:
            parts.append(f"## You\n\n{exchange.user.strip()}\n\n## {exchange.agent}\n\n{exchange.answer.strip()}\n")
        with path.open("x", encoding="utf-8", errors="replace") as file:
            file.write("\n".join(parts))
        return len(exchanges)
