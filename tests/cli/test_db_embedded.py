"""`syndicate db` and `syndicate sessions` on the database that comes along, in a data folder of the test's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from syndicate.settings import Settings
from syndicate.storage import embedded, migrations
from tests.storage.embedding import forget

VERSION = migrations.expected_version()


@pytest.fixture
def settings(shell: Any) -> Iterator[Settings]:
    """The settings of the shell's commands; what they made is deleted after the test."""
    settings = Settings.read({"syndicate_home": shell.home}, env_file=None)
    yield settings
    forget(settings)


def test_status_starts_and_makes_nothing(shell: Any, settings: Settings) -> None:
    done = shell.run("db", "status")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[:2] == ["embedded", str(embedded.status(settings).folder)]
    assert "none yet" in done.stdout
    assert not embedded.status(settings).exists
    assert shell.run("db", "stop").stdout == "it was not running\n"


def test_it_makes_itself_and_is_hardened(shell: Any, settings: Settings) -> None:
    listed = shell.run("sessions", "list", "--json")
    assert (listed.returncode, listed.stdout, listed.stderr) == (0, "[]\n", "")
    status = json.loads(shell.run("db", "status", "--json").stdout)
    assert (status["kind"], status["version"], status["usable"]) == ("embedded", VERSION, True)
    verified = shell.run("db", "verify")
    assert (verified.returncode, verified.stdout.splitlines()[-1]) == (0, "hardened")


def test_apply_as_the_first_command_makes_the_schema(shell: Any, settings: Settings) -> None:
    done = shell.run("db", "apply")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("applied 0001 ")
    assert done.stdout.endswith(f"the schema is version {VERSION}, and hardened\n")


def test_stop_ends_a_server_that_is_in_use(shell: Any, settings: Settings) -> None:
    with embedded.using(settings):
        assert f"runs as process {embedded.status(settings).pid}" in shell.run("db", "status").stdout
        assert shell.run("db", "stop").stdout == "stopped\n"
        assert embedded.status(settings).pid is None
    assert "does not run" in shell.run("db", "status").stdout
