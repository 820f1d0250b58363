"""The `syndicate` command: a table of verbs whose modules are imported when they are called."""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from syndicate.cli.boundary import Options

VERBS = {
    "chat": "Talk with a syndicate, or ask it once.",
    "validate": "Check syndicate files and report every problem.",
    "graph": "Draw who delegates to whom.",
    "show": "Describe one syndicate: its agents, models and tools.",
    "list": "The syndicates that can be named here.",
    "doctor": "What runs here, what is missing, and what would change that.",
    "schema": "Print the JSON Schema of the file format.",
    "sessions": "Conversations that are stored: list, read and delete them.",
    "db": "The database: where it is, its schema, its protection, its upkeep.",
    "models": "Providers of models; pull weights; try one prompt on each.",
}
"""Each verb and its line of help, as its own module has it; written here so that help imports none of them."""

TO_COPY = """\
syndicate chat tutor "Why is the sky blue?"   # ask once; no key needed
syndicate list                                # who else is here
syndicate --help                              # everything it does"""


class LazyGroup(click.Group):
    """A group whose commands are `syndicate.cli.<verb>.command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        return importlib.import_module(f"syndicate.cli.{cmd_name}").command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        verb = args[0]
        if verb not in VERBS and not verb.startswith("-"):
            close = difflib.get_close_matches(verb, VERBS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(VERBS)}"
            raise click.UsageError(f"no such command {verb!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.command(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Syndicates are YAML files that describe graphs of agents. This runs, checks and draws them.",
)
@click.version_option(package_name="syndicate-agents", message="%(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def group(ctx: click.Context, debug: bool) -> None:
    options: Options = ctx.obj
    options.debug = debug
    if ctx.invoked_subcommand is None:
        click.echo(TO_COPY)
