import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing.exceptions import Unresolvable

from syndicate.graph.schema_model import output_model, schema_errors
from syndicate.models.json_schema import normalised

ROUTE = {
    "type": "OBJECT",
    "properties": {"route": {"type": "STRING", "enum": ["A", "B"]}, "score": {"type": "INTEGER", "nullable": True}},
    "required": ["route"],
    "propertyOrdering": ["route", "score"],
}


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


@pytest.mark.parametrize("reply", ['{"route": "A", "score": NaN}', "[" * 100_000])
def test_what_python_reads_and_json_is_not_is_no_json(reply: str):
    _, problems = output_model(ROUTE).read(reply)
    assert problems


def test_a_pattern_that_never_ends_is_given_up():
    schema = {"type": "string", "pattern": "^(a|aa)+$"}
    [problem] = output_model(schema).problems("a" * 60 + "!")
    assert "takes too long" in problem or "does not match" in problem


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


@pytest.mark.parametrize(
    ("schema", "path", "problem"),
    [
        ({"$ref": "#/$defs/gone"}, ("$ref",), "nothing in this schema is at '#/$defs/gone'"),
        ({"items": {"$ref": "http://127.0.0.1:9/x.json"}}, ("items", "$ref"), "nothing is fetched from elsewhere"),
        ({"properties": {"a": {"pattern": "("}}}, ("properties", "a", "pattern"), "is no regular expression"),
        ({"$ref": "#"}, (), "refers to itself without end"),
    ],
)
def test_a_schema_no_reply_could_be_held_to_is_refused(schema: Any, path: Any, problem: str):
    [(place, message)] = schema_errors(schema)
    assert place == path
    assert problem in message


def test_a_schema_may_refer_to_its_own_parts_and_speak_of_pattern_as_data():
    tree = {
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        "$ref": "#/$defs/node",
        "enum": [{"pattern": "("}],
    }
    assert list(schema_errors(tree)) == []


async def test_nothing_is_fetched_for_a_reference():
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readline()).decode())
        writer.close()

    asked: list[str] = []
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        model = output_model({"$ref": f"http://127.0.0.1:{port}/x.json"})
        with pytest.raises(Unresolvable):
            await asyncio.to_thread(model.problems, {})
    assert asked == []


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
