"""What adapters read from ADK's request."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types
from pydantic import BaseModel

from syndicate.errors import ModelError
from syndicate.models.request import (
    Call,
    Image,
    Message,
    Result,
    messages,
    output_schema,
    system_text,
    tool_choice,
    tools,
)
from tests.models.conftest import WEATHER, request_of


class Route(BaseModel):
    """Where to."""

    route: Literal["billing", "sales"]
    note: str | None = None


class Memory(BaseModel):
    fact: str


def conversation(*contents: tuple[str, list[types.Part]]) -> tuple[Message, ...]:
    return messages(LlmRequest(contents=[types.Content(role=role, parts=parts) for role, parts in contents]))


def text(value: str, **fields: Any) -> types.Part:
    return types.Part(text=value, **fields)


def call(identity: str | None, name: str = "weather", **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(id=identity, name=name, args=args))


def result(identity: str | None, response: dict[str, Any], name: str = "weather") -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=identity, name=name, response=response))


def test_thoughts_are_not_replayed() -> None:
    said = conversation(("user", [text("hi")]), ("model", [text("hmm", thought=True), text("hello")]))
    assert said == (Message("user", "hi"), Message("assistant", "hello"))


def test_a_turn_of_thoughts_alone_leaves_nothing() -> None:
    assert conversation(("user", [text("hi")]), ("model", [text("hmm", thought=True)])) == (Message("user", "hi"),)


def test_neighbouring_user_messages_become_one() -> None:
    assert conversation(("user", [text("a"), text("b")]), ("user", [text("c")])) == (Message("user", "a\n\nb\n\nc"),)


def test_calls_and_results_keep_their_ids_in_parallel() -> None:
    said = conversation(
        ("user", [text("both")]),
        ("model", [text("Let me look."), call("c1", city="Oslo"), call("c2", city="Rome")]),
        ("user", [result("c2", {"result": "sunny"}), result("c1", {"degrees": 4})]),
    )
    assert said[1].calls == (Call("c1", "weather", {"city": "Oslo"}), Call("c2", "weather", {"city": "Rome"}))
    assert said[2].results == (Result("c2", "weather", "sunny"), Result("c1", "weather", '{"degrees": 4}'))


def test_live_objects_in_a_result_are_written_as_json() -> None:
    said = conversation(("model", [call("c1")]), ("user", [result("c1", {"result": [Memory(fact="likes tea")]})]))
    assert said[1].results[0].text == '{"result": [{"fact": "likes tea"}]}'


def test_results_without_an_id_go_to_the_call_of_that_name() -> None:
    said = conversation(("model", [call(None), call(None)]), ("user", [result(None, {"a": 1}), result(None, {"a": 2})]))
    assert [made.id for made in said[0].calls] == [answered.id for answered in said[1].results]
    assert len({made.id for made in said[0].calls}) == 2


def test_a_result_whose_call_was_cut_away_becomes_text() -> None:
    assert conversation(("user", [result("gone", {"result": "sunny"})])) == (Message("user", "[weather] sunny"),)


def test_a_call_nobody_answered_gets_an_answer() -> None:
    said = conversation(("model", [call("c1")]), ("user", [text("never mind")]))
    assert said[1].results == (Result("c1", "weather", '{"error": "there is no result of this call"}'),)
    assert said[1].text == "never mind"


def test_images_travel_as_bytes_or_by_address() -> None:
    blob = types.Part(inline_data=types.Blob(mime_type="image/png", data=b"png"))
    link = types.Part(file_data=types.FileData(mime_type="image/jpeg", file_uri="https://example.com/a.jpg"))
    (message,) = conversation(("user", [text("look"), blob, link]))
    assert message.images == (Image("image/png", data=b"png"), Image("image/jpeg", url="https://example.com/a.jpg"))


def test_a_text_file_is_read_as_text() -> None:
    part = types.Part(inline_data=types.Blob(mime_type="text/plain", data=b"notes"))
    assert conversation(("user", [text("read"), part])) == (Message("user", "read\n\nnotes"),)


def test_other_data_is_refused_by_name() -> None:
    part = types.Part(inline_data=types.Blob(mime_type="audio/wav", data=b"RIFF"))
    with pytest.raises(ModelError, match="not 'audio/wav'") as caught:
        conversation(("user", [part]))
    assert caught.value.code == "bad-request"


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        (None, ""),
        ("be brief", "be brief"),
        (types.Content(parts=[types.Part(text="be"), types.Part(text="brief")]), "be\n\nbrief"),
        (["be", types.Part(text="brief")], "be\n\nbrief"),
    ],
)
def test_the_instruction_in_each_of_its_forms(instruction: Any, expected: str) -> None:
    assert system_text(request_of(system_instruction=instruction)) == expected


def test_tools_take_a_json_schema_as_it_is() -> None:
    (tool,) = tools(request_of(tools=[WEATHER]))
    assert tool.name == "get_weather"
    assert tool.parameters["properties"] == {"city": {"type": "string"}}


def test_tools_with_a_genai_schema_are_translated() -> None:
    parameters = types.Schema(
        type=types.Type.OBJECT,
        properties={
            "type": types.Schema(type=types.Type.STRING, enum=["STRING", "OTHER"]),
            "tags": types.Schema(type=types.Type.ARRAY, items=types.Schema(type=types.Type.INTEGER)),
            "either": types.Schema(any_of=[types.Schema(type=types.Type.NUMBER), types.Schema(type=types.Type.NULL)]),
        },
    )
    declaration = types.FunctionDeclaration(name="f", parameters=parameters)
    (tool,) = tools(request_of(tools=[types.Tool(function_declarations=[declaration])]))
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["STRING", "OTHER"]},
            "tags": {"type": "array", "items": {"type": "integer"}},
            "either": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        },
    }


def test_a_tool_without_parameters_takes_an_empty_object() -> None:
    declaration = types.FunctionDeclaration(name="now")
    (tool,) = tools(request_of(tools=[types.Tool(function_declarations=[declaration])]))
    assert tool.parameters == {"type": "object", "properties": {}}


ROUTES = {"type": "object", "properties": {"route": {"enum": ["a", "b"], "type": "string"}}}


@pytest.mark.parametrize(
    "given",
    [
        {"response_schema": ROUTES},
        {"response_json_schema": ROUTES},
        {"response_schema": types.Schema(type=types.Type.OBJECT, properties={})},
        {"response_schema": list[Route]},
        {"response_schema": Route},
    ],
)
def test_a_schema_in_each_of_its_forms(given: dict[str, Any]) -> None:
    schema = output_schema(request_of(**given))
    assert schema is not None
    assert schema.schema["type"] in ("object", "array")
    assert schema.name.isidentifier()


def test_a_dict_schema_arrives_unchanged() -> None:
    nullable = {"type": "object", "properties": {"route": {"type": ["string", "null"], "enum": ["STRING", None]}}}
    schema = output_schema(request_of(response_json_schema=nullable))
    assert schema is not None
    assert schema.schema == nullable


def test_no_schema_is_none() -> None:
    assert output_schema(request_of()) is None


@pytest.mark.parametrize(
    ("mode", "names", "expected"),
    [
        ("AUTO", None, "auto"),
        ("NONE", None, "none"),
        ("ANY", None, "required"),
        ("ANY", ["f"], "f"),
        ("ANY", ["f", "g"], "required"),
    ],
)
def test_the_choice_of_tools(mode: str, names: list[str] | None, expected: str) -> None:
    calling = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode(mode), allowed_function_names=names)
    assert tool_choice(request_of(tool_config=types.ToolConfig(function_calling_config=calling))) == expected
