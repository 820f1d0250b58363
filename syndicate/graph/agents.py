"""What is known of a compiled agent, beside its ADK object."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from syndicate.errors import Location


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """One agent of a compiled syndicate.

    `models` are the ids it may use, in order; `tools` the names it got (dropped ones are not there); `depth` counts
    from 0 at the root orchestrator; `parent` is the display name of who may call it.
    """

    name: str
    adk_name: str
    description: str
    models: tuple[str, ...]
    tools: tuple[str, ...]
    file: Path
    depth: int
    parent: str | None
    location: Location

    @property
    def is_root(self) -> bool:
        """Whether this is the orchestrator of the syndicate that was opened."""
        return self.parent is None


@dataclass(frozen=True, slots=True)
class FileLimit:
    """`max_steps` of one file: what the agents of this file and those it nests may spend in one turn."""

    file: Path
    max_steps: int
