"""What relates the keys of one agent to one another. Rules read raw, bound data, so they speak even when shapes are wrong."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from syndicate.config.names import adk_name
from syndicate.config.report import Report
from syndicate.config.source import Path
from syndicate.config.suggestions import did_you_mean

Data = dict[str, Any]  # what a file says, shapes not yet checked

KINDS = ("instruction", "yaml_reference", "a2a_agent_url")
_ELSEWHERE = (
    "model",
    "models",
    "tools",
    "generateContentConfig",
    "outputSchema",
    "includeContents",
    "outputKey",
    "confirm",
    "mcp_server_url",
    "mcp_servers",
)


def agents(data: Data) -> Iterator[tuple[Path, Data]]:
    """The orchestrator, then each subagent, with its path; what is no mapping is left out."""
    root = data.get("orchestrator")
    if isinstance(root, dict):
        yield ("orchestrator",), root
    for index, agent in enumerate(items(data, "subagents")):
        if isinstance(agent, dict):
            yield ("subagents", index), agent


def items(block: Data, key: str) -> list[Any]:
    """The list under a key, or an empty one when there is no list."""
    value = block.get(key)
    return value if isinstance(value, list) else []


def has(block: Data, key: str) -> bool:
    """Whether a key is there with something behind it."""
    return block.get(key) is not None


def check_agent(path: Path, agent: Data, team: set[str], report: Report) -> None:
    """Every rule of one agent. `team`: the ADK names it can call as tools."""
    _check_model(path, agent, report)
    _check_kind(path, agent, report)
    _check_tools(path, agent, team, report)
    _check_urls(path, agent, report)
    for index, server in enumerate(items(agent, "mcp_servers")):
        if isinstance(server, dict):
            _check_server((*path, "mcp_servers", index), server, report)
    if has(agent, "orchestration"):
        report.warning((*path, "orchestration"), "'orchestration' has no effect; remove it", "no-effect", key=True)


def _check_model(path: Path, agent: Data, report: Report) -> None:
    if has(agent, "model") and has(agent, "models"):
        report.error((*path, "models"), "'model' and 'models' exclude each other; keep one", "exclusive", key=True)
    elif agent.get("models") == []:
        report.error((*path, "models"), "'models' is empty; list at least one model id", "bad-value")
    elif path == ("orchestrator",) and not (has(agent, "model") or has(agent, "models")):
        report.error(path, "'orchestrator' has no 'model'; add one, or a list of 'models'", "missing-field", key=True)


def _check_kind(path: Path, agent: Data, report: Report) -> None:
    """An agent is inline, or (a subagent) another file, or a remote agent: exactly one of them."""
    if has(agent, "instruction") and has(agent, "instruction_file"):
        message = "'instruction' and 'instruction_file' exclude each other; keep one"
        report.error((*path, "instruction_file"), message, "exclusive", key=True)
    inline = "instruction_file" if has(agent, "instruction_file") else "instruction"
    root = path == ("orchestrator",)
    kinds = [key for key in (inline, *KINDS[1:]) if has(agent, key)]
    if root:
        kinds = [key for key in kinds if key == inline]
    if not kinds:
        choice = "'instruction' or 'instruction_file'" if root else "'instruction', 'yaml_reference' or 'a2a_agent_url'"
        report.error(path, f"{_who(path, agent)} has none of {choice}; add one", "missing-field", key=True)
    for extra in kinds[1:]:
        message = f"{kinds[0]!r} and {extra!r} exclude each other; keep one"
        report.error((*path, extra), message, "exclusive", key=True)
    if not root:
        _check_subagent(path, agent, kinds, report)


def _check_subagent(path: Path, agent: Data, kinds: list[str], report: Report) -> None:
    if not has(agent, "description"):
        message = f"{_who(path, agent)} has no 'description'; add one: the orchestrator decides by it"
        report.error(path, message, "missing-field")
    if kinds[:1] in (["yaml_reference"], ["a2a_agent_url"]):
        for key in _ELSEWHERE:
            if has(agent, key):
                message = f"{key!r} has no effect beside {kinds[0]!r}; remove it"
                report.warning((*path, key), message, "no-effect", key=True)


def _who(path: Path, agent: Data) -> str:
    name = agent.get("name")
    role = "subagent" if path[0] == "subagents" else "orchestrator"
    return f"{role} {name!r}" if isinstance(name, str) else f"this {role}"


def _check_tools(path: Path, agent: Data, team: set[str], report: Report) -> None:
    tools = [tool for tool in items(agent, "tools") if isinstance(tool, str)]
    for index, tool in enumerate(items(agent, "tools")):
        if isinstance(tool, str) and tool in items(agent, "tools")[:index]:
            report.error((*path, "tools", index), f"tool {tool!r} is listed twice; keep one", "duplicate-tool")
    if has(agent, "mcp_server_url") or has(agent, "mcp_servers"):
        return  # the names of a server's tools are known only when it answers
    callable_names = [*tools, *sorted(team)]
    for index, tool in enumerate(items(agent, "confirm")):
        if isinstance(tool, str) and tool not in callable_names:
            hint = did_you_mean(tool, callable_names) or "; add it to 'tools' or remove it here"
            report.error((*path, "confirm", index), f"{tool!r} is no tool of this agent{hint}", "unknown-tool")


def _check_urls(path: Path, agent: Data, report: Report) -> None:
    for key in ("a2a_agent_url", "mcp_server_url"):
        _check_url((*path, key), agent.get(key), report)


def _check_url(path: Path, value: Any, report: Report) -> None:
    if isinstance(value, str) and not _is_http(value):
        report.error(path, f"{value!r} is no http(s) address; write one such as https://host/path", "bad-url")


def _is_http(value: str) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not _blank(value)
    except ValueError:
        return False


def _blank(value: str) -> bool:
    return any(char.isspace() or char == "\x00" for char in value)


def _check_server(path: Path, server: Data, report: Report) -> None:
    _check_url((*path, "url"), server.get("url"), report)
    if has(server, "url") == has(server, "command"):
        report.error(path, "an MCP server has either a 'url' or a 'command'; give exactly one", "exclusive")
    command = server.get("command")
    if isinstance(command, str):
        try:
            shlex.split(command)
        except ValueError:
            report.error((*path, "command"), "a quote in this command is never closed; close it", "bad-command")


def display_name(agent: Data) -> str | None:
    """The name of an agent when it is text that holds something."""
    name = agent.get("name")
    return name if isinstance(name, str) and name else None


def team_names(data: Data) -> set[str]:
    """ADK names of all subagents."""
    names = (display_name(agent) for path, agent in agents(data) if path[0] == "subagents")
    return {adk_name(name) for name in names if name}
