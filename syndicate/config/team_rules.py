"""What relates the agents of one file to one another, and to the keys at its root."""

from __future__ import annotations

from syndicate.config.agent_rules import Data, agents, check_agent, display_name, has, items, team_names
from syndicate.config.dispatch_rules import check_dispatch
from syndicate.config.names import adk_name
from syndicate.config.report import Report
from syndicate.config.source import Path


def check_rules(data: Data, report: Report) -> None:
    """Every rule of the format that relates one key to another."""
    team = team_names(data)
    for path, agent in agents(data):
        check_agent(path, agent, team if path == ("orchestrator",) else set(), report)
    _check_names(data, report)
    _check_tool_clashes(data, report)
    if isinstance(data.get("dispatch"), dict):
        check_dispatch(data, report)
    if has(data, "memory_extraction_rules") and data.get("memory_system") != "long-term":
        message = "'memory_extraction_rules' has no effect unless 'memory_system' is 'long-term'"
        report.warning(("memory_extraction_rules",), message, "no-effect", key=True)


def _check_names(data: Data, report: Report) -> None:
    first: dict[str, tuple[Path, str]] = {}
    for path, agent in agents(data):
        name = display_name(agent)
        if name is None:
            continue
        derived = adk_name(name)
        place = (*path, "name")
        if derived.casefold() == "user":
            report.error(place, f"an agent may not be called {name!r}: it is the person's name; rename it", "reserved")
        elif derived in first:
            _report_clash(first[derived], (place, name), derived, report)
        else:
            first[derived] = (place, name)


def _report_clash(first: tuple[Path, str], second: tuple[Path, str], derived: str, report: Report) -> None:
    lines = f"on lines {report.document.locate(*first[0]).line} and {report.document.locate(*second[0]).line}"
    names = f"two agents are called {second[1]!r}"
    if first[1] != second[1]:
        names = f"agents {first[1]!r} and {second[1]!r} both become {derived!r}"
    report.error(second[0], f"{names}, {lines}; rename one", "duplicate-name")


def _check_tool_clashes(data: Data, report: Report) -> None:
    root = data.get("orchestrator")
    tools = items(root, "tools") if isinstance(root, dict) else []
    lines = {
        tool: report.document.locate("orchestrator", "tools", index).line
        for index, tool in enumerate(tools)
        if isinstance(tool, str)
    }
    for path, agent in agents(data):
        name = display_name(agent)
        if path[0] == "subagents" and name and adk_name(name) in lines:
            place = report.document.locate(*path, "name").line
            message = f"subagent {name!r} (line {place}) has the name of the orchestrator's tool {adk_name(name)!r}"
            line = lines[adk_name(name)]
            report.error((*path, "name"), f"{message} (line {line}); rename the subagent", "tool-clash")
