"""The command line in a process of its own, in a folder of its own, with scripted models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.weights import embedded_home

__all__ = ["embedded_home"]

LAUNCHER = Path(__file__).with_name("scripted_launcher.py")
CLEAN = ("SYNDICATE_", "GOOGLE_", "GEMINI_", "ANTHROPIC_", "OPENAI_", "XAI_", "OLLAMA_", "NO_COLOR", "COLUMNS", "LINES")

PAIR = """\
syndicate_name: Pair
description: One leads, one looks things up.
memory_system: internal-only
variables:
  topic: the sky
orchestrator:
  name: Lead
  model: scripted/lead
  instruction: You lead. The topic is {{topic}}.
subagents:
  - name: Researcher
    description: Looks things up.
    model: scripted/researcher
    instruction: You look things up.
"""


class Shell:
    """A working directory with `config/agents/pair.yaml`, a data folder and scripted replies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.replies = folder / "replies.json"
        self.agents = folder / "config" / "agents"
        self.agents.mkdir(parents=True)
        (self.agents / "pair.yaml").write_text(PAIR, encoding="utf-8")
        self.script(["hello from the lead"])

    def script(self, lead: list[Any], researcher: list[Any] | None = None) -> None:
        """What the two models say, in order, over and over."""
        replies = {"scripted/lead": lead, "scripted/researcher": researcher or ["looked up"]}
        self.replies.write_text(json.dumps(replies), encoding="utf-8")

    def env(self, **more: str) -> dict[str, str]:
        """An environment without anybody's keys or settings."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(CLEAN)}
        return {**kept, "SYNDICATE_HOME": str(self.home), "OLLAMA_BASE_URL": "http://127.0.0.1:9", **more}

    def command(self, *args: str, scripted: bool = True) -> list[str]:
        """The command line of `syndicate ARGS…`."""
        start = [str(LAUNCHER), str(self.replies)] if scripted else ["-m", "syndicate"]
        return [sys.executable, *start, *args]

    def run(
        self, *args: str, stdin: str | bytes | None = None, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `syndicate ARGS…` to its end; without `stdin` there is nothing to read."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            self.command(*args),
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            cwd=cwd or self.folder,
            env=self.env(**env),
            timeout=120,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def spawn(self, *args: str, **env: str) -> pexpect.spawn[str]:
        """Run `syndicate ARGS…` in a pseudo-terminal of 100 columns."""
        command = self.command(*args)
        environment = self.env(**{"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", **env})
        return pexpect.spawn(
            command[0],
            command[1:],
            cwd=str(self.folder),
            env=environment,  # type: ignore[arg-type]
            encoding="utf-8",
            timeout=30,
            dimensions=(40, 100),
        )


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def terminal(shell: Shell) -> Iterator[Callable[..., pexpect.spawn[str]]]:
    """Starts `syndicate ARGS…` in a pseudo-terminal; it is ended with the test."""
    started: list[pexpect.spawn[str]] = []

    def start(*args: str, **env: str) -> pexpect.spawn[str]:
        started.append(shell.spawn(*args, **env))
        return started[-1]

    yield start
    for process in started:
        process.close(force=True)
