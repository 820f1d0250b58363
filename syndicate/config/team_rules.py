"""What relates the agents of one file to one another, and to the keys at its root."""

from __future__ import annotations

from syndicate.config.agent_rules import check_orchestrator, check_subagent
from syndicate.config.dispatch_rules import check_dispatch
from syndicate.config.names import adk_name
from syndicate.config.raw import Data, agents, is_mapping, mapping, subagents, team_names, text, texts
from syndicate.config.report import Report
from syndicate.config.source import KeyPath


def check_rules(data: Data, report: Report) -> None:
    """Every rule of the format that relates one key to another."""
    if is_mapping(data.get("orchestrator")):
        check_orchestrator(("orchestrator",), data["orchestrator"], team_names(data), report)
    for path, agent in subagents(data):
        check_subagent(path, agent, report)
    _check_names(data, report)
    _check_tool_clashes(data, report)
    if is_mapping(data.get("dispatch")):
        check_dispatch(data, report)
    if text(data, "memory_extraction_rules") and data.get("memory_system") != "long-term":
        message = "'memory_extraction_rules' has no effect unless 'memory_system' is 'long-term'"
        report.warning(("memory_extraction_rules",), message, "no-effect", key=True)


def _check_names(data: Data, report: Report) -> None:
    """No two agents of a file may become the same ADK name, and none the name ADK keeps for the person."""
    first: dict[str, tuple[KeyPath, str]] = {}
    for path, agent in agents(data):
        place, name = (*path, "name"), text(agent, "name")
        if not name:
            continue
        derived = adk_name(name)
        if derived.casefold() == "user":
            message = f"an agent may not be called {name!r}: that is the person who asks; rename it"
            report.error(place, message, "reserved-name")
        elif derived in first:
            _report_clash(first[derived], (place, name), derived, report)
        else:
            first[derived] = (place, name)


def _report_clash(first: tuple[KeyPath, str], second: tuple[KeyPath, str], derived: str, report: Report) -> None:
    one, other = report.document.locate(*first[0]).line, report.document.locate(*second[0]).line
    lines = f"on lines {one} and {other}" if one != other else f"on line {one}"
    names = f"two agents are called {second[1]!r}"
    if first[1] != second[1]:
        names = f"agents {first[1]!r} and {second[1]!r} both become {derived!r}"
    report.error(second[0], f"{names}, {lines}; rename one", "duplicate-name")


def _check_tool_clashes(data: Data, report: Report) -> None:
    """A subagent is a tool of the orchestrator, so it may not have another tool's name."""
    tools = {tool: index for index, tool in texts(mapping(data, "orchestrator"), "tools")}
    for path, agent in subagents(data):
        name = adk_name(text(agent, "name")) if text(agent, "name") else ""
        if name in tools:
            here = report.document.locate(*path, "name").line
            there = report.document.locate("orchestrator", "tools", tools[name]).line
            place = f" on line {there}" if there != here else ""
            message = f"subagent {name!r} on line {here} has the name of the orchestrator's tool{place}"
            report.error((*path, "name"), f"{message}; rename the subagent", "tool-clash")
