"""What relates the keys of one agent. Rules read raw, bound data, so they speak even when shapes are wrong."""

from __future__ import annotations

import shlex
from urllib.parse import urlsplit

from syndicate.config.raw import Data, blocks, has, text, texts
from syndicate.config.report import Report
from syndicate.config.source import KeyPath
from syndicate.config.suggestions import did_you_mean

_REMOTE = ("yaml_reference", "a2a_agent_url")
_NO_EFFECT_BESIDE_REMOTE = (
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


def check_orchestrator(path: KeyPath, agent: Data, team: set[str], report: Report) -> None:
    """Every rule of the root agent. `team`: the ADK names it can call as tools."""
    if not (has(agent, "model") or has(agent, "models")):
        report.error(path, "'orchestrator' has no 'model'; add one, or a list of 'models'", "missing-field", key=True)
    _check_agent(path, agent, team, report)


def check_subagent(path: KeyPath, agent: Data, report: Report) -> None:
    """Every rule of a subagent: it is exactly one of inline, another file, a remote agent."""
    name = text(agent, "name")
    who = f"subagent {name!r}" if name else "this subagent"
    if not has(agent, "description"):
        report.error(path, f"{who} has no 'description'; add one: the orchestrator decides by it", "missing-field")
    inline = "instruction_file" if has(agent, "instruction_file") else "instruction"
    kinds = [key for key in (inline, *_REMOTE) if has(agent, key)]
    if not kinds:
        message = f"{who} has none of 'instruction', 'yaml_reference' and 'a2a_agent_url'; add exactly one"
        report.error(path, message, "missing-field")
    for extra in kinds[1:]:
        _exclude(path, kinds[0], extra, report)
    if kinds and kinds[0] in _REMOTE:
        for key in (key for key in _NO_EFFECT_BESIDE_REMOTE if has(agent, key)):
            message = f"{key!r} has no effect beside {kinds[0]!r}; remove it"
            report.warning((*path, key), message, "no-effect", key=True)
    _check_agent(path, agent, set(), report)


def _check_agent(path: KeyPath, agent: Data, team: set[str], report: Report) -> None:
    for first, second in (("model", "models"), ("instruction", "instruction_file")):
        if has(agent, first) and has(agent, second):
            _exclude(path, first, second, report)
    if agent.get("models") == []:
        report.error((*path, "models"), "'models' is empty; list at least one model id", "bad-value")
    if has(agent, "orchestration"):
        report.warning((*path, "orchestration"), "'orchestration' has no effect; remove it", "no-effect", key=True)
    for key in ("a2a_agent_url", "mcp_server_url"):
        _check_url((*path, key), text(agent, key), report)
    for index, server in blocks(agent, "mcp_servers"):
        _check_server((*path, "mcp_servers", index), server, report)
    _check_tools(path, agent, team, report)


def _exclude(path: KeyPath, first: str, second: str, report: Report) -> None:
    message = f"{first!r} and {second!r} exclude each other; keep one"
    report.error((*path, second), message, "exclusive", key=True)


def _check_tools(path: KeyPath, agent: Data, team: set[str], report: Report) -> None:
    seen: set[str] = set()
    for index, tool in texts(agent, "tools"):
        if tool in seen:
            report.error((*path, "tools", index), f"tool {tool!r} is listed twice; keep one", "duplicate-tool")
        seen.add(tool)
    if has(agent, "mcp_server_url") or has(agent, "mcp_servers"):
        return  # the names of a server's tools are known only when it answers
    known = seen | team
    for index, tool in texts(agent, "confirm"):
        if tool not in known:
            hint = did_you_mean(tool, known) or "; add it to 'tools', or remove it here"
            report.error((*path, "confirm", index), f"{tool!r} is no tool of this agent{hint}", "unknown-tool")


def _check_url(path: KeyPath, url: str, report: Report) -> None:
    if url and not _is_http(url):
        report.error(path, f"{url!r} is no http(s) address; write one such as https://host/path", "bad-url")


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return usable and url.isprintable() and " " not in url


def _check_server(path: KeyPath, server: Data, report: Report) -> None:
    if has(server, "url") == has(server, "command"):
        report.error(path, "an MCP server has a 'url' or a 'command'; give exactly one", "exclusive")
    _check_url((*path, "url"), text(server, "url"), report)
    try:
        shlex.split(text(server, "command"))
    except ValueError:
        report.error((*path, "command"), "this command has a quote or '\\' that is never closed", "bad-command")
