"""Tools that run at the provider: what a request asks for, whatever the wire format calls it."""

from __future__ import annotations

from typing import Any, Literal

from google.adk.models.llm_request import LlmRequest
from google.genai import types

ServerToolKind = Literal["web_search", "google_search", "x_search", "collections_search"]


class ServerTool(types.Tool):
    """Stands in `config.tools` for a tool of the provider's own; adapters that have none of the kind pass it over."""

    kind: ServerToolKind


def server_tools(request: LlmRequest) -> tuple[ServerToolKind, ...]:
    """The kinds that a request asks for, each once."""
    config: Any = request.config  # genai's union of tools names types of packages that are not installed
    return tuple(dict.fromkeys(tool.kind for tool in config.tools or () if isinstance(tool, ServerTool)))
