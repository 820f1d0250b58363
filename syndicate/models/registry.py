"""Which provider answers for a model id, whether it can be used here, and its adapter."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from syndicate.errors import MissingExtraError, ModelUnavailableError

if TYPE_CHECKING:
    from google.adk.models import BaseLlm

    from syndicate.models.gateway import GatewayRoute
    from syndicate.settings import Settings


@dataclass(frozen=True, slots=True)
class Provider:
    """One way to reach models. Objects named as `"module:name"` are imported when they are first needed.

    `adapter` is a `BaseLlm` subclass, built by its `from_settings(model_id, settings)` when it has one, else with
    `model=`; None means this version has none. `check(model_id, settings)` is an async function that returns an
    `Unavailable` or None, for what a key and an extra cannot tell.
    """

    id: str
    prefixes: str
    pattern: re.Pattern[str]
    adapter: str | None = None
    key: str | None = None
    extra: str | None = None
    package: str | None = None
    check: str | None = None


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why a model cannot be used here, and what to do about it. `code` is that of `ModelUnavailableError`."""

    reason: str
    remediation: str
    code: str = "model-unavailable"


_PROVIDERS: dict[str, Provider] = {
    provider.id: provider
    for provider in (
        Provider(
            id="gemini",
            prefixes="gemini-*",
            pattern=re.compile(r"gemini-\S+"),
            adapter="syndicate.models.gemini:GeminiLlm",
            key="GOOGLE_GENAI_API_KEY",
        ),
        Provider(
            id="anthropic",
            prefixes="claude-*",
            pattern=re.compile(r"claude-\S+"),
            adapter="syndicate.models.anthropic:AnthropicLlm",
            key="ANTHROPIC_API_KEY",
            extra="anthropic",
            package="anthropic",
        ),
        Provider(
            id="openai",
            prefixes="gpt-*, o1, o3, o4-*, chatgpt-*",
            pattern=re.compile(r"(?:gpt|chatgpt)-\S+|o\d+(?:-\S+)?"),
            adapter="syndicate.models.openai_responses:OpenAIResponsesLlm",
            key="OPENAI_API_KEY",
            extra="openai",
            package="openai",
        ),
        Provider(
            id="xai",
            prefixes="grok-*",
            pattern=re.compile(r"grok-\S+"),
            adapter="syndicate.models.xai:XaiLlm",
            key="XAI_API_KEY",
            extra="openai",
            package="openai",
        ),
        Provider(
            id="ollama",
            prefixes="ollama/*",
            pattern=re.compile(r"ollama/\S+"),
            adapter="syndicate.models.ollama:OllamaLlm",
            check="syndicate.models.ollama:availability",
        ),
        Provider(
            id="local",
            prefixes="local/*",
            pattern=re.compile(r"local/\S.*"),
            adapter="syndicate.models.local_llm:LocalLlm",
            extra="local",
            package="xllamacpp",
            check="syndicate.models.local:availability",
        ),
    )
}


def register_provider(provider: Provider) -> None:
    """Add a provider, or replace the one with the same id. A new one is asked after those already there."""
    _PROVIDERS[provider.id] = provider


def providers() -> tuple[Provider, ...]:
    """All providers, in the order in which they are asked."""
    return tuple(_PROVIDERS.values())


def provider_of(model_id: str) -> Provider | None:
    """The provider whose pattern matches the whole id."""
    return next((provider for provider in _PROVIDERS.values() if provider.pattern.fullmatch(model_id)), None)


def unknown_model(model_id: str) -> str | None:
    """One line saying that nobody answers for this id, with the nearest that somebody would; None when it is fine."""
    provider = provider_of(model_id)
    if provider is not None:
        return _malformed_local(model_id) if provider.id == "local" else None
    known = ", ".join(provider.prefixes for provider in _PROVIDERS.values())
    guess = _nearest(model_id)
    hint = f"; did you mean {guess!r}?" if guess else ""
    return f"no provider answers for model {model_id!r} (known: {known}){hint}"


def static_availability(model_id: str, settings: Settings) -> Unavailable | None:
    """What can be told without asking anyone: no provider, no adapter in this version, no key, no extra."""
    provider = provider_of(model_id)
    if provider is None:
        return Unavailable(unknown_model(model_id) or "", "correct the model id", code="unknown-model")
    if provider.adapter is None:
        usable = ", ".join(other.prefixes for other in _PROVIDERS.values() if other.adapter)
        return Unavailable(
            f"this version has no adapter for {provider.id} models", f"use one of {usable}", code="not-in-this-version"
        )
    if _through_gateway(model_id, settings) is not None:
        return _not_installed("openai", "openai", "the model gateway")
    if provider.key and getattr(settings, provider.key.lower(), None) is None:
        return Unavailable(f"{provider.key} is not set", f"set {provider.key} in the environment or in .env")
    return _missing_extra(model_id, provider, settings)


async def availability(model_id: str, settings: Settings) -> Unavailable | None:
    """Whether a call could be made now: None, or the first thing that is missing. Never raises, never pulls."""
    found = static_availability(model_id, settings)
    provider = provider_of(model_id)
    if found is not None or provider is None or provider.check is None:
        return found
    check = cast("Callable[[str, Settings], Awaitable[Unavailable | None]]", _load(provider.check))
    return await check(model_id, settings)


def create(model_id: str, settings: Settings) -> BaseLlm:
    """The adapter for a model id, its SDK imported now. Raises `ModelUnavailableError`."""
    missing = static_availability(model_id, settings)
    if missing is not None:
        raise ModelUnavailableError(
            f"model {model_id!r} cannot be used: {missing.reason}",
            code=missing.code,
            remediation=missing.remediation,
            model=model_id,
        )
    if (route := _through_gateway(model_id, settings)) is not None:
        from syndicate.models.gateway_llm import GatewayLlm

        return GatewayLlm.from_route(model_id, route)
    provider = provider_of(model_id)
    assert provider is not None and provider.adapter is not None
    adapter = _load(provider.adapter)
    build = getattr(adapter, "from_settings", None)
    return cast("BaseLlm", build(model_id, settings) if build else adapter(model=model_id))


def _missing_extra(model_id: str, provider: Provider, settings: Settings) -> Unavailable | None:
    extra, package = provider.extra, provider.package
    if provider.id == "ollama" and settings.ollama_base_url.rstrip("/").endswith("/v1"):
        extra, package = "ollama", "openai"
    return _not_installed(extra, package, f"model {model_id!r}") if extra and package else None


def _not_installed(extra: str, package: str, purpose: str) -> Unavailable | None:
    if importlib.util.find_spec(package) is not None:
        return None
    error = MissingExtraError(extra, purpose)
    return Unavailable(error.message, error.remediation, code=error.code)


def _through_gateway(model_id: str, settings: Settings) -> GatewayRoute | None:
    from syndicate.models import gateway

    return gateway.route(model_id, settings)


def _load(reference: str) -> Any:
    """The object at `"module:name"`; untyped, since adapters differ in kind."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def _malformed_local(model_id: str) -> str | None:
    from syndicate.models.weights import malformed

    return malformed(model_id)


def _nearest(model_id: str) -> str | None:
    """The id this one was probably meant to be: a misspelt or missing prefix mended, the rest kept."""
    lowered = model_id.strip().lower()
    for candidate in (lowered, re.sub(r"^[a-z]+[/:]", "", lowered), lowered.replace(":", "/", 1)):
        if candidate != model_id and provider_of(candidate) is not None:
            return candidate
    match = re.match(r"([a-z]+)([-/:_]?)(.*)", lowered)
    heads = {"gemini": "-", "claude": "-", "gpt": "-", "chatgpt": "-", "grok": "-", "ollama": "/", "local": "/"}
    close = difflib.get_close_matches(match[1], heads, n=1, cutoff=0.7) if match else []
    if match and close and match[3]:
        return f"{close[0]}{heads[close[0]]}{match[3]}"
    if "smollm" in lowered:
        return "local/smollm2"
    return f"ollama/{lowered}" if ":" in lowered and "/" not in lowered else None
