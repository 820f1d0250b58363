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
def pull_weights(model_id: str) -> None:
    """Pull the weights of an embedded model, and say where they are.

    ID is local/smollm2 (the default) or local/ORGANISATION/REPOSITORY[:FILE]. A pull that was broken off goes on where
    it stopped.
    """
    from syndicate.cli.pulling import pull_shown
    from syndicate.errors import UsageError
    from syndicate.settings import Settings

    if not model_id.startswith("local/"):
        raise UsageError(
            f"{model_id!r} is not an embedded model",
            remediation="name one as local/smollm2 or local/organisation/repository",
        )
    click.echo(str(pull_shown(model_id, Settings.read())))


def _row(provider: Provider, settings: Settings) -> dict[str, Any]:
    return {"provider": provider.id, "ids": provider.prefixes, "needs": _needs(provider, settings)}


def _needs(provider: Provider, settings: Settings) -> str | None:
    """What is missing before models of this provider can be asked, as far as this machine alone can tell."""
    from syndicate.models.registry import static_availability

    sample = "local/smollm2" if provider.id == "local" else provider.prefixes.split(",")[0].replace("*", "x")
    missing = static_availability(sample, settings)
    if missing is None:
        return None
    if missing.code == "not-in-this-version":
        return "not in this version"
    return missing.remediation or missing.reason


def _weights(settings: Settings) -> Iterator[Path]:
    yield from sorted((settings.home / "models").glob("**/*.gguf"))
