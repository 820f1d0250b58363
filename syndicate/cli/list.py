"""`syndicate list`: the syndicates that can be named here."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from syndicate.settings import Settings


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    description: str
    root: str
    path: str
    problem: str | None


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def command(as_json: bool) -> None:
    """The syndicates that can be named here.

    Those of your agents folder (SYNDICATE_AGENTS_DIR), of its examples and templates, and the ones that come along.
    """
    from dataclasses import asdict

    from syndicate.cli.visible import json_line
    from syndicate.settings import Settings

    rows = _rows(Settings.read())
    if as_json:
        click.echo("[" + ",".join(f"\n{json_line(asdict(row))}" for row in rows) + ("\n]" if rows else "]"))
        return
    width = max((len(row.name) for row in rows), default=0)
    room = shutil.get_terminal_size().columns - width - 16 if sys.stdout.isatty() else 1000
    for row in rows:
        click.echo(f"{row.name:<{width}}  {row.root:<9}  {_about(row, max(room, 20))}".rstrip())


def _rows(settings: Settings) -> list[_Row]:
    from syndicate.cli.loading import shown_path
    from syndicate.config import available, load
    from syndicate.errors import ConfigError, SyndicateError

    rows: list[_Row] = []
    for found in available(settings):
        description, problem = "", None
        try:
            config = load(found.path, settings=settings).config
            description = config.description or config.syndicate_name
        except ConfigError as error:
            problem = str(next(entry for entry in error.problems if entry.severity == "error"))
        except SyndicateError as error:
            problem = str(error)
        rows.append(_Row(found.name, description, found.root, shown_path(found.path), problem))
    return rows


def _about(row: _Row, limit: int) -> str:
    from syndicate.cli.visible import one_line

    return one_line(f"does not load: {row.problem}" if row.problem else row.description, limit)
