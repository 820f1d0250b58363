"""Gemini's dialect of JSON Schema, and the standard one that comes out."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from syndicate.models.json_schema import normalised


@pytest.mark.parametrize(
    ("dialect", "standard"),
    [
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": ["STRING", "NULL"]}, {"type": ["string", "null"]}),
        ({"type": "TYPE_UNSPECIFIED", "title": "T"}, {"title": "T"}),
        ({"type": "Strnig"}, {"type": "Strnig"}),
        ({"type": "INTEGER", "nullable": True}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (
            {"type": "INTEGER", "nullable": True, "description": "d"},
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "d"},
        ),
        ({"type": "STRING", "nullable": False}, {"type": "string"}),
        ({"type": "OBJECT", "propertyOrdering": ["a"]}, {"type": "object"}),
        ({"type": "ARRAY", "minItems": "2"}, {"type": "array", "minItems": 2}),
        ({"type": "STRING", "maxLength": "two"}, {"type": "string", "maxLength": "two"}),
        ({"type": "STRING", "enum": ["OBJECT", "NULL"]}, {"type": "string", "enum": ["OBJECT", "NULL"]}),
        ({"type": "STRING", "default": "STRING"}, {"type": "string", "default": "STRING"}),
        ({"const": {"type": "STRING"}}, {"const": {"type": "STRING"}}),
        (
            {"properties": {"type": {"type": "BOOLEAN"}, "nullable": {"type": "STRING"}, "defs": {"type": "NULL"}}},
            {"properties": {"type": {"type": "boolean"}, "nullable": {"type": "string"}, "defs": {"type": "null"}}},
        ),
        ({"items": {"type": "OBJECT"}}, {"items": {"type": "object"}}),
        ({"prefixItems": ({"type": "OBJECT"}, True)}, {"prefixItems": [{"type": "object"}, True]}),
        ({"additionalProperties": False}, {"additionalProperties": False}),
        ({"patternProperties": {"^a": {"type": "STRING"}}}, {"patternProperties": {"^a": {"type": "string"}}}),
        ({"not": {"type": "NULL"}}, {"not": {"type": "null"}}),
        ({"anyOf": "nonsense"}, {"anyOf": "nonsense"}),
        (
            {"ref": "#/defs/Node", "defs": {"Node": {"type": "OBJECT"}}},
            {"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object"}}},
        ),
        ({"$ref": "#/$defs/Node"}, {"$ref": "#/$defs/Node"}),
    ],
)
def test_one_keyword_after_another(dialect: dict[str, Any], standard: dict[str, Any]) -> None:
    assert normalised(dialect) == standard


def test_a_schema_of_the_sdk_is_json_schema_afterwards() -> None:
    schema = types.Schema(
        type=types.Type.OBJECT,
        properties={
            "tags": types.Schema(type=types.Type.ARRAY, min_items=1, items=types.Schema(type=types.Type.STRING))
        },
        property_ordering=["tags"],
    )
    plain = normalised(schema.model_dump(exclude_none=True, mode="json", by_alias=True))
    Draft202012Validator.check_schema(plain)
    assert Draft202012Validator(plain).is_valid({"tags": ["a"]})
    assert not Draft202012Validator(plain).is_valid({"tags": []})


def test_what_is_given_is_left_as_it_was() -> None:
    given_schema = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}}
    normalised(given_schema)
    assert given_schema == {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}}


NAMES = st.sampled_from(["type", "properties", "items", "anyOf", "enum", "nullable", "minItems", "defs", "ref", "x"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["STRING", "string", "3", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


@given(schema=st.dictionaries(NAMES, ANYTHING, max_size=4))
def test_twice_is_once(schema: dict[str, Any]) -> None:
    once = normalised(schema)
    assert normalised(once) == once
