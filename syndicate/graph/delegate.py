"""A subagent as a tool: same session, same memory, in the same run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from google.adk.tools.base_tool import BaseTool
from google.genai import types
from typing_extensions import override

from syndicate.errors import FeatureUnavailableError, ModelUnavailableError, StepLimitError
from syndicate.graph.agents import FileLimit
from syndicate.graph.scope import CURRENT, LIMITS

if TYPE_CHECKING:
    from google.adk.agents import LlmAgent
    from google.adk.tools.tool_context import ToolContext

    from syndicate.graph.instructions import DatedText

FATAL = (FeatureUnavailableError, ModelUnavailableError, StepLimitError)
"""Errors of a subagent that end the turn: no other wording of the request would mend them."""


class DelegateTool(BaseTool):
    """Runs a single-turn agent on `request` and returns its reply (a mapping when it has an `outputSchema`).

    Unlike ADK's `AgentTool` it opens no runner, session or memory of its own; events go to the session on a branch
    that the caller's later prompts leave out. `limit` is that of the calling file when the agent is of another one.
    """

    def __init__(
        self, name: str, agent: LlmAgent, *, display_name: str, description: DatedText, limit: FileLimit | None = None
    ) -> None:
        super().__init__(name=name, description=description.text)
        self.agent = agent
        self.display_name = display_name
        self._description = description
        self._limit = limit

    @override
    def _get_declaration(self) -> types.FunctionDeclaration:
        request = {"type": "string", "description": "What to do, with everything needed to do it."}
        return types.FunctionDeclaration(
            name=self.name,
            description=self._description.render(),
            parameters_json_schema={"type": "object", "properties": {"request": request}, "required": ["request"]},
        )

    @override
    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        request = args.get("request")
        if not request:
            return {"error": f"{self.name} was called without a request: pass what it is to do"}
        # ADK hides a child's events from its caller by a branch of exactly this form.
        own = f"{self.agent.name}@{tool_context.function_call_id}"
        branch = f"{tool_context.branch}.{own}" if tool_context.branch else own
        token = LIMITS.set((*LIMITS.get(), self._limit)) if self._limit else None
        try:
            text = request if isinstance(request, str) else json.dumps(request, ensure_ascii=False)
            return await tool_context.run_node(self.agent, node_input=text, override_branch=branch)
        except Exception as error:
            return self._failed(error)
        finally:
            if token is not None:
                LIMITS.reset(token)

    def _failed(self, error: Exception) -> dict[str, str]:
        cause: Exception = getattr(error, "error", error)  # ADK wraps what a node raised
        if isinstance(cause, FATAL):
            if scope := CURRENT.get():
                scope.fail(cause)
            raise cause
        return {"error": f"{self.display_name} failed: {cause}"}
