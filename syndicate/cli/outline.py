"""The agents of a loaded syndicate, top down, without compiling any of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syndicate.config import LoadedSyndicate
    from syndicate.config.schema import AgentConfig, SubagentConfig


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent. `models` are those it is written with, or inherits; `reference` is the file it mounts, or its URL."""

    name: str
    description: str
    models: tuple[str, ...]
    tools: tuple[str, ...]
    file: Path
    depth: int
    parent: str | None
    reference: str | None = None


def outline(loaded: LoadedSyndicate) -> tuple[Entry, ...]:
    """All agents in order of delegation. What a file holds is listed where the file is first reached."""
    config = loaded.config
    root = _entry(config.orchestrator, loaded, (), 0, None)
    return (root, *_team(loaded, root, {loaded.path}))


def count_agents(loaded: LoadedSyndicate) -> int:
    """How many agents the file and those it nests hold; one that mounts a file is that file's orchestrator."""
    return sum(
        1 + sum(subagent.yaml_reference is None for subagent in file.config.subagents) for file in loaded.files()
    )


def _team(loaded: LoadedSyndicate, parent: Entry, seen: set[Path]) -> Iterator[Entry]:
    for index, subagent in enumerate(loaded.config.subagents):
        nested = loaded.references.get(index)
        if nested is None:
            yield _entry(subagent, loaded, parent.models, parent.depth + 1, parent.name, subagent.a2a_agent_url)
            continue
        entry = _mounted(subagent, nested, parent)
        yield entry
        if nested.path not in seen:
            seen.add(nested.path)
            yield from _team(nested, entry, seen)


def _mounted(subagent: SubagentConfig, nested: LoadedSyndicate, parent: Entry) -> Entry:
    """A subagent that is another file: its own name and description, that file's orchestrator for the rest."""
    return Entry(
        name=subagent.name,
        description=subagent.description or "",
        models=_models(nested.config.orchestrator),
        tools=nested.config.orchestrator.tools,
        file=nested.path,
        depth=parent.depth + 1,
        parent=parent.name,
        reference=subagent.yaml_reference,
    )


def _entry(
    agent: AgentConfig,
    loaded: LoadedSyndicate,
    inherited: tuple[str, ...],
    depth: int,
    parent: str | None,
    reference: str | None = None,
) -> Entry:
    return Entry(
        name=agent.name,
        description=agent.description or "",
        models=() if reference else (_models(agent) or inherited),
        tools=agent.tools,
        file=loaded.path,
        depth=depth,
        parent=parent,
        reference=reference,
    )


def _models(agent: AgentConfig) -> tuple[str, ...]:
    return agent.models or ((agent.model,) if agent.model else ())
