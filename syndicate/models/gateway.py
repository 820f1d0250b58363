"""A gateway answers for cloud models whose own key is not set: which ids go there, and what it calls them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from syndicate.errors import SettingsError
from syndicate.models import registry

if TYPE_CHECKING:
    from syndicate.settings import Settings

PROVIDER = "gateway"
_ADDRESSES = {
    "openrouter": "https://openrouter.ai/api/v1",
    "vercel": "https://ai-gateway.vercel.sh/v1",
}
_HOUSES: dict[str, Mapping[str, str]] = {
    "openrouter": {"gemini": "google", "anthropic": "anthropic", "openai": "openai", "xai": "x-ai"},
    "vercel": {"gemini": "google", "anthropic": "anthropic", "openai": "openai", "xai": "xai"},
}


@dataclass(frozen=True, slots=True)
class GatewayRoute:
    """How one model is reached: `provider` made it, `gateway` carries the request and calls it `wire_model`."""

    gateway: str
    provider: str
    wire_model: str
    url: str
    key: str = field(repr=False)


def route(model_id: str, settings: Settings) -> GatewayRoute | None:
    """The way to a model through the gateway; None without one, or when the provider's own key is set.

    Raises `SettingsError` for a MODEL_GATEWAY_MODEL_MAP that cannot be read.
    """
    gateway, key = settings.model_gateway, settings.model_gateway_api_key
    provider = registry.provider_of(model_id)
    if gateway is None or key is None or provider is None or provider.id not in _HOUSES[gateway]:
        return None
    if provider.key and getattr(settings, provider.key.lower(), None) is not None:
        return None
    given = _model_map(settings.model_gateway_model_map or "").get(model_id)
    house = _HOUSES[gateway][provider.id]
    return GatewayRoute(
        gateway,
        provider.id,
        given or f"{house}/{_public_name(model_id, provider.id)}",
        (settings.model_gateway_base_url or _ADDRESSES[gateway]).rstrip("/"),
        key.get_secret_value(),
    )


def _public_name(model_id: str, provider: str) -> str:
    """What gateways call a model. Claude's versions have a dot there, and no date: `claude-opus-4.5`."""
    if provider != "anthropic":
        return model_id
    undated = re.sub(r"-(?:\d{8}|latest)$", "", model_id)
    return re.sub(r"(?<=-\d)-(?=\d(?:-|$))", ".", undated)


def _model_map(text: str) -> dict[str, str]:
    """The pairs `id=name` between commas."""
    pairs = [entry.strip() for entry in text.split(",") if entry.strip()]
    named = {model_id.strip(): name.strip() for model_id, _, name in (pair.partition("=") for pair in pairs)}
    wrong = next((pair for pair in pairs if not all(part.strip() for part in pair.partition("="))), None)
    if wrong is not None:
        raise SettingsError(
            f"MODEL_GATEWAY_MODEL_MAP: {wrong!r} is no pair",
            remediation="write `id=name` pairs with commas between them, such as `grok-4=x-ai/grok-4`",
        )
    return named
