"""The adapter of OpenAI's models, on the Responses API; xAI's speak it too."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any, ClassVar, Self, TypeVar, cast

import openai
from google.adk.models import BaseLlm
from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from pydantic import PrivateAttr

from syndicate.models import openai_parameters as parameters
from syndicate.models import request as asked
from syndicate.models.failure import failure
from syndicate.models.openai_client import TIMEOUT, Address, Clients, failure_of, unusable_key
from syndicate.models.openai_input import function_tools, input_items, tool_choice
from syndicate.models.openai_reply import ResponsesReply
from syndicate.models.openai_schema import strict_schema
from syndicate.models.request import JsonObject
from syndicate.models.server_tools import server_tools
from syndicate.settings import Settings

_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)
_AS_JSON = "Answer with one JSON value and nothing else."


class OpenAIResponsesLlm(BaseLlm):
    """A model on the Responses API, which is asked to store nothing: what it thought travels with the conversation.

    Stateless but for one HTTP client per event loop and for what the model turned out to refuse; `aclose` closes the
    client of the running loop. Built with `model=` alone it reads the settings itself, at its first call.
    """

    provider: ClassVar[str] = "openai"
    key_variable: ClassVar[str] = "OPENAI_API_KEY"

    _address: Address | None = PrivateAttr(default=None)
    _clients: Clients = PrivateAttr(default_factory=Clients)
    _refused: set[str] = PrivateAttr(default_factory=set[str])

    @classmethod
    def at(cls, address: Address, model_id: str, *, timeout: float = TIMEOUT) -> Self:
        """The adapter of a model at an address; `timeout` is seconds of silence."""
        adapter = cls(model=model_id)
        adapter._address, adapter._clients = address, Clients(timeout)
        return adapter

    @classmethod
    def from_settings(cls, model_id: str, settings: Settings) -> Self:
        """The adapter, with the key and the address that the settings have."""
        adapter = cls(model=model_id)
        adapter.configure(settings)
        return adapter

    def model_post_init(self, context: Any, /) -> None:
        """Start with what the model's family is known to refuse."""
        super().model_post_init(context)
        self._refused |= parameters.refused_from_the_start(self.model)

    @property
    def capabilities(self) -> LlmCapabilities:
        """A schema is honoured beside tools too, natively."""
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """One response, or with `stream` partial ones and then the whole. Raises `ModelError`.

        A call that the model refuses for a parameter it can do without is made again without it, now and ever after.
        """
        address = self._ready()
        while True:
            body = parameters.without(self.body(llm_request), self._refused)
            hidden = asked.thoughts_hidden(llm_request)
            reply = ResponsesReply(self.model, self.provider, address, hide_thoughts=hidden)
            try:
                async with aclosing(self._ask(address, body, reply, stream)) as responses:
                    async for response in responses:
                        yield response
                break
            except openai.APIStatusError as error:
                if not self._does_without(error, body):
                    raise failure_of(error, model=self.model, address=address, begun=False) from None
            except (openai.OpenAIError, ValueError) as error:
                raise failure_of(error, model=self.model, address=address, begun=reply.begun) from None
        yield self._read(reply.whole)

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop."""
        await self._clients.aclose()

    def dropped_settings(self, request: LlmRequest) -> tuple[str, ...]:
        """The settings of a request that have no effect on this model, as syndicate files call them."""
        return parameters.dropped_settings(request, self._refused)

    def configure(self, settings: Settings) -> None:
        """Take key and address from the settings."""
        key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
        self._address = Address(settings.openai_base_url or "https://api.openai.com/v1", key.strip())

    def body(self, request: LlmRequest) -> JsonObject:
        """The request as the Responses API spells it, without `stream`, with what the model may yet refuse."""
        config = request.config
        body: JsonObject = {
            "model": self.model,
            "instructions": asked.system_text(request) or None,
            "input": list(input_items(request, "" if "include" in self._refused else self.provider)),
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": self.reasoning(request) or None,
            "temperature": config.temperature,
            "top_p": config.top_p,
            "max_output_tokens": config.max_output_tokens,
        }
        body |= self._tools(request) | self._shape(request, body["input"])
        return {key: value for key, value in body.items() if value is not None}

    def reasoning(self, request: LlmRequest) -> JsonObject:
        """How hard to think, and whether to tell about it."""
        effort = parameters.effort_of(request, self.model)
        if effort == "minimal" and self.native_tools(request):
            effort = "low"  # the least that may search
        shown = {} if asked.thoughts_hidden(request) else {"summary": "auto"}
        return shown | ({"effort": effort} if effort else {})

    def native_tools(self, request: LlmRequest) -> list[JsonObject]:
        """The tools of the provider's own that the request asks for."""
        return [{"type": "web_search"}] if "web_search" in server_tools(request) else []

    def _tools(self, request: LlmRequest) -> JsonObject:
        functions = function_tools(request)
        tools = functions + self.native_tools(request)
        if not tools:
            return {}
        choice = tool_choice(request)
        return {"tools": tools, "tool_choice": choice, "parallel_tool_calls": True if functions else None}

    def _shape(self, request: LlmRequest, items: list[JsonObject]) -> JsonObject:
        """The form of the answer. JSON of any shape must be asked for in words too."""
        schema = asked.output_schema(request)
        if schema is None:
            wanted = asked.wants_json(request)
            ask = {"type": "message", "role": "system", "content": _AS_JSON}
            return {"text": {"format": {"type": "json_object"}}, "input": [ask, *items]} if wanted else {}
        if schema.schema.get("type") != "object":
            ask = {"type": "message", "role": "system", "content": asked.schema_instruction(schema)}
            return {"input": [ask, *items]}
        strict = strict_schema(schema.schema)
        shape = {"type": "json_schema", "name": schema.name, "schema": strict or schema.schema}
        return {"text": {"format": {**shape, "strict": strict is not None}}}

    async def _ask(
        self, address: Address, body: JsonObject, reply: ResponsesReply, stream: bool
    ) -> AsyncGenerator[LlmResponse, None]:
        """Send the request and take the answer into `reply`; yields what is to be streamed."""
        responses = self._clients.at(address).responses
        if not stream:
            answer = await responses.create(**body, stream=False)
            self._read(partial(reply.finish, answer))
            return
        async with await responses.create(**body, stream=True) as events:
            async for event in events:
                for response in self._read(partial(reply.take, event)):
                    yield response

    def _read(self, read: Callable[[], _T]) -> _T:
        """What is read. The SDK checks nothing of what a server sends: a field may be missing or of another type."""
        try:
            return read()
        except (AttributeError, TypeError, ValueError) as error:
            raise failure("the answer cannot be read", model=self.model, code="malformed") from error

    def _does_without(self, error: openai.APIStatusError, body: JsonObject) -> bool:
        """Whether the call can be made again without what this refusal is about, which is remembered."""
        refused = parameters.refused_by(error)
        if refused is None or not parameters.holds(body, refused):
            return False
        if refused not in self._refused:
            _LOG.warning("%s refuses %s: it is left out from here on", self.model, refused)
        self._refused.add(refused)
        return True

    def _ready(self) -> Address:
        if self._address is None:
            self.configure(Settings.read())
        address = cast("Address", self._address)
        if (unusable := unusable_key(address, self.model, self.key_variable)) is not None:
            raise unusable
        return address
