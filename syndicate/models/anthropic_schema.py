"""A JSON Schema as Claude's structured output takes it."""

from __future__ import annotations

from typing import Any, cast

from anthropic import transform_schema

from syndicate.models.request import JsonObject


def fitted(schema: JsonObject) -> JsonObject | None:
    """The schema with objects closed and what the API does not enforce put into descriptions, by the SDK's own rules.

    None when it cannot be said so: any value allowed somewhere, objects with keys of any name, a type that contains
    itself.
    """
    if _is_open(schema) or _refers_badly(schema):
        return None
    try:
        return transform_schema(_plain(schema))
    except (ValueError, TypeError, AssertionError, AttributeError):  # what the SDK raises where it has no equivalent
        return None


def _plain(value: Any) -> Any:
    """Lists of types and `nullable` as alternatives, the one way in which the API takes them."""
    if isinstance(value, list):
        return [_plain(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    schema = {key: _plain(item) for key, item in cast("JsonObject", value).items()}
    names = schema.get("type")
    kinds = [str(name) for name in cast("list[Any]", names)] if isinstance(names, list) else []
    if schema.get("nullable") is True and isinstance(names, str):
        kinds = [names, "null"]
        del schema["nullable"]
    if not kinds:
        return schema
    kept = {key: schema.pop(key) for key in ("description", "title", "$defs") if key in schema}
    return {**kept, "anyOf": [{"type": "null"} if kind == "null" else {**schema, "type": kind} for kind in kinds]}


def _is_open(value: Any) -> bool:
    """Whether an object of the schema may have keys of any name, or an array items of any kind."""
    if isinstance(value, list):
        return any(_is_open(item) for item in cast("list[Any]", value))
    if not isinstance(value, dict):
        return False
    schema = cast("JsonObject", value)
    more = schema.get("additionalProperties", False)
    bare_object = schema.get("type") == "object" and not schema.get("properties")
    bare_array = schema.get("type") == "array" and not schema.get("items")
    keyed = "patternProperties" in schema or (more is not False and not isinstance(more, str))
    return bare_object or bare_array or keyed or any(map(_is_open, schema.values()))


def _refers_badly(schema: JsonObject) -> bool:
    """Whether a definition reaches itself, or a reference leads to none."""
    definitions = cast("dict[str, Any]", schema.get("$defs") or {})
    reached = {name: set(_references(body)) for name, body in definitions.items()}
    for _ in definitions:
        reached = {
            name: others.union(*(reached.get(other, ()) for other in others)) for name, others in reached.items()
        }
    lost = any(name not in definitions for name in _references(schema))
    return lost or any(name in others for name, others in reached.items())


def _references(value: Any) -> list[str]:
    """Names of the definitions that a schema refers to."""
    if isinstance(value, list):
        return [name for item in cast("list[Any]", value) for name in _references(item)]
    if not isinstance(value, dict):
        return []
    schema = cast("JsonObject", value)
    here = [str(schema["$ref"]).removeprefix("#/$defs/")] if isinstance(schema.get("$ref"), str) else []
    return here + [name for item in schema.values() for name in _references(item)]
