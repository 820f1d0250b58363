"""`syndicate doctor`: what runs, what is missing, what would change that, and what each provider can."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from syndicate.models.capabilities import FEATURES, MATRIX
from tests.models.conftest import Answer, StandIn, stand_in

__all__ = ["stand_in"]

KEY = "sesame-open-4711"
MIXED = """\
syndicate_name: Mixed
orchestrator:
  name: Lead
  models: [claude-haiku-4-5, gemini-3.7-flash]
  instruction: You lead.
  tools: [web_search, web_serch]
subagents:
  - {name: Reader, description: Reads., model: local/smollm2, instruction: You read.}
"""


@pytest.fixture
def mixed(shell: Any) -> Any:
    (shell.agents / "mixed.yaml").write_text(MIXED, encoding="utf-8")
    return shell


def line_of(text: str, *words: str) -> str:
    """The only line that has all these words."""
    (found,) = [line for line in text.splitlines() if all(word in line for word in words)]
    return found


def test_a_syndicate_that_cannot_run_is_described_and_exit_0(mixed: Any) -> None:
    done = mixed.run("doctor", "mixed")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Mixed  config/agents/mixed.yaml\n")
    assert line_of(done.stdout, "✗ Lead", "none of its models")
    assert line_of(done.stdout, "gemini-3.7-flash:", "GOOGLE_GENAI_API_KEY is not set")
    assert line_of(done.stdout, "✓ Reader", "local/smollm2")
    assert line_of(done.stdout, "without web_serch:", "did you mean 'web_search'?")
    assert line_of(done.stdout, "database", "embedded", "none yet")


def test_with_its_key_the_agent_runs(mixed: Any) -> None:
    done = mixed.run("doctor", "mixed", GOOGLE_GENAI_API_KEY=KEY)
    assert line_of(done.stdout, "✓ Lead", "gemini-3.7-flash")
    assert line_of(done.stdout, "tools: web_search")
    assert line_of(done.stdout, "✓ gemini", "GOOGLE_GENAI_API_KEY is set")
    assert "what would run with" not in done.stdout


def test_what_one_variable_would_unlock_is_said(mixed: Any) -> None:
    done = mixed.run("doctor", "mixed")
    unlocks = done.stdout.partition("what would run with\n")[2].splitlines()
    assert unlocks[:4] == ["  ANTHROPIC_API_KEY", "    Lead", "  GOOGLE_GENAI_API_KEY", "    Lead"]


def test_check_is_for_ci(mixed: Any) -> None:
    assert mixed.run("doctor", "mixed", "--check").returncode == 1
    assert mixed.run("doctor", "mixed", "--check", GOOGLE_GENAI_API_KEY=KEY).returncode == 0
    assert mixed.run("doctor", "mixed", "--check", GOOGLE_GENAI_API_KEY="your_key_here").returncode == 1


def test_check_without_a_name_is_of_the_default_syndicate(mixed: Any) -> None:
    assert mixed.run("doctor", "--check").stdout.startswith("Tutor  ")
    done = mixed.run("doctor", "--check", SYNDICATE_DEFAULT="mixed")
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "Mixed  config/agents/mixed.yaml")


def test_without_a_name_it_shows_what_can_be_named(mixed: Any) -> None:
    done = mixed.run("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert line_of(done.stdout, "✓ pair", "2 agents")
    assert line_of(done.stdout, "– mixed", "1 of 2 agents")
    assert line_of(done.stdout, "✗ council")
    assert "GOOGLE_GENAI_API_KEY " in done.stdout.partition("what would run with\n")[2]
    assert mixed.run("doctor", "--json").returncode == 0


def test_a_daemon_is_asked_for_its_models(mixed: Any, stand_in: StandIn) -> None:
    stand_in.on("/api/tags", Answer.json({"models": [{"name": "qwen3:8b"}]}))
    done = mixed.run("doctor", OLLAMA_BASE_URL=stand_in.url)
    assert line_of(done.stdout, "✓ ollama", stand_in.url, "1 model pulled")
    assert line_of(mixed.run("doctor").stdout, "– ollama", "start Ollama")


def test_the_gateway_is_told_of(mixed: Any) -> None:
    assert line_of(mixed.run("doctor").stdout, "gateway", "MODEL_GATEWAY is not set")
    half = mixed.run("doctor", MODEL_GATEWAY="openrouter").stdout
    assert line_of(half, "gateway", "openrouter", "MODEL_GATEWAY_API_KEY is not set")
    assert half.partition("what would run with\n")[2].startswith("  MODEL_GATEWAY_API_KEY  gemini-*, claude-*, ")
    whole = mixed.run("doctor", "mixed", MODEL_GATEWAY="openrouter", MODEL_GATEWAY_API_KEY=KEY, XAI_API_KEY=KEY).stdout
    assert line_of(whole, "gateway", "openrouter, for gemini, anthropic, openai")
    assert line_of(whole, "✓ Lead", "claude-haiku-4-5 through the gateway")
    assert line_of(whole, "without web_search:", "a gateway has none of its own")
    assert line_of(whole, "✓ xai", "XAI_API_KEY is set")


def test_json_is_one_object(mixed: Any) -> None:
    report = json.loads(mixed.run("doctor", "mixed", "--json", GOOGLE_GENAI_API_KEY=KEY).stdout)
    lead, reader = report["agents"]
    assert (report["name"], report["runs"], report["syndicates"]) == ("mixed", True, [])
    assert (lead["answers"], lead["runs"], lead["file"], lead["line"]) == (
        "gemini-3.7-flash", True, "config/agents/mixed.yaml", 3,
    )  # fmt: skip
    assert {tool["name"]: tool["kept"] for tool in lead["tools"]} == {
        "web_search": True, "web_serch": False, "Reader": True,
    }  # fmt: skip
    assert reader["models"][0]["provider"] == "local"
    assert {row["id"]: row["key_set"] for row in report["providers"]}["gemini"] is True
    every = json.loads(mixed.run("doctor", "--json").stdout)
    assert (every["name"], every["runs"], every["agents"]) == (None, None, [])
    assert {row["name"]: row["runs"] for row in every["syndicates"]}["pair"] is True


def test_the_matrix_has_every_provider_and_every_feature(shell: Any) -> None:
    done = shell.run("doctor", "--matrix")
    head, *rows = done.stdout.splitlines()
    assert head.split() == list(MATRIX)
    for feature, row in zip(FEATURES, rows, strict=False):
        words = feature.replace("_", " ")
        assert row.startswith(words)
        signs = [re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]", "", sign) for sign in row.removeprefix(words).split()]
        assert signs == ["✓" if support[feature] else "–" for support in MATRIX.values()]
    notes = {support.note for row in MATRIX.values() for support in row.values() if support.note}
    assert {line.split(maxsplit=1)[1] for line in rows[len(FEATURES) + 1 :]} == notes


def test_the_columns_of_the_matrix_stand_below_each_other(shell: Any) -> None:
    for encoding in ("utf-8", "ascii"):
        head, *rows = shell.run("doctor", "--matrix", PYTHONIOENCODING=encoding).stdout.splitlines()
        starts = [match.start() for match in re.finditer(r"\S+", head)]
        for row in rows[: len(FEATURES)]:
            assert all(row[start - 1] == " " and row[start] in "✓–+-" for start in starts), row
            assert "?" not in row


def test_the_matrix_as_json(shell: Any) -> None:
    table = json.loads(shell.run("doctor", "--matrix", "--json").stdout)
    assert list(table) == list(MATRIX)
    for provider, row in MATRIX.items():
        assert table[provider] == {
            feature: {"supported": bool(row[feature]), "note": row[feature].note} for feature in FEATURES
        }


def test_the_matrix_is_the_same_for_all(shell: Any) -> None:
    for args in (["pair"], ["--check"]):
        done = shell.run("doctor", "--matrix", *args)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_file_with_problems_is_answered_with_them(shell: Any) -> None:
    (shell.folder / "broken.yaml").write_text("syndicate_name: Broken\n")
    done = shell.run("doctor", "broken.yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert "broken.yaml:1:1: " in done.stderr
    assert "did you mean 'pair'" in shell.run("doctor", "pairr").stderr


def test_on_a_terminal_it_is_drawn_without_the_escapes_of_a_name(mixed: Any, terminal: Any) -> None:
    path = mixed.agents / "mixed.yaml"
    path.write_text(path.read_text().replace("name: Reader", 'name: "Rea\\e[31mder"'))
    shown = terminal("doctor", "mixed").read()
    assert "\x1b[32m✓" in shown
    assert "Reader" in shown
    assert "\x1b[31mder" not in shown
    assert "\x1b[32m" not in terminal("doctor", "mixed", NO_COLOR="1").read()


def test_a_database_that_cannot_be_reached_is_said(mixed: Any) -> None:
    done = mixed.run("doctor", "mixed", DATABASE_URL="postgresql://me:hunter2@127.0.0.1:1/x")
    assert line_of(done.stdout, "database", "cannot be reached")
    assert "hunter2" not in done.stdout + done.stderr


def test_settings_that_the_provider_has_not_are_named(mixed: Any) -> None:
    (mixed.agents / "tuned.yaml").write_text(
        "syndicate_name: Tuned\norchestrator: {name: A, model: claude-haiku-4-5, generateContentConfig: {seed: 3}}\n"
    )
    assert line_of(mixed.run("doctor", "tuned", ANTHROPIC_API_KEY="sk-ant-0123456789").stdout, "without", "seed")
