"""Tool names: which exist, which are reserved for a later version, and how a user adds one.

A tool is a factory, called without arguments once for each agent that declares it. It returns an ADK tool, a toolset
or a plain function (whose signature and docstring become the declaration).
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from syndicate.errors import UsageError

if TYPE_CHECKING:
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset

    Tool = BaseTool | BaseToolset | Callable[..., Any]

ToolFactory = Callable[[], "Tool"]

RESERVED = frozenset(
    {
        "web_extract",
        "preload_memory",
        "load_memory",
        "generate_image",
        "inspect_image",
        "task_add",
        "task_list",
        "task_get",
        "task_update",
        "task_queue",
        "wiki_map",
        "wiki_search",
        "wiki_read",
        "wiki_links",
        "wiki_dive",
        "wiki_graph",
        "wiki_save",
        "wiki_relate",
        "wiki_query",
        "wiki_garden",
    }
)
"""Names of tools that come with later versions; nobody may register them."""

_SHIPPED: dict[str, str] = {
    "web_search": "syndicate.tools.search:web_search",
    "google_search": "syndicate.tools.search:google_search",
    "x_search": "syndicate.tools.search:x_search",
    "collections_search": "syndicate.tools.search:collections_search",
}
_registered: dict[str, str | ToolFactory] = {}


def register_tool(name: str, factory: str | ToolFactory) -> None:
    """Make `name` usable under `tools:`. `factory` is a callable without arguments, or `"module:factory"`.

    Registering a name again replaces it. Raises `UsageError` for a name that is not an identifier or is reserved.
    """
    if not (name.isidentifier() and name.isascii()):
        raise UsageError(f"{name!r} cannot name a tool", remediation="use letters, digits and _")
    if name in RESERVED or name in _SHIPPED:
        raise UsageError(f"{name!r} is a tool of the framework", remediation="register yours under another name")
    if isinstance(factory, str) and ":" not in factory:
        raise UsageError(f"{factory!r} does not name a factory", remediation="write 'module:factory'")
    _registered[name] = factory


def is_known(name: str) -> bool:
    """Whether an agent that declares `name` gets a tool in this version."""
    return name in _SHIPPED or name in _registered


def suggestion(name: str) -> str | None:
    """The known or reserved name that `name` is closest to, if any is close."""
    close = difflib.get_close_matches(name, sorted({*_SHIPPED, *_registered, *RESERVED}), n=1)
    return close[0] if close else None


def create(name: str) -> Tool:
    """A new tool for one agent. Raises `KeyError` for an unknown name, `UsageError` when its factory cannot be had."""
    factory = _registered.get(name) or _SHIPPED[name]
    if isinstance(factory, str):
        factory = _imported(name, factory)
    return _named(name, factory())


def _imported(name: str, reference: str) -> ToolFactory:
    module, _, attribute = reference.partition(":")
    try:
        return cast(ToolFactory, getattr(importlib.import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"tool {name!r}: cannot import {reference!r} ({error})",
            remediation="register it with a 'module:factory' that exists",
        ) from error


def _named(name: str, tool: Tool) -> Tool:
    """A plain function as an ADK tool that carries the registered name."""
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset

    from syndicate.tools.function import NamedFunctionTool

    return tool if isinstance(tool, BaseTool | BaseToolset) else NamedFunctionTool(name, tool)
