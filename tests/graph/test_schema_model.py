import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from syndicate.graph.schema_model import normalised, output_model, schema_errors

ROUTE = {
    "type": "OBJECT",
    "properties": {"route": {"type": "STRING", "enum": ["A", "B"]}, "score": {"type": "INTEGER", "nullable": True}},
    "required": ["route"],
    "propertyOrdering": ["route", "score"],
}


def test_geminis_dialect_becomes_standard_json_schema():
    plain = normalised(ROUTE)
    assert plain == {
        "type": "object",
        "properties": {
            "route": {"type": "string", "enum": ["A", "B"]},
            "score": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["route"],
    }


def test_a_property_may_be_called_like_a_key_of_the_dialect():
    schema = {"type": "object", "properties": {"nullable": {"type": "STRING"}, "type": {"type": "BOOLEAN"}}}
    assert normalised(schema)["properties"] == {"nullable": {"type": "string"}, "type": {"type": "boolean"}}


def test_an_enum_of_upper_case_words_keeps_its_values():
    assert normalised({"type": "STRING", "enum": ["OBJECT", "STRING"]})["enum"] == ["OBJECT", "STRING"]


def test_a_reply_is_read_with_or_without_a_code_fence():
    model = output_model(ROUTE)
    assert model.read('{"route": "A"}') == ('{"route": "A"}', [])
    assert model.read('```json\n{"route": "A"}\n```') == ('{"route": "A"}', [])


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("the route is A", "not JSON"),
        ('{"route": "C"}', "at route: 'C' is not one of ['A', 'B']"),
        ("{}", "'route' is a required property"),
        ('["A"]', "is not of type 'object'"),
    ],
)
def test_a_reply_that_does_not_fit_says_where(reply: str, problem: str):
    _, problems = output_model(ROUTE).read(reply)
    assert any(problem in line for line in problems)


def test_pydantic_validates_against_the_schema_and_shows_it():
    model = output_model(ROUTE)
    assert model.model_validate_json('{"route": "B"}').model_dump() == {"route": "B"}
    with pytest.raises(ValueError, match="not one of"):
        model.model_validate_json('{"route": "C"}')
    assert model.model_json_schema() == normalised(ROUTE)


def test_what_is_not_a_json_schema_is_located_inside_it():
    found = list(schema_errors({"type": "object", "properties": {"a": {"type": "strnig"}}}))
    assert found
    assert found[0][0] == ("properties", "a", "type")
    assert "strnig" in found[0][1]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(value=JSON_VALUES)
def test_reading_agrees_with_the_reference_validator(value: Any):
    _, problems = output_model(ROUTE).read(json.dumps(value))
    assert (not problems) == Draft202012Validator(normalised(ROUTE)).is_valid(value)


@given(reply=st.text())
def test_any_text_is_read_without_an_exception(reply: str):
    output_model(ROUTE).read(reply)
