"""The adapter of `gemini-*`: Google ADK's own, with key and address from the settings, and our errors."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any, Self, cast
from uuid import uuid4
from weakref import WeakKeyDictionary

from google.adk.models import Gemini
from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import Client, errors, types
from pydantic import PrivateAttr

from syndicate.errors import ModelError
from syndicate.models.failure import failure, retry_after_of
from syndicate.models.gemini_request import dropped_settings, prepared, sealed
from syndicate.settings import Settings

_ADDRESS = "https://generativelanguage.googleapis.com/"
# google-genai lets errors of its transport through; which library that is depends on what is installed.
_TRANSPORTS: list[Any] = [
    importlib.import_module(name) for name in ("httpx", "httpx2", "aiohttp") if importlib.util.find_spec(name)
]
_TRANSPORT_ERRORS: tuple[type[Exception], ...] = tuple(
    getattr(transport, "HTTPError", None) or transport.ClientError for transport in _TRANSPORTS
)
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError)  # it does not check what it reads
_TIMEOUTS: tuple[type[Exception], ...] = (
    TimeoutError,
    *(transport.TimeoutException for transport in _TRANSPORTS if hasattr(transport, "TimeoutException")),
)


class GeminiLlm(Gemini):
    """A Gemini model by API key. `timeout` is the longest silence of the API in seconds.

    Stateless but for one client per event loop; `aclose` closes the running one's. Built with `model=` alone it reads
    the settings itself, at its first call.
    """

    timeout: float = 600.0
    _settings: Settings | None = PrivateAttr(default=None)
    _clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = PrivateAttr(
        default_factory=WeakKeyDictionary[asyncio.AbstractEventLoop, Client]
    )

    @classmethod
    def from_settings(cls, model_id: str, settings: Settings) -> Self:
        """The adapter. Never Vertex, whatever else the environment says."""
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
        request = prepared(llm_request, self.model)
        begun = False
        last: LlmResponse | None = None
        try:
            sent = super().generate_content_async(request, stream)
            async with aclosing(_in_a_task(sent)) as responses:
                async for last in responses:
                    begun = True
                    if last.partial and last.content and last.content.parts:
                        yield last.model_copy(update={"content": sealed(last.content)})
        except (errors.APIError, *_UNREADABLE, *_TRANSPORT_ERRORS, *_TIMEOUTS) as error:
            raise self._failure(error, begun=begun) from None
        yield self._whole(last)

    def dropped_settings(self, request: LlmRequest) -> tuple[str, ...]:
        """What this model cannot have of the request, by its names in syndicate files."""
        return dropped_settings(request, self.model)

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aio.aclose()

    @property
    def api_client(self) -> Client:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The running event loop's client. It asks once only, and neither variables nor Vertex are looked at."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            options = types.HttpOptions(
                base_url=self._known_settings().google_gemini_base_url or _ADDRESS,
                timeout=round(self.timeout * 1000),
                retry_options=types.HttpRetryOptions(attempts=1),
            )
            self._clients[loop] = Client(api_key=self._key(), vertexai=False, http_options=options)
        return self._clients[loop]

    def _known_settings(self) -> Settings:
        if self._settings is None:
            self._settings = Settings.read()
        return self._settings

    def _key(self) -> str:
        key = self._known_settings().google_genai_api_key
        return key.get_secret_value() if key else ""

    def _whole(self, response: LlmResponse | None) -> LlmResponse:
        """The final response, checked for an end, its calls under ids that survive ADK's replay."""
        if response is None or response.partial or not (response.finish_reason or response.error_code):
            raise failure("the answer broke off", model=self.model, code="stream-cut")
        if response.content:
            response.content = sealed(response.content)
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
            pause = _retry_after(error)
            return failure(words, model=self.model, status=error.code, secret=self._key(), retry_after=pause)
        if isinstance(error, _TIMEOUTS):
            return failure("no answer in time", model=self.model, code="timeout")
        if isinstance(error, _TRANSPORT_ERRORS):
            code = "stream-cut" if begun else "connection"
            return failure(str(error) or type(error).__name__, model=self.model, code=code, secret=self._key())
        return failure(f"the answer cannot be read: {error}", model=self.model, code="malformed", secret=self._key())


def _retry_after(error: errors.APIError) -> float | None:
    """The pause that Google asks for: a `RetryInfo` among the details, or the header."""
    sent: Any = error  # the SDK's types of what the server sent name classes of libraries that may not be there
    for detail in _details(sent.details):
        if str(detail.get("@type")).endswith("google.rpc.RetryInfo"):
            return retry_after_of({"retry-after": str(detail.get("retryDelay", "")).removesuffix("s")})
    return retry_after_of(getattr(sent.response, "headers", {}))


def _details(body: Any) -> Iterator[dict[str, Any]]:
    """The details of an error, in the shape that Google documents; none out of any other."""
    try:
        details: list[Any] = list(body["error"]["details"])
    except (LookupError, TypeError):
        details = []
    return (cast("dict[str, Any]", detail) for detail in details if isinstance(detail, dict))


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
