"""What a file says, as plain data whose shapes are not checked yet: rules look at it through these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from syndicate.config.names import adk_name
from syndicate.config.source import KeyPath

Data = dict[str, Any]


def is_mapping(value: Any) -> TypeGuard[Data]:
    """Whether a value is a mapping; its keys then are text, as every key of a file is."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Whether a value is a list."""
    return isinstance(value, list)


def has(block: Data, key: str) -> bool:
    """Whether a key is there with something behind it."""
    return block.get(key) is not None


def mapping(block: Data, key: str) -> Data:
    """The mapping under a key; empty when there is none."""
    value = block.get(key)
    return value if is_mapping(value) else {}


def items(block: Data, key: str) -> list[Any]:
    """The list under a key; empty when there is none."""
    value = block.get(key)
    return value if is_list(value) else []


def text(block: Data, key: str) -> str:
    """The text under a key; empty when there is none."""
    value = block.get(key)
    return value if isinstance(value, str) else ""


def texts(block: Data, key: str) -> Iterator[tuple[int, str]]:
    """The texts of the list under a key, with their indexes."""
    return ((index, item) for index, item in enumerate(items(block, key)) if isinstance(item, str) and item)


def blocks(block: Data, key: str) -> Iterator[tuple[int, Data]]:
    """The mappings of the list under a key, with their indexes."""
    return ((index, item) for index, item in enumerate(items(block, key)) if is_mapping(item))


def subagents(data: Data) -> Iterator[tuple[KeyPath, Data]]:
    """Each subagent with its path."""
    return ((("subagents", index), agent) for index, agent in blocks(data, "subagents"))


def agents(data: Data) -> Iterator[tuple[KeyPath, Data]]:
    """The orchestrator, then each subagent, with its path."""
    root = data.get("orchestrator")
    if is_mapping(root):
        yield ("orchestrator",), root
    yield from subagents(data)


def team_names(data: Data) -> set[str]:
    """ADK names of the subagents."""
    return {adk_name(text(agent, "name")) for _, agent in subagents(data) if text(agent, "name")}
