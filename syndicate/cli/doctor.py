"""`syndicate doctor`: what runs here, what is missing, and what would change that."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from syndicate.graph.doctor import AgentReport, Report
    from syndicate.settings import Settings


@click.command("doctor")
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Exit 1 when an agent cannot run; without NAME, of SYNDICATE_DEFAULT.")
@click.option("--matrix", is_flag=True, help="Print what each provider can instead.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(name: str | None, check: bool, matrix: bool, as_json: bool) -> int:
    """What runs here, what is missing, and what would change that.

    NAME is the name or the path of a syndicate, whose agents are examined; without one, every syndicate that can be
    named here is. No model is asked. A key is only ever said to be there or not.
    """
    if matrix:
        _print_matrix(name, check, as_json)
        return 0
    import asyncio

    from syndicate.cli.loading import load_checked
    from syndicate.cli.visible import json_line
    from syndicate.graph.doctor import examine
    from syndicate.settings import Settings

    settings = Settings.read()
    named = name if name is not None or not check else settings.syndicate_default
    loaded = load_checked(named, settings) if named is not None else None
    database = asyncio.run(_database(settings))
    report = asyncio.run(examine(loaded, settings, database=database))
    if as_json:
        click.echo(json_line(_as_json(report)))
    else:
        _print_report(report, settings)
    return 1 if check and not report.runs else 0


async def _database(settings: Settings) -> str:
    """Where sessions are kept, in one line; why they cannot be, where that is so."""
    from syndicate.cli.upkeep import examine
    from syndicate.cli.visible import one_line
    from syndicate.errors import SyndicateError

    try:
        return (await examine(settings)).summary
    except SyndicateError as error:
        return one_line(str(error), 400)


def _print_report(report: Report, settings: Settings) -> None:
    from rich.console import Console

    from syndicate.cli.examination import lines
    from syndicate.cli.marks import marks

    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    for line in lines(report, settings, marks(console.encoding)):
        line.rstrip()
        console.print(line)


def _print_matrix(name: str | None, check: bool, as_json: bool) -> None:
    from syndicate.cli.marks import marks
    from syndicate.cli.matrix import as_object, lines
    from syndicate.cli.visible import json_line

    if name is not None or check:
        raise click.UsageError("--matrix is the same for every syndicate: give it no NAME and no --check")
    if as_json:
        click.echo(json_line(as_object()))
        return
    for line in lines(marks(sys.stdout.encoding)):
        click.echo(line)


def _as_json(report: Report) -> dict[str, Any]:
    from dataclasses import asdict

    described = asdict(report)
    described["runs"] = report.runs if report.name is not None else None
    described["agents"] = [_agent(agent) for agent in report.agents]
    described["syndicates"] = [{**asdict(syndicate), "runs": syndicate.runs} for syndicate in report.syndicates]
    return described


def _agent(agent: AgentReport) -> dict[str, Any]:
    from dataclasses import asdict
    from pathlib import Path

    from syndicate.cli.loading import shown_path

    described = asdict(agent)
    place = described.pop("location")
    return {**described, "runs": agent.runs, "file": shown_path(Path(place["file"])), "line": place["line"]}
