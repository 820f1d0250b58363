"""What a model call cost, from the maintained tables of `genai-prices`."""

from __future__ import annotations

from decimal import Decimal

from google.genai import types

from syndicate.models.registry import provider_of

FREE = frozenset({"ollama", "local"})
"""Providers that run on the user's own machine."""

_PRICED_AS = {"gemini": "google", "anthropic": "anthropic", "openai": "openai", "xai": "x-ai"}


def cost_usd(model_id: str, usage: types.GenerateContentResponseUsageMetadata) -> Decimal | None:
    """US dollars for one call with this usage; None when the price or the usage is unknown."""
    provider = provider_of(model_id)
    if provider is not None and provider.id in FREE:
        return Decimal(0)
    seller = _PRICED_AS.get(provider.id) if provider else None
    if seller is None or usage.prompt_token_count is None or usage.candidates_token_count is None:
        return None
    from genai_prices import Usage, calc_price

    counted = Usage(
        input_tokens=usage.prompt_token_count,
        output_tokens=usage.candidates_token_count + (usage.thoughts_token_count or 0),
        cache_read_tokens=usage.cached_content_token_count,
    )
    try:
        return calc_price(counted, model_ref=model_id, provider_id=seller).total_price
    except (LookupError, ValueError):
        return None


def is_priced(model_id: str) -> bool:
    """Whether the price of a model is known."""
    probe = types.GenerateContentResponseUsageMetadata(prompt_token_count=1, candidates_token_count=1)
    return cost_usd(model_id, probe) is not None
