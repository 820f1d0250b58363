"""The embedded model, really asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


@pytest.fixture
def embedded(shell: Any, embedded_home: Path) -> Any:
    """Runs the command with a data folder that has the weights."""

    def run(*args: str, **options: Any) -> Any:
        return shell.run(*args, SYNDICATE_HOME=str(embedded_home), **options)

    return run


def test_the_tutor_answers_what_comes_on_standard_input(embedded: Any) -> None:
    done = embedded("chat", "tutor", stdin="hi\n")
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    assert done.stdout.strip()


def test_the_tutor_streams(embedded: Any) -> None:
    done = embedded("chat", "tutor", "Say hello to me in one sentence.", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(event["type"] == "text" for event in events) > 1
    assert events[-1]["usage"]["output"] > 0


def test_a_chat_starts_the_server_it_needs(shell: Any, embedded_home: Path, tmp_path: Path) -> None:
    """From weights alone: nothing runs yet in this data folder."""
    home = tmp_path / "cold"
    home.mkdir()
    (home / "models").symlink_to(embedded_home / "models")
    done = shell.run("chat", "tutor", "hi", SYNDICATE_HOME=str(home), SYNDICATE_LOCAL_IDLE_SECONDS="2")
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    assert done.stdout.strip()


def complaints(stderr: str) -> list[str]:
    """What was said beside the answer, but for the one thing a small model's mood decides: that its reply was cut."""
    return [line for line in stderr.splitlines() if "cut at its most tokens" not in line]
