"""`syndicate models`: who answers for which model id, the weights of embedded models, and one prompt to everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from syndicate.graph.doctor import ProviderReport
    from syndicate.settings import Settings


@click.group("models", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Providers of models; pull weights; try one prompt on each.

    Without a command, `list`.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_providers, as_json=False)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_providers(as_json: bool) -> None:
    """Which providers there are, what each one needs, and which models have been pulled.

    A key is only ever said to be there or not.
    """
    import asyncio

    from syndicate.cli.visible import json_line, one_line
    from syndicate.graph.doctor import examine_providers
    from syndicate.settings import Settings

    settings = Settings.read()
    rows = asyncio.run(examine_providers(settings))
    if as_json:
        click.echo("[" + ",".join(f"\n{json_line(_row(row, settings))}" for row in rows) + "\n]")
        return
    name, ids = max(len(row.id) for row in rows), max(len(row.ids) for row in rows)
    for row in rows:
        click.echo(f"{row.id:<{name}}  {row.ids:<{ids}}  {_state(row, settings)}")
        for pulled in _pulled(row, settings):
            size = f"  {pulled['bytes'] / 1e6:.0f} MB" if pulled["bytes"] is not None else ""
            click.echo(f"{'':<{name}}  {one_line(pulled['id'], 200)}{size}")


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


@command.command("try")
@click.argument("prompt", default="In one sentence: why is the sky blue?")
@click.option("--model", "model_ids", metavar="ID", multiple=True, help="Ask this model; may be given again.")
@click.option("--search", is_flag=True, help="Let those that can search the web, and print their sources.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def try_models(prompt: str, model_ids: tuple[str, ...], search: bool, as_json: bool) -> int:
    """Ask one model of each provider that is available here the same thing.

    Prints thinking, answer, tokens, times and cost of each. Exit code 1 when none answered.
    """
    from syndicate.cli.trial import try_out
    from syndicate.settings import Settings

    return try_out(prompt, model_ids, Settings.read(), search=search, as_json=as_json)


def _state(row: ProviderReport, settings: Settings) -> str:
    if row.via:
        return f"ready, through {settings.model_gateway}"
    return row.needs or "ready"


def _row(row: ProviderReport, settings: Settings) -> dict[str, Any]:
    return {
        "provider": row.id,
        "ids": row.ids,
        "ready": row.ready,
        "needs": row.needs or None,
        "via": row.via,
        "pulled": _pulled(row, settings),
    }


def _pulled(row: ProviderReport, settings: Settings) -> list[dict[str, Any]]:
    """The models of a provider that are on this machine; their size where it is known."""
    if row.id == "local":
        folder = settings.home / "models"
        files = sorted(folder.glob("**/*.gguf"))
        return [
            {"id": f"local/{_named(file.relative_to(folder).parts)}", "bytes": file.stat().st_size} for file in files
        ]
    return [{"id": f"{row.id}/{name}", "bytes": None} for name in row.pulled]


def _named(parts: tuple[str, ...]) -> str:
    """`organisation/repository:file`, as a model id spells it."""
    return "/".join(parts[:2]) + (":" + "/".join(parts[2:]) if len(parts) > 2 else "")
