"""Our adapters behind plain model strings in ADK code of your own: `LlmAgent(model="claude-haiku-4-5")`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from google.adk.models import BaseLlm, LlmCapabilities, LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from pydantic import PrivateAttr
from typing_extensions import override

from syndicate.models.registry import create
from syndicate.models.retry import RetryPolicy, retrying
from syndicate.settings import Settings

# ADK replaces an entry only under the identical expression, and takes the first that matches; the first seven are
# the keys of its own adapters.
_PATTERNS = [
    r"gemini-.*",
    r"claude-.*",
    r"gpt-.*",
    r"o\d+-.*",
    r"ollama/(?!gemma3).*",
    r"ollama/gemma3.*",
    r"chatgpt-.*",
    r"o\d+",
    r"grok-.*",
    r"local/.*",
]


class SyndicateLlm(BaseLlm):
    """The adapter for `model`, looked up with the environment's settings at the first call; failing calls are retried.

    Raises `ModelUnavailableError` when a key, an extra or a daemon is missing.
    """

    _adapter: BaseLlm | None = PrivateAttr(default=None)
    _policy: RetryPolicy = PrivateAttr(default_factory=RetryPolicy)

    @classmethod
    @override
    def supported_models(cls) -> list[str]:
        return _PATTERNS

    @property
    @override
    def capabilities(self) -> LlmCapabilities:
        return LlmCapabilities(output_schema_and_tools=True)

    @override
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        if self._adapter is None:
            settings = Settings.read()
            self._adapter = create(self.model, settings)
            self._policy = RetryPolicy(attempts=settings.syndicate_model_attempts)
        adapter = self._adapter
        attempts = retrying(lambda: adapter.generate_content_async(llm_request, stream), self._policy)
        async with aclosing(attempts) as responses:
            async for response in responses:
                yield response


def register_models() -> None:
    """Make ADK's model strings of every provider find our adapters instead of its own."""
    LLMRegistry.register(SyndicateLlm)
