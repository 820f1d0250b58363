"""`syndicate show`: one syndicate, its agents, models and tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from syndicate.cli.outline import Entry
    from syndicate.config import LoadedSyndicate
    from syndicate.settings import Settings


_WIDEST = 2000
"""Characters of one line, where a file has more to say than anybody reads in one."""


@click.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(name: str, as_json: bool) -> None:
    """Describe one syndicate: its agents, models and tools.

    NAME is the name or the path of a syndicate.
    """
    from syndicate.cli.loading import load_checked
    from syndicate.cli.visible import json_line, visible
    from syndicate.settings import Settings

    settings = Settings.read()
    loaded = load_checked(name, settings)
    if as_json:
        click.echo(json_line(_description(loaded)))
        return
    for line in _lines(loaded, settings):
        click.echo(visible(line).rstrip())


def _lines(loaded: LoadedSyndicate, settings: Settings) -> Iterator[str]:
    from syndicate.cli.loading import shown_path, to_type
    from syndicate.cli.outline import outline
    from syndicate.cli.visible import one_line

    config = loaded.config
    yield one_line(": ".join(filter(None, (config.syndicate_name, config.description))), _WIDEST)
    yield f"  file       {one_line(shown_path(loaded.path), _WIDEST)}"
    yield f"  memory     {config.memory_system}"
    yield f"  max steps  {config.max_steps}"
    if config.variables:
        variables = ", ".join(f"{name}={value}" for name, value in config.variables.items())
        yield f"  variables  {one_line(variables, _WIDEST)}"
    yield ""
    for entry in outline(loaded):
        yield from _agent_lines(entry)
    if loaded.problems:
        count = len(loaded.problems)
        yield ""
        yield f"{count} warning{'s' * (count > 1)}: syndicate validate {to_type(loaded, settings)}"


def _agent_lines(entry: Entry) -> Iterator[str]:
    from syndicate.cli.visible import one_line

    indent = "  " * entry.depth
    reference = f" ({entry.reference})" if entry.reference else ""
    yield f"{indent}{one_line(f'{entry.name}{reference}', _WIDEST)}"
    if entry.description:
        yield f"{indent}  {one_line(entry.description, 100)}"
    if entry.models:
        yield f"{indent}  models: {one_line(', else '.join(entry.models), _WIDEST)}"
    if entry.tools:
        yield f"{indent}  tools: {one_line(', '.join(entry.tools), _WIDEST)}"


def _description(loaded: LoadedSyndicate) -> dict[str, Any]:
    from dataclasses import asdict

    from syndicate.cli.loading import shown_path
    from syndicate.cli.outline import outline
    from syndicate.cli.problems import as_json

    config = loaded.config
    return {
        "name": loaded.name,
        "path": shown_path(loaded.path),
        "syndicate_name": config.syndicate_name,
        "description": config.description,
        "memory_system": config.memory_system,
        "max_steps": config.max_steps,
        "variables": config.variables,
        "agents": [{**asdict(entry), "file": shown_path(entry.file)} for entry in outline(loaded)],
        "warnings": [as_json(problem) for problem in loaded.problems],
    }
