"""Rules between the keys of an agent, and between the agents of a file."""

from collections.abc import Callable

import pytest

from syndicate.config import LoadedSyndicate

Problems = Callable[..., list[str]]
Text = Callable[[str], str]
Load = Callable[..., LoadedSyndicate]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("models: [a, b]", "6:3: 'model' and 'models' exclude each other; keep one"),
        ("instruction_file: x.md", "6:3: 'instruction' and 'instruction_file' exclude each other; keep one"),
        ("tools: [a, b, a]", "6:17: tool 'a' is listed twice; keep one"),
        ("tools: [pay]\nconfirm: [pya]", "7:13: 'pya' is no tool of this agent; did you mean 'pay'?"),
        ("confirm: [pay]", "6:13: 'pay' is no tool of this agent; add it to 'tools', or remove it here"),
        ("mcp_server_url: ftp://x", "6:19: 'ftp://x' is no http(s) address; write one such as https://host/path"),
        ("mcp_server_url: example.com", "6:19: 'example.com' is no http(s) address; write one such as"),
        ("mcp_server_url: 'https://'", "6:19: 'https://' is no http(s) address"),
        ("mcp_server_url: 'https://h:99999/'", "6:19: 'https://h:99999/' is no http(s) address"),
        ("mcp_server_url: 'https://[::1'", "6:19: 'https://[::1' is no http(s) address"),
        ("mcp_server_url: 'https://a b/'", "6:19: 'https://a b/' is no http(s) address"),
        ("mcp_servers: [{prefix: x}]", "6:17: an MCP server has a 'url' or a 'command'; give exactly one"),
        ("mcp_servers: [{url: https://x, command: y}]", "6:17: an MCP server has a 'url' or a 'command'; give exactly"),
        ("mcp_servers: [{url: x}]", "6:23: 'x' is no http(s) address"),
        ('mcp_servers: [{command: "a \'b"}]', "6:27: this command has a quote or '\\' that is never closed"),
        ("orchestration: {role: x, delegates: [y]}", "6:3: warning: 'orchestration' has no effect; remove it"),
    ],
)
def test_rules_of_an_agent(keys: str, expected: str, problems_of: Problems, agent: Text):
    (problem,) = problems_of(agent(keys))
    assert problem.startswith(expected)


def test_what_follows_the_rules(load_text: Load, agent: Text):
    text = agent(
        """\
        tools: [pay, look]
        confirm: [pay]
        mcp_server_url: https://mcp.example.com/sse
        mcp_servers:
          - {url: "http://127.0.0.1:8000/mcp", tools: [a], prefix: p, required: false}
          - {command: "server --root '/a b'"}
        disallowTransferToParent: true
        disallowTransferToPeers: false
        outputKey: draft
        globalInstruction: Be kind.
        """
    )
    agent_config = load_text(text, strict=True).config.orchestrator
    assert agent_config.confirm == ("pay",)
    assert [server.required for server in agent_config.mcp_servers] == [False, True]
    assert agent_config.global_instruction == "Be kind."


def test_models_need_one_at_least(problems_of: Problems, root: Text):
    text = root("").replace("  model: local/smollm2\n", "  models: []\n")
    assert problems_of(text) == ["4:11: 'models' is empty; list at least one model id"]


def test_confirm_may_name_a_subagent_or_a_tool_of_a_server(problems_of: Problems, agent: Text):
    helper = "subagents: [{name: The Helper, description: d, instruction: i}]\n"
    assert problems_of(agent("confirm: [The_Helper]\n") + helper) == []
    assert problems_of(agent("confirm: [anything]\nmcp_server_url: https://x/\n")) == []


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            "model: m",
            "7:5: subagent 'Helper' has none of 'instruction', 'yaml_reference' and 'a2a_agent_url'; add exac",
        ),
        ("instruction: x\nyaml_reference: tutor", "10:5: 'instruction' and 'yaml_reference' exclude each other; keep"),
        ("yaml_reference: tutor\na2a_agent_url: https://x/", "10:5: 'yaml_reference' and 'a2a_agent_url' exclude each"),
        ("a2a_agent_url: ws://x", "9:20: 'ws://x' is no http(s) address"),
        ("yaml_reference: tutor\nmodel: m", "10:5: warning: 'model' has no effect beside 'yaml_reference'; remove it"),
        ("a2a_agent_url: https://x/\ntools: [a]", "10:5: warning: 'tools' has no effect beside 'a2a_agent_url'; remov"),
    ],
)
def test_a_subagent_is_exactly_one_of_three(keys: str, expected: str, problems_of: Problems, subagent: Text):
    (problem,) = problems_of(subagent(keys))
    assert problem.startswith(expected)


@pytest.mark.parametrize("keys", ["instruction: x", "yaml_reference: tutor", "a2a_agent_url: https://x/"])
def test_each_of_the_three_is_fine_alone(keys: str, load_text: Load, subagent: Text):
    assert load_text(subagent(keys), strict=True).config.subagents[0].model is None


def test_a_subagent_needs_a_description(problems_of: Problems, subagent: Text):
    text = subagent("instruction: x\n").replace("    description: Helps.\n", "")
    assert problems_of(text) == ["7:5: subagent 'Helper' has no 'description'; add one: the orchestrator decides by it"]


def test_names_are_unique_and_both_lines_are_named(problems_of: Problems, root: Text):
    text = root(
        """\
        subagents:
          - {name: Web Researcher, description: d, instruction: i}
          - {name: web-researcher, description: d, instruction: i}
          - {name: "Web: Researcher", description: d, instruction: i}
          - {name: Lead, description: d, instruction: i}
        """
    )
    assert problems_of(text) == [
        "9:12: agents 'Web Researcher' and 'Web: Researcher' both become 'Web_Researcher', on lines 7 and 9; "
        "rename one",
        "10:12: two agents are called 'Lead', on lines 3 and 10; rename one",
    ]


def test_names_without_latin_letters_do_not_collide(problems_of: Problems, root: Text):
    text = root(
        """\
        subagents:
          - {name: 風林火山, description: d, instruction: i}
          - {name: 疾風迅雷, description: d, instruction: i}
        """
    )
    assert problems_of(text) == []


@pytest.mark.parametrize("name", ["user", "User", "[user]", "user!"])
def test_nobody_is_called_user(name: str, problems_of: Problems, subagent: Text):
    (problem,) = problems_of(subagent("instruction: i\n").replace("name: Helper", f"name: '{name}'"))
    assert problem.startswith("7:11: an agent may not be called")


def test_a_subagent_with_the_name_of_a_tool_names_both_lines(problems_of: Problems, agent: Text):
    text = agent("tools:\n  - web_search\n") + "subagents: [{name: web search, description: d, instruction: i}]\n"
    assert problems_of(text) == [
        "8:20: subagent 'web_search' on line 8 has the name of the orchestrator's tool on line 7; rename the subagent"
    ]


def test_extraction_rules_without_long_term_memory_have_no_effect(problems_of: Problems, root: Text):
    assert problems_of(root("memory_extraction_rules: x\n")) == [
        "6:1: warning: 'memory_extraction_rules' has no effect unless 'memory_system' is 'long-term'"
    ]


DISPATCH = """\
subagents:
  - {name: Billing Desk, description: d, instruction: i}
  - {name: General, description: d, instruction: i}
dispatch:
"""


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("  default_route: billing-desk", ""),
        ("  default_route: GENERAL!", ""),
        ("  default_route: Genral", "10:18: 'Genral' names no subagent; did you mean 'General'?"),
        ("  default_route: xyz", "10:18: 'xyz' names no subagent; there are 'Billing Desk', 'General'"),
        ("  default_route: Lead", "10:18: 'Lead' names no subagent; there are"),
        ("  route_key: x", "9:1: 'dispatch' has no 'default_route'; add it"),
        ("  {default_route: General, route_key: a, reason_key: b}", ""),
        (
            "  default_route: General\n  route_overrides: [{route: Bill, pattern: x}]",
            "11:29: 'Bill' names no subagent;",
        ),
        ("  default_route: General\n  route_overrides: [{route: General, pattern: '(x'}]", "11:47: '(x' is no regular"),
        ("  default_route: General\n  route_overrides: [{route: General, pattern: '(?<y>x)', flags: i}]", ""),
        ("  default_route: General\n  route_overrides: [{route: General, pattern: x, flags: q}]", "11:57: 'q' cannot"),
        ("  default_route: General\n  route_overrides: [{pattern: x}]", "11:21: an item of 'route_overrides' has no"),
    ],
)
def test_routes_are_subagents_and_patterns_compile(keys: str, expected: str, problems_of: Problems, root: Text):
    found = problems_of(root(DISPATCH + keys + "\n"))
    assert found == [] if not expected else (len(found) == 1 and found[0].startswith(expected)), found


def test_routes_must_differ_by_more_than_punctuation(problems_of: Problems, root: Text):
    text = root(DISPATCH + "  default_route: General\n").replace("name: General", "name: billingdesk")
    found = problems_of(text.replace("default_route: General", "default_route: billing desk"))
    assert found == [
        "8:12: routes 'Billing Desk' and 'billingdesk' differ in case or punctuation only, which dispatch ignores; "
        "rename one"
    ]


def test_dispatch_without_subagents_has_no_route(problems_of: Problems, root: Text):
    assert problems_of(root("dispatch: {default_route: X}\n")) == ["6:27: 'X' names no subagent; add some"]


def test_the_classifiers_schema_can_name_the_routes(problems_of: Problems, agent: Text):
    schema = "outputSchema: {type: object, properties: {route: {enum: [General, billing desk]}, reason: {}}}\n"
    assert problems_of(agent(schema) + DISPATCH + "  default_route: General\n") == []
    assert problems_of(agent(schema) + DISPATCH + "  {default_route: General, route_key: desk}\n") == [
        "6:32: 'outputSchema' has no property 'desk', where dispatch looks for the route; add it, or name another one "
        "in 'route_key'"
    ]
    wrong = schema.replace("billing desk", "Biling Desk")
    assert problems_of(agent(wrong) + DISPATCH + "  default_route: General\n") == [
        "6:69: 'Biling Desk' names no subagent; did you mean 'Billing Desk'?"
    ]


def test_what_clashes_on_one_line_names_it_once(problems_of: Problems, root: Text):
    team = "[{name: A, description: d, instruction: i}, {name: A, description: d, instruction: i}]"
    assert problems_of(root(f"subagents: {team}")) == ["6:63: two agents are called 'A', on line 6; rename one"]
