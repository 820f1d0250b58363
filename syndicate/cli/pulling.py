"""A download as one line that fills up, on a terminal's standard error."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from syndicate.cli.visible import one_line

if TYPE_CHECKING:
    from syndicate.settings import Settings

_WIDTH = 24
_MEGABYTE = 1_000_000


def pull_weights(model_id: str, settings: Settings) -> Path:
    """Pull the weights of an embedded model with a progress bar. Raises `ModelUnavailableError`."""
    from syndicate.models.weights import pull

    with PullBar(f"pulling {model_id}") as bar:
        return pull(model_id, settings, bar)


def pull_by_daemon(model_id: str, settings: Settings) -> None:
    """Have the Ollama daemon pull a model, with a progress bar. Raises `RunError`."""
    import asyncio

    from syndicate.models.ollama_daemon import pull

    with PullBar(f"pulling {model_id}") as bar:
        asyncio.run(pull(model_id, settings, bar))


class PullBar:
    """Called with the bytes that are there and those there will be; draws nothing where there is no terminal."""

    def __init__(self, label: str) -> None:
        self._label = one_line(label, 60)
        self._drawn = 0
        self._at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            sys.stderr.write("\r" + " " * self._drawn + "\r")
            sys.stderr.flush()

    def __call__(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if not sys.stderr.isatty() or (now - self._at < 0.1 and done != total):
            return
        self._at = now
        line = f"{self._label}  {progress(done, total)}"
        sys.stderr.write(f"\r{line:<{self._drawn}}")
        sys.stderr.flush()
        self._drawn = len(line)


def progress(done: int, total: int | None) -> str:
    """A bar with megabytes; megabytes alone while the end is unknown."""
    if not total:
        return f"{done / _MEGABYTE:.0f} MB"
    full = min(_WIDTH, _WIDTH * done // total)
    fill, rest = ("━", "╌") if "utf" in (sys.stderr.encoding or "").lower() else ("#", "-")
    return f"{fill * full}{rest * (_WIDTH - full)}  {done / _MEGABYTE:.0f} of {total / _MEGABYTE:.0f} MB"
