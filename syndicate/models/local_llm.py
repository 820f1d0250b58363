"""The adapter of `local/*`: chat completions with a llama.cpp server that is started when it is needed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any, Self

import openai
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from pydantic import PrivateAttr

from syndicate.errors import ModelError
from syndicate.models import local_launch, openai_compatible, weights
from syndicate.models import request as asked
from syndicate.models.capabilities import calls_tools
from syndicate.models.local_launch import Launch
from syndicate.models.openai_compatible import Address, OpenAICompatibleLlm
from syndicate.settings import Settings


class _PullStoppedError(Exception):
    """Nobody waits for the weights any more."""


class LocalLlm(OpenAICompatibleLlm):
    """A model on this machine. Its weights are pulled and its server is started by the first call.

    Built with `model=` alone it reads the settings itself.
    """

    _given: Settings | None = PrivateAttr(default=None)

    @classmethod
    def from_settings(cls, model_id: str, settings: Settings) -> Self:
        """The adapter; nothing is pulled or started yet."""
        adapter = cls.at(Address("", ""), model_id)
        adapter._given = settings
        return adapter

    @property
    def _settings(self) -> Settings:
        if self._given is None:
            self._given = Settings.read()
        return self._given

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """As its base. A server that stopped between being found and being asked is started again, once."""
        for last in (False, True):
            begun = False
            try:
                async with aclosing(super().generate_content_async(llm_request, stream)) as responses:
                    async for response in responses:
                        begun = True
                        yield response
                return
            except ModelError as error:
                if error.code == "connection" and not begun and not last:
                    continue
                raise self._explained(error) from None

    async def address(self) -> Address:
        """The running server of the weights, pulled and started if need be."""
        endpoint = await asyncio.to_thread(local_launch.ensure, self._launch(await self._weights()))
        return Address(f"{endpoint.url}/v1", endpoint.key)

    def body(self, request: LlmRequest) -> dict[str, Any]:
        """With what llama.cpp knows beyond the format: prompt caching, and templates that can think or not."""
        body = super().body(request)
        extra = {**body.get("extra_body", {}), "cache_prompt": True}
        if asked.thinking_off(request):
            extra["chat_template_kwargs"] = {"enable_thinking": False}
        return {**body, "extra_body": extra}

    def tools(self, request: LlmRequest) -> tuple[asked.Tool, ...]:
        """None for a model that cannot call any: offered, they would only confuse it."""
        return asked.tools(request) if calls_tools(self.model) else ()

    def _launch(self, path: Path) -> Launch:
        return Launch.of(path, self._settings)

    async def _weights(self) -> Path:
        """The weights file. A pull ends when the call that needs it is cancelled; the next one resumes it."""
        if (path := weights.find(self.model, self._settings)) is not None:
            return path
        stop = threading.Event()

        def report(_done: int, _total: int | None) -> None:
            if stop.is_set():
                raise _PullStoppedError

        try:
            return await asyncio.to_thread(weights.pull, self.model, self._settings, report)
        finally:
            stop.set()

    def _http_client(self) -> Any:
        """Plain HTTP to this machine: no proxy, no certificates to load, no connection left open between calls."""
        limits = openai.DEFAULT_CONNECTION_LIMITS
        return openai.DefaultAsyncHttpxClient(
            verify=False,
            trust_env=False,
            timeout=openai.Timeout(openai_compatible.TIMEOUT, connect=10),
            limits=type(limits)(max_keepalive_connections=0),
        )

    def _explained(self, error: ModelError) -> ModelError:
        """A connection that broke means a server that crashed: name the log that says why."""
        if error.code not in ("connection", "stream-cut", "server-error") or error.remediation.startswith("see "):
            return error
        path = weights.find(self.model, self._settings)
        log = self._launch(path).file(".log") if path else None
        return ModelError(
            error.message,
            code=error.code,
            remediation=f"see the log of its server, {log}",
            retryable=error.retryable,
            model=self.model,
        )
