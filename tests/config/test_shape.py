"""Shapes: unknown fields, wrong types, values out of range, each in our words at its place."""

from collections.abc import Callable

import pytest

from syndicate.config import LoadedSyndicate

Problems = Callable[..., list[str]]
Text = Callable[[str], str]
Load = Callable[..., LoadedSyndicate]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("modle: x", "6:3: unknown field 'modle'; did you mean 'model'?"),
        ("instructions: x", "6:3: unknown field 'instructions'; did you mean 'instruction'?"),
        ("output_schema: {}", "6:3: unknown field 'output_schema'; did you mean 'outputSchema'?"),
        ("mcpServers: []", "6:3: unknown field 'mcpServers'; did you mean 'mcp_servers'?"),
        ("yaml_reference: x", "6:3: unknown field 'yaml_reference' here; only a subagent has it"),
        ("temperature: 1", "6:3: unknown field 'temperature' here; it belongs under 'generateContentConfig'"),
        ("max_steps: 1", "6:3: unknown field 'max_steps' here; it belongs at the root of the file"),
        ("sub_agents: []", "6:3: unknown field 'sub_agents'; remove it"),
        ("x-mine: 1", "6:3: unknown field 'x-mine'; remove it"),
        ("generateContentConfig: {max_output_tokens: 1}", "6:27: unknown field 'max_output_tokens'; did you mean"),
        ("generateContentConfig: {thinkingConfig: {level: LOW}}", "6:44: unknown field 'level'; remove it"),
        ("outputSchema: {type: object, anything: goes}", ""),
    ],
)
def test_an_unknown_field_is_an_error_at_its_key(keys: str, expected: str, problems_of: Problems, agent: Text):
    found = problems_of(agent(keys))
    assert found == [] if not expected else (len(found) == 1 and found[0].startswith(expected)), found


def test_unknown_fields_at_the_root(problems_of: Problems, root: Text):
    assert problems_of(root("subagent: []\ntools: []\nfoo: 1\nglobalInstruction: x\n'': 1\n")) == [
        "6:1: unknown field 'subagent'; did you mean 'subagents'?",
        "7:1: unknown field 'tools' here; it belongs to the orchestrator or a subagent",
        "8:1: unknown field 'foo'; remove it, or begin its name with 'x-'",
        "9:1: unknown field 'globalInstruction' here; only the orchestrator has it",
        "10:1: unknown field ''; remove it, or begin its name with 'x-'",
    ]


def test_only_the_orchestrator_has_a_global_instruction(problems_of: Problems, subagent: Text):
    assert problems_of(subagent("instruction: x\nglobalInstruction: y\n")) == [
        "10:5: unknown field 'globalInstruction' here; only the orchestrator has it"
    ]


def test_extensions_are_ignored_but_read(load_text: Load, problems_of: Problems, root: Text):
    assert load_text(root("x-base: &b {anything: [1, {{: 2}]}\n".replace("{{: 2}", "2")), strict=True)
    assert problems_of(root("x-base: {a: 1, a: 2}\n"))[0].startswith("6:16: duplicate key")


def test_shared_anchors_are_not_mistaken_for_fields(load_text: Load, root: Text):
    text = root(
        """\
        x-base: &base {model: ollama/qwen3, tools: &tools [one, two]}
        subagents:
          - {<<: *base, name: A, description: a, instruction: x}
          - {<<: *base, model: local/smollm2, name: B, description: b, instruction: y}
          - {name: C, description: c, instruction: z, tools: *tools}
        """
    )
    subagents = load_text(text, strict=True).config.subagents
    assert [agent.model for agent in subagents] == ["ollama/qwen3", "local/smollm2", None]
    assert [agent.tools for agent in subagents] == [("one", "two")] * 3


def test_an_error_inside_an_anchor_points_at_the_anchor_once(problems_of: Problems, root: Text):
    text = root(
        """\
        x-base: &base {tempo: 3, tools: 5}
        subagents:
          - {<<: *base, name: A, description: a, instruction: x}
          - {<<: *base, name: B, description: b, instruction: y}
        """
    )
    assert problems_of(text) == [
        "6:16: unknown field 'tempo'; remove it",
        "6:33: 5 is a number where a list is wanted; write [5]",
    ]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("description: 3.5", "6:16: 3.5 is a number where text is wanted; put it in quotes"),
        ("description: true", "6:16: true is a truth value where text is wanted; put it in quotes"),
        ("description: [a]", "6:16: this is a list where text is wanted"),
        ("description: {a: b}", "6:16: this is a mapping where text is wanted"),
        ("description: ''", "6:16: 'description' is empty; write a value"),
        ("tools: web_search", "6:10: 'web_search' is text where a list is wanted; write [web_search]"),
        ("tools: [1]", "6:11: 1 is a number where text is wanted; put it in quotes"),
        ("tools: [a, ]", ""),
        ("tools: [a, '']", "6:14: an item of 'tools' is empty; write a value"),
        ("tools: [a, ~]", "6:14: an item of 'tools' is empty; write a value"),
        ("generateContentConfig: x", "6:26: 'x' is text where a mapping is wanted"),
        ("outputSchema: []", "6:17: this is a list where a mapping is wanted"),
        ("disallowTransferToPeers: yes", "6:28: 'yes' is text where true or false is wanted; write true"),
        ("disallowTransferToPeers: off", "6:28: 'off' is text where true or false is wanted; write false"),
        ("disallowTransferToPeers: 1", "6:28: 1 is a number where true or false is wanted"),
        ("includeContents: None", "6:20: 'None' is not one of 'default', 'none'; did you mean 'none'?"),
        ("includeContents: all", "6:20: 'all' is not one of 'default', 'none'"),
        ("includeContents: 5", "6:20: 5 is not one of 'default', 'none'"),
    ],
)
def test_a_value_of_the_wrong_kind_says_what_is_wanted(keys: str, expected: str, problems_of: Problems, agent: Text):
    assert problems_of(agent(keys)) == ([expected] if expected else [])


@pytest.mark.parametrize("value", ["no", "on", "2024-01-01", "1:30"])
def test_words_that_only_look_like_values_are_names(value: str, load_text: Load, agent: Text):
    assert load_text(agent(f"description: {value}")).config.orchestrator.description == value


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("temperature: 2.1", "2.1 is out of range; 'temperature' must be at most 2.0"),
        ("temperature: -1", "-1 is out of range; 'temperature' must be at least 0.0"),
        ("temperature: .nan", "nan"),
        ("temperature: hot", "'hot' is text where a number is wanted"),
        ("temperature: '0.5'", "'0.5' is text where a number is wanted; take it out of its quotes"),
        ("temperature: true", "true is a truth value where a number is wanted"),
        ("topP: 1.5", "1.5 is out of range; 'topP' must be at most 1.0"),
        ("topK: 0", "0 is out of range; 'topK' must be greater than 0"),
        ("maxOutputTokens: 0", "0 is out of range; 'maxOutputTokens' must be greater than 0"),
        ("maxOutputTokens: 1.5", "1.5 is a number where a whole number is wanted"),
        ("presencePenalty: 3", "3 is out of range; 'presencePenalty' must be at most 2.0"),
        ("frequencyPenalty: -3", "-3 is out of range; 'frequencyPenalty' must be at least -2.0"),
        ("candidateCount: 9", "9 is out of range; 'candidateCount' must be at most 8"),
        ("seed: 9999999999", "9999999999 is out of range; 'seed' must be less than 2147483648"),
        ("responseMimeType: text/html", "'text/html' is not one of 'text/plain', 'application/json', 'text/x.enum'"),
        ("stopSequences: END", "'END' is text where a list is wanted; write [END]"),
        ("safetySettings: [{category: X, threshold: OFF}]", "'X' is not one of 'HARM_CATEGORY_HARASSMENT', "),
        ("safetySettings: [{threshold: OFF}]", "an item of 'safetySettings' has no 'category'; add it"),
        ("thinkingConfig: {thinkingBudget: -2}", "-2 is out of range; 'thinkingBudget' must be at least -1"),
        (
            "thinkingConfig: {thinkingLevel: low}",
            "'low' is not one of 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'; did you mean",
        ),
        ("thinkingConfig: {includeThoughts: 'true'}", "'true' is text where true or false is wanted; write true"),
    ],
)
def test_settings_of_the_model_have_ranges(setting: str, expected: str, problems_of: Problems, agent: Text):
    (problem,) = problems_of(agent(f"generateContentConfig:\n  {setting}\n"))
    assert problem.split(": ", 1)[1].startswith(expected)
    assert problem.startswith("7:")


def test_settings_of_the_model_arrive(load_text: Load, agent: Text):
    text = agent(
        """\
        generateContentConfig:
          temperature: 1
          topP: 0.9
          topK: 40
          maxOutputTokens: 100
          stopSequences: [a, b]
          candidateCount: 1
          presencePenalty: 0.1
          frequencyPenalty: -0.1
          seed: 012
          responseMimeType: text/plain
          safetySettings: [{category: HARM_CATEGORY_HARASSMENT, threshold: OFF}]
          thinkingConfig: {thinkingBudget: -1, thinkingLevel: LOW, includeThoughts: true}
        """
    )
    config = load_text(text, strict=True).config.orchestrator.generate_content_config
    assert config is not None
    assert config.model_dump(exclude_none=True) == {
        "temperature": 1.0,
        "top_p": 0.9,
        "top_k": 40,
        "max_output_tokens": 100,
        "stop_sequences": ("a", "b"),
        "candidate_count": 1,
        "presence_penalty": 0.1,
        "frequency_penalty": -0.1,
        "seed": 12,
        "response_mime_type": "text/plain",
        "safety_settings": ({"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"},),
        "thinking_config": {"thinking_budget": -1, "thinking_level": "LOW", "include_thoughts": True},
    }


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("max_steps: 0", "6:12: 0 is out of range; 'max_steps' must be greater than 0"),
        ("max_steps: many", "6:12: 'many' is text where a whole number is wanted"),
        ("memory_system: longterm", "6:16: 'longterm' is not one of 'internal-only', 'session-only', 'long-term'; did"),
        ("memory_namespace: a b", "6:19: 'a b' cannot be used; 'memory_namespace' may hold 1 to 96 letters, digits,"),
        ("memory_namespace: " + "a" * 97, "6:19: 'aaaaaa"),
        ("budget: {max_tokens: 0}", "6:22: 0 is out of range; 'max_tokens' must be greater than 0"),
        ("budget: {max_cost_usd: .inf}", "6:24: inf cannot be used; 'max_cost_usd' must be a finite number"),
        ("budget: {max_seconds: -1}", "6:23: -1 is out of range; 'max_seconds' must be greater than 0"),
        ("budget: {max_minutes: 1}", "6:10: unknown field 'max_minutes'; did you mean"),
        ("guards: citations", "6:9: 'citations' is text where a list is wanted; write [citations]"),
        ("subagents: {a: b}", "6:12: this is a mapping where a list is wanted"),
        ("subagents: [helper]", "6:13: 'helper' is text where a mapping is wanted"),
        ("dispatch: x", "6:11: 'x' is text where a mapping is wanted"),
    ],
)
def test_root_keys_have_shapes(keys: str, expected: str, problems_of: Problems, root: Text):
    (problem,) = problems_of(root(keys))
    assert problem.startswith(expected)


def test_root_keys_arrive(load_text: Load, root: Text):
    text = root(
        """\
        description: One line.
        memory_system: long-term
        memory_namespace: my.team-1_x
        memory_extraction_rules: Keep dates.
        guards: [citations]
        max_steps: 7
        budget: {max_tokens: 10, max_cost_usd: 0.5, max_seconds: 60}
        variables: {a: 1, b: null}
        """
    )
    config = load_text(text, strict=True).config
    assert config.model_dump(include={"description", "memory_system", "memory_namespace", "guards", "max_steps"}) == {
        "description": "One line.",
        "memory_system": "long-term",
        "memory_namespace": "my.team-1_x",
        "guards": ("citations",),
        "max_steps": 7,
    }
    assert config.budget is not None
    assert config.budget.max_cost_usd == 0.5
    assert config.variables == {"a": 1, "b": None}


def test_what_is_required_and_missing(problems_of: Problems):
    assert problems_of("description: x\n") == [
        "1:1: the file has no 'syndicate_name'; add it",
        "1:1: the file has no 'orchestrator'; add it",
    ]
    assert problems_of("syndicate_name: x\norchestrator:\n  description: y\n") == [
        "2:1: 'orchestrator' has no 'model'; add one, or a list of 'models'",
        "2:1: 'orchestrator' has no 'name'; add it",
    ]


def test_what_is_required_and_empty(problems_of: Problems):
    assert problems_of("syndicate_name:\norchestrator:\n") == [
        "1:16: 'syndicate_name' is empty; write a value",
        "2:14: 'orchestrator' is empty; write a value",
    ]


def test_an_optional_key_with_nothing_behind_it_is_as_good_as_absent(load_text: Load, agent: Text):
    text = agent("tools:\nconfirm:\nincludeContents:\ngenerateContentConfig:\n  stopSequences:\n  topP:\n")
    text += "subagents:\nvariables:\nmax_steps:\nguards: # none yet\n"
    config = load_text(text, strict=True).config
    assert (config.max_steps, config.subagents, config.variables) == (50, (), {})
    assert config.orchestrator.tools == ()
    assert config.orchestrator.include_contents == "default"


def test_an_unknown_key_with_nothing_behind_it_is_still_unknown(problems_of: Problems, agent: Text):
    assert problems_of(agent("tools:\ntool:\n")) == ["7:3: unknown field 'tool'; did you mean 'tools'?"]


def test_configuration_is_frozen(load_text: Load, root: Text):
    config = load_text(root("")).config
    with pytest.raises(ValueError, match="frozen"):
        config.max_steps = 3  # type: ignore[misc]


def test_a_long_value_is_cut_in_a_message(problems_of: Problems, root: Text):
    (problem,) = problems_of(root(f"memory_system: {'x' * 5000}\n"))
    assert len(problem) < 300


def test_an_orchestrator_may_have_no_instruction(load_text: Load):
    text = "syndicate_name: x\norchestrator: {name: A, model: local/smollm2}\n"
    assert load_text(text, strict=True).config.orchestrator.instruction is None
