"""JSON Schemas as OpenAI takes them: the subset it enforces to the letter, and what it asks of a tool's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from syndicate.models.request import JsonObject

# What "strict" knows, by https://platform.openai.com/docs/guides/structured-outputs#supported-schemas.
_KEPT = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs"}
    | {"definitions", "title", "description", "pattern", "format", "multipleOf", "minimum", "maximum"}
    | {"exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"}
)
_NOTES = frozenset({"$schema", "$id", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly"})
"""Keywords that constrain nothing: leaving them out changes no answer."""

_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_DEPTH, _PROPERTIES, _VALUES = 10, 5000, 1000
_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}
_COMBINED = ("anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else")


class _NotStrictError(Exception):
    """The schema says something that strict mode cannot."""


def strict_schema(schema: JsonObject) -> JsonObject | None:
    """The schema as strict mode takes it, None when it does not fit.

    Objects that do not say whether they are open are closed; every answer that fits the result fits the schema.
    """
    if schema.get("type") != "object" or "anyOf" in schema:
        return None
    try:
        strict = _strict(schema, 0)
    except _NotStrictError:
        return None
    return strict if sum(1 for _ in _named(strict)) <= _PROPERTIES else None


def parameters_schema(schema: JsonObject) -> JsonObject:
    """A tool's parameters: an object with properties, and nothing combined at the top, which OpenAI refuses.

    Properties of alternatives at the top are offered together, none of them required.
    """
    branches = [branch for name in ("allOf", "anyOf", "oneOf") for branch in _mappings(schema.get(name))]
    offered = {name: sub for branch in branches for name, sub in _mapping(branch.get("properties")).items()}
    kept = {key: value for key, value in schema.items() if key not in _COMBINED}
    return {**kept, "type": "object", "properties": {**offered, **_mapping(schema.get("properties"))}}


def _strict(schema: Any, depth: int) -> JsonObject:
    if not isinstance(schema, dict) or depth > _DEPTH:
        raise _NotStrictError
    found = {key: value for key, value in cast("JsonObject", schema).items() if key not in _NOTES}
    if "$ref" in found:
        found = {key: value for key, value in found.items() if key not in ("title", "description")}
        if set(found) - {"$ref", "$defs", "definitions"}:
            raise _NotStrictError
    if set(found) - _KEPT or found.get("format", "date") not in _FORMATS:
        raise _NotStrictError
    strict = {key: _strict_keyword(key, value, depth) for key, value in found.items()}
    if not strict.keys() & {"type", "anyOf", "$ref"}:
        strict = {"type": _type_of(strict), **strict}
    names = strict["type"] if isinstance(strict.get("type"), list) else [strict.get("type")]
    if "array" in names and "items" not in strict:
        raise _NotStrictError
    return _closed(strict) if "object" in names else strict


def _strict_keyword(key: str, value: Any, depth: int) -> Any:
    """One keyword, its subschemas included."""
    match key:
        case "properties":
            return {name: _strict(sub, depth + 1) for name, sub in _mapping(value).items()}
        case "$defs" | "definitions":
            return {name: _strict(sub, depth) for name, sub in _mapping(value).items()}
        case "items":
            return _strict(value, depth + 1)
        case "anyOf":
            return [_strict(sub, depth) for sub in cast("list[Any]", value)]
        case "enum" if len(cast("list[Any]", value)) > _VALUES:
            raise _NotStrictError
        case _:
            return value


def _closed(schema: JsonObject) -> JsonObject:
    """An object with all its properties required and no others."""
    properties = schema.setdefault("properties", {})
    if set(schema.get("required", ())) != set(properties) or schema.get("additionalProperties", False) is not False:
        raise _NotStrictError
    return {**schema, "required": list(properties), "additionalProperties": False}


def _type_of(schema: JsonObject) -> str:
    """The one type of an `enum` or a `const`, which strict mode wants named."""
    values: list[Any] = schema.get("enum") or [schema[key] for key in ("const",) if key in schema]
    names = {_TYPES.get(type(value)) for value in values}  # pyright: ignore[reportUnknownArgumentType]
    name = names.pop() if len(names) == 1 else None
    if name is None:
        raise _NotStrictError
    return name


def _named(schema: Any) -> Iterator[str]:
    """The names of all properties, at every depth."""
    if isinstance(schema, list):
        for item in cast("list[Any]", schema):
            yield from _named(item)
    for key, value in _mapping(schema).items():
        yield from _mapping(value) if key == "properties" else ()
        yield from _named(value)


def _mapping(value: Any) -> JsonObject:
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}


def _mappings(value: Any) -> list[JsonObject]:
    return [_mapping(item) for item in cast("list[Any]", value)] if isinstance(value, list) else []
