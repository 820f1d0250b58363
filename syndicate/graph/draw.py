"""A syndicate as a picture in text: a tree for a terminal, mermaid for Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from syndicate.config.loader import LoadedSyndicate
from syndicate.config.schema import AgentConfig, SubagentConfig

Kind = Literal["orchestrator", "subagent", "remote"]


@dataclass(frozen=True, slots=True)
class Node:
    """An agent in the picture. `key` is unique; `seen` marks a nested file that is drawn elsewhere already.

    `models` are those it is written with, or inherits; `reference` is the file it mounts, or its URL.
    """

    key: str
    name: str
    kind: Kind
    file: Path
    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    reference: str | None = None
    inherits: bool = False
    children: tuple[Node, ...] = ()
    seen: bool = False

    @property
    def detail(self) -> str:
        """What stands beside the name."""
        if self.seen:
            return f"see above: {self.file.name}"
        if self.reference:
            return self.reference
        models = "" if self.inherits else " | ".join(self.models)
        tools = f"tools: {', '.join(self.tools)}" if self.tools else ""
        return " · ".join(part for part in (models, tools) if part) or ("inherits its model" if self.inherits else "")


def tree(loaded: LoadedSyndicate) -> str:
    """One agent a line, subagents below their orchestrator; no line end at the end."""
    root = _root(loaded)
    return "\n".join([_one_line(loaded.config.syndicate_name), *_lines([root], "")])


def mermaid(loaded: LoadedSyndicate) -> str:
    """A mermaid flowchart; no line end at the end."""
    lines = ["flowchart TD"]
    drawn: set[str] = set()
    _draw(_root(loaded), lines, drawn)
    return "\n".join(lines)


def nodes(loaded: LoadedSyndicate) -> tuple[Node, ...]:
    """Every agent once, top down; those that a file nests hang below its orchestrator only."""
    found: dict[str, Node] = {}
    waiting = [_root(loaded)]
    while waiting:
        node = waiting.pop()
        if not node.seen:
            found[node.key] = node
        waiting.extend(reversed(node.children))
    return tuple(found.values())


def _root(loaded: LoadedSyndicate) -> Node:
    keys = {file.path: f"f{number}" for number, file in enumerate(loaded.files())}
    return _file(loaded, keys, set())


def _file(loaded: LoadedSyndicate, keys: Mapping[Path, str], done: set[Path]) -> Node:
    agent, seen = loaded.config.orchestrator, loaded.path in done
    done.add(loaded.path)
    subagents = () if seen else enumerate(loaded.config.subagents)
    children = tuple(_subagent(loaded, index, subagent, keys, done) for index, subagent in subagents)
    return Node(
        key=f"{keys[loaded.path]}_0",
        name=agent.name,
        kind="orchestrator",
        file=loaded.path,
        models=_models(agent),
        tools=agent.tools,
        children=children,
        seen=seen,
    )


def _subagent(
    loaded: LoadedSyndicate, index: int, agent: SubagentConfig, keys: Mapping[Path, str], done: set[Path]
) -> Node:
    nested = loaded.references.get(index)
    reference = agent.yaml_reference or agent.a2a_agent_url
    own = _models(agent)
    return Node(
        key=f"{keys[loaded.path]}_{index + 1}",
        name=agent.name,
        kind="remote" if agent.a2a_agent_url else "subagent",
        file=loaded.path,
        models=() if reference else own or _models(loaded.config.orchestrator),
        tools=() if reference else agent.tools,
        reference=reference,
        inherits=not (reference or own),
        children=(_file(nested, keys, done),) if nested else (),
    )


def _models(agent: AgentConfig) -> tuple[str, ...]:
    return agent.models or ((agent.model,) if agent.model else ())


def _lines(nodes: Sequence[Node], indent: str) -> Iterator[str]:
    for number, node in enumerate(nodes):
        last = number == len(nodes) - 1
        detail = f"  ({_one_line(node.detail)})" if node.detail else ""
        yield f"{indent}{'└── ' if last else '├── '}{_one_line(node.name)}{detail}"
        yield from _lines(node.children, f"{indent}{'    ' if last else '│   '}")


_SHAPES: dict[Kind, tuple[str, str]] = {"orchestrator": ("[[", "]]"), "subagent": ("[", "]"), "remote": ("([", "])")}


def _draw(node: Node, lines: list[str], drawn: set[str]) -> None:
    if node.key not in drawn:
        drawn.add(node.key)
        opening, closing = _SHAPES[node.kind]
        label = "<br/>".join(_quoted(text) for text in (node.name, node.detail) if text)
        lines.append(f'    {node.key}{opening}"{label}"{closing}')
    for child in node.children:
        _draw(child, lines, drawn)
        lines.append(f"    {node.key} --> {child.key}")


def _quoted(text: str) -> str:
    """Text for a quoted mermaid label: its own markup and line ends taken out."""
    escaped = text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return _one_line(escaped)


def _one_line(text: str) -> str:
    return " ".join(text.split())
