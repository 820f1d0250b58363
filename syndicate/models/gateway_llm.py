"""The adapter of cloud models behind a gateway: OpenAI's chat format, with what gateways add to it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Self

from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from opentelemetry import trace
from pydantic import PrivateAttr
from typing_extensions import override

from syndicate.models import gateway
from syndicate.models import request as asked
from syndicate.models.gateway import GatewayRoute
from syndicate.models.openai_compatible import Address, OpenAICompatibleLlm

# As OpenTelemetry's conventions name them.
_PROVIDER_NAMES = {"gemini": "gcp.gemini", "anthropic": "anthropic", "openai": "openai", "xai": "x_ai"}


class GatewayLlm(OpenAICompatibleLlm):
    """A cloud model reached through a gateway. Who made the model is recorded apart from who carried the request."""

    _route: GatewayRoute = PrivateAttr()

    @classmethod
    def from_route(cls, model_id: str, route: GatewayRoute) -> Self:
        """The adapter of a model on its route."""
        adapter = cls.at(Address(route.url, route.key), model_id, wire_model=route.wire_model)
        adapter._route = route
        return adapter

    @property
    def transport(self) -> str:
        """Who carries the request: what only the provider itself has, such as its search, is not to be had."""
        return gateway.PROVIDER

    @override
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """As its base; the final response says in `custom_metadata` who made it and who carried it."""
        span = trace.get_current_span()
        span.set_attribute("gen_ai.provider.name", _PROVIDER_NAMES[self._route.provider])
        span.set_attribute("syndicate.transport", self.transport)
        async with aclosing(super().generate_content_async(llm_request, stream)) as responses:
            async for response in responses:
                if not response.partial:
                    response.custom_metadata = {**(response.custom_metadata or {}), **self._origin()}
                yield response

    @override
    def body(self, request: LlmRequest) -> dict[str, Any]:
        """With the gateways' own word for thinking, which knows effort and budget of every provider."""
        body = super().body(request)
        body.pop("reasoning_effort", None)
        reasoning = _reasoning(request)
        extra = {**body.get("extra_body", {}), **({"reasoning": reasoning} if reasoning else {})}
        return {**body, "extra_body": extra} if extra else body

    @override
    def dropped_settings(self, request: LlmRequest) -> tuple[str, ...]:
        """As its base, but for a budget of thinking, which gateways take; prefixes to be cached cannot be marked."""
        names = [name for name in super().dropped_settings(request) if name != "thinkingBudget"]
        return (*names, *(["context caching"] if request.cache_config else []))

    def _origin(self) -> dict[str, str]:
        return {"transport": self.transport, "gateway": self._route.gateway, "provider": self._route.provider}


def _reasoning(request: LlmRequest) -> dict[str, Any]:
    """The `reasoning` object; empty leaves all to the model."""
    config = request.config.thinking_config
    if config is None:
        return {}
    if asked.thinking_off(request):
        return {"effort": "none"}
    found: dict[str, Any] = {"exclude": True} if asked.thoughts_hidden(request) else {}
    if config.thinking_budget and config.thinking_budget > 0:
        found["max_tokens"] = config.thinking_budget
    elif level := asked.thinking_level(request):
        found["effort"] = level
    elif config.include_thoughts or config.thinking_budget == -1:
        found["enabled"] = True
    return found
