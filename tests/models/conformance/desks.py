"""Each provider as the conformance tests see it: an adapter out of the registry, and a server that plays it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse

from syndicate.models import registry
from syndicate.models.local_llm import LocalLlm
from syndicate.models.openai_compatible import Address
from syndicate.settings import Settings
from tests.models.aimock import Aimock
from tests.models.conformance import wires
from tests.models.conformance.wires import Said, Wire
from tests.models.conftest import Answer, StandIn, each
from tests.models.relay import Received
from tests.models.wire import check

KEY = "sesame-1234"
CARD = {"capabilities": ["completion", "tools", "thinking", "vision"], "model_info": {"qwen3.context_length": 40_960}}


class LocalAt(LocalLlm):
    """The adapter of embedded models, asking a server that is there already."""

    _there: str = ""
    _key: str = KEY

    async def address(self) -> Address:
        return Address(f"{self._there}/v1", self._key)


@dataclass(frozen=True)
class Provider:
    """How one provider is reached. `settings` makes those that point at a server; `wire` is how that one writes.

    `beyond` and `own_tools` are keys and types of tools that it takes and the SDK's types do not know.
    """

    id: str
    model_id: str
    wire: Wire
    paths: tuple[str, ...]
    settings: Callable[[str], Mapping[str, Any]]
    beyond: tuple[str, ...] = ()
    own_tools: tuple[str, ...] = ()

    def adapter(self, url: str) -> BaseLlm:
        """The adapter that the registry makes, asking `url`."""
        if self.id == "local":
            model = LocalAt(model=self.model_id)
            model._there = url
            return model
        return registry.create(self.model_id, Settings.read(dict(self.settings(url)), env_file=None))


def _gemini_paths(model_id: str) -> tuple[str, ...]:
    return tuple(f"/v1beta/models/{model_id}:{method}" for method in ("generateContent", "streamGenerateContent"))


PROVIDERS: dict[str, Provider] = {
    provider.id: provider
    for provider in (
        Provider(
            "gemini",
            "gemini-3-pro-preview",
            wires.gemini,
            _gemini_paths("gemini-3-pro-preview"),
            lambda url: {"google_genai_api_key": KEY, "google_gemini_base_url": url},
        ),
        Provider(
            "anthropic",
            "claude-opus-4-5",
            wires.anthropic,
            ("/v1/messages",),
            lambda url: {"anthropic_api_key": KEY, "anthropic_base_url": url},
            beyond=("temperature", "top_p", "top_k"),
        ),
        Provider(
            "openai",
            "gpt-5",
            wires.responses,
            ("/v1/responses",),
            lambda url: {"openai_api_key": KEY, "openai_base_url": f"{url}/v1"},
        ),
        Provider(
            "xai",
            "grok-4",
            wires.responses,
            ("/v1/responses",),
            lambda url: {"xai_api_key": KEY, "xai_base_url": f"{url}/v1", "xai_collection_ids": "collection_1"},
            own_tools=("x_search",),
        ),
        Provider(
            "ollama",
            "ollama/qwen3:8b",
            wires.ollama,
            ("/api/chat",),
            lambda url: {"ollama_api_key": KEY, "ollama_base_url": url},
        ),
        Provider(
            "local",
            "local/qwen3-8b.gguf",
            wires.chat,
            ("/v1/chat/completions",),
            lambda url: {},
            beyond=("cache_prompt", "chat_template_kwargs", "top_k"),
        ),
        Provider(
            "gateway",
            "claude-opus-4-5",
            wires.chat,
            ("/api/v1/chat/completions",),
            lambda url: {
                "model_gateway": "openrouter",
                "model_gateway_api_key": KEY,
                "model_gateway_base_url": f"{url}/api/v1",
            },
            beyond=("reasoning", "top_k"),
        ),
    )
}


@dataclass
class Desk:
    """One provider with the server that plays it: aimock, or a loopback server where aimock has a gap."""

    provider: Provider
    server: Aimock | StandIn
    checked: int = field(default=0)

    def __post_init__(self) -> None:
        self.model = self.provider.adapter(self.server.url)
        if isinstance(self.server, StandIn):
            self.server.on("/api/show", Answer.json(CARD))

    @property
    def requests(self) -> list[Received]:
        """What the adapter sent to the model."""
        return [request for request in self.server.received if request.path in self.provider.paths]

    @property
    def bodies(self) -> list[Any]:
        return [request.body for request in self.requests]

    def script(self, *replies: Said) -> None:
        """What the provider says, one reply after another."""
        if isinstance(self.server, Aimock):
            for said in replies:
                _script_aimock(self.server, self.provider, said, replies)
            return
        waiting = list(replies)
        for path in self.provider.paths:
            self.server.on(path, lambda request: self.provider.wire(_next(waiting), _streams(request)))

    async def ask(self, request: LlmRequest, *, stream: bool = False) -> list[LlmResponse]:
        """All responses; then what was sent is held to the wire format."""
        responses = [response async for response in each(self.model, request, stream=stream)]
        self.check()
        return responses

    def check(self) -> None:
        """Every body sent since the last check is one that the provider could take."""
        for request in self.requests[self.checked :]:
            tools = [tool for tool in request.body.get("tools", ()) if tool.get("type") not in self.provider.own_tools]
            body = request.body | ({"tools": tools} if "tools" in request.body else {})
            check(request.path, body, beyond=self.provider.beyond)
        self.checked = len(self.requests)

    async def aclose(self) -> None:
        """Close the adapter's connections."""
        await self.model.aclose()  # type: ignore[attr-defined]

    def sent(self) -> str:
        """The last body as text."""
        return json.dumps(self.bodies[-1], ensure_ascii=False)


def _next(waiting: list[Said]) -> Said:
    return waiting.pop(0) if len(waiting) > 1 else waiting[0]


def _streams(request: Received) -> bool:
    return bool(request.path.endswith("streamGenerateContent") or request.body.get("stream"))


def _script_aimock(server: Aimock, provider: Provider, said: Said, replies: Sequence[Said]) -> None:
    match = {"hasToolResult": said is not replies[0]} if len(replies) > 1 else {}
    calls = [{"id": name, "name": call.name, "arguments": dict(call.args)} for name, call in said.ids()]
    usage = {
        "prompt_tokens": said.prompt_tokens,
        "completion_tokens": said.output_tokens,
        "total_tokens": said.prompt_tokens + said.output_tokens,
    }
    thought = {"reasoning": said.thought, "reasoningSignature": said.signature} if said.thought else {}
    finish = {"finishReason": "stop"} if provider.id == "gemini" else {}  # it would say FUNCTION_CALL, which is none
    server.reply(said.text, calls=calls, match=match, usage=usage, chunkSize=5, **thought, **finish)
