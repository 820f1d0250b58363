"""The adapter of `gemini-*`: Google ADK's own, with key and address from the settings, and our errors."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4
from weakref import WeakSet

from google.adk.models import Gemini
from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import errors, types
from pydantic import PrivateAttr

from syndicate.errors import ModelError
from syndicate.models import request as asked
from syndicate.models.failure import failure

if TYPE_CHECKING:
    from syndicate.settings import Settings

_TIMEOUT_MILLISECONDS = 600_000
# google-genai lets errors of its transport through; which library that is depends on what is installed.
_TRANSPORTS: list[Any] = [
    importlib.import_module(name) for name in ("httpx", "httpx2") if importlib.util.find_spec(name)
]
_TRANSPORT_ERRORS: tuple[type[Exception], ...] = tuple(transport.HTTPError for transport in _TRANSPORTS)
_TIMEOUTS: tuple[type[Exception], ...] = tuple(transport.TimeoutException for transport in _TRANSPORTS)


class GeminiLlm(Gemini):
    """A Gemini model by API key. Stateless but for one client per event loop; `aclose` closes the running one's."""

    _key: str = PrivateAttr(default="")
    _loops: WeakSet[asyncio.AbstractEventLoop] = PrivateAttr(default_factory=WeakSet[asyncio.AbstractEventLoop])

    @classmethod
    def from_settings(cls, model_id: str, settings: Settings) -> Self:
        """The adapter. Never Vertex, whatever else the environment says."""
        key = settings.google_genai_api_key.get_secret_value() if settings.google_genai_api_key else ""
        options = types.HttpOptions(timeout=_TIMEOUT_MILLISECONDS)
        adapter = cls(
            model=model_id,
            base_url=settings.google_gemini_base_url,
            client_kwargs={"api_key": key, "vertexai": False, "http_options": options},
        )
        adapter._key = key
        return adapter

    @property
    def capabilities(self) -> LlmCapabilities:
        """A schema is honoured beside tools too, natively or as an instruction."""
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """One response, or with `stream` partial ones and then the whole. Raises `ModelError`."""
        self._loops.add(asyncio.get_running_loop())
        begun = False
        last: LlmResponse | None = None
        try:
            sent = super().generate_content_async(self._prepared(llm_request), stream)
            async with aclosing(_in_a_task(sent)) as responses:
                async for last in responses:
                    begun = True
                    if last.partial and last.content and last.content.parts:
                        yield last
        except (errors.APIError, ValueError, *_TRANSPORT_ERRORS) as error:
            raise self._failure(error, begun=begun) from None
        yield self._whole(last)

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop."""
        loop = asyncio.get_running_loop()
        if loop in self._loops:
            self._loops.discard(loop)
            await self.api_client.aio.aclose()

    def _prepared(self, request: LlmRequest) -> LlmRequest:
        """A copy as Gemini wants it: schemas as JSON Schema, tool results as JSON, no thoughts but signed ones."""
        config = request.config.model_copy()
        schema = asked.output_schema(request)
        config.response_schema = config.response_json_schema = None
        if schema is not None and asked.tools(request) and not self._schema_beside_tools():
            words = [asked.system_text(request), asked.schema_instruction(schema)]
            config.system_instruction = "\n\n".join(filter(None, words))
            config.response_mime_type = None
        elif schema is not None:
            config.response_json_schema = schema.schema
            config.response_mime_type = "application/json"
        contents = [content for item in request.contents if (content := _replayed(item)).parts]
        return request.model_copy(update={"model": self.model, "config": config, "contents": contents})

    def _schema_beside_tools(self) -> bool:
        """Gemini takes both together from its third generation on."""
        return not self.model.startswith(("gemini-1", "gemini-2"))

    def _whole(self, response: LlmResponse | None) -> LlmResponse:
        """The final response, checked for an end, its calls under ids that survive ADK's replay."""
        if response is None or response.partial or not (response.finish_reason or response.error_code):
            raise ModelError(
                f"the answer of {self.model!r} broke off", code="stream-cut", retryable=True, model=self.model
            )
        parts = (response.content.parts if response.content else None) or []
        for part in parts:
            call = part.function_call
            if call is not None and (not call.id or call.id.startswith("adk-")):
                call.id = f"call_{uuid4().hex[:24]}"
        if parts and response.finish_reason is types.FinishReason.MAX_TOKENS:
            response.error_code = response.error_message = None  # an answer cut by its limit is one, as elsewhere
        return response

    def _failure(self, error: Exception, *, begun: bool) -> ModelError:
        if isinstance(error, errors.APIError):
            words = f"{error.message or error} ({error.status})"
            return failure(words, model=self.model, status=error.code, secret=self._key)
        if isinstance(error, _TIMEOUTS):
            return failure("no answer in time", model=self.model, code="timeout")
        if isinstance(error, _TRANSPORT_ERRORS):
            code = "stream-cut" if begun else "connection"
            return failure(str(error) or type(error).__name__, model=self.model, code=code, secret=self._key)
        return failure(f"the answer cannot be read: {error}", model=self.model, code="malformed", secret=self._key)


async def _in_a_task(responses: AsyncGenerator[LlmResponse, None]) -> AsyncGenerator[LlmResponse, None]:
    """The same responses, read ahead by a task. google-genai keeps the connection open when its generator is closed
    between two responses, but closes it when it is cancelled while it waits for the next one, which is where this
    task always is."""
    waiting: asyncio.Queue[LlmResponse | None] = asyncio.Queue()

    async def read() -> None:
        try:
            async for response in responses:
                waiting.put_nowait(response)
        finally:
            waiting.put_nowait(None)

    task = asyncio.create_task(read())
    try:
        while (response := await waiting.get()) is not None:
            yield response
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _replayed(content: types.Content) -> types.Content:
    """A copy of an item of the conversation, fit to be sent."""
    parts = [
        _json_safe(part) for part in content.parts or () if not (part.thought and part.text) or part.thought_signature
    ]
    return content.model_copy(update={"parts": parts})


def _json_safe(part: types.Part) -> types.Part:
    """A tool's result may hold live objects, which the SDK cannot write."""
    result = part.function_response
    if result is None:
        return part
    safe = result.model_copy(update={"response": asked.json_safe(result.response or {})})
    return part.model_copy(update={"function_response": safe})
