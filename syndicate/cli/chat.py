"""`syndicate chat`: talk with a syndicate, or ask it once."""

from __future__ import annotations

import asyncio
import select
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from syndicate.cli.opening import Opening
    from syndicate.settings import Settings

_STDIN_PATIENCE = 3.0
"""Seconds for the first byte of standard input beside a message on the command line."""


def _bindings(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    from syndicate.config import parse_binding
    from syndicate.errors import UsageError

    try:
        return dict(parse_binding(value) for value in values)
    except UsageError as error:
        raise click.UsageError(str(error), _ctx) from None


def _models(ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = {agent.strip(): model.strip() for agent, _, model in (value.partition("=") for value in values)}
    for agent, model in pairs.items():
        if not agent or not model:
            raise click.UsageError("--model takes agent=model, such as --model Tutor=local/smollm2", ctx)
    return pairs


def _user(ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and (not value.strip() or "/" in value):
        raise click.UsageError(f"--user {value!r} must be a name without '/'", ctx)
    return value


def _session(ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise click.UsageError("--session must not be empty", ctx)
    return value and value.strip()


@click.command("chat", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("words", nargs=-1, metavar="[NAME] [MESSAGE]")
@click.option("--syndicate", "named", metavar="NAME", help="The syndicate; all words are the message then.")
@click.option("--session", metavar="ID|last", callback=_session, help="Go on in a session, or start it by that id.")
@click.option("--user", metavar="ID", callback=_user, help="Who is speaking (default SYNDICATE_USER_ID).")
@click.option("--bind", metavar="K=V", multiple=True, callback=_bindings, help="Set a variable of the file.")
@click.option(
    "--model", metavar="AGENT=ID", multiple=True, callback=_models, help="Give an agent another model; * is all."
)
@click.option("--json", "as_json", is_flag=True, help="Print the turn as one JSON object a line.")
def command(
    words: tuple[str, ...],
    named: str | None,
    session: str | None,
    user: str | None,
    bind: Mapping[str, Any],
    model: Mapping[str, str],
    as_json: bool,
) -> int:
    """Talk with a syndicate, or ask it once.

    NAME is the name or the path of a syndicate, SYNDICATE_DEFAULT (tutor) when there is none. With a MESSAGE, or with
    text on standard input, it answers and exits: the answer on standard output, everything else on a terminal's
    standard error.
    """
    from syndicate.cli.opening import Opening
    from syndicate.settings import Settings

    settings = Settings.read()
    name = named or (words[0] if words else settings.syndicate_default)
    opening = _load(name, settings, Opening, bindings=bind, models=model, user=user, session=session)
    message = _message(words if named else words[1:], as_json)
    _hush()
    return _start(opening, message, as_json=as_json)


def _load(name: str, settings: Settings, opening: type[Opening], **options: Any) -> Opening:
    from syndicate.cli.loading import load_checked

    loaded = load_checked(name, settings, bindings=options["bindings"])
    return opening(loaded=loaded, settings=settings, **options)


def _start(opening: Opening, message: str | None, *, as_json: bool) -> int:
    """Wake the embedded model first: it gets ready while the rest is imported."""
    from syndicate.cli.embedded import wake

    wake(opening)
    if message is not None:
        from syndicate.cli.one_shot import ask_once

        return asyncio.run(ask_once(opening, message, as_json=as_json))
    from syndicate.cli.repl import converse

    return asyncio.run(converse(opening))


def _message(words: tuple[str, ...], as_json: bool) -> str | None:
    """The message of a one shot, from the words, standard input or both; None opens the REPL."""
    said = " ".join(words).encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
    if words and not said:
        raise click.UsageError("the message is empty", click.get_current_context())
    if sys.stdin is not None and sys.stdin.isatty():
        if not said and as_json:
            raise click.UsageError("--json needs a message", click.get_current_context())
        return said or None
    piped = _piped(patient=not said) if sys.stdin is not None else ""
    message = "\n\n".join(part for part in (said, piped) if part)
    if not message:
        raise click.UsageError("standard input holds no message", click.get_current_context())
    return message


def _piped(*, patient: bool) -> str:
    """Standard input to its end. Beside a message it must begin soon: a pipe that nobody writes to is let go."""
    selectable = sys.platform != "win32"
    if not patient and selectable and not select.select([sys.stdin], [], [], _STDIN_PATIENCE)[0]:
        click.echo("nothing on standard input; going on without it", err=True)
        return ""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise click.UsageError("standard input is not UTF-8 text", click.get_current_context()) from None


def _hush() -> None:
    """Keep the libraries' warnings and logs away from the conversation."""
    import logging
    import warnings

    warnings.simplefilter("ignore")
    logging.getLogger().addHandler(logging.NullHandler())
