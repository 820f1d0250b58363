from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import click
import pytest

from syndicate.cli.app import VERBS, group
from syndicate.cli.boundary import Options

HEAVY = ("pydantic", "google", "rich", "prompt_toolkit", "openai", "httpx", "yaml")


def loaded_by(*args: str) -> set[str]:
    """Top-level modules that `syndicate ARGS…` imports."""
    code = "import sys; from syndicate.cli import main; code = main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize("args", [("--help",), (), ("--version",), ("chat", "--help"), ("models", "--help")])
def test_help_imports_nothing_heavy(args: tuple[str, ...]) -> None:
    assert not loaded_by(*args) & set(HEAVY)


def test_help_of_one_verb_imports_no_other() -> None:
    code = "import sys; from syndicate.cli import main; main(['list', '--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    verbs = {name for name in done.stderr.split() if name.removeprefix("syndicate.cli.") in VERBS}
    assert verbs == {"syndicate.cli.list"}


@pytest.mark.parametrize("verb", VERBS)
def test_the_table_of_verbs_says_what_each_verb_says(verb: str) -> None:
    command = importlib.import_module(f"syndicate.cli.{verb}").command
    assert isinstance(command, click.Command)
    assert command.name == verb
    assert (command.help or "").split("\n\n")[0].replace("\n", " ") == VERBS[verb]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_both_spellings(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("-h", "--help"):
        group.main([verb, flag], prog_name="syndicate", standalone_mode=False, obj=Options())
        assert capsys.readouterr().out.startswith(f"Usage: syndicate {verb}")


def test_bare_syndicate_prints_three_lines_to_copy() -> None:
    done = subprocess.run([sys.executable, "-m", "syndicate"], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, len(lines)) == (0, "", 3)
    assert all(line.startswith("syndicate ") for line in lines)


def test_every_verb_is_one_module() -> None:
    folder = Path(importlib.import_module("syndicate.cli").__file__ or "").parent
    assert all((folder / f"{verb}.py").is_file() for verb in VERBS)
