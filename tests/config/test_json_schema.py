"""The committed JSON Schema is the generated one, and agrees with the loader."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from syndicate.config import LoadedSyndicate, available, shipped_agents
from syndicate.config.json_schema import json_schema, schema_text
from syndicate.config.source import Document
from syndicate.config.text import read
from syndicate.settings import Settings

Load = Callable[..., LoadedSyndicate]
Text = Callable[[str], str]

VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def errors(text: str) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(text))]


def test_the_committed_schema_is_the_generated_one():
    path = shipped_agents() / "syndicate.schema.json"
    assert path.read_text(encoding="utf-8") == schema_text(), (
        "run: syndicate schema > config/agents/syndicate.schema.json"
    )


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(json_schema())


def shipped_files() -> list[Path]:
    return [syndicate.path for syndicate in available(Settings.read(env_file=None))]


@pytest.mark.parametrize("path", shipped_files(), ids=lambda path: path.stem)
def test_shipped_files_are_valid(path: Path):
    assert list(VALIDATOR.iter_errors(Document(read(path)).data)) == []


@pytest.mark.parametrize(
    "keys",
    [
        "max_steps: '{{n}}'\nvariables: {n: 3}",
        "memory_system: '{{n}}'\nvariables: {n: long-term}",
        "memory_namespace: '{{n}}'\nvariables: {n: abc}",
        "budget: {max_seconds: '{{n}}'}\nvariables: {n: 3}",
        "subagents:\nguards:\ndispatch:\nvariables:\nmax_steps:",
        "x-anything: {a: [b]}",
    ],
)
def test_what_the_loader_takes_is_valid(keys: str, load_text: Load, root: Text):
    load_text(root(keys))
    assert errors(root(keys)) == []


@pytest.mark.parametrize(
    "keys",
    [
        "foo: 1",
        "max_steps: 0",
        "max_steps: many",
        "memory_system: forever",
        "memory_namespace: a b",
        "variables: {a: [1]}",
        "guards: x",
        "subagents: [{}]",
        "budget: {max_minutes: 1}",
    ],
)
def test_what_the_loader_refuses_is_invalid(keys: str, root: Text):
    assert len(errors(root(keys))) == 1


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, block in {"SyndicateConfig": schema, **schema["$defs"]}.items():
        for key, value in block["properties"].items():
            yield f"{name}.{key}", value


def test_every_key_is_described():
    assert [name for name, value in properties(json_schema()) if not value.get("description")] == []


def test_every_block_is_closed_and_described():
    schema = json_schema()
    for block in (schema, *schema["$defs"].values()):
        assert block["additionalProperties"] is False
        assert block["description"]
