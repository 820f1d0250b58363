"""What the documents show is run: YAML is validated, Python executed, command lines parsed.

A comment before a block says more: `<!-- file: NAME -->` saves it under that name for the blocks after it, and
`<!-- run: live -->` means that it needs the embedded model.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from syndicate.config import load
from syndicate.graph.checks import default_checks
from syndicate.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "QUICKSTART.md",
    "docs/syndicate-yaml.md",
    "docs/providers.md",
    "docs/storage.md",
    "docs/python.md",
)
BLOCK = re.compile(r"(?:<!-- (?P<note>file|run): (?P<value>\S+) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `file` is where it is saved, `line` where it begins."""

    page: str
    line: int
    kind: str
    text: str
    file: str | None
    live: bool


def blocks(page: str) -> Iterator[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        file = match["value"] if match["note"] == "file" else None
        line = text.count("\n", 0, match.start()) + 1
        yield Block(page, line, match["kind"], match["text"], file, match["note"] == "run")


ALL = [block for page in PAGES for block in blocks(page)]


def params(*wanted: Block) -> list[object]:
    return [
        pytest.param(block, id=f"{block.page}:{block.line}", marks=[pytest.mark.live] if block.live else [])
        for block in wanted
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with the files of every page."""
    for block in ALL:
        if block.file:
            path = tmp_path / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def embedded(request: pytest.FixtureRequest) -> Mapping[str, str]:
    """Variables with which the embedded model answers at once. Nobody listens where Ollama would be."""
    home: Path = request.getfixturevalue("embedded_home")
    return {"SYNDICATE_HOME": str(home), "OLLAMA_BASE_URL": "http://127.0.0.1:9"}


def run(folder: Path, *command: str | Path, variables: Mapping[str, str] | None = None) -> CompletedProcess[str]:
    ours = ("PYTEST_", "SYNDICATE_", "GOOGLE_", "GEMINI_", "OLLAMA_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return subprocess.run(
        command,
        cwd=folder,
        env=environment | {"SYNDICATE_HOME": str(folder / "home")} | dict(variables or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


@pytest.mark.parametrize("block", params(*(block for block in ALL if block.kind == "yaml")))
def test_yaml_is_valid(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "shown.yaml"
    path.write_text(block.text, encoding="utf-8")
    settings = Settings.read(env_file=None)
    problems = load(path, settings=settings, checks=default_checks(settings)).problems
    assert all("unknown tool" in problem.message for problem in problems)


@pytest.mark.parametrize("block", params(*(block for block in ALL if block.kind == "python")))
@pytest.mark.timeout(600)
def test_python_runs(block: Block, folder: Path, request: pytest.FixtureRequest) -> None:
    if block.file:
        command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", block.file]
    else:
        command = ["-W", "error::RuntimeWarning", "-c", block.text]
    variables = request.getfixturevalue("embedded") if block.live else None
    ran = run(folder, sys.executable, *command, variables=variables)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("block", params(*(block for block in ALL if block.kind == "sh")))
def test_command_lines_can_be_typed(block: Block) -> None:
    from syndicate.cli.app import group

    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for line in block.text.splitlines():
        for part in re.split(r" \| ", line):
            words = shlex.split(part, comments=True)
            if words[:1] == ["make"]:
                assert words[1] in targets
            elif words[:1] == ["syndicate"]:
                whole = group.make_context("syndicate", [], resilient_parsing=True)
                command = group.get_command(whole, words[1])
                assert command is not None, line
                command.make_context(words[1], words[2:], parent=whole)


def asked(folder: Path, embedded: Mapping[str, str], name: str, message: str) -> dict[str, Any]:
    """The result of a one shot to a syndicate of the pages."""
    command = (sys.executable, "-m", "syndicate", "chat", name, message, "--json")
    ran = run(folder, *command, variables=embedded)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.live
@pytest.mark.timeout(600)
def test_the_poet_of_the_readme_answers_within_its_bounds(folder: Path, embedded: Mapping[str, str]) -> None:
    """What a model this small can be held to: that it is who answers, in words, and stops where the file says."""
    result = asked(folder, embedded, "haiku", "a bicycle")
    assert result["agent"] == "Poet"
    assert 1 <= result["usage"]["output"] <= 60
    assert re.search(r"[A-Za-z]{2,}", result["answer"])
    assert "<|" not in result["answer"]


@pytest.mark.live
@pytest.mark.timeout(600)
def test_the_grader_of_the_quickstart_keeps_to_its_schema(folder: Path, embedded: Mapping[str, str]) -> None:
    result = asked(folder, embedded, "grader", "The package came late and was torn.")
    (mood,) = json.loads(result["answer"]).items()
    assert mood in [("mood", "happy"), ("mood", "unhappy"), ("mood", "neutral")]
