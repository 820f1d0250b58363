"""What the format knows and this version cannot run yet."""

from __future__ import annotations

from typing import Any

from syndicate.tools import registry as tools

_LATER = {
    "dispatch": "plan-dispatch",
    "guards": "guards",
    "budget": "budgets",
    "confirm": "confirmation of tool calls",
    "memory_system": "long-term memory",
    "mcp_server_url": "MCP servers",
    "mcp_servers": "MCP servers",
    "a2a_agent_url": "remote agents",
}

ROOT_KEYS = ("dispatch", "guards", "budget", "memory_system")
AGENT_KEYS = ("confirm", "mcp_server_url", "mcp_servers", "a2a_agent_url")


def missing_feature(key: str, value: Any) -> str | None:
    """One line when `key: value` asks for something this version cannot run, else None."""
    asked = value == "long-term" if key == "memory_system" else bool(value)
    if not asked or key not in _LATER:
        return None
    return f"this version cannot run {key!r} ({_LATER[key]})"


def missing_tool(name: str) -> str | None:
    """One line when `name` is reserved for a tool that this version does not have, else None."""
    if name in tools.RESERVED and not tools.is_known(name):
        return f"this version does not have the tool {name!r}"
    return None
