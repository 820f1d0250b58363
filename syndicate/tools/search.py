"""Searches that run at the provider: `web_search` and its relatives stand in the request, the adapters do the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from google.adk.tools.base_tool import BaseTool
from typing_extensions import override

from syndicate.models.capabilities import calls_tools, native_tools
from syndicate.models.registry import provider_of
from syndicate.models.server_tools import ServerTool, ServerToolKind, server_tools

if TYPE_CHECKING:
    from google.adk.models.llm_request import LlmRequest
    from google.adk.tools.tool_context import ToolContext

_WARNED = frozenset({"web_search", "google_search"})


class SearchTool(BaseTool):
    """Asks the provider for one of its own tools. Nothing is declared to the model and nothing runs here."""

    def __init__(self, kind: ServerToolKind) -> None:
        super().__init__(name=kind, description=f"the provider's own {kind}")
        self.kind: ServerToolKind = kind

    @override
    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Put the kind into the request, once."""
        if self.kind not in server_tools(llm_request):
            config: Any = llm_request.config  # genai's union of tools names types of packages that are not installed
            config.tools = [*(config.tools or ()), ServerTool(kind=self.kind)]


def web_search() -> SearchTool:
    """The web, searched by the provider."""
    return SearchTool("web_search")


def google_search() -> SearchTool:
    """Google's grounding, by its older name: Gemini only."""
    return SearchTool("google_search")


def x_search() -> SearchTool:
    """Posts on X: xAI only."""
    return SearchTool("x_search")


def collections_search() -> SearchTool:
    """The collections that `XAI_COLLECTION_IDS` names: xAI only."""
    return SearchTool("collections_search")


def left_out(tool_names: Iterable[str], model_id: str, *, provider: str | None = None) -> tuple[str, ...]:
    """What to tell of an agent's searches that the model which answers has not: a line, or none.

    `provider` is who answers when it is not the one that the id names, such as `gateway`. `x_search` and
    `collections_search` do nothing outside xAI, by design; a model that calls no tools at all has its own line.
    """
    named = provider_of(model_id)
    native = native_tools(provider or (named.id if named else ""))
    missing = [name for name in dict.fromkeys(tool_names) if name in _WARNED and name not in native]
    if not missing or not calls_tools(model_id):
        return ()
    if "web_search" in native:
        return (f"google_search is Gemini's and is left out: {model_id} has web_search",)
    who = f"the {provider} to {model_id}" if provider and named and provider != named.id else model_id
    return (f"{who} has no web search of its own: {' and '.join(missing)} left out",)
