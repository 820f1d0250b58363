"""What ADK calls around an agent's model and tool calls."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from syndicate.errors import RunError
from syndicate.graph.history import fit, joined
from syndicate.graph.scope import CURRENT
from syndicate.models.capabilities import context_window

if TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext

    from syndicate.graph.agent_model import AgentModel
    from syndicate.graph.agents import AgentInfo
    from syndicate.settings import Settings

HISTORY_CUT = "history_cut"
"""Session state: whether the user was told that older turns no longer fit."""


class ToolCallbacks:
    """Reports an agent's tool calls to the turn; an exception in a tool becomes an error the model can read."""

    def __init__(self, agent: AgentInfo) -> None:
        self._agent = agent

    def before(self, tool: BaseTool, args: dict[str, Any], tool_context: ToolContext) -> None:
        if scope := CURRENT.get():
            scope.tool_started(self._agent, tool_context.function_call_id or "", _shown_name(tool), args)

    def after(self, tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, tool_response: object) -> None:
        self._finished(tool, tool_context, tool_response, _reported_error(tool_response))

    def failed(
        self, tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, error: BaseException
    ) -> dict[str, str] | None:
        """None lets the error end the turn: it was cancelled, or nothing the model could do would help."""
        if isinstance(error, asyncio.CancelledError):
            self._finished(tool, tool_context, None, "cancelled")
            return None
        message = error.message if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
        self._finished(tool, tool_context, None, message)  # a tool that is not there has no `after`
        scope = CURRENT.get()
        return None if scope and scope.failure is not None else {"error": message}

    def _finished(self, tool: BaseTool, tool_context: ToolContext, result: object, error: str | None) -> None:
        if scope := CURRENT.get():
            scope.tool_finished(self._agent, tool_context.function_call_id or "", _shown_name(tool), result, error)


class HistoryCallback:
    """Puts the past turns before the running one, as many as the model's context window holds."""

    def __init__(self, agent: AgentInfo, model: AgentModel, settings: Settings) -> None:
        self._agent, self._model, self._settings = agent, model, settings

    async def __call__(self, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        scope = CURRENT.get()
        if scope is None or not scope.history:
            return
        answering = await self._model.resolve()
        kept = fit(scope.history, llm_request, context_window(answering.model, self._settings))
        past = (content for exchange in kept for content in exchange)
        llm_request.contents = joined((*past, *llm_request.contents))
        left_out = len(kept) < len(scope.history) or scope.history_is_partial
        if left_out and not callback_context.state.get(HISTORY_CUT):
            callback_context.state[HISTORY_CUT] = True
            scope.status(self._agent, "older turns of this conversation are left out of the prompt from here on")


def _shown_name(tool: BaseTool) -> str:
    return getattr(tool, "display_name", tool.name)


def _reported_error(response: object) -> str | None:
    """The error of a tool that reports one instead of raising: a mapping that holds nothing else."""
    if isinstance(response, Mapping) and set(response) == {"error"}:  # pyright: ignore[reportUnknownArgumentType]
        return str(response["error"])  # pyright: ignore[reportUnknownArgumentType]
    return None
