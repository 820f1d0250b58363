"""The adapter of `claude-*`: the Messages API through Anthropic's SDK, by API key, with our errors.

Our own and no subclass of Google ADK's, whose requests, replies, client and errors would all have to be replaced.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self, cast
from weakref import WeakKeyDictionary

import anthropic
from anthropic.types import Message, RawMessageStreamEvent
from google.adk.models import BaseLlm
from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from pydantic import PrivateAttr

from syndicate.models import anthropic_request
from syndicate.models import request as asked
from syndicate.models.anthropic_reply import AnthropicReply
from syndicate.models.failure import failure, retry_after_of, words_of
from syndicate.settings import Settings

if TYPE_CHECKING:
    from syndicate.errors import ModelError
    from syndicate.models.request import JsonObject

_ADDRESS = "https://api.anthropic.com"
_MOST_PAUSES = 8
# The SDK brings its transport along, whose errors it lets through while it reads a stream.
_TRANSPORT: Any = importlib.import_module("httpx2")
_TRANSPORT_ERROR: type[Exception] = _TRANSPORT.HTTPError
_TIMEOUT: type[Exception] = _TRANSPORT.TimeoutException
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""By the type of an error that arrives in the middle of an answer, whose own status is 200."""


class AnthropicLlm(BaseLlm):
    """A Claude model. `timeout` is the longest silence of the API in seconds.

    Stateless but for one client per event loop; `aclose` closes the running one's. Key and address come from the
    settings it was made with, or from the environment at the first call.
    """

    timeout: float = 600.0
    _settings: Settings | None = PrivateAttr(default=None)
    _clients: WeakKeyDictionary[asyncio.AbstractEventLoop, anthropic.AsyncAnthropic] = PrivateAttr(
        default_factory=WeakKeyDictionary[asyncio.AbstractEventLoop, anthropic.AsyncAnthropic]
    )

    @classmethod
    def supported_models(cls) -> list[str]:
        """The model ids, as expressions that match the whole of them."""
        return [r"claude-.*"]

    @classmethod
    def from_settings(cls, model_id: str, settings: Settings) -> Self:
        """The adapter. Never Vertex or Bedrock, and no variable of the SDK's own counts."""
        adapter = cls(model=model_id)
        adapter._settings = settings
        return adapter

    @property
    def capabilities(self) -> LlmCapabilities:
        """A schema is honoured beside tools too, natively or as an instruction."""
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """One response, or with `stream` partial ones and then the whole. Raises `ModelError`."""
        reply = AnthropicReply(self.model, hide_thoughts=asked.thoughts_hidden(llm_request))
        try:
            async with aclosing(self._ask(self.body(llm_request), reply, stream)) as deltas:
                async for delta in deltas:
                    yield delta
        except (anthropic.AnthropicError, _TRANSPORT_ERROR, json.JSONDecodeError, UnicodeDecodeError) as error:
            raise self._failure(error, begun=reply.begun) from None
        yield reply.whole()

    def body(self, request: LlmRequest) -> JsonObject:
        """The request as the Messages API spells it, without `stream`."""
        return anthropic_request.body_of(request, self.model)

    def dropped_settings(self, request: LlmRequest) -> tuple[str, ...]:
        """Settings of the request that this model cannot have, by their names in syndicate files."""
        return anthropic_request.dropped_settings(request, self.model)

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def _ask(self, body: JsonObject, reply: AnthropicReply, stream: bool) -> AsyncGenerator[LlmResponse, None]:
        """Send the request and take the answer into `reply`; yields what is to be shown. Where the API pauses a long
        turn of its own tools, the same is asked again with what has been said so far."""
        for _ in range(_MOST_PAUSES):
            said = [{"role": "assistant", "content": reply.said}] if reply.said else []
            whole = {**body, "messages": [*body["messages"], *said]}
            reply.begin()
            if not stream:
                reply.take(await self._post(whole))
            else:
                async with await self._post_stream(whole) as events:
                    async for event in events:
                        if (delta := reply.feed(event)) is not None:
                            yield delta
            if reply.finish != "pause_turn":
                return

    async def _post(self, body: JsonObject) -> Message:
        """`messages.create` has no sampling settings any more, which older models still take: hence the path."""
        return await self._client().post("/v1/messages", cast_to=Message, body=body)

    async def _post_stream(self, body: JsonObject) -> anthropic.AsyncStream[RawMessageStreamEvent]:
        return await self._client().post(
            "/v1/messages",
            cast_to=cast("Any", RawMessageStreamEvent),  # a union, which the SDK's own methods hand over so too
            body={**body, "stream": True},
            stream=True,
            stream_cls=anthropic.AsyncStream[RawMessageStreamEvent],
        )

    def _client(self) -> anthropic.AsyncAnthropic:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            client = anthropic.AsyncAnthropic(
                api_key=self._key(),
                base_url=self._known_settings().anthropic_base_url or _ADDRESS,
                max_retries=0,
                timeout=anthropic.Timeout(self.timeout, connect=min(self.timeout, 10)),
            )
            client._custom_headers = {}  # pyright: ignore[reportPrivateUsage]  # of ANTHROPIC_CUSTOM_HEADERS
            self._clients[loop] = client
        return self._clients[loop]

    def _known_settings(self) -> Settings:
        if self._settings is None:
            self._settings = Settings.read()
        return self._settings

    def _key(self) -> str:
        key = self._known_settings().anthropic_api_key
        return key.get_secret_value() if key else ""

    def _failure(self, error: Exception, *, begun: bool) -> ModelError:
        if isinstance(error, anthropic.APIStatusError):
            return self._refusal(error)
        if isinstance(error, anthropic.APITimeoutError | _TIMEOUT):
            return failure("no answer in time", model=self.model, code="timeout")
        if isinstance(error, anthropic.APIConnectionError | _TRANSPORT_ERROR):
            words = str(error.__cause__ or error) or type(error).__name__
            code = "stream-cut" if begun else "connection"
            return failure(words, model=self.model, code=code, secret=self._key())
        return failure(f"the answer cannot be read: {error}", model=self.model, code="malformed", secret=self._key())

    def _refusal(self, error: anthropic.APIStatusError) -> ModelError:
        words = words_of(error.body or error.response.text, error.message)
        return failure(
            words,
            model=self.model,
            code="context-too-long" if error.status_code == 400 and "exceed context limit" in words else "",
            status=_STATUS.get(_type_of(error.body), 500) if error.status_code < 400 else error.status_code,
            secret=self._key(),
            retry_after=retry_after_of(error.response.headers),
        )


def _type_of(body: object) -> str:
    """The type of an error in the body that carries it."""
    inner: Any = cast("Mapping[str, Any]", body).get("error") if isinstance(body, Mapping) else None
    return str(cast("Mapping[str, Any]", inner).get("type")) if isinstance(inner, Mapping) else ""
