"""The adapter of `ollama/*`: the daemon's native chat, or its OpenAI-compatible one when the address ends in `/v1`."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self, cast

import httpx
from google.adk.models import BaseLlm
from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from pydantic import PrivateAttr

from syndicate.models import request as asked
from syndicate.models.failure import failure, words_of
from syndicate.models.ollama_daemon import PREFIX, Daemon, base_url, how_to_pull, key_of, speaks_openai
from syndicate.models.registry import Unavailable
from syndicate.models.reply import PartialCall, Reply, Usage
from syndicate.settings import Settings

if TYPE_CHECKING:
    from syndicate.models.openai_compatible import OpenAICompatibleLlm

_SMALLEST_CONTEXT = 8_192
_ANSWER_TOKENS = 4_096
_IMAGE_TOKENS = 1_500
_BYTES_PER_TOKEN = 3


async def availability(model_id: str, settings: Settings) -> Unavailable | None:
    """Whether the daemon is up and has pulled the model."""
    daemon, name = Daemon(settings), model_id.removeprefix(PREFIX)
    compatible = speaks_openai(settings)
    try:
        listing = await daemon.get("/models" if compatible else "/api/tags", timeout=2)
    except httpx.HTTPStatusError as error:
        words = words_of(error.response.text, error.response.reason_phrase)
        reason = f"the server at {daemon.address} answers {error.response.status_code}: {' '.join(words.split())[:200]}"
        return Unavailable(reason, "check OLLAMA_BASE_URL and OLLAMA_API_KEY")
    except ValueError:
        reason = f"what answers at {daemon.address} is no Ollama daemon"
        return Unavailable(reason, "check OLLAMA_BASE_URL")
    except (httpx.HTTPError, httpx.InvalidURL):
        reason = f"no Ollama daemon answers at {daemon.address}"
        return Unavailable(reason, "start it (`ollama serve`), or set OLLAMA_BASE_URL")
    finally:
        await daemon.aclose()
    models = cast("list[dict[str, Any]]", listing.get("data" if compatible else "models") or [])
    names = {str(model.get("id" if compatible else "name")) for model in models}
    if name in names or f"{name}:latest" in names or name.removesuffix(":latest") in names:
        return None
    return Unavailable(f"the Ollama daemon has not pulled {name!r}", how_to_pull(model_id))


class OllamaLlm(BaseLlm):
    """A model of an Ollama daemon. Stateless but for HTTP connections and what the daemon says about the model.

    Built with `model=` alone it reads the settings itself, at its first call.
    """

    _opened: Daemon | None = PrivateAttr(default=None)
    _about: dict[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def from_settings(cls, model_id: str, settings: Settings) -> Self | OpenAICompatibleLlm:
        """The adapter for the format that the daemon's address calls for."""
        if speaks_openai(settings):
            from syndicate.models.openai_compatible import Address, OpenAICompatibleLlm

            address = Address(base_url(settings), key_of(settings) or "ollama")
            name, remedies = model_id.removeprefix(PREFIX), {"unknown-model": how_to_pull(model_id)}
            return OpenAICompatibleLlm.at(address, model_id, wire_model=name, remedies=remedies)
        adapter = cls(model=model_id)
        adapter._opened = Daemon(settings)
        return adapter

    @property
    def _daemon(self) -> Daemon:
        if self._opened is None:
            self._opened = Daemon(Settings.read())
        return self._opened

    @property
    def capabilities(self) -> LlmCapabilities:
        """A schema is honoured beside tools too (as an instruction), so ADK need not add a tool of its own for it."""
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """One response, or with `stream` partial ones and then the whole. Raises `ModelError`."""
        reply = Reply(self.model, hide_thoughts=asked.thoughts_hidden(llm_request))
        body = await self.body(llm_request)
        async with aclosing(self._daemon.lines("/api/chat", body, model=self.model)) as frames:
            async for frame in frames:
                for response in self._read(frame, reply):
                    if stream:
                        yield response
        for response in reply.end():
            if stream or not response.partial:
                yield response

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop."""
        await self._daemon.aclose()

    def dropped_settings(self, request: LlmRequest) -> tuple[str, ...]:
        """The settings of a request that the daemon has no equivalent for, as files spell them."""
        return asked.settings_given(request, "thinkingBudget", "safetySettings", "responseMimeType")

    async def body(self, request: LlmRequest) -> dict[str, Any]:
        """The request as `/api/chat` spells it; always streamed, so that closing the connection stops the model."""
        tools, schema = asked.tools(request), asked.output_schema(request)
        if asked.tool_choice(request) == "none":
            tools = ()
        messages = list(self._messages(request, schema if tools else None))
        body: dict[str, Any] = {
            "model": self.model.removeprefix(PREFIX),
            "messages": messages,
            "stream": True,
            "truncate": False,
        }
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
        elif schema is not None:
            body["format"] = schema.schema
        elif asked.wants_json(request):
            body["format"] = "json"
        about = await self._model_card()
        if "thinking" in about.get("capabilities", ()):
            body["think"] = _think(request)
        body["options"] = _options(request) | {"num_ctx": _context(request, body, about)}
        return body

    async def _model_card(self) -> dict[str, Any]:
        """What the daemon says about the model, asked once."""
        if not self._about:
            self._about = await self._daemon.show(self.model.removeprefix(PREFIX))
        return self._about

    def _read(self, frame: dict[str, Any], reply: Reply) -> list[LlmResponse]:
        try:
            return read_frame(frame, reply)
        except (AttributeError, TypeError):
            raise failure("the answer cannot be read", model=self.model, code="malformed") from None

    def _messages(self, request: LlmRequest, in_words: asked.OutputSchema | None) -> Iterator[dict[str, Any]]:
        """The conversation; a schema that the grammar cannot enforce beside tools joins the system instruction."""
        system = [asked.system_text(request), asked.schema_instruction(in_words) if in_words else ""]
        if any(system):
            yield {"role": "system", "content": "\n\n".join(filter(None, system))}
        for message in asked.messages(request):
            for result in message.results:
                identity = {"tool_name": result.name, "tool_call_id": result.id}
                yield {"role": "tool", "content": result.text, **identity}
            if message.text or message.images or message.calls:
                yield self._message(message)

    def _message(self, message: asked.Message) -> dict[str, Any]:
        said: dict[str, Any] = {"role": message.role, "content": message.text}
        if message.images:
            said["images"] = [self._image(image) for image in message.images]
        if message.calls:
            said["tool_calls"] = [
                {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}} for call in message.calls
            ]
        return said

    def _image(self, image: asked.Image) -> str:
        if image.url:
            raise failure("Ollama takes the bytes of an image, not its address", model=self.model, code="bad-request")
        return base64.b64encode(image.data).decode()


def read_frame(frame: dict[str, Any], reply: Reply) -> list[LlmResponse]:
    """Take one line of an answer into `reply`; the partial responses it makes."""
    message = cast("dict[str, Any]", frame.get("message") or {})
    shown = reply.add_thought(message.get("thinking") or "")
    shown += reply.add_text(message.get("content") or "")
    for call in cast("list[dict[str, Any]]", message.get("tool_calls") or []):
        function = cast("dict[str, Any]", call.get("function") or {})
        arguments = cast("dict[str, Any] | str", function.get("arguments") or {})
        reply.calls.append(PartialCall(call.get("id") or "", str(function.get("name", "")), arguments))
    if frame.get("done"):
        reply.finish = str(frame.get("done_reason") or "stop")
        reply.usage = Usage(prompt=frame.get("prompt_eval_count"), output=frame.get("eval_count"))
    return shown


def _tool(tool: asked.Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _think(request: LlmRequest) -> bool | str:
    """Whether to think, or how much: what a model without levels takes for yes."""
    if asked.thinking_off(request):
        return False
    return asked.thinking_level(request).replace("minimal", "low") or True


def _options(request: LlmRequest) -> dict[str, Any]:
    config = request.config
    options: dict[str, Any] = {
        "temperature": config.temperature,
        "top_p": config.top_p,
        "top_k": int(config.top_k) if config.top_k is not None else None,
        "num_predict": config.max_output_tokens,
        "stop": config.stop_sequences or None,
        "seed": config.seed,
        "presence_penalty": config.presence_penalty,
        "frequency_penalty": config.frequency_penalty,
    }
    return {key: value for key, value in options.items() if value is not None}


def _context(request: LlmRequest, body: dict[str, Any], about: dict[str, Any]) -> int:
    """A context that the prompt and the answer fit, since the daemon's default cuts the prompt without a word.

    A power of two, so that the daemon need not load the model anew for every turn; at most what the model can.
    """
    texts = [{**message, "images": None} for message in body["messages"]]
    images = sum(len(message.get("images") or ()) for message in body["messages"])
    size = len(json.dumps([texts, body.get("tools")], ensure_ascii=False).encode())
    wanted = size // _BYTES_PER_TOKEN + images * _IMAGE_TOKENS + (request.config.max_output_tokens or _ANSWER_TOKENS)
    context = _SMALLEST_CONTEXT
    while context < wanted:
        context *= 2
    facts = cast("dict[str, Any]", about.get("model_info") or {})
    limits = [value for key, value in facts.items() if key.endswith(".context_length") and isinstance(value, int)]
    return min([context, *limits])
