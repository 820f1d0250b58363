"""A syndicate as a picture in text: a tree for a terminal, mermaid for Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from syndicate.config.loader import LoadedSyndicate
from syndicate.config.schema import AgentConfig, SubagentConfig

Kind = Literal["orchestrator", "subagent", "remote"]


@dataclass(frozen=True, slots=True)
class Node:
    """An agent in the picture. `key` is unique; `seen` marks a nested file that is drawn elsewhere already."""

    key: str
    name: str
    kind: Kind
    detail: str
    children: tuple[Node, ...] = ()
    seen: bool = False


def tree(loaded: LoadedSyndicate) -> str:
    """One agent a line, subagents below their orchestrator; no line end at the end."""
    root = _root(loaded)
    return "\n".join([f"{loaded.config.syndicate_name}", *_lines([root], "")])


def mermaid(loaded: LoadedSyndicate) -> str:
    """A mermaid flowchart; no line end at the end."""
    lines = ["flowchart TD"]
    drawn: set[str] = set()
    _draw(_root(loaded), lines, drawn)
    return "\n".join(lines)


def _root(loaded: LoadedSyndicate) -> Node:
    keys = {file.path: f"f{number}" for number, file in enumerate(loaded.files())}
    return _file(loaded, keys, set())


def _file(loaded: LoadedSyndicate, keys: Mapping[Path, str], done: set[Path]) -> Node:
    key = keys[loaded.path]
    config = loaded.config
    if loaded.path in done:
        return Node(f"{key}_0", config.orchestrator.name, "orchestrator", f"see above: {loaded.path.name}", seen=True)
    done.add(loaded.path)
    children = tuple(_subagent(loaded, index, subagent, keys, done) for index, subagent in enumerate(config.subagents))
    return Node(f"{key}_0", config.orchestrator.name, "orchestrator", _detail(config.orchestrator), children)


def _subagent(
    loaded: LoadedSyndicate, index: int, config: SubagentConfig, keys: Mapping[Path, str], done: set[Path]
) -> Node:
    key = f"{keys[loaded.path]}_{index + 1}"
    if nested := loaded.references.get(index):
        return Node(key, config.name, "subagent", config.yaml_reference or "", (_file(nested, keys, done),))
    if config.a2a_agent_url:
        return Node(key, config.name, "remote", config.a2a_agent_url)
    inherited = "" if config.model or config.models else "inherits its model"
    return Node(key, config.name, "subagent", _detail(config) or inherited)


def _detail(config: AgentConfig) -> str:
    models = " | ".join(config.models) or config.model or ""
    tools = f"tools: {', '.join(config.tools)}" if config.tools else ""
    return " · ".join(part for part in (models, tools) if part)


def _lines(nodes: list[Node], indent: str) -> Iterator[str]:
    for number, node in enumerate(nodes):
        last = number == len(nodes) - 1
        detail = f"  ({node.detail})" if node.detail else ""
        yield f"{indent}{'└── ' if last else '├── '}{node.name}{detail}"
        yield from _lines(list(node.children), f"{indent}{'    ' if last else '│   '}")


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
    return re.sub(r"\s+", " ", escaped)
