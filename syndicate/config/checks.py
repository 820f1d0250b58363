"""What the loader must ask other rooms, as functions handed in: is this model, tool, guard known here?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from syndicate.config.source import KeyPath
from syndicate.errors import Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check has to say about one value; the loader knows where the value stands."""

    message: str
    code: str
    severity: Severity = "error"


def _nothing(_value: str) -> Finding | None:
    return None


def _no_feature(_key: str, _value: Any) -> Finding | None:
    return None


def _no_schema_findings(_schema: Mapping[str, Any]) -> Iterable[tuple[KeyPath, Finding]]:
    return ()


@dataclass(frozen=True)
class Checks:
    """Functions asked about raw, bound values, even when other parts of the file are wrong. Default: no findings.

    `output_schema` yields findings with a path inside the schema. `feature` is asked for each key present that a
    later version may run (`dispatch`, `guards`, `budget`, `memory_system`, `confirm`, `mcp_server_url`,
    `mcp_servers`, `a2a_agent_url`), with the key's value; its finding is located at the key.
    """

    model: Callable[[str], Finding | None] = _nothing
    tool: Callable[[str], Finding | None] = _nothing
    guard: Callable[[str], Finding | None] = _nothing
    output_schema: Callable[[Mapping[str, Any]], Iterable[tuple[KeyPath, Finding]]] = _no_schema_findings
    feature: Callable[[str, Any], Finding | None] = _no_feature
