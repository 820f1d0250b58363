"""`syndicate models`: who answers for which model id, and the weights of embedded models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from syndicate.models.registry import Provider
    from syndicate.settings import Settings


@click.group("models")
def command() -> None:
    """Providers of models; pull the weights of embedded ones."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_providers(as_json: bool) -> None:
    """Which providers there are, and what each one needs.

    A key is only ever said to be there or not.
    """
    from syndicate.cli.visible import json_line
    from syndicate.models.registry import providers
    from syndicate.settings import Settings

    settings = Settings.read()
    rows = [_row(provider, settings) for provider in providers()]
    if as_json:
        click.echo("[" + ",".join(f"\n{json_line(row)}" for row in rows) + "\n]")
        return
    width = max(len(row["ids"]) for row in rows)
    for row in rows:
        click.echo(f"{row['provider']:<10}  {row['ids']:<{width}}  {row['needs'] or 'ready'}")
    for path in _weights(settings):
        click.echo(f"pulled: {path.relative_to(settings.home / 'models')}  {path.stat().st_size / 1e6:.0f} MB")


@command.command("pull")
@click.argument("model_id", metavar="[ID]", default="local/smollm2")
def pull_model(model_id: str) -> None:
    """Pull an embedded model's weights, or have Ollama pull a model.

    ID is local/smollm2 (the default), local/ORGANISATION/REPOSITORY[:FILE] or ollama/MODEL. A pull that was broken off
    goes on where it stopped.
    """
    from syndicate.cli.pulling import pull_by_daemon, pull_weights
    from syndicate.cli.visible import one_line
    from syndicate.errors import UsageError
    from syndicate.settings import Settings

    match model_id.partition("/")[0]:
        case "local":
            click.echo(str(pull_weights(model_id, Settings.read())))
        case "ollama":
            pull_by_daemon(model_id, Settings.read())
            click.echo(f"pulled {one_line(model_id)}")
        case _:
            raise UsageError(f"{model_id!r} is not pulled", remediation="only local/… and ollama/… models are")


def _row(provider: Provider, settings: Settings) -> dict[str, Any]:
    return {"provider": provider.id, "ids": provider.prefixes, "needs": _needs(provider, settings)}


def _needs(provider: Provider, settings: Settings) -> str | None:
    """What is missing before models of this provider can be asked; None also when one need only be pulled."""
    import asyncio

    from syndicate.models.registry import availability

    sample = "local/smollm2" if provider.id == "local" else provider.prefixes.split(",")[0].replace("*", "x")
    missing = asyncio.run(availability(sample, settings))
    if missing is None or sample in missing.remediation:
        return None
    if missing.code == "not-in-this-version":
        return "not in this version"
    return missing.remediation or missing.reason


def _weights(settings: Settings) -> Iterator[Path]:
    yield from sorted((settings.home / "models").glob("**/*.gguf"))
