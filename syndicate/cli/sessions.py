"""`syndicate sessions`: the conversations that are stored."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from syndicate.cli.stored_sessions import StoredSession, StoredSessions
    from syndicate.settings import Settings


def _named(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """An option that a script left empty is a mistake, and not the default."""
    if value is not None and not value.strip():
        raise click.UsageError(f"--{param.name} must not be empty", ctx)
    return value


_user = click.option("--user", metavar="ID", callback=_named, help="Whose sessions (default SYNDICATE_USER_ID).")
_syndicate = click.option("--syndicate", metavar="NAME", callback=_named, help="Only those with this syndicate.")


@click.group("sessions", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Conversations that are stored: list, read and delete them.

    Without a command, `list`.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_sessions, user=None, syndicate=None, everybody=False, limit=20, as_json=False)


@command.command("list")
@_user
@click.option("--all-users", "everybody", is_flag=True, help="Those of every user.")
@_syndicate
@click.option("--limit", metavar="N", type=click.IntRange(0), default=20, help="At most so many (20); 0: all.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_sessions(user: str | None, syndicate: str | None, everybody: bool, limit: int, as_json: bool) -> None:
    """Sessions of a user, the one that was used last first.

    To go on in one: syndicate chat NAME --session ID.
    """
    import asyncio
    from dataclasses import asdict

    from syndicate.cli.visible import json_line
    from syndicate.settings import Settings

    if everybody and user is not None:
        raise click.UsageError("--all-users and --user exclude each other", click.get_current_context())
    settings = Settings.read()
    who = None if everybody else user or settings.syndicate_user_id
    found = asyncio.run(_newest(settings, syndicate, who, limit))
    shown = found[:limit] if limit else found
    if as_json:
        click.echo("[" + ",".join(f"\n{json_line(asdict(row))}" for row in shown) + ("\n]" if shown else "]"))
        return
    for line in _lines(shown, everybody):
        click.echo(line)
    if len(found) > len(shown):
        click.echo(f"there are more; --limit {limit * 10} shows more of them", err=True)
    if not found and sys.stderr.isatty():
        click.echo(f"no session of {'anybody' if everybody else f'user {who!r}'} is stored", err=True)


@command.command("show")
@click.argument("session", metavar="ID")
@_user
@_syndicate
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object, with the events as they are stored.")
def show_session(session: str, user: str | None, syndicate: str | None, as_json: bool) -> None:
    """Read a session: who said what, who asked whom, which tools were called.

    ID is a session's, or `last` for the one that was used last. Results of tools are shortened.
    """
    import asyncio
    from dataclasses import asdict

    from syndicate.cli.transcript import rows, turn_count
    from syndicate.cli.transcript_view import print_transcript
    from syndicate.cli.visible import json_line, one_line
    from syndicate.settings import Settings

    settings = Settings.read()
    found, loaded = asyncio.run(_load(settings, session, syndicate, user))
    if as_json:
        click.echo(json_line({**asdict(found), "state": loaded["state"], "events": loaded["events"]}))
        return
    turns = turn_count(loaded["events"])
    title = " · ".join(one_line(text, 200) for text in (found.syndicate, found.id, found.user))
    about = f"{_count(turns, 'turn')}, {_count(found.events, 'event')}, last used {_time(found.updated)}"
    print_transcript(title, about, rows(loaded["events"]))


@command.command("delete")
@click.argument("session", metavar="ID")
@_user
@_syndicate
@click.option("--yes", is_flag=True, help="Do it; without this nothing is deleted.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def delete_session(session: str, user: str | None, syndicate: str | None, yes: bool, as_json: bool) -> None:
    """Delete a session and its events.

    Says what would be deleted; with --yes it is.
    """
    import asyncio
    from dataclasses import asdict

    from syndicate.cli.visible import json_line, one_line
    from syndicate.settings import Settings

    settings = Settings.read()
    found = asyncio.run(_delete(settings, session, syndicate, user, yes=yes))
    if as_json:
        click.echo(json_line({**asdict(found), "deleted": yes}))
        return
    what = f"session {one_line(found.id, 200)} with {one_line(found.syndicate)}, {_count(found.events, 'event')}"
    click.echo(f"deleted {what}" if yes else f"would delete {what}, last used {_time(found.updated)}; --yes does it")


async def _newest(settings: Settings, syndicate: str | None, user: str | None, limit: int) -> list[StoredSession]:
    from syndicate.cli.stored_sessions import StoredSessions, stored_name

    async with StoredSessions.open(settings) as stored:
        name = stored_name(syndicate, settings) if syndicate is not None else None
        return await stored.newest(name, user, limit + 1 if limit else None)


async def _load(
    settings: Settings, session: str, syndicate: str | None, user: str | None
) -> tuple[StoredSession, dict[str, Any]]:
    async with _opened(settings, session, syndicate, user) as (stored, found):
        return found, await stored.load(found)


async def _delete(
    settings: Settings, session: str, syndicate: str | None, user: str | None, *, yes: bool
) -> StoredSession:
    async with _opened(settings, session, syndicate, user) as (stored, found):
        if yes:
            await stored.delete(found)
        return found


@asynccontextmanager
async def _opened(
    settings: Settings, session: str, syndicate: str | None, user: str | None
) -> AsyncGenerator[tuple[StoredSessions, StoredSession]]:
    """The stored sessions, and the one that the command line names."""
    from syndicate.cli.stored_sessions import StoredSessions, stored_name

    async with StoredSessions.open(settings) as stored:
        name = stored_name(syndicate, settings) if syndicate is not None else None
        yield stored, await stored.find(session, name, user or settings.syndicate_user_id)


def _lines(found: list[StoredSession], everybody: bool) -> list[str]:
    """A line for each session, in columns."""
    from syndicate.cli.visible import one_line

    cells = [
        (
            one_line(row.id, 200),
            one_line(row.syndicate, 40),
            *([one_line(row.user, 40)] if everybody else []),
            _time(row.updated),
            _count(row.events, "event"),
        )
        for row in found
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in cells)
    return [line.rstrip() for line in lines]


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
