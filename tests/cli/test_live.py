"""The embedded model, really asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


@pytest.fixture
def embedded(shell: Any) -> Any:
    """Runs the command with the user's own data folder, where the weights are kept between runs."""
    pytest.importorskip("xllamacpp", reason="the 'local' extra is not installed")
    from syndicate.settings import Settings

    home = str(Settings.read(env_file=None).home)

    def run(*args: str, **options: Any) -> Any:
        return shell.run(*args, SYNDICATE_HOME=home, **options)

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
