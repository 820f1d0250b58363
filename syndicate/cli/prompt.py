"""The line a person types into: keys, history and completion."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output.defaults import create_output
from prompt_toolkit.styles import Style

_STYLE = Style.from_dict(
    {
        "prompt": "ansicyan bold",
        "completion-menu": "bg:default fg:default",
        "completion-menu.completion.current": "ansicyan bold noreverse bg:default",
        "completion-menu.meta.completion": "bg:default fg:ansibrightblack",
        "completion-menu.meta.completion.current": "bg:default fg:ansibrightblack",
    }
)


class ChatCompleter(Completer):
    """Completes `/commands`, what may follow them, and the names of agents in a message."""

    def __init__(
        self, commands: Sequence[tuple[str, str]], arguments: Callable[[str], Iterable[str]], agents: Sequence[str]
    ) -> None:
        self._commands = commands
        self._arguments = arguments
        self._agents = agents

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        line = document.text_before_cursor
        if not line.startswith("/"):
            yield from _matching(line.split(" ")[-1], self._agents, least=2)
            return
        verb, space, argument = line.partition(" ")
        if space:
            yield from _matching(argument, self._arguments(verb.removeprefix("/")))
            return
        for name, about in self._commands:
            if name.startswith(verb.removeprefix("/")):
                yield Completion(f"/{name}", start_position=-len(verb), display_meta=about)


def open_prompt(completer: Completer, history_file: Path) -> PromptSession[str]:
    """The prompt: Enter sends, Alt-Enter or a trailing backslash goes on in a new line, a paste stays in one piece."""
    return PromptSession(
        [("class:prompt", f"{_mark()} ")],
        multiline=True,
        prompt_continuation=_continuation,
        key_bindings=_keys(),
        completer=completer,
        complete_while_typing=Condition(lambda: get_app().current_buffer.text.startswith("/")),
        history=_history(history_file),
        style=_STYLE,
        reserve_space_for_menu=6,
        output=None if sys.stdout.isatty() else create_output(always_prefer_tty=True),
    )


def _matching(word: str, candidates: Iterable[str], least: int = 0) -> Iterable[Completion]:
    if len(word) < least:
        return
    for candidate in candidates:
        if candidate.casefold().startswith(word.casefold()):
            yield Completion(candidate, start_position=-len(word))


def _continuation(_width: int, _line: int, _wrapped: int) -> StyleAndTextTuples:
    return [("", "  ")]


def _mark() -> str:
    return "❯" if "utf" in (sys.stdout.encoding or "").lower() else ">"


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:  # pyright: ignore[reportUnusedFunction] — bound by the decorator
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
        elif buffer.document.is_cursor_at_the_end and buffer.text.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

    return keys


def _history(path: Path) -> History:
    """Lines of earlier chats, for this user's eyes only; of this one alone where the file cannot be kept."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600))
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
