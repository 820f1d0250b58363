"""Asking the other rooms: `Checks` put to every value they are about, what they find located in the file."""

from __future__ import annotations

from syndicate.config.checks import Checks, Finding
from syndicate.config.raw import Data, agents, has, is_mapping, text, texts
from syndicate.config.report import Report
from syndicate.config.source import KeyPath

_ROOT_FEATURES = ("dispatch", "guards", "budget", "memory_system")
_AGENT_FEATURES = ("confirm", "mcp_server_url", "mcp_servers", "a2a_agent_url")


def ask(checks: Checks, data: Data, report: Report) -> None:
    """Put what the checks find about a file's bound data into its report."""
    for index, guard in texts(data, "guards"):
        _note(checks.guard(guard), ("guards", index), report)
    _ask_features(checks, (), data, _ROOT_FEATURES, report)
    for path, agent in agents(data):
        _ask_agent(checks, path, agent, report)


def _ask_agent(checks: Checks, path: KeyPath, agent: Data, report: Report) -> None:
    if text(agent, "model"):
        _note(checks.model(agent["model"]), (*path, "model"), report)
    for index, model in texts(agent, "models"):
        _note(checks.model(model), (*path, "models", index), report)
    for index, tool in texts(agent, "tools"):
        _note(checks.tool(tool), (*path, "tools", index), report)
    schema = agent.get("outputSchema")
    if is_mapping(schema):
        for inside, finding in checks.output_schema(schema):
            _note(finding, (*path, "outputSchema", *inside), report)
    _ask_features(checks, path, agent, _AGENT_FEATURES, report)


def _ask_features(checks: Checks, path: KeyPath, block: Data, keys: tuple[str, ...], report: Report) -> None:
    for key in keys:
        if has(block, key):
            _note(checks.feature(key, block[key]), (*path, key), report, key=True)


def _note(finding: Finding | None, path: KeyPath, report: Report, *, key: bool = False) -> None:
    if finding is not None:
        report.add(report.document.locate(*path, key=key), finding.message, finding.code, finding.severity)
