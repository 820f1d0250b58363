"""The adapter of xAI's Grok models: the Responses wire, with xAI's own searches."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from google.adk.models.llm_request import LlmRequest
from pydantic import PrivateAttr

from syndicate.models.openai_client import Address
from syndicate.models.openai_responses import OpenAIResponsesLlm
from syndicate.models.request import JsonObject
from syndicate.models.server_tools import server_tools
from syndicate.models.xai_search import XaiSearch
from syndicate.settings import Settings

_LOG = logging.getLogger(__name__)


class XaiLlm(OpenAIResponsesLlm):
    """A Grok model. `warnings` tells what the search settings say that xAI does not take."""

    provider: ClassVar[str] = "xai"
    key_variable: ClassVar[str] = "XAI_API_KEY"

    _effort: str | None = PrivateAttr(default=None)
    _search: XaiSearch = PrivateAttr(default_factory=XaiSearch)
    _told: set[str] = PrivateAttr(default_factory=set[str])

    def configure(self, settings: Settings) -> None:
        """Take key, address, effort and the constraints of searches from the settings."""
        key = settings.xai_api_key.get_secret_value() if settings.xai_api_key else ""
        self._address = Address(settings.xai_base_url or "https://api.x.ai/v1", key.strip())
        self._effort = settings.xai_reasoning_effort
        self._search = XaiSearch.from_settings(settings)

    def body(self, request: LlmRequest) -> JsonObject:
        """As its base; xAI takes no `instructions`, so they are the first message."""
        body = super().body(request)
        system = body.pop("instructions", None)
        if system is not None:
            body["input"] = [{"type": "message", "role": "system", "content": system}, *body["input"]]
        return body

    def reasoning(self, request: LlmRequest) -> JsonObject:
        """The effort that the settings pin, else the one asked for. Grok tells of its thinking unasked, or never."""
        effort = self._effort or super().reasoning(request).get("effort")
        return {"effort": effort} if effort else {}

    def native_tools(self, request: LlmRequest) -> list[JsonObject]:
        """xAI's searches, as far as the settings constrain them."""
        kinds = server_tools(request)
        for warning in self.warnings(request):
            if warning not in self._told:
                self._told.add(warning)
                _LOG.warning("%s: %s", self.model, warning)
        found = (self._search.tool(kind) for kind in kinds)
        return [tool for tool in found if tool is not None]

    def warnings(self, request: LlmRequest) -> tuple[str, ...]:
        """What of the settings is not followed by the searches that this request asks for, and why; one line each."""
        kinds: tuple[Any, ...] = server_tools(request)
        return tuple(line for kind in kinds for line in self._search.warnings(kind))
