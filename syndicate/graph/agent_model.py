"""The model of one agent, as ADK sees it: picks what is available, counts the call, streams, checks the reply."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from google.adk.models import BaseLlm, LlmCapabilities
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr
from typing_extensions import override

from syndicate.errors import EmptyAnswerError, ModelError, OutputSchemaError, RunError
from syndicate.graph.agents import AgentInfo, FileLimit
from syndicate.graph.history import drop_older_half, joined
from syndicate.graph.left_out import settings_left_out, tools_left_out
from syndicate.graph.schema_model import OutputModel
from syndicate.graph.scope import CURRENT, LIMITS
from syndicate.graph.selection import REST_SECONDS, ModelPool
from syndicate.models.retry import retrying

if TYPE_CHECKING:
    from syndicate.graph.scope import TurnScope

TAKEN_OVER = frozenset({"connection", "overloaded", "rate-limited", "server-error", "timeout"})
"""Codes of failures after which the next of an agent's `models` is asked."""

_AGAIN = "Your reply was empty. Answer now."
_REPAIR = "Your reply does not fit the required JSON Schema: {problems}. Reply again with the corrected JSON only."


class AgentModel(BaseLlm):
    """Hands an agent's requests to the first of its models that is available.

    Inside a turn it streams to the turn's scope by itself and yields ADK the whole reply only, so that nothing is
    seen or stored twice. A reply without text or calls is asked for once more; one that does not fit the agent's
    `outputSchema` is sent back for one repair. `blocked` is raised instead of a call.
    """

    _agent: AgentInfo = PrivateAttr()
    _candidates: tuple[str | BaseLlm, ...] = PrivateAttr()
    _pool: ModelPool = PrivateAttr()
    _limit: FileLimit = PrivateAttr()
    _schema: type[OutputModel] | None = PrivateAttr(default=None)
    _blocked: RunError | None = PrivateAttr(default=None)
    _chosen: BaseLlm | None = PrivateAttr(default=None)
    _said: set[str] = PrivateAttr(default_factory=set[str])
    _reconsider: float = PrivateAttr(default=math.inf)

    def __init__(
        self,
        agent: AgentInfo,
        candidates: Sequence[str | BaseLlm],
        pool: ModelPool,
        limit: FileLimit,
        *,
        schema: type[OutputModel] | None = None,
        blocked: RunError | None = None,
    ) -> None:
        super().__init__(model=agent.models[0])
        self._agent, self._candidates, self._pool, self._limit = agent, tuple(candidates), pool, limit
        self._schema, self._blocked = schema, blocked

    @property
    @override
    def capabilities(self) -> LlmCapabilities:
        return LlmCapabilities(output_schema_and_tools=True)  # replies are checked here, with tools or without

    def use(self, candidate: str | BaseLlm) -> None:
        """From the next call on, use only this model."""
        self.model = candidate if isinstance(candidate, str) else candidate.model
        self._candidates, self._chosen = (candidate,), None

    async def resolve(self) -> BaseLlm:
        """The model that answers; the choice holds until it cannot be reached.

        Raises `FeatureUnavailableError` or `ModelUnavailableError`.
        """
        if self._blocked is not None:
            raise self._blocked
        if self._chosen is None or time.monotonic() >= self._reconsider:
            self._chosen, self._reconsider = await self._pool.first_available(self._candidates, self._agent), math.inf
            self._announce(self._chosen)
        return self._chosen

    def _announce(self, model: BaseLlm) -> None:
        scope = CURRENT.get()
        if scope is None:
            return
        if len(self._candidates) > 1:
            scope.status(self._agent, f"answers with {model.model}")
        self._say_tools_left_out(model)

    def _say_tools_left_out(self, model: BaseLlm) -> None:
        for line in tools_left_out(self._agent, model):
            self._say_once(line)

    def _say_once(self, line: str) -> None:
        scope = CURRENT.get()
        if scope is not None and line not in self._said:
            self._said.add(line)
            scope.status(self._agent, line, warning=True)

    @override
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        if self._schema is not None:
            llm_request.config.response_schema = None
            llm_request.config.response_json_schema = self._schema.output_schema
        final = LlmResponse()
        async for response in self._within_window(llm_request, stream):
            if response.partial:
                yield response
            else:
                final = response
        final = await self._checked(llm_request, final)
        if (scope := CURRENT.get()) and not (self._schema and _calls(final)):
            scope.replied(self._agent, _text(final))
            if final.finish_reason is types.FinishReason.MAX_TOKENS:
                scope.status(self._agent, "the reply was cut at its most tokens: raise maxOutputTokens", warning=True)
        yield final

    async def _within_window(self, request: LlmRequest, stream: bool) -> AsyncGenerator[LlmResponse, None]:
        """One reply; past turns are given up by halves while the provider finds the prompt too long."""
        while True:
            try:
                async for response in self._call(request, stream):
                    yield response
                return
            except ModelError as error:
                shorter = drop_older_half(request.contents) if error.code == "context-too-long" else None
                if shorter is None:
                    raise
                request.contents = shorter
                if scope := CURRENT.get():
                    scope.status(self._agent, "the conversation is too long for this model: older turns are left out")

    async def _call(self, request: LlmRequest, stream: bool) -> AsyncGenerator[LlmResponse, None]:
        """One reply of the first model that gives one; counted once, its usage added up, its errors given a place."""
        scope = CURRENT.get()
        await self.resolve()
        if scope is not None:
            scope.count_call(self._agent, (*LIMITS.get(), self._limit))
        while True:
            model = await self.resolve()
            begun = False
            try:
                async for response in self._attempts(model, request, stream or scope is not None):
                    begun = True
                    if scope is None or not response.partial:
                        yield response
                    else:
                        self._show(scope, response)
                return
            except RunError as error:
                if begun or not await self._take_over(model, error):
                    raise self._placed(error, model.model) from None

    async def _attempts(self, model: BaseLlm, request: LlmRequest, stream: bool) -> AsyncGenerator[LlmResponse, None]:
        """The responses of one model, asked again when it fails before it has begun."""
        scope = CURRENT.get()
        request.model = model.model
        for line in settings_left_out(model, request):
            self._say_once(line)

        def attempt() -> AsyncGenerator[LlmResponse, None]:
            return model.generate_content_async(request, stream=stream)

        def waiting(error: ModelError, seconds: float) -> None:
            if scope is not None:
                scope.status(self._agent, f"{model.model}: {error.code}, asking again in {seconds:.1f} s")

        async for response in retrying(attempt, self._pool.retries, waiting):
            if scope is not None and not response.partial:
                scope.add_usage(self._agent, model.model, response.usage_metadata)
            yield response

    async def _take_over(self, model: BaseLlm, error: RunError) -> bool:
        """Whether another of the agent's models goes on for one that is overloaded or broken."""
        if error.code == "connection":
            self._chosen = None  # the next turn looks again for one that is available
        if error.code not in TAKEN_OVER or len(self._candidates) < 2:
            return False
        deputy = await self._pool.deputy(self._candidates, self._agent, model)
        if deputy is None:
            return False
        self._chosen, self._reconsider = deputy, time.monotonic() + REST_SECONDS
        if scope := CURRENT.get():
            scope.status(self._agent, f"{model.model}: {error.code}; {deputy.model} takes over", warning=True)
        self._say_tools_left_out(deputy)
        return True

    def _show(self, scope: TurnScope, response: LlmResponse) -> None:
        """A delta, to the turn; text that a schema may still change is held back."""
        for part in _parts(response):
            if part.text and part.thought:
                scope.thinking(self._agent, part.text)
            elif part.text and self._schema is None:
                scope.text(self._agent, part.text)

    def _placed(self, error: RunError, model_id: str) -> RunError:
        error.agent = error.agent or self._agent.name
        error.model = error.model or model_id
        error.location = error.location or self._agent.location
        return error

    async def _checked(self, request: LlmRequest, reply: LlmResponse) -> LlmResponse:
        if not _has_substance(reply):
            reply = await self._ask_again(request, reply)
        if self._schema is not None and not _calls(reply):
            reply = await self._fitting(self._schema, request, reply)
        return reply

    async def _ask_again(self, request: LlmRequest, reply: LlmResponse) -> LlmResponse:
        if scope := CURRENT.get():
            scope.replied(self._agent, "")
        again = await self._follow_up(request, None, _AGAIN)
        if _has_substance(again) or _has_spoken(request):
            return again
        reason = again.error_message or (again.finish_reason.name if again.finish_reason else "")
        raise EmptyAnswerError(
            f"the model replied without text, twice{f' ({reason})' if reason else ''}",
            remediation="rephrase, raise maxOutputTokens, or choose another model",
            retryable=True,
            agent=self._agent.name,
            model=reply.model_version or request.model or "",
            location=self._agent.location,
        )

    async def _fitting(self, schema: type[OutputModel], request: LlmRequest, reply: LlmResponse) -> LlmResponse:
        text, problems = schema.read(_text(reply))
        if problems:
            reply = await self._follow_up(request, reply, _REPAIR.format(problems="; ".join(problems[:5])))
            text, problems = schema.read(_text(reply))
        if problems:
            raise OutputSchemaError(
                f"the reply does not fit outputSchema after one repair: {'; '.join(problems[:5])}",
                remediation="simplify the schema, say it in the instruction, or choose a model with structured output",
                agent=self._agent.name,
                model=request.model or "",
                location=self._agent.location,
            )
        return _with_text(reply, text)

    async def _follow_up(self, request: LlmRequest, reply: LlmResponse | None, text: str) -> LlmResponse:
        """The model's reply to the same request with its last reply and one more message from us."""
        said = [reply.content] if reply is not None and reply.content and reply.content.parts else []
        ask = types.Content(role="user", parts=[types.Part(text=text)])
        again = request.model_copy(update={"contents": joined((*request.contents, *said, ask))})
        final = LlmResponse()
        async for response in self._call(again, stream=False):
            final = response
        return final


def _parts(response: LlmResponse) -> Sequence[types.Part]:
    return (response.content.parts or ()) if response.content else ()


def _text(response: LlmResponse) -> str:
    return "".join(part.text for part in _parts(response) if part.text and not part.thought)


def _calls(response: LlmResponse) -> bool:
    return any(part.function_call for part in _parts(response))


def _has_substance(response: LlmResponse) -> bool:
    return bool(_text(response).strip()) or any(
        part.function_call or part.inline_data or part.file_data or part.executable_code or part.code_execution_result
        for part in _parts(response)
    )


def _has_spoken(request: LlmRequest) -> bool:
    """Whether the agent has already said something since the last message to it."""
    for content in reversed(request.contents):
        texts = [part.text for part in content.parts or () if part.text and not part.thought]
        if texts:
            return content.role == "model"
    return False


def _with_text(response: LlmResponse, text: str) -> LlmResponse:
    thoughts = [part for part in _parts(response) if part.thought]
    content = types.Content(role="model", parts=[*thoughts, types.Part(text=text)])
    return response.model_copy(update={"content": content})
