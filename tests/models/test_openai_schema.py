"""Which schemas OpenAI enforces to the letter, and what it gets of the others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from syndicate.models.openai_schema import parameters_schema, strict_schema

TEXT = {"type": "string"}


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def open_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


class Line(BaseModel):
    text: str
    weight: float | None


class Page(BaseModel):
    lines: list[Line]


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (closed(a=TEXT), closed(a=TEXT)),
        (open_object(a=TEXT), closed(a=TEXT)),
        (open_object(a=open_object(b=TEXT)), closed(a=closed(b=TEXT))),
        (
            open_object(a={"type": "array", "items": open_object(b=TEXT)}),
            closed(a={"type": "array", "items": closed(b=TEXT)}),
        ),
        (
            open_object(a={"anyOf": [open_object(b=TEXT), {"type": "null"}]}),
            closed(a={"anyOf": [closed(b=TEXT), {"type": "null"}]}),
        ),
        (open_object(a={"enum": ["x", "y"]}), closed(a={"type": "string", "enum": ["x", "y"]})),
        (open_object(a={"const": 3}), closed(a={"type": "integer", "const": 3})),
        (open_object(a={"type": ["string", "null"], "default": None}), closed(a={"type": ["string", "null"]})),
        (open_object(a={"$ref": "#/$defs/b", "description": "it"}), closed(a={"$ref": "#/$defs/b"})),
        ({"type": "object"}, {"type": "object", "properties": {}, "required": [], "additionalProperties": False}),
        ({**open_object(a=TEXT), "$schema": "https://json-schema.org/draft/2020-12/schema"}, closed(a=TEXT)),
    ],
)
def test_a_schema_that_strict_mode_takes(schema: dict[str, Any], strict: dict[str, Any]) -> None:
    assert strict_schema(schema) == strict


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": TEXT}},
        {**closed(a=TEXT), "additionalProperties": True},
        {**closed(a=TEXT), "additionalProperties": TEXT},
        {"type": "array", "items": TEXT},
        {"anyOf": [closed(a=TEXT)]},
        {"type": "object", "anyOf": [closed(a=TEXT)]},
        {"type": "object", "patternProperties": {"a": TEXT}},
        open_object(a={"oneOf": [TEXT]}),
        open_object(a={"allOf": [TEXT]}),
        open_object(a={"type": "string", "minLength": 1}),
        open_object(a={"type": "string", "format": "uri"}),
        open_object(a={"type": "array"}),
        open_object(a={"type": "array", "prefixItems": [TEXT]}),
        open_object(a={"enum": ["x", 1]}),
        open_object(a={"enum": [None]}),
        open_object(a={"enum": [str(number) for number in range(1001)]}),
        open_object(a={}),
        open_object(a=True),
        open_object(a={"$ref": "#/$defs/b", "minimum": 1}),
        open_object(**{f"p{number}": TEXT for number in range(5001)}),
    ],
)
def test_a_schema_that_it_does_not_take(schema: dict[str, Any]) -> None:
    assert strict_schema(schema) is None


def test_pydantic_models_are_enforced() -> None:
    strict = strict_schema(Page.model_json_schema())
    assert strict is not None
    assert strict["$defs"]["Line"]["additionalProperties"] is False
    assert strict["$defs"]["Line"]["required"] == ["text", "weight"]


@pytest.mark.parametrize(("depth", "taken"), [(10, True), (11, False)])
def test_nesting_has_a_limit(depth: int, taken: bool) -> None:
    schema: dict[str, Any] = TEXT
    for _ in range(depth):
        schema = open_object(a=schema)
    assert (strict_schema(schema) is not None) is taken


leaves = st.sampled_from(
    [TEXT, {"type": "integer"}, {"enum": ["x"]}, {"type": "array", "items": TEXT}, {"type": "string", "pattern": "a"}]
)
objects = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda properties, required: {
            "type": "object",
            "properties": properties,
            "required": sorted(properties) if required else [],
        },
        st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
        st.booleans(),
    ),
)


@given(
    schema=objects,
    value=st.recursive(st.sampled_from(["x", 1]), lambda inner: st.dictionaries(st.text("abc"), inner, max_size=3)),
)
def test_what_fits_the_strict_schema_fits_the_schema(schema: dict[str, Any], value: Any) -> None:
    strict = strict_schema(schema)
    if strict is not None and Draft202012Validator(strict).is_valid(value):
        assert Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"type": "object"}, {"type": "object", "properties": {}}),
        ({}, {"type": "object", "properties": {}}),
        (open_object(a=TEXT), open_object(a=TEXT)),
        (
            {"type": "object", "properties": {"a": TEXT}, "anyOf": [{"required": ["a"]}, open_object(b=TEXT)]},
            {"type": "object", "properties": {"b": TEXT, "a": TEXT}},
        ),
        (
            {"oneOf": [open_object(a=TEXT), open_object(b=TEXT)]},
            {"type": "object", "properties": {"a": TEXT, "b": TEXT}},
        ),
        (
            open_object(a={"anyOf": [TEXT, {"type": "null"}], "x-note": 1}),
            open_object(a={"anyOf": [TEXT, {"type": "null"}], "x-note": 1}),
        ),
    ],
)
def test_parameters_are_an_object_with_nothing_combined_at_the_top(given: dict[str, Any], sent: dict[str, Any]) -> None:
    assert parameters_schema(given) == sent
