"""What `syndicate validate` costs on a file of 1,000 lines, beside PyYAML's C loader on the same text."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from benchmarks.report import Row
from syndicate.config import load
from syndicate.graph.checks import default_checks
from syndicate.settings import Settings

LINES = 1_000
ROUNDS = 30
TARGET = 4.0
HEAD = """\
syndicate_name: Bench
variables:
  tone: plain
orchestrator:
  name: Lead
  model: local/smollm2
  instruction: Ask the one who knows.
subagents:
"""
AGENT = """\
  - name: Agent {number}
    description: Use this one for topic {number}; pass it one focused question.
    model: gemini-3.7-flash
    instruction: |
      You are agent number {number}. Today is {{{{current_date}}}}.
      Answer in one {{{{tone}}}} paragraph, "GET /users/{{id}}" stays as it is.
      Never invent a source.
    tools: [web_search]
    generateContentConfig:
      temperature: 0.7
      maxOutputTokens: 2048
    includeContents: none
"""


def sample(lines: int = LINES) -> str:
    """A correct file of at least so many lines, as people write them: agents with prompts and settings."""
    parts = [HEAD]
    while sum(part.count("\n") for part in parts) < lines:
        parts.append(AGENT.format(number=len(parts)))
    return "".join(parts)


def measure() -> tuple[float, float]:
    """Processor seconds of one validation and of one bare load: medians over rounds, both in turn."""
    text = sample()
    settings = Settings.read(env_file=None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(text, encoding="utf-8")

        def validate() -> None:
            load(path, settings=settings, checks=default_checks(settings))

        def bare() -> None:
            yaml.load(text, yaml.CSafeLoader)

        samples = [(_seconds(validate), _seconds(bare)) for _ in range(ROUNDS + 1)][1:]
    ours, theirs = zip(*samples, strict=True)
    return statistics.median(ours), statistics.median(theirs)


def validate_cost() -> Row:
    """The measurement as a row of the table."""
    ours, bare = measure()
    return Row(
        f"validate a file of {LINES:,} lines; beside it PyYAML's C loader on the same text, CPU",
        f"{1000 * ours:.1f} ms ({ours / bare:.2f}×)",
        f"{1000 * bare:.1f} ms",
        f"≤ {TARGET:.0f}×",
        ours / bare <= TARGET,
    )


def _seconds(work: Callable[[], None]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    print(validate_cost())
