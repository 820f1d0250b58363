"""`syndicate validate`: every problem of every file, in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from syndicate.errors import Problem
    from syndicate.settings import Settings


@click.command("validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--strict", is_flag=True, help="Take every warning for an error.")
@click.option("--json", "as_json", is_flag=True, help="Print the problems as a JSON array.")
def command(files: tuple[str, ...], strict: bool, as_json: bool) -> int:
    """Check syndicate files and report every problem.

    FILE is a name or a path; files that it nests are checked with it. Exit code 1 when there is an error.
    """
    from syndicate.settings import Settings

    settings = Settings.read()
    if as_json:
        return _as_json(files, settings, strict)
    shown: set[Problem] = set()
    good = [_check(file, settings, strict, shown) for file in files]
    return 0 if all(good) else 1


def _check(file: str, settings: Settings, strict: bool, shown: set[Problem]) -> bool:
    """Validate one file and print what there is to say; a problem already in `shown` is not printed again."""
    from syndicate.cli.loading import load_checked, shown_path
    from syndicate.cli.outline import count_agents
    from syndicate.cli.problems import show_error, show_problems
    from syndicate.errors import ConfigError, SyndicateError

    try:
        loaded = load_checked(file, settings, strict=strict)
    except ConfigError as error:
        show_problems([problem for problem in error.problems if problem not in shown])
        shown.update(error.problems)
        return False
    except SyndicateError as error:
        show_error(error)
        return False
    show_problems([problem for problem in loaded.problems if problem not in shown])
    shown.update(loaded.problems)
    warnings = f", {_counted(len(loaded.problems), 'warning')}" if loaded.problems else ""
    click.echo(f"ok {shown_path(loaded.path)}: {_counted(count_agents(loaded), 'agent')}{warnings}")
    return True


def _as_json(files: tuple[str, ...], settings: Settings, strict: bool) -> int:
    from syndicate.cli.loading import load_checked
    from syndicate.cli.problems import as_json, error_as_json
    from syndicate.cli.visible import json_line
    from syndicate.errors import SyndicateError

    found: list[dict[str, Any]] = []
    for file in files:
        try:
            entries = [as_json(problem) for problem in load_checked(file, settings, strict=strict).problems]
        except SyndicateError as error:
            entries = error_as_json(error, file)
        found.extend(entry for entry in entries if entry not in found)
    click.echo("[" + ",".join(f"\n{json_line(entry)}" for entry in found) + ("\n]" if found else "]"))
    return 1 if any(entry["severity"] == "error" for entry in found) else 0


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
