"""Find, read, bind, check and nest syndicate files. (The signatures come first; the work follows.)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from syndicate.config.checks import Checks
from syndicate.config.schema import Scalar, SyndicateConfig
from syndicate.errors import Location, Problem
from syndicate.settings import Settings


@dataclass(frozen=True, eq=False)
class LoadedSyndicate:
    """A file that holds no errors, with the files it nests (by index in `subagents`)."""

    path: Path
    name: str
    config: SyndicateConfig
    references: Mapping[int, LoadedSyndicate]
    problems: tuple[Problem, ...]

    def locate(self, *path: str | int, key: bool = False) -> Location:
        """Where a value (or its key) is written; the nearest parent when it is not written."""
        raise NotImplementedError

    def files(self) -> tuple[LoadedSyndicate, ...]:
        """This file and all nested ones, each once."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Available:
    """A syndicate that a bare name finds."""

    name: str
    path: Path
    root: Literal["agents", "examples", "templates", "shipped"]


def load(
    name_or_path: str | Path,
    *,
    settings: Settings,
    checks: Checks | None = None,
    bindings: Mapping[str, Scalar] | None = None,
    strict: bool = False,
) -> LoadedSyndicate:
    """Load a syndicate and all it nests; `ConfigError` holds every problem of every file."""
    raise NotImplementedError


def find(name_or_path: str | Path, settings: Settings) -> Path:
    """The file of a name or path; `UsageError` with suggestions when it is nowhere."""
    raise NotImplementedError


def available(settings: Settings) -> tuple[Available, ...]:
    """Every syndicate a bare name finds, sorted."""
    raise NotImplementedError


def parse_binding(text: str) -> tuple[str, Scalar]:
    """`name=value` of `--bind`, the value typed as YAML 1.2 does; `UsageError` when malformed."""
    raise NotImplementedError
