"""From the start of `syndicate chat tutor "hi"` to the first streamed token, the model file being there."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.process import cpu_seconds, script, seconds_until
from benchmarks.report import Row
from syndicate.settings import Settings

RUNS = 3
COMMAND = (script("syndicate"), "chat", "--json", "tutor", "hi")


def first_token() -> list[Row]:
    """With the embedded model's server not running yet, and with it running."""
    cpu_seconds([script("syndicate"), "models", "pull", "local/smollm2"])
    cold, warm = [], []
    for _ in range(RUNS):
        with data_folder() as environment:
            cold.append(seconds_until(COMMAND, is_text, environment))
            warm.append(seconds_until(COMMAND, is_text, environment))
    return [
        Row(f'`chat tutor "hi"` to the first token, {state}', f"{seconds:.1f} s", "", "≤ 6 s", seconds <= 6)
        for state, seconds in (("server cold", statistics.median(cold)), ("server warm", statistics.median(warm)))
    ]


def is_text(line: str) -> bool:
    """Whether a line of `--json` is a piece of the answer."""
    return json.loads(line)["type"] == "text"


@contextmanager
def data_folder() -> Iterator[Mapping[str, str]]:
    """An environment with a data folder of its own, which has the weights but no running server."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        (Path(folder) / "models").symlink_to(Settings.read().home / "models", target_is_directory=True)
        yield {
            **os.environ,
            "SYNDICATE_HOME": folder,
            "SYNDICATE_LOCAL_IDLE_SECONDS": "10",
            "OLLAMA_BASE_URL": "http://127.0.0.1:9",  # nothing listens there, so that the embedded model answers
        }
