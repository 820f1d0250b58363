"""What an agent asks for and the model that answers has not: said once, never dropped in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from syndicate.models.capabilities import calls_tools
from syndicate.tools.search import left_out as searches_left_out

if TYPE_CHECKING:
    from google.adk.models import BaseLlm
    from google.adk.models.llm_request import LlmRequest

    from syndicate.graph.agents import AgentInfo


def tools_left_out(agent: AgentInfo, model: BaseLlm) -> list[str]:
    """A line for the agent's tools that `model` cannot call, or has not."""
    if agent.tools and not calls_tools(model.model):
        return [f"{model.model} cannot call tools: {', '.join(agent.tools)} left out"]
    transport: str | None = getattr(model, "transport", None)  # an adapter's, where it is not the provider itself
    return list(searches_left_out(agent.tools, model.model, provider=transport))


def settings_left_out(model: BaseLlm, request: LlmRequest) -> list[str]:
    """Lines for what this request asks and the provider has no equivalent for, or cannot follow as it is set."""
    dropped: Callable[[LlmRequest], tuple[str, ...]] | None = getattr(model, "dropped_settings", None)
    warnings: Callable[[LlmRequest], tuple[str, ...]] | None = getattr(model, "warnings", None)
    names = dropped(request) if dropped else ()
    lines = [f"{model.model} has no {', '.join(names)}: left out"] if names else []
    return [*lines, *(warnings(request) if warnings else ())]
