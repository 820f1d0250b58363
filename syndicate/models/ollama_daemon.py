"""Ollama's native HTTP interface: JSON in, lines of JSON out.

Spoken directly: the `ollama` package drops nested parameters of tools (`anyOf`, `$ref`, inner `properties`) and takes
address and key from the environment behind the settings' back.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx

from syndicate.errors import ModelError, ModelUnavailableError
from syndicate.models.failure import failure, retry_after_of, words_of
from syndicate.settings import without_password

if TYPE_CHECKING:
    from syndicate.settings import Settings

PREFIX = "ollama/"
TIMEOUT = 600.0
"""Longest silence of the daemon, in seconds."""
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def base_url(settings: Settings) -> str:
    """The daemon's address with a scheme and without a slash at the end."""
    url = settings.ollama_base_url.strip().rstrip("/")
    return url if "://" in url else f"http://{url}"


def speaks_openai(settings: Settings) -> bool:
    """Whether the address is that of an OpenAI-compatible endpoint."""
    return base_url(settings).endswith("/v1")


def key_of(settings: Settings) -> str:
    """The key of a server that asks for one; empty without."""
    return settings.ollama_api_key.get_secret_value() if settings.ollama_api_key else ""


def how_to_pull(model_id: str) -> str:
    """What to do about a model that the daemon has not."""
    return f"run `syndicate models pull {model_id}`"


class Daemon:
    """A client of one daemon. Its connections belong to the event loop they were opened in."""

    def __init__(self, settings: Settings) -> None:
        self.url = base_url(settings)
        self.address = without_password(self.url)
        self._key = key_of(settings)
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"Daemon({self.address!r})"

    async def get(self, path: str, *, timeout: float) -> dict[str, Any]:
        """A JSON object of the daemon. Raises `httpx.HTTPError` or `ValueError`."""
        response = await self._client().get(path, timeout=timeout)
        return response.raise_for_status().json()

    async def show(self, name: str) -> dict[str, Any]:
        """What the daemon knows of a model; empty when it does not say."""
        try:
            response = await self._client().post("/api/show", json={"model": name}, timeout=10)
            return response.json() if response.is_success else {}
        except (httpx.HTTPError, ValueError):
            return {}

    async def lines(self, path: str, body: dict[str, Any], *, model: str) -> AsyncGenerator[dict[str, Any], None]:
        """The objects of a streamed answer. Raises `ModelError`, for an error object within the stream too."""
        begun = False
        try:
            async with self._client().stream("POST", path, json=body) as response:
                if not response.is_success:
                    raise self._refused(words_of(await response.aread(), response.reason_phrase), response, model)
                async for line in response.aiter_lines():
                    begun = True
                    if line.strip():
                        yield self._object(line, model)
        except httpx.TimeoutException:
            raise failure(f"{self.address}: no answer in time", model=model, code="timeout") from None
        except httpx.ConnectError as error:
            remedy = "start the Ollama daemon (`ollama serve`), or set OLLAMA_BASE_URL"
            words = f"no Ollama daemon answers at {self.address} ({error})"
            raise failure(words, model=model, code="connection", remediation=remedy) from None
        except httpx.HTTPError as error:
            code = "stream-cut" if begun else "connection"
            words = f"{self.address}: {error or type(error).__name__}"
            raise failure(words, model=model, code=code, secret=self._key) from None

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            here = urlsplit(self.url).hostname in _LOOPBACK
            self._clients[loop] = httpx.AsyncClient(
                base_url=self.url,
                headers={"Authorization": f"Bearer {self._key}"} if self._key else None,
                timeout=httpx.Timeout(TIMEOUT, connect=10),
                trust_env=not here,
                verify=urlsplit(self.url).scheme == "https",
            )
        return self._clients[loop]

    def _object(self, line: str, model: str) -> dict[str, Any]:
        try:
            frame = json.loads(line)
        except ValueError:
            frame = None
        if not isinstance(frame, dict):
            raise failure("the answer is not lines of JSON", model=model, code="malformed")
        found = cast("dict[str, Any]", frame)
        if "error" in found:
            raise failure(words_of(found, "unknown error"), model=model, secret=self._key)
        return found

    def _refused(self, words: str, response: httpx.Response, model: str) -> ModelError:
        remedy = ""
        if response.status_code == 404:
            remedy = how_to_pull(model)
        elif "does not support tools" in words:
            remedy = "use a model that calls tools"
        return failure(
            words,
            model=model,
            status=response.status_code,
            remediation=remedy,
            secret=self._key,
            retry_after=retry_after_of(response.headers),
        )


async def pull(model_id: str, settings: Settings, progress: Callable[[int, int | None], None] | None = None) -> None:
    """Have the daemon pull a model. `progress` gets bytes done and bytes in all of the layer in work."""
    daemon = Daemon(settings)
    body = {"model": model_id.removeprefix(PREFIX), "stream": True}
    done = False
    try:
        async with aclosing(daemon.lines("/api/pull", body, model=model_id)) as frames:
            async for frame in frames:
                done = frame.get("status") == "success"
                if progress is not None and isinstance(frame.get("total"), int):
                    progress(int(frame.get("completed") or 0), frame["total"])
    finally:
        await daemon.aclose()
    if not done:
        raise ModelUnavailableError(f"the daemon did not finish pulling {model_id!r}", model=model_id, retryable=True)
