"""The embedded model, really asked."""

from __future__ import annotations

import json
import os
import subprocess
import time
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
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_the_tutor_streams(embedded: Any) -> None:
    done = embedded("chat", "tutor", "Say hello to me in one sentence.", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(event["type"] == "text" for event in events) > 1
    assert events[-1]["usage"]["output"] > 0


def test_the_first_token_is_there_within_six_seconds(shell: Any, embedded_home: Path, tmp_path: Path) -> None:
    """From the start of the process, with no server running and the weights there."""
    home = tmp_path / "cold"
    (home / "models").parent.mkdir()
    (home / "models").symlink_to(embedded_home / "models")
    env = shell.env(SYNDICATE_HOME=str(home), SYNDICATE_LOCAL_IDLE_SECONDS="2")
    began = time.monotonic()
    process = subprocess.Popen(
        shell.command("chat", "tutor", "hi"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env
    )
    assert process.stdout is not None
    assert process.stdout.read(1)
    took = time.monotonic() - began
    process.stdout.close()
    process.wait()
    assert took < 6 * patience(), f"{took:.1f} s"


def patience() -> float:
    """How much longer things may take while other tests keep the cores busy."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
