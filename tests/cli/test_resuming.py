"""A conversation goes on in another process, from the database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

LASTING = """\
syndicate_name: Lasting
orchestrator: {name: Lead, model: scripted/lead, instruction: You lead.}
"""


@pytest.fixture
def lasting(shell: Any, embedded_home: Path) -> Any:
    """Runs `chat lasting …` with a database that outlives the command, for a user of the test's own."""
    (shell.agents / "lasting.yaml").write_text(LASTING, encoding="utf-8")
    user = shell.folder.name

    def run(*args: str, user: str = user) -> Any:
        return shell.run("chat", "lasting", *args, "--user", user, SYNDICATE_HOME=str(embedded_home))

    return run


def test_the_last_session_goes_on(lasting: Any, shell: Any) -> None:
    shell.script(["first answer"])
    first = json.loads(lasting("hello", "--json").stdout.splitlines()[-1])
    assert first["answer"] == "first answer"
    again = json.loads(lasting("and again", "--session", "last", "--json").stdout.splitlines()[-1])
    assert again["session"] == first["session"]
    fresh = json.loads(lasting("anew", "--json").stdout.splitlines()[-1])
    assert fresh["session"] != first["session"]


def test_a_session_goes_on_by_its_id_and_only_for_its_user(lasting: Any, shell: Any) -> None:
    shell.script(["ECHO"])
    sizes = [json.loads(lasting("hello", "--session", "mine", "--json").stdout.splitlines()[-1]) for _ in range(2)]
    assert [result["session"] for result in sizes] == ["mine", "mine"]
    listed = shell.run("sessions", "list", "--user", "somebody-else-entirely", "--json")
    assert "mine" not in listed.stdout


def test_no_last_session_is_one_line(lasting: Any) -> None:
    done = lasting("hello", "--session", "last", user="a-newcomer-without-any")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "has no session of 'Lasting' yet" in done.stderr
