"""Asking the other rooms: `Checks` applied to every value they are about, located in the file."""

from __future__ import annotations

from typing import Any

from syndicate.config.agent_rules import Data, agents, has, items
from syndicate.config.checks import Checks, Finding
from syndicate.config.report import Report
from syndicate.config.source import Path

_ROOT_FEATURES = ("dispatch", "guards", "budget", "memory_system")
_AGENT_FEATURES = ("confirm", "mcp_server_url", "mcp_servers", "a2a_agent_url")


def ask(checks: Checks, data: Data, report: Report) -> None:
    """Put what the checks find about a file's bound data into its report."""
    for index, guard in enumerate(items(data, "guards")):
        _note(checks.guard(guard) if isinstance(guard, str) else None, ("guards", index), report)
    _ask_features(checks, (), data, _ROOT_FEATURES, report)
    for path, agent in agents(data):
        _ask_agent(checks, path, agent, report)


def _ask_agent(checks: Checks, path: Path, agent: Data, report: Report) -> None:
    models: list[tuple[Path, Any]] = [((*path, "model"), agent.get("model"))]
    models += [((*path, "models", index), model) for index, model in enumerate(items(agent, "models"))]
    for place, model in models:
        _note(checks.model(model) if isinstance(model, str) and model else None, place, report)
    for index, tool in enumerate(items(agent, "tools")):
        _note(checks.tool(tool) if isinstance(tool, str) and tool else None, (*path, "tools", index), report)
    schema = agent.get("outputSchema")
    if isinstance(schema, dict):
        for inside, finding in checks.output_schema(schema):
            _note(finding, (*path, "outputSchema", *inside), report)
    _ask_features(checks, path, agent, _AGENT_FEATURES, report)


def _ask_features(checks: Checks, path: Path, block: Data, keys: tuple[str, ...], report: Report) -> None:
    for key in keys:
        if has(block, key):
            _note(checks.feature(key, block[key]), (*path, key), report, key=True)


def _note(finding: Finding | None, path: Path, report: Report, *, key: bool = False) -> None:
    if finding is not None:
        place = report.document.locate(*path, key=key)
        report.add(place, finding.message, finding.code, finding.severity)
