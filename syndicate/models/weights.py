"""Weights of embedded models: what a `local/…` id means, where its file is, and how it gets there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syndicate.settings import Settings

PREFIX = "local/"
_REPOSITORY = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?::(?P<file>[\w./+-]+))?")


@dataclass(frozen=True, slots=True)
class Reference:
    """What a `local/…` id names: a file of the user's (`path`), or a file that is pulled (`repository`, `file`)."""

    path: Path | None = None
    repository: str | None = None
    file: str | None = None


SMOLLM2 = Reference(repository="HuggingFaceTB/SmolLM2-135M-Instruct-GGUF", file="SmolLM2-135M-Instruct-Q4_1.gguf")


def parse(model_id: str) -> Reference | None:
    """Read a `local/…` id: the alias `smollm2`, a path ending in `.gguf`, or `organisation/repository[:file]`."""
    name = model_id.removeprefix(PREFIX)
    if name == "smollm2":
        return SMOLLM2
    if name.startswith(("/", "~", ".")) or (name.endswith(".gguf") and ":" not in name):
        return Reference(path=Path(name).expanduser()) if name.endswith(".gguf") else None
    match = _REPOSITORY.fullmatch(name)
    return Reference(repository=match["repo"], file=match["file"]) if match else None


def malformed(model_id: str) -> str | None:
    """One line when a `local/…` id can name nothing; None when it can."""
    if parse(model_id) is not None:
        return None
    name = model_id.removeprefix(PREFIX)
    hint = "; did you mean 'local/smollm2'?" if "smol" in name.lower() else ""
    return (
        f"{model_id!r} names no embedded model (expected 'local/smollm2', 'local/<path>.gguf' or"
        f" 'local/<organisation>/<repository>[:<file>]'){hint}"
    )
