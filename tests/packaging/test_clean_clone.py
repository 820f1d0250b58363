"""The README's two commands, on a clone with nothing set up. Minutes long: run where CI=true.

What is proved is that they set everything up and then run: `make test` gets two modules of tests. The whole suite is
`.ci/run`'s own business.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = ("SYNDICATE_", "PYTEST_", "PYTHONPATH", "VIRTUAL_ENV", "MAKE", "MFLAGS")

pytestmark = [
    pytest.mark.clean_clone,
    pytest.mark.live,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.environ.get("CI") != "true", reason="installs everything anew; set CI=true to run it"),
]


def run(clone: Path, *command: str, said: str = "") -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    environment["OLLAMA_BASE_URL"] = "http://127.0.0.1:9"  # nobody listens: the embedded model is to answer
    environment["SYNDICATE_HOME"] = str(clone.parent / "data")  # with no weights yet
    environment["SYNDICATE_LOCAL_IDLE_SECONDS"] = "60"
    return subprocess.run(
        command, cwd=clone, env=environment, input=said, capture_output=True, text=True, timeout=1100, check=False
    )


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A clone of what is committed."""
    folder = tmp_path_factory.mktemp("clean") / "syndicate"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    yield folder
    run(folder, "make", "clean")


def test_make_chat_and_make_test_of_two_modules_do_all_the_setting_up(clone: Path) -> None:
    first = run(clone, "make", "chat", said="What is a prime number?")
    assert first.returncode == 0, first.stderr
    assert len(first.stdout.split()) >= 3
    assert not any(word in first.stdout for word in ("make", "pip", "install", "Successfully"))

    again = run(clone, "make", "chat", said="hi")
    assert again.returncode == 0, again.stderr
    assert again.stdout.strip()
    assert "installing" not in again.stderr

    tested = run(clone, "make", "test", "TESTS=tests/examples/test_examples.py tests/packaging/test_import.py")
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert " passed" in tested.stdout

    # What was installed for the tests serves the chat, too.
    assert run(clone, "scripts/install", "local").stderr == ""
