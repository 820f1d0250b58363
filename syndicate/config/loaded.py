"""A syndicate that was loaded: its configuration, the files it nests, and where everything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from syndicate.config.schema import SyndicateConfig
from syndicate.config.source import Document
from syndicate.errors import Location, Problem


@dataclass(frozen=True, eq=False)
class LoadedSyndicate:
    """A file without errors. `references` are the files it nests, by index in `config.subagents`.

    `path` is absolute. A file that is reached twice is the same object. `problems` are warnings; the root's hold
    those of all files.
    """

    path: Path
    name: str
    config: SyndicateConfig
    references: Mapping[int, LoadedSyndicate]
    problems: tuple[Problem, ...]
    document: Document = field(repr=False)

    def locate(self, *path: str | int, key: bool = False) -> Location:
        """Where a value (or its key) is written, by the file's own key names; else its nearest parent."""
        return self.document.locate(*path, key=key)

    def files(self) -> tuple[LoadedSyndicate, ...]:
        """This file and all it nests, each once, parents first."""
        found: dict[int, LoadedSyndicate] = {}
        waiting: list[LoadedSyndicate] = [self]
        while waiting:
            loaded = waiting.pop(0)
            if id(loaded) not in found:
                found[id(loaded)] = loaded
                waiting.extend(loaded.references.values())
        return tuple(found.values())
