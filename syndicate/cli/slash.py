"""The commands of the conversation: `/help` and its kind."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from syndicate.cli.visible import one_line, visible
from syndicate.errors import RunError

if TYPE_CHECKING:
    from syndicate.cli.repl import Repl


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what may follow its name, what it does, and the function that does it."""

    argument: str
    about: str
    run: Callable[[Repl, str], Awaitable[None]]


async def obey(repl: Repl, text: str) -> None:
    """Run the command that `text`, which begins with a slash, names; say which is near when there is none."""
    name, _, argument = text.removeprefix("/").partition(" ")
    command = COMMANDS.get(name)
    if command is not None:
        await command.run(repl, argument.strip())
        return
    close = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    hint = f"did you mean /{close[0]}?" if close else "/help shows the commands"
    repl.say(f"no command /{one_line(name, 40)}; {hint}", "yellow")


def table() -> list[tuple[str, str]]:
    """Names and what they do, in the order of `/help`."""
    return [(name, command.about) for name, command in COMMANDS.items()]


def completions(repl: Repl, verb: str) -> Iterable[str]:
    """What may follow a command."""
    return [f"{agent}=" for agent in repl.agents] if verb == "model" else []


async def _help(repl: Repl, _argument: str) -> None:
    for name, command in COMMANDS.items():
        repl.say(f"{f'/{name} {command.argument}'.rstrip():<22}{command.about}")
    repl.say()
    repl.say("Enter sends; Alt-Enter or a backslash at the end goes on in a new line; Ctrl-C stops an answer.", "dim")


async def _agents(repl: Repl, _argument: str) -> None:
    for agent in repl.syndicate.compiled.agents:
        indent = "  " * agent.depth
        repl.say(f"{indent}{one_line(agent.name)}", "bold")
        for text in (agent.description, f"tools: {', '.join(agent.tools)}" if agent.tools else ""):
            if text:
                repl.say(f"{indent}  {one_line(text, 200)}", "dim")


async def _graph(repl: Repl, _argument: str) -> None:
    from syndicate.graph import draw

    repl.say(visible(draw.tree(repl.syndicate.compiled.loaded)).rstrip())


async def _model(repl: Repl, argument: str) -> None:
    if argument:
        agent, equals, model = (part.strip() for part in argument.partition("="))
        if not (agent and equals and model):
            repl.say("write /model AGENT=ID, such as /model Tutor=local/smollm2", "yellow")
            return
        repl.syndicate.use_model(agent, model)
    width = max(len(agent.name) + 2 * agent.depth for agent in repl.syndicate.compiled.agents)
    for agent in repl.syndicate.compiled.agents:
        name = "  " * agent.depth + one_line(agent.name)
        repl.say(f"{name:<{width}}  {await _answering(repl, agent.name, agent.models)}")


async def _answering(repl: Repl, agent: str, models: tuple[str, ...]) -> str:
    """Which of an agent's models answers, and those that would come after or were passed over."""
    try:
        answers = await repl.syndicate.answering_model(agent)
    except RunError as error:
        return one_line(error.message, 300)
    others = [model for model in models if model != answers]
    return one_line(f"{answers}  (also named: {', '.join(others)})" if others else answers, 300)


async def _session(repl: Repl, argument: str) -> None:
    if argument:
        repl.start_session(argument)
    repl.say(one_line(repl.syndicate.session_id, 200))


async def _sessions(repl: Repl, _argument: str) -> None:
    current = repl.syndicate.session_id
    for session, updated in await repl.syndicate.sessions():
        mark = "*" if session == current else " "
        repl.say(f"{mark} {one_line(session, 200)}  {datetime.fromtimestamp(updated):%Y-%m-%d %H:%M}")
    if not repl.syndicate.services.lasts:
        repl.say("kept in memory: they end with this program", "dim")


async def _memory(repl: Repl, _argument: str) -> None:
    meaning = {
        "internal-only": "nothing outlives this program",
        "session-only": "the conversation is the memory; nothing is learned from it",
        "long-term": "facts are distilled from the conversation and recalled",
    }
    system = repl.opening.loaded.config.memory_system
    repl.say(f"{system}: {meaning[system]}")


async def _cost(repl: Repl, _argument: str) -> None:
    for line in repl.spend.lines():
        repl.say(line)


async def _save(repl: Repl, argument: str) -> None:
    if not argument:
        repl.say("write /save FILE", "yellow")
        return
    path = _path(argument)
    try:
        count = await repl.save(path)
    except FileExistsError:
        repl.say(f"{one_line(argument, 200)} is there already; name another file", "yellow")
    except OSError as error:
        repl.say(f"{one_line(argument, 200)} cannot be written: {(error.strerror or str(error)).lower()}", "yellow")
    else:
        repl.say(f"saved {count} {'exchange' if count == 1 else 'exchanges'} to {one_line(argument, 200)}")


def _path(text: str) -> Path:
    return Path(text).expanduser()


async def _clear(repl: Repl, _argument: str) -> None:
    repl.start_session()
    repl.say("a new session; the last one is under /sessions", "dim")


async def _exit(repl: Repl, _argument: str) -> None:
    repl.leaving = True


COMMANDS = {
    "help": Command("", "show this", _help),
    "agents": Command("", "who is in this syndicate", _agents),
    "graph": Command("", "who delegates to whom", _graph),
    "model": Command("[AGENT=ID]", "which model answers; switch one", _model),
    "session": Command("[ID]", "the current session; go on in another", _session),
    "sessions": Command("", "your sessions", _sessions),
    "memory": Command("", "what is remembered", _memory),
    "cost": Command("", "what this session has taken", _cost),
    "save": Command("FILE", "write the conversation as Markdown", _save),
    "clear": Command("", "start a new session", _clear),
    "exit": Command("", "leave (also Ctrl-D)", _exit),
}
