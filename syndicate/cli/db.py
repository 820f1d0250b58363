"""`syndicate db`: where sessions and facts are kept, and what keeps that in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from syndicate.storage.verify import Verification

_BY_HAND = "a schema cannot be changed over REST; run this SQL in the project's SQL editor, or set DATABASE_URL"
_json = click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")


@click.group("db", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """The database: where it is, its schema, its protection, its upkeep.

    Without a command, `status`.
    """
    if ctx.invoked_subcommand is None:
        ctx.exit(ctx.invoke(status, as_json=False))


@command.command("status")
@_json
def status(as_json: bool) -> int:
    """Where the data is, the schema's version, and how much is stored.

    Exit code 1 when the schema has to be changed first. Never prints a password or a key.
    """
    import asyncio

    from syndicate.cli.upkeep import examine
    from syndicate.cli.visible import json_line, one_line
    from syndicate.settings import Settings

    found = asyncio.run(examine(Settings.read()))
    if as_json:
        click.echo(json_line(found.as_json()))
    else:
        for line in found.lines():
            click.echo(f"{line[:12]}{one_line(line[12:], 400)}")
    return 0 if found.usable else 1


@command.command("apply")
@click.option(
    "--map", "renamed", metavar="OLD=NEW", multiple=True, help="Give facts another user key; may be given again."
)
@click.option("--user-role", metavar="NAME", help="Let this role read the rows of one user; made where it is missing.")
def apply_schema(renamed: tuple[str, ...], user_role: str | None) -> int:
    """Bring the schema to this version, and harden it.

    May be run as often as you like. Over Supabase's REST no schema can be changed: the SQL is printed then, for the SQL
    editor, and the exit code is 1.
    """
    import asyncio

    from syndicate.cli.upkeep import bring_up
    from syndicate.settings import Settings

    done = asyncio.run(bring_up(Settings.read(), _pairs(renamed), user_role))
    for line in done.lines:
        click.echo(line)
    if done.remaining:
        click.echo(done.remaining, nl=False)
        click.echo(f"error: {_BY_HAND}", err=True)
    return 1 if done.remaining else 0


@command.command("print")
def print_sql() -> None:
    """Print the SQL that `apply` runs on an empty database.

    For an administrator to read, or to run as the owner of the tables. No database is asked.
    """
    from syndicate.storage.migrations import script

    click.echo(script(), nl=False)


@command.command("verify")
@_json
def verify_hardening(as_json: bool) -> int:
    """Prove that nobody but the server gets at what is stored.

    Reads every privilege and policy, and tries every table, sequence and function as the roles `anon` and
    `authenticated`; over REST with SUPABASE_ANON_KEY too. Says what could not be tried. Exit code 1 when something is
    open.
    """
    import asyncio
    from dataclasses import asdict

    from syndicate.cli.upkeep import verification
    from syndicate.cli.visible import json_line
    from syndicate.settings import Settings

    found = asyncio.run(verification(Settings.read()))
    if as_json:
        click.echo(json_line({"hardened": found.hardened, **asdict(found)}))
    else:
        _print_verification(found)
    return 0 if found.hardened else 1


@command.command("prune")
@_json
def prune(as_json: bool) -> None:
    """Delete the sessions that have expired.

    They do SESSION_TTL_DAYS after they were last used.
    """
    import asyncio

    from syndicate.cli.upkeep import counted, prune_expired
    from syndicate.cli.visible import json_line
    from syndicate.settings import Settings

    counts = asyncio.run(prune_expired(Settings.read()))
    click.echo(json_line(counts) if as_json else f"deleted {counted(counts)}")


@command.command("purge")
@click.option("--user", metavar="ID", help="Only what is stored of this user.")
@click.option("--syndicate", metavar="NAME", help="Only what is stored of this syndicate.")
@click.option("--yes", is_flag=True, help="Do it; without this nothing is deleted.")
@_json
def purge(user: str | None, syndicate: str | None, yes: bool, as_json: bool) -> None:
    """Delete what is stored: everything, or one user's or syndicate's.

    Sessions, facts and state. With both options, what is stored of that user with that syndicate. Says what would be
    deleted; with --yes it is, for good.
    """
    import asyncio

    from syndicate.cli.upkeep import counted, purge_or_count
    from syndicate.cli.visible import json_line
    from syndicate.settings import Settings

    for name, value in (("--user", user), ("--syndicate", syndicate)):
        if value is not None and not value.strip():  # an empty variable of a script is not "everybody"
            raise click.UsageError(f"{name} must not be empty", click.get_current_context())
    counts = asyncio.run(purge_or_count(Settings.read(), user, syndicate, yes=yes))
    if as_json:
        click.echo(json_line({**counts, "deleted": yes}))
    elif yes:
        click.echo(f"deleted {counted(counts)}")
    else:
        rest = " and facts, state" if user or syndicate else ""
        click.echo(f"would delete {counted(counts)}{rest}; --yes does it")


@command.command("stop")
def stop_server() -> None:
    """Stop the server of the embedded database, whoever uses it.

    It stops by itself when nobody does.
    """
    from syndicate.errors import UsageError
    from syndicate.settings import Settings
    from syndicate.storage.database import configured
    from syndicate.storage.embedded import stop

    settings = Settings.read()
    if configured(settings) in ("postgres", "supabase"):
        variable = "DATABASE_URL" if settings.database_url else "SUPABASE_URL"
        raise UsageError(f"the database is not embedded: {variable} is set", remediation="stop it where it runs")
    click.echo("stopped" if stop(settings) else "it was not running")


def _pairs(renamed: tuple[str, ...]) -> dict[str, str]:
    """OLD=NEW options as a mapping."""
    pairs: dict[str, str] = {}
    for text in renamed:
        old, equals, new = text.partition("=")
        if not (old and equals and new) or old in pairs:
            why = "names a key twice" if old in pairs else "takes OLD=NEW, such as 'Tutor:me=Tutor/me'"
            raise click.UsageError(f"--map {text!r}: {why}", click.get_current_context())
        pairs[old] = new
    return pairs


def _print_verification(found: Verification) -> None:
    from syndicate.cli.visible import one_line

    for finding in found.findings:
        click.echo(f"open: {one_line(str(finding), 1000)}")
    for role, count in found.refused.items():
        click.echo(f"refused: {count} attempts as {one_line(role)}")
    for text in found.untried:
        click.echo(f"not tried: {one_line(text, 400)}")
    for text in found.notes:
        click.echo(f"note: {text}")
    count = len(found.findings)
    click.echo("hardened" if found.hardened else f"not hardened: {count} finding{'s' * (count > 1)}")
