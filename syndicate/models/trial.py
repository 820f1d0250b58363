"""One prompt to one model, and what came of it: the answer, its tokens, how long it took, what it cost."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING

from google.adk.models.llm_request import LlmRequest
from google.genai import types

from syndicate.errors import ModelError, ModelUnavailableError, SyndicateError
from syndicate.models.capabilities import native_tools
from syndicate.models.prices import cost_usd
from syndicate.models.registry import availability, create, provider_of
from syndicate.models.server_tools import ServerTool

if TYPE_CHECKING:
    from decimal import Decimal

    from google.adk.models.llm_response import LlmResponse

    from syndicate.settings import Settings

DEFAULTS = {
    "gemini": "gemini-3.7-flash",
    "anthropic": "claude-haiku-4-5",
    "openai": "gpt-5-mini",
    "xai": "grok-4-fast",
    "local": "local/smollm2",
}
"""The model of each provider that is asked when none is named; Ollama's is the first one that was pulled."""

PATIENCE = 180.0
"""Seconds after which a model that has not finished is given up."""


@dataclass(frozen=True, slots=True)
class Source:
    """A page that a search found and the answer rests on."""

    title: str
    uri: str


@dataclass(slots=True)
class Trial:
    """What a model made of a prompt. Times are seconds from the call; None is unknown. `note` is what was left out."""

    model: str
    provider: str
    answer: str = ""
    thinking: str = ""
    usage: types.GenerateContentResponseUsageMetadata | None = None
    first_token: float | None = None
    seconds: float = 0.0
    cost_usd: Decimal | None = None
    sources: tuple[Source, ...] = ()
    note: str = ""
    error: SyndicateError | None = None

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return self.error is None and bool(self.answer.strip())


async def ask(model_id: str, prompt: str, settings: Settings, *, search: bool = False) -> Trial:
    """Ask once, streaming, without another attempt. `search` offers `web_search`. Errors are in the trial."""
    provider = provider_of(model_id)
    trial = Trial(model_id, provider.id if provider else "")
    began = time.monotonic()
    try:
        async with asyncio.timeout(PATIENCE):
            await _read(trial, prompt, settings, began, search=search)
    except TimeoutError:
        words = f"model {model_id!r}: no end after {PATIENCE:.0f} seconds"
        trial.error = ModelError(words, code="timeout", retryable=True, model=model_id)
    except SyndicateError as error:
        trial.error = error
    trial.seconds = time.monotonic() - began
    if trial.error is None and not trial.answer.strip():
        trial.error = ModelError(f"model {model_id!r}: the answer is empty", code="malformed", model=model_id)
    return trial


async def _read(trial: Trial, prompt: str, settings: Settings, began: float, *, search: bool) -> None:
    missing = await availability(trial.model, settings)
    if missing is not None:
        words = f"model {trial.model!r} cannot be used: {missing.reason}"
        remedy = missing.remediation
        raise ModelUnavailableError(words, code=missing.code, remediation=remedy, model=trial.model)
    model = create(trial.model, settings)
    served: str = getattr(model, "transport", None) or trial.provider
    searches = search and "web_search" in native_tools(served)
    trial.note = "" if searches or not search else f"{trial.model} has no web search of its own: web_search left out"
    request = _request(prompt, search=searches)
    request.model = model.model
    try:
        async with aclosing(model.generate_content_async(request, stream=True)) as responses:
            async for response in responses:
                if trial.first_token is None and _parts(response):
                    trial.first_token = time.monotonic() - began
                if not response.partial:
                    _take(trial, response)
    finally:
        close = getattr(model, "aclose", None)
        if close is not None and isawaitable(closing := close()):
            await closing


def _request(prompt: str, *, search: bool) -> LlmRequest:
    config = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True))
    if search:
        config.tools = [ServerTool(kind="web_search")]
    return LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text=prompt)])], config=config)


def _take(trial: Trial, response: LlmResponse) -> None:
    """Take over the whole reply."""
    parts = _parts(response)
    trial.answer = "".join(part.text for part in parts if part.text and not part.thought)
    trial.thinking = "".join(part.text for part in parts if part.text and part.thought)
    trial.usage = response.usage_metadata
    trial.cost_usd = cost_usd(trial.model, trial.usage) if trial.usage else None
    grounding = response.grounding_metadata
    pages = (chunk.web for chunk in (grounding.grounding_chunks or () if grounding else ()))
    found = (Source(page.title or "", page.uri) for page in pages if page is not None and page.uri)
    trial.sources = tuple(dict.fromkeys(found))


def _parts(response: LlmResponse) -> list[types.Part]:
    return (response.content.parts if response.content else None) or []
