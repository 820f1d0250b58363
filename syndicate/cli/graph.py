"""`syndicate graph`: who delegates to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from syndicate.config import LoadedSyndicate


@click.command("graph")
@click.argument("name")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["mermaid", "tree"]),
    default="mermaid",
    show_default=True,
    help="What to draw.",
)
@click.option("--json", "as_json", is_flag=True, help="Print agents and delegations as JSON.")
def command(name: str, kind: str, as_json: bool) -> None:
    """Draw who delegates to whom.

    NAME is the name or the path of a syndicate.
    """
    from syndicate.cli.loading import load_checked
    from syndicate.cli.visible import json_line, visible
    from syndicate.settings import Settings

    loaded = load_checked(name, Settings.read())
    if as_json:
        click.echo(json_line(_edges(loaded)))
        return
    from syndicate.graph import draw

    text = draw.tree(loaded) if kind == "tree" else draw.mermaid(loaded)
    click.echo(visible(text).rstrip("\n"))


def _edges(loaded: LoadedSyndicate) -> dict[str, Any]:
    from syndicate.cli.outline import outline

    entries = outline(loaded)
    return {
        "name": loaded.name,
        "agents": [{"name": entry.name, "models": entry.models, "tools": entry.tools} for entry in entries],
        "delegations": [{"from": entry.parent, "to": entry.name} for entry in entries if entry.parent is not None],
    }
