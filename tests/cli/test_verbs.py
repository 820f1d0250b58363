"""The verbs that read files."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BROKEN = """\
syndicate_name: Broken
orchestrator:
  name: Lead
  modle: scripted/lead
  model: scripted/lead
  instruction: hi
subagents:
  - name: Two
    instruction: hi
"""


def test_validate_says_ok_with_counts(shell: Any) -> None:
    done = shell.run("validate", "pair")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "ok config/agents/pair.yaml: 2 agents\n"


def test_validate_checks_every_file_it_is_given(shell: Any) -> None:
    (shell.folder / "broken.yaml").write_text(BROKEN)
    done = shell.run("validate", "broken.yaml", "pair", "nowhere")
    assert done.returncode == 1
    assert done.stdout == "ok config/agents/pair.yaml: 2 agents\n"
    lines = done.stderr.splitlines()
    assert any("broken.yaml:4:3: " in line and "'model'" in line for line in lines)
    assert any("broken.yaml:8:5: " in line for line in lines)
    assert "nowhere" in lines[-1]


def test_validate_as_json_is_an_array_of_problems(shell: Any) -> None:
    (shell.folder / "broken.yaml").write_text(BROKEN)
    done = shell.run("validate", "broken.yaml", "pair", "nowhere", "--json")
    problems = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (1, "")
    assert {tuple(problem) for problem in problems} == {("file", "line", "column", "severity", "code", "message")}
    assert (problems[0]["line"], problems[0]["column"], problems[0]["severity"]) == (4, 3, "error")
    assert (problems[-1]["file"], problems[-1]["line"]) == ("nowhere", None)
    assert json.loads(shell.run("validate", "pair", "--json").stdout) == []


def test_a_warning_leaves_exit_0_unless_strict(shell: Any) -> None:
    path = shell.agents / "pair.yaml"
    path.write_text(path.read_text().replace("{{topic}}", "{{topik}}"))
    relaxed = shell.run("validate", "pair")
    assert relaxed.returncode == 0
    assert "warning" in relaxed.stderr
    assert relaxed.stdout.endswith("2 agents, 1 warning\n")
    assert shell.run("validate", "pair", "--strict").returncode == 1


def test_a_problem_on_a_terminal_is_drawn_with_its_line_and_a_caret(shell: Any, terminal: Any) -> None:
    (shell.folder / "broken.yaml").write_text(BROKEN)
    process = terminal("validate", "broken.yaml", NO_COLOR="1")
    shown = process.read().replace("\r", "")
    assert "\n    modle: scripted/lead\n    ^\n" in "\n" + "\n".join(
        line.rstrip() for line in _plain(shown).split("\n")
    )


def test_a_file_that_two_others_nest_is_reported_once(shell: Any) -> None:
    (shell.agents / "leaf.yaml").write_text(BROKEN)
    nest = "subagents: [{name: Leaf, description: d, yaml_reference: leaf.yaml}]"
    for name in ("one", "two"):
        (shell.agents / f"{name}.yaml").write_text(
            f"syndicate_name: {name}\norchestrator: {{name: Lead, model: scripted/lead, instruction: hi}}\n{nest}\n"
        )
    assert shell.run("validate", "one", "two").stderr.count("modle") == 1


def test_schema_prints_the_committed_schema(shell: Any) -> None:
    committed = Path(__file__).parents[2] / "config" / "agents" / "syndicate.schema.json"
    assert json.loads(shell.run("schema").stdout) == json.loads(committed.read_text())


def test_graph_draws_mermaid_a_tree_and_json(shell: Any) -> None:
    assert shell.run("graph", "pair").stdout.startswith(("flowchart", "graph", "---", "%%"))
    tree = shell.run("graph", "pair", "--format", "tree").stdout
    assert "Lead" in tree
    assert "Researcher" in tree
    drawn = json.loads(shell.run("graph", "pair", "--json").stdout)
    names = {agent["id"]: agent["name"] for agent in drawn["agents"]}
    assert [(names[edge["from"]], names[edge["to"]]) for edge in drawn["delegations"]] == [("Lead", "Researcher")]


def test_graph_as_json_tells_agents_of_one_name_apart_and_lists_a_shared_file_once(shell: Any) -> None:
    desk = "- {name: %s, description: d, yaml_reference: pair}\n"
    (shell.agents / "house.yaml").write_text(
        "syndicate_name: House\norchestrator: {name: Lead, model: scripted/lead, instruction: i}\nsubagents:\n"
        + "".join("  " + desk % name for name in ("Desk", "Again"))
    )
    drawn = json.loads(shell.run("graph", "house", "--json").stdout)
    agents = {agent["id"]: agent for agent in drawn["agents"]}
    assert [agent["name"] for agent in drawn["agents"]] == ["Lead", "Desk", "Lead", "Researcher", "Again"]
    assert len(agents) == 5
    root, desk, lead, researcher, again = agents
    edges = {(edge["from"], edge["to"]) for edge in drawn["delegations"]}
    assert edges == {(root, desk), (root, again), (desk, lead), (again, lead), (lead, researcher)}
    assert len(drawn["delegations"]) == len(edges)
    assert (agents[desk]["reference"], agents[lead]["file"]) == ("pair", "config/agents/pair.yaml")


def test_names_and_descriptions_of_several_lines_are_shown_on_one(shell: Any) -> None:
    (shell.agents / "odd.yaml").write_text(
        'syndicate_name: "Two\\nlines"\ndescription: "one\\ntwo"\nvariables: {v: "a\\nb"}\n'
        'orchestrator: {name: "Le\\nad", model: scripted/lead, instruction: i}\n'
    )
    shown = shell.run("show", "odd").stdout.splitlines()
    assert shown[0] == "Two lines: one two"
    assert "  variables  v=a b" in shown
    assert shown[-2:] == ["Le ad", "  models: scripted/lead"]
    assert shell.run("graph", "odd", "--format", "tree").stdout == "Two lines\n└── Le ad  (scripted/lead)\n"


@pytest.mark.parametrize(
    ("typed", "hint"),
    [("pair", "pair"), ("./later.yaml", "later.yaml"), ("a folder/x.yaml", "'a folder/x.yaml'")],
)
def test_the_command_that_show_recommends_can_be_typed(shell: Any, typed: str, hint: str) -> None:
    text = (shell.agents / "pair.yaml").read_text().replace("{{topic}}", "{{topik}}")
    path = shell.agents / "pair.yaml" if typed == "pair" else shell.folder / typed
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    last = shell.run("show", typed).stdout.splitlines()[-1]
    assert last == f"1 warning: syndicate validate {hint}"
    checked = shell.run(*shlex.split(last.partition("syndicate ")[2]))
    assert (checked.returncode, checked.stderr.count("topik")) == (0, 1)


def test_list_names_what_can_be_named(shell: Any) -> None:
    (shell.agents / "broken.yaml").write_text(BROKEN)
    rows = {row["name"]: row for row in json.loads(shell.run("list", "--json").stdout)}
    assert rows["pair"]["description"] == "One leads, one looks things up."
    assert rows["broken"]["problem"]
    assert "tutor" in rows
    text = shell.run("list").stdout
    assert "pair" in text
    assert "does not load" in text


def test_show_describes_agents_models_and_tools(shell: Any) -> None:
    text = shell.run("show", "pair").stdout
    assert "Pair: One leads, one looks things up." in text
    assert "models: scripted/researcher" in text
    described = json.loads(shell.run("show", "pair", "--json").stdout)
    assert [agent["name"] for agent in described["agents"]] == ["Lead", "Researcher"]
    assert described["agents"][1]["parent"] == "Lead"


def test_models_list_says_what_is_missing_and_shows_no_key(shell: Any) -> None:
    done = shell.run("models", "list", GOOGLE_GENAI_API_KEY="sk-very-secret")
    assert done.returncode == 0
    assert "ready" in next(line for line in done.stdout.splitlines() if line.startswith("gemini"))
    assert "secret" not in done.stdout
    without = json.loads(shell.run("models", "list", "--json").stdout)
    assert "GOOGLE_GENAI_API_KEY" in next(row["needs"] for row in without if row["provider"] == "gemini")


def test_models_alone_lists_them(shell: Any) -> None:
    bare, listed = shell.run("models"), shell.run("models", "list")
    assert (bare.returncode, bare.stderr, bare.stdout) == (0, "", listed.stdout)


def test_models_pull_says_what_cannot_be_pulled(shell: Any) -> None:
    done = shell.run("models", "pull", "gemini-3.7-flash")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "'gemini-3.7-flash' is not pulled" in done.stderr
    done = shell.run("models", "pull", "local/no-such-file.gguf")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_models_pull_without_a_daemon_is_one_line(shell: Any) -> None:
    done = shell.run("models", "pull", "ollama/qwen3:8b")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "127.0.0.1:9" in done.stderr


@pytest.mark.parametrize("verb", ["graph", "show", "validate"])
def test_names_are_found_from_another_directory(shell: Any, tmp_path_factory: Any, verb: str) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert shell.run(verb, "pair", cwd=elsewhere, SYNDICATE_AGENTS_DIR=str(shell.agents)).returncode == 0
    assert shell.run(verb, str(shell.agents / "pair.yaml"), cwd=elsewhere).returncode == 0
    assert shell.run(verb, "tutor", cwd=elsewhere).returncode == 0


def test_a_reader_that_leaves_is_no_error(shell: Any) -> None:
    process = subprocess.Popen(
        shell.command("schema"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=shell.folder, env=shell.env()
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait()


def test_an_encoding_that_lacks_a_character_is_no_error(shell: Any) -> None:
    done = shell.run("graph", "pair", "--format", "tree", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="names of scripts")
def test_the_module_is_the_same_command(shell: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "syndicate", "--version"], capture_output=True, text=True, check=True, env=shell.env()
    )
    assert done.stdout.strip()


def _plain(text: str) -> str:
    from syndicate.cli.visible import visible

    return visible(text)
