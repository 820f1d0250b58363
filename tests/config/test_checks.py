"""What other rooms are asked, and where their findings are shown."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from syndicate.config import Checks, Finding
from syndicate.errors import ConfigError

Problems = Callable[..., list[str]]
Text = Callable[[str], str]


def unknown(kind: str, known: str) -> Callable[[str], Finding | None]:
    return lambda name: None if name == known else Finding(f"no {kind} {name!r}", f"unknown-{kind}")


def type_errors(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Finding]]:
    for name, value in schema.get("properties", {}).items():
        if value.get("type") == "strin":
            yield ("properties", name, "type"), Finding("no such type", "output-schema")
        if "enum" in value:
            yield ("properties", name, "enum", 1), Finding("bad", "output-schema")
            yield ("properties", name, "nowhere"), Finding("far off", "output-schema")


def test_models_tools_and_guards_are_asked_about_bound_values(problems_of: Problems, agent: Text):
    text = agent("tools: [good, '{{tool}}']\n")
    text += (
        "guards: [good, bad]\nvariables: {tool: other}\n"
        "subagents: [{name: A, description: d, instruction: i, models: [local/smollm2, nope]}]\n"
    )
    checks = Checks(
        model=unknown("model", "local/smollm2"), tool=unknown("tool", "good"), guard=unknown("guard", "good")
    )
    assert problems_of(text, checks=checks) == [
        "6:17: no tool 'other'",
        "7:16: no guard 'bad'",
        "9:79: no model 'nope'",
    ]


def test_an_output_schemas_findings_are_located_inside_it(problems_of: Problems, agent: Text):
    text = agent("outputSchema:\n  type: object\n  properties:\n    a: {type: strin}\n    b: {enum: [x, y]}\n")
    assert problems_of(text, checks=Checks(output_schema=type_errors)) == [
        "9:17: no such type",
        "10:10: far off",
        "10:21: bad",
    ]


def test_features_are_asked_about_where_their_key_stands(problems_of: Problems, subagent: Text):
    asked: list[tuple[str, Any]] = []

    def feature(key: str, value: Any) -> Finding:
        asked.append((key, value))
        return Finding(f"{key} comes later", "not-in-this-version", "warning")

    text = subagent("a2a_agent_url: https://x/\n").replace(
        "  instruction: Help.\n",
        "  instruction: Help.\n  mcp_server_url: https://m/\n  mcp_servers: []\n  confirm: []\n",
    )
    text += "dispatch: {default_route: Helper}\nguards: [g]\nbudget: {}\nmemory_system: long-term\nmax_steps: 3\n"
    found = problems_of(text, checks=Checks(feature=feature))
    assert found == [
        "6:3: warning: mcp_server_url comes later",
        "7:3: warning: mcp_servers comes later",
        "8:3: warning: confirm comes later",
        "12:5: warning: a2a_agent_url comes later",
        "13:1: warning: dispatch comes later",
        "14:1: warning: guards comes later",
        "15:1: warning: budget comes later",
        "16:1: warning: memory_system comes later",
    ]
    assert ("memory_system", "long-term") in asked
    assert ("guards", ["g"]) in asked


def test_checks_are_asked_even_when_the_rest_is_wrong(problems_of: Problems, agent: Text):
    text = agent("tools: [bad]\nmistake: 1\n")
    assert problems_of(text, checks=Checks(tool=unknown("tool", "good"))) == [
        "6:11: no tool 'bad'",
        "7:3: unknown field 'mistake'; remove it",
    ]


def test_checks_are_not_asked_about_what_is_no_text(problems_of: Problems, agent: Text):
    text = agent("tools: [1, [], '']\nconfirm: 5\n").replace("model: local/smollm2", "model: [x]")
    strict = Checks(model=unknown("model", ""), tool=unknown("tool", ""))
    assert [problem.split(": ", 1)[1] for problem in problems_of(text, checks=strict)] == [
        "this is a list where text is wanted",
        "1 is a number where text is wanted; put it in quotes",
        "this is a list where text is wanted",
        "an item of 'tools' is empty; write a value",
        "5 is a number where a list is wanted; write [5]",
    ]


def test_warnings_pass_and_are_errors_when_strict(load_text: Callable, agent: Text):
    checks = Checks(tool=lambda name: Finding(f"unknown tool {name!r}", "unknown-tool", "warning"))
    (problem,) = load_text(agent("tools: [a]\n"), checks=checks).problems
    assert problem.severity == "warning"
    assert problem.code == "unknown-tool"
    with pytest.raises(ConfigError) as error:
        load_text(agent("tools: [a]\n"), checks=checks, strict=True)
    assert [problem.severity for problem in error.value.problems] == ["error"]
