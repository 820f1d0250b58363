"""The JSON Schema of the format, for editors: generated from `schema`, so that it and the loader cannot disagree."""

from __future__ import annotations

import json
from typing import Any

from syndicate.config.raw import is_mapping
from syndicate.config.schema import SyndicateConfig

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VARIABLE = {"type": "string", "pattern": r"^\{\{\w+\}\}$", "description": "A variable, which keeps its type."}
_NULL = {"type": "null"}
_SCALARS = ("string", "integer", "number", "boolean")
_DESCRIBING = ("description", "examples", "default", "title")


def json_schema() -> dict[str, Any]:
    """Schema of a syndicate file before variables are bound: any value may be one `{{name}}`, an optional key empty."""
    schema = SyndicateConfig.model_json_schema(by_alias=True)
    for block in (schema, *schema["$defs"].values()):
        block.pop("title", None)
        _open_block(block)
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "Syndicate",
        **schema,
        "patternProperties": {"^x-": {"description": "Ignored: a place for anchors and for others' tools."}},
    }


def schema_text() -> str:
    """The schema as the committed file holds it."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _open_block(block: dict[str, Any]) -> None:
    """Let each property of a mapping hold what the loader accepts beyond the model's own types."""
    required = block.get("required", ())
    for name, value in block.get("properties", {}).items():
        value.pop("title", None)
        described = {key: value.pop(key) for key in _DESCRIBING if key in value}
        branches: list[dict[str, Any]] = value.pop("anyOf", None) or [value]
        branches = _with_variable([_opened_items(branch) for branch in branches])
        if name not in required and _NULL not in branches:
            branches.append(_NULL)
        block["properties"][name] = described | (branches[0] if len(branches) == 1 else {"anyOf": branches})


def _with_variable(branches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A scalar that is not any text already may be one variable, which holds no list or mapping."""
    scalars = [branch for branch in branches if branch.get("type") in _SCALARS]
    any_text = any(branch["type"] == "string" and not ("enum" in branch or "pattern" in branch) for branch in scalars)
    return branches if any_text or not scalars else [*branches, _VARIABLE]


def _opened_items(branch: dict[str, Any]) -> dict[str, Any]:
    """A list's items that are scalars may be variables too."""
    items = branch.get("items")
    if not is_mapping(items):
        return branch
    opened = _with_variable([items])
    return branch if len(opened) == 1 else branch | {"items": {"anyOf": opened}}
