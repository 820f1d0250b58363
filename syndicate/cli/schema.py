"""`syndicate schema`: the JSON Schema of the file format."""

from __future__ import annotations

import json

import click


@click.command("schema")
@click.option("--json", "_as_json", is_flag=True, help="What it does anyway: the schema is JSON.")
def command(_as_json: bool) -> None:
    """Print the JSON Schema of the file format.

    For editors: `# yaml-language-server: $schema=syndicate.schema.json` on a file's first line.
    """
    from syndicate.config.json_schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
