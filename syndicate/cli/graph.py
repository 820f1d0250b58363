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
        click.echo(json_line(_as_json(loaded)))
        return
    from syndicate.graph import draw

    text = draw.tree(loaded) if kind == "tree" else draw.mermaid(loaded)
    click.echo(visible(text).rstrip("\n"))


def _as_json(loaded: LoadedSyndicate) -> dict[str, Any]:
    """Agents by id, which are those of the mermaid drawing; one that mounts a file calls that file's orchestrator."""
    from syndicate.cli.loading import shown_path
    from syndicate.graph.draw import nodes

    agents = nodes(loaded)
    return {
        "name": loaded.name,
        "agents": [
            {
                "id": agent.key,
                "name": agent.name,
                "kind": agent.kind,
                "models": agent.models,
                "tools": agent.tools,
                "reference": agent.reference,
                "file": shown_path(agent.file),
            }
            for agent in agents
        ],
        "delegations": [{"from": agent.key, "to": child.key} for agent in agents for child in agent.children],
    }
