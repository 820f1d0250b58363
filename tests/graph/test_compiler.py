"""Each key of an agent is proven on the request that the model sees, or on the session."""

from typing import Any

import pytest
from google.genai import types

from syndicate import ConfigError, FeatureUnavailableError, ModelUnavailableError, UsageError
from syndicate.testing import Reply, ScriptedModel, ToolCall
from syndicate.tools.registry import register_tool
from tests.conftest import Open, Write


def one_agent(**keys: Any) -> str:
    lines = "".join(f"\n  {key}: {value}" for key, value in ({"instruction": "Be brief."} | keys).items())
    return f"syndicate_name: One\norchestrator:\n  name: Solo\n  model: local/smollm2{lines}\n"


def roll(sides: int) -> int:
    """Roll a die."""
    return sides


@pytest.fixture(autouse=True)
def _roll() -> None:
    register_tool("roll_dice", lambda: roll)


async def request_of(open_syndicate: Open, text: str, replies: list[Any] | None = None) -> Any:
    model = ScriptedModel(replies or ["ok"])
    async with open_syndicate(text, model) as s:
        await s.run("hello")
    return model.requests[0]


async def test_the_prompt_is_the_instruction_and_nothing_else(open_syndicate: Open):
    request = await request_of(open_syndicate, one_agent(instruction="'You are terse.'", description="'A helper.'"))
    assert request.config.system_instruction == "You are terse."
    assert [content.parts[0].text for content in request.contents] == ["hello"]


@pytest.mark.parametrize(
    "prompt",
    ["Call GET /users/{id}", "{{id}}", "{{{id}}}", "{ id }", "{user:name}", '{"a": 1}', "${HOME}", r"\{id}", "{id?}"],
)
async def test_braces_in_a_prompt_arrive_untouched(open_syndicate: Open, prompt: str):
    request = await request_of(open_syndicate, one_agent(instruction="'" + prompt.replace("'", "''") + "'"))
    assert request.config.system_instruction == prompt


async def test_global_instruction_stands_before_every_agents_own(open_syndicate: Open):
    model = ScriptedModel([Reply(calls=[ToolCall("Kid", {"request": "go"})]), "kid says", "done"])
    text = (
        one_agent(globalInstruction="'Speak French.'", instruction="Lead.")
        + "subagents: [{name: Kid, description: helps, instruction: Help.}]\n"
    )
    async with open_syndicate(text, model) as s:
        await s.run("hello")
    prompts = [request.config.system_instruction for request in model.requests]
    assert prompts == ["Speak French.\n\nLead.", "Speak French.\n\nHelp.", "Speak French.\n\nLead."]


SETTINGS = {
    "temperature": (0.3, "temperature", 0.3),
    "topP": (0.9, "top_p", 0.9),
    "topK": (7, "top_k", 7),
    "maxOutputTokens": (99, "max_output_tokens", 99),
    "stopSequences": ("[END]", "stop_sequences", ["END"]),
    "candidateCount": (1, "candidate_count", 1),
    "presencePenalty": (0.1, "presence_penalty", 0.1),
    "frequencyPenalty": (0.2, "frequency_penalty", 0.2),
    "seed": (42, "seed", 42),
    "responseMimeType": ("application/json", "response_mime_type", "application/json"),
    "safetySettings": (
        "[{category: HARM_CATEGORY_HARASSMENT, threshold: BLOCK_NONE}]",
        "safety_settings",
        [types.SafetySetting(category="HARM_CATEGORY_HARASSMENT", threshold="BLOCK_NONE")],  # type: ignore[arg-type]
    ),
    "thinkingConfig": (
        "{thinkingBudget: 5, includeThoughts: true}",
        "thinking_config",
        types.ThinkingConfig(thinking_budget=5, include_thoughts=True),
    ),
}


@pytest.mark.parametrize("key", SETTINGS)
async def test_each_setting_of_the_model_call_reaches_the_request(open_syndicate: Open, key: str):
    written, field, expected = SETTINGS[key]
    request = await request_of(open_syndicate, one_agent(generateContentConfig=f"{{{key}: {written}}}"))
    assert getattr(request.config, field) == expected


async def test_a_tool_is_declared_with_its_parameters_under_its_registered_name(open_syndicate: Open):
    request = await request_of(open_syndicate, one_agent(tools="[roll_dice]"))
    [declaration] = request.config.tools[0].function_declarations
    assert (declaration.name, declaration.description) == ("roll_dice", "Roll a die.")
    assert declaration.parameters_json_schema["properties"]["sides"]["type"] == "integer"


async def test_a_registered_tool_runs(open_syndicate: Open):
    model = ScriptedModel([Reply(calls=[ToolCall("roll_dice", {"sides": 6})]), "six"])
    async with open_syndicate(one_agent(tools="[roll_dice]"), model) as s:
        assert (await s.run("roll")).answer == "six"
    response = model.requests[1].contents[-1].parts[0].function_response
    assert response is not None
    assert response.response == {"result": 6}


async def test_a_subagent_is_declared_by_description_with_one_request(open_syndicate: Open):
    text = one_agent() + "subagents: [{name: Web Researcher, description: 'Finds {things}.', instruction: Search.}]\n"
    request = await request_of(open_syndicate, text)
    [declaration] = request.config.tools[0].function_declarations
    assert (declaration.name, declaration.description) == ("Web_Researcher", "Finds {things}.")
    assert declaration.parameters_json_schema["required"] == ["request"]


async def test_nothing_can_be_transferred(open_syndicate: Open):
    text = one_agent(disallowTransferToParent="false", disallowTransferToPeers="false") + (
        "subagents:\n- {name: A, description: a, instruction: a}\n- {name: B, description: b, instruction: b}\n"
    )
    model = ScriptedModel([Reply(calls=[ToolCall("A", {"request": "x"})]), "a", "done"])
    async with open_syndicate(text, model) as s:
        await s.run("hello")
    for request in model.requests:
        names = [d.name for tool in request.config.tools or [] for d in tool.function_declarations or []]
        assert "transfer_to_agent" not in names


async def test_output_schema_is_sent_with_tools_too(open_syndicate: Open):
    schema = "{type: OBJECT, properties: {route: {type: STRING}}, required: [route]}"
    request = await request_of(open_syndicate, one_agent(tools="[roll_dice]", outputSchema=schema), ['{"route": "A"}'])
    assert request.config.response_json_schema == {
        "type": "object",
        "properties": {"route": {"type": "string"}},
        "required": ["route"],
    }
    assert request.config.response_schema is None
    assert request.config.response_mime_type == "application/json"
    assert [d.name for d in request.config.tools[0].function_declarations] == ["roll_dice"]


async def test_include_contents_none_keeps_the_past_from_the_agent(open_syndicate: Open):
    model = ScriptedModel(["one", "two"])
    async with open_syndicate(one_agent(includeContents="none"), model) as s:
        await s.run("first")
        await s.run("second")
    assert [content.parts[0].text for content in model.requests[1].contents] == ["second"]


async def test_output_key_keeps_the_reply_in_the_session(open_syndicate: Open):
    async with open_syndicate(one_agent(outputKey="last"), ScriptedModel(["the reply"])) as s:
        result = await s.run("hello")
        session = await s.services.sessions.get_session(app_name=s.name, user_id=s.user_id, session_id=result.session)
    assert session.state["last"] == "the reply"


async def test_output_key_with_a_schema_keeps_the_value(open_syndicate: Open):
    text = one_agent(outputKey="last", outputSchema="{type: OBJECT, properties: {n: {type: INTEGER}}}")
    async with open_syndicate(text, ScriptedModel(['```json\n{"n": 1}\n```'])) as s:
        result = await s.run("hello")
        session = await s.services.sessions.get_session(app_name=s.name, user_id=s.user_id, session_id=result.session)
    assert (result.answer, session.state["last"]) == ('{"n": 1}', {"n": 1})


async def test_a_subagent_without_a_model_inherits_the_orchestrators(open_syndicate: Open):
    text = one_agent() + "subagents: [{name: A, description: a, instruction: a}]\n"
    async with open_syndicate(text) as s:
        assert [info.models for info in s.compiled.agents] == [("local/smollm2",), ("local/smollm2",)]


NESTED = """
    syndicate_name: Inner
    orchestrator: {name: Lead, model: local/smollm2, instruction: inner lead}
    subagents: [{name: Kid, description: d, instruction: inner kid}]
"""


async def test_agents_of_nested_files_are_qualified_by_their_file(open_syndicate: Open, write: Write):
    write("desk.yaml", NESTED)
    write("sub/desk.yaml", NESTED)
    text = one_agent() + (
        "subagents:\n"
        "- {name: One, description: d, yaml_reference: desk.yaml}\n"
        "- {name: Two, description: d, yaml_reference: sub/desk.yaml}\n"
        "- {name: Three, description: d, yaml_reference: desk.yaml}\n"
    )
    async with open_syndicate(text) as s:
        names = [info.adk_name for info in s.compiled.agents]
        assert names == ["Solo", "desk_Lead", "desk_Kid", "desk2_Lead", "desk2_Kid"]
        assert [info.depth for info in s.compiled.agents] == [0, 1, 2, 1, 2]


async def test_long_names_of_nested_files_and_agents_stay_apart(open_syndicate: Open, write: Write):
    stem = "n" * 70
    long = NESTED.replace("Lead", "L" * 60).replace("name: Kid", f"name: {'L' * 60}x")
    write(f"{stem}.yaml", long)
    text = one_agent() + f"subagents: [{{name: One, description: d, yaml_reference: {stem}.yaml}}]\n"
    async with open_syndicate(text) as s:
        names = [info.adk_name for info in s.compiled.agents]
        assert len(set(names)) == 3
        assert all(len(name) <= 64 and name.isidentifier() for name in names)


async def test_a_nested_syndicate_answers_through_its_own_team(open_syndicate: Open, write: Write):
    write("desk.yaml", NESTED)
    text = one_agent(instruction="outer") + "subagents: [{name: Desk, description: d, yaml_reference: desk.yaml}]\n"
    model = ScriptedModel(
        [
            Reply(calls=[ToolCall("Desk", {"request": "the task"})]),
            Reply(calls=[ToolCall("Kid", {"request": "a part"})]),
            "part done",
            "task done",
            "all done",
        ]
    )
    async with open_syndicate(text, model) as s:
        assert (await s.run("hello")).answer == "all done"
    seen = [(r.config.system_instruction, r.contents[0].parts[0].text) for r in model.requests]
    assert seen == [
        ("outer", "hello"),
        ("inner lead", "the task"),
        ("inner kid", "a part"),
        ("inner lead", "the task"),
        ("outer", "hello"),
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tools", "[web_extract]"),
        ("confirm", "[roll_dice]\n  tools: [roll_dice]"),
        ("mcp_server_url", "https://example.com/mcp"),
        ("mcp_servers", "[{url: 'https://example.com/mcp'}]"),
    ],
)
async def test_an_agent_that_needs_a_later_version_loads_and_fails_when_it_runs(
    open_syndicate: Open, key: str, value: str
):
    async with open_syndicate(one_agent(**{key: value}), ScriptedModel(["never"])) as s:
        assert [problem.severity for problem in s.warnings] == ["warning"]
        with pytest.raises(FeatureUnavailableError) as caught:
            await s.run("hello")
    assert caught.value.location.line == 6
    assert str(caught.value).count("\n") == 0
    assert "remove it to run 'Solo'" in str(caught.value)


@pytest.mark.parametrize(
    "line",
    ["memory_system: long-term", "guards: [citations]", "budget: {max_tokens: 5}", "dispatch: {default_route: Kid}"],
)
async def test_a_syndicate_that_needs_a_later_version_says_so_when_it_runs(open_syndicate: Open, line: str):
    text = f"{one_agent()}subagents: [{{name: Kid, description: d, instruction: i}}]\n{line}\n"
    async with open_syndicate(text, ScriptedModel(["never"])) as s:
        with pytest.raises(FeatureUnavailableError) as caught:
            await s.run("hello")
    assert (caught.value.location.line, caught.value.location.column) == (7, 1)


async def test_a_remote_subagent_is_an_error_only_when_it_is_called(open_syndicate: Open):
    text = one_agent() + "subagents: [{name: Far, description: d, a2a_agent_url: 'https://example.com'}]\n"
    model = ScriptedModel(["no need", Reply(calls=[ToolCall("Far", {"request": "x"})]), "never"])
    async with open_syndicate(text, model) as s:
        assert (await s.run("hello")).answer == "no need"
        with pytest.raises(FeatureUnavailableError, match="a2a_agent_url") as caught:
            await s.run("call")
    assert caught.value.agent == "Far"


async def test_a_model_without_a_key_or_adapter_loads_and_fails_where_it_is_used(open_syndicate: Open):
    text = one_agent().replace("local/smollm2", "claude-opus-9")
    async with open_syndicate(text) as s:
        with pytest.raises(ModelUnavailableError) as caught:
            await s.run("hello")
    assert (caught.value.agent, caught.value.location.line) == ("Solo", 3)


async def test_models_falls_through_to_the_first_available(open_syndicate: Open, write: Write):
    text = "syndicate_name: F\norchestrator: {name: Solo, instruction: i, models: [gemini-3.7-flash, claude-opus-9]}\n"
    async with open_syndicate(text) as s:
        with pytest.raises(ModelUnavailableError) as caught:
            await s.run("hello")
    assert "gemini-3.7-flash: GOOGLE_GENAI_API_KEY is not set" in str(caught.value)
    assert "claude-opus-9" in str(caught.value)


async def test_an_unknown_agent_for_a_model_suggests_one(open_syndicate: Open):
    with pytest.raises(UsageError, match="did you mean 'Solo'"):
        async with open_syndicate(one_agent(), models={"Sol": "local/smollm2"}):
            pass


async def test_a_tool_that_clashes_with_a_subagent_is_refused(open_syndicate: Open):
    text = one_agent(tools="[roll_dice]") + "subagents: [{name: roll dice, description: d, instruction: i}]\n"
    with pytest.raises(ConfigError, match="roll_dice"):
        async with open_syndicate(text, ScriptedModel([])):
            pass
