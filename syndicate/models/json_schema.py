"""Standard JSON Schema out of Gemini's dialect of it, which files, ADK and genai's own `Schema` all may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

JsonSchema = dict[str, Any]

_TYPES = frozenset({"OBJECT", "ARRAY", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "NULL"})
_ONE = frozenset({"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"})
_MANY = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
_BOUNDS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})
_DIALECT = frozenset({"nullable", "propertyOrdering"})
_SPELLED = {"defs": "$defs", "ref": "$ref"}


def normalised(schema: Mapping[str, Any]) -> JsonSchema:
    """A copy without upper-case types, `nullable`, `propertyOrdering`, `defs` and bounds written as text.

    Values (`enum`, `const`, `default`) and names of properties stay as they are, and so does what is no schema at all.
    """
    plain: JsonSchema = {}
    for key, value in schema.items():
        if key not in _DIALECT:
            keyword = _SPELLED.get(key, key)
            plain[keyword] = _keyword(keyword, value)
    if plain.get("type") == "TYPE_UNSPECIFIED":
        del plain["type"]
    if schema.get("nullable") is True:
        description = {"description": plain.pop("description")} if "description" in plain else {}
        return {"anyOf": [plain, {"type": "null"}], **description}
    return plain


def _keyword(key: str, value: Any) -> Any:
    """The value of one keyword, its subschemas included."""
    match key, value:
        case "type", str():
            return _type(value)
        case "type", list():
            return [_type(name) for name in cast("list[Any]", value)]
        case "$ref", str():
            return value.replace("#/defs/", "#/$defs/")
        case _, str() if key in _BOUNDS and value.isdecimal():
            return int(value)  # Gemini's wire writes int64 as text
        case _, Mapping() if key in _NAMED:
            return {name: _sub(schema) for name, schema in cast("Mapping[str, Any]", value).items()}
        case _, Sequence() if key in _MANY and not isinstance(value, str):
            return [_sub(schema) for schema in cast("Sequence[Any]", value)]
        case _:
            return _sub(value) if key in _ONE else value


def _sub(schema: Any) -> Any:
    """A subschema; one that is no mapping (`true`, a mistake) as it is."""
    return normalised(cast("Mapping[str, Any]", schema)) if isinstance(schema, Mapping) else schema


def _type(name: Any) -> Any:
    return name.lower() if isinstance(name, str) and name in _TYPES else name
