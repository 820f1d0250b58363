"""Chat completions as OpenAI defined them, which llama.cpp's server, Ollama's `/v1` and gateways speak too."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self, cast
from weakref import WeakKeyDictionary

import openai
from google.adk.models import BaseLlm
from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import PrivateAttr

from syndicate.models import request as asked
from syndicate.models.failure import failure, words_of
from syndicate.models.openai_client import Address, failure_in_answer, failure_of
from syndicate.models.reply import PartialCall, Reply, Usage

if TYPE_CHECKING:
    from syndicate.errors import ModelError

TIMEOUT = 600.0
"""Longest silence of a server, in seconds."""
_WITH_MEANING = (openai.APIStatusError, openai.APIConnectionError, openai.APIResponseValidationError)
_OTHER_SHAPES = (AttributeError, LookupError, TypeError)  # the SDK does not check what it reads


class OpenAICompatibleLlm(BaseLlm):
    """A model behind an OpenAI-compatible chat endpoint. `model` is the id in the syndicate file.

    Stateless but for one HTTP client per event loop; `aclose` closes that of the running loop.
    """

    _address: Address = PrivateAttr()
    _wire_model: str = PrivateAttr(default="")
    _remedies: Mapping[str, str] = PrivateAttr(default_factory=dict[str, str])
    _clients: WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = PrivateAttr(
        default_factory=WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI]
    )

    @classmethod
    def at(
        cls, address: Address, model_id: str, *, wire_model: str = "", remedies: Mapping[str, str] | None = None
    ) -> Self:
        """The adapter of a model at an address, where it is called `wire_model` if not by its id.

        `remedies` say what to do about errors, by their code, where this server's users can do more than others'.
        """
        adapter = cls(model=model_id)
        adapter._address, adapter._remedies = address, remedies or {}
        adapter._wire_model = wire_model
        return adapter

    @property
    def capabilities(self) -> LlmCapabilities:
        """A schema is honoured beside tools too (as an instruction), so ADK need not add a tool of its own for it."""
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """One response, or with `stream` partial ones and then the whole. Raises `ModelError`."""
        address, body = await self.address(), self.body(llm_request)
        reply = Reply(self.model, hide_thoughts=asked.thoughts_hidden(llm_request))
        try:
            async with aclosing(self._ask(address, body, reply, stream)) as frames:
                async for response in frames:
                    yield response
        except (openai.OpenAIError, ValueError, *_OTHER_SHAPES) as error:
            raise self._failure(error, address, begun=reply.begun) from None
        for response in reply.end():
            if stream or not response.partial:
                yield response

    async def address(self) -> Address:
        """Where the next request goes."""
        return self._address

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def body(self, request: LlmRequest) -> dict[str, Any]:
        """The request as chat completions spell it, without `stream`."""
        config = request.config
        body: dict[str, Any] = {
            "model": self._wire_model or self.model,
            "messages": list(chat_messages(request)),
            "temperature": config.temperature,
            "top_p": config.top_p,
            "max_tokens": config.max_output_tokens,
            "stop": config.stop_sequences or None,
            "seed": config.seed,
            "presence_penalty": config.presence_penalty,
            "frequency_penalty": config.frequency_penalty,
            "extra_body": {"top_k": int(config.top_k)} if config.top_k is not None else None,
            "reasoning_effort": "none" if asked.thinking_off(request) else self.effort(request) or None,
        }
        body |= self._shape(request, body)
        return {key: value for key, value in body.items() if value is not None}

    def tools(self, request: LlmRequest) -> tuple[asked.Tool, ...]:
        """The tools to offer."""
        return asked.tools(request)

    def effort(self, request: LlmRequest) -> str:
        """How hard to think, in words that compatible servers know."""
        return asked.thinking_level(request).replace("minimal", "low")

    def dropped_settings(self, request: LlmRequest) -> tuple[str, ...]:
        """The settings of a request that chat completions have no equivalent for, as files spell them."""
        return asked.settings_given(request, "thinkingBudget", "safetySettings", "responseMimeType")

    def _shape(self, request: LlmRequest, body: Mapping[str, Any]) -> dict[str, Any]:
        """Tools and the form of the answer; a grammar excludes tools, so beside them the schema is put in words."""
        tools, schema, choice = self.tools(request), asked.output_schema(request), asked.tool_choice(request)
        if choice in {tool.name for tool in tools}:
            tools, choice = tuple(tool for tool in tools if tool.name == choice), "required"
        if not tools:
            return {"response_format": _response_format(request, schema)}
        messages = cast("list[dict[str, Any]]", body["messages"])
        return {
            "tools": [_tool(tool) for tool in tools],
            "tool_choice": None if choice == "auto" else choice,
            "messages": with_instruction(messages, asked.schema_instruction(schema)) if schema else messages,
        }

    async def _ask(
        self, address: Address, body: dict[str, Any], reply: Reply, stream: bool
    ) -> AsyncGenerator[LlmResponse, None]:
        """Send the request and take the answer into `reply`; yields what is to be streamed."""
        completions = self._client(address).chat.completions
        if not stream:
            completion = await completions.create(**body, stream=False)
            if refusal := (completion.model_extra or {}).get("error"):
                raise self._refused(refusal, "refused", address)
            read_completion(completion, reply)
            return
        async with await completions.create(**body, stream=True, stream_options={"include_usage": True}) as chunks:
            async for chunk in chunks:
                for response in read_chunk(chunk, reply):
                    yield response

    def _client(self, address: Address) -> openai.AsyncOpenAI:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = openai.AsyncOpenAI(
                api_key=address.key,
                base_url=address.url,
                max_retries=0,
                default_headers={"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()},  # type: ignore[dict-item]
                http_client=self._http_client(),
            )
        return self._clients[loop].with_options(api_key=address.key, base_url=address.url)

    def _http_client(self) -> Any:
        """The SDK's own transport; untyped here, since it is the SDK's business which library that is."""
        return openai.DefaultAsyncHttpxClient(timeout=openai.Timeout(TIMEOUT, connect=10))

    def _failure(self, error: Exception, address: Address, *, begun: bool) -> ModelError:
        inside = isinstance(error, openai.APIError) and not isinstance(error, _WITH_MEANING)
        if inside and isinstance(error, openai.APIError):
            found = self._refused(error.body, error.message, address)
        else:
            found = failure_of(error, model=self.model, address=address, begun=begun)
        found.remediation = self._remedies.get(found.code, found.remediation)
        return found

    def _refused(self, body: object, words: str, address: Address) -> ModelError:
        """The error of an answer that began as a success; gateways put the status of the provider into its `code`."""
        fields: Mapping[str, object] = cast("Mapping[str, object]", body) if isinstance(body, Mapping) else {}
        code = fields.get("code")
        if isinstance(code, int) and 400 <= code < 600:
            return failure(words_of(fields, words), model=self.model, status=code, secret=address.key)
        return failure_in_answer(fields, words, model=self.model, address=address)


def chat_messages(request: LlmRequest) -> Iterable[dict[str, Any]]:
    """The conversation in chat format, the system instruction first."""
    if system := asked.system_text(request):
        yield {"role": "system", "content": system}
    for message in asked.messages(request):
        for result in message.results:
            yield {"role": "tool", "tool_call_id": result.id, "content": result.text}
        if message.role == "assistant":
            yield _assistant(message)
        elif message.text or message.images:
            yield {"role": "user", "content": _user_content(message)}


def with_instruction(messages: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """The messages with `text` at the end of the system instruction."""
    if messages and messages[0]["role"] == "system":
        return [{"role": "system", "content": f"{messages[0]['content']}\n\n{text}"}, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]


def read_completion(completion: ChatCompletion, reply: Reply) -> None:
    """Take a whole answer into `reply`."""
    _read_usage(completion.usage, reply)
    if not completion.choices:
        return
    choice = completion.choices[0]
    reply.add_thought(_reasoning(choice.message))
    reply.add_text(choice.message.content or "")
    reply.finish = choice.finish_reason or ""
    for call in choice.message.tool_calls or ():
        if call.type == "function":
            reply.calls.append(PartialCall(call.id, call.function.name, call.function.arguments))


def read_chunk(chunk: ChatCompletionChunk, reply: Reply) -> list[LlmResponse]:
    """Take one frame of a streamed answer into `reply`; the partial responses it makes."""
    _read_usage(chunk.usage, reply)
    if not chunk.choices:
        return []
    choice = chunk.choices[0]
    shown = reply.add_thought(_reasoning(choice.delta))
    shown += reply.add_text(choice.delta.content or "")
    for piece in choice.delta.tool_calls or ():
        call = _call_at(reply.calls, piece.index, piece.id)
        call.id = piece.id or call.id
        if piece.function:
            call.name += piece.function.name or ""
            call.arguments = f"{call.arguments}{piece.function.arguments or ''}"
    reply.finish = choice.finish_reason or reply.finish
    return shown


def _call_at(calls: list[PartialCall], index: int | None, identity: str | None) -> PartialCall:
    """The call a piece belongs to. Some servers leave the index out, or give every call index 0 and its own id."""
    place = len(calls) - 1 if index is None else index
    if 0 <= place < len(calls) and (not identity or calls[place].id in ("", identity)):
        return calls[place]
    known = next((call for call in calls if identity and call.id == identity), None)
    if known is None:
        known = PartialCall()
        calls.append(known)
    return known


def _read_usage(usage: openai.types.CompletionUsage | None, reply: Reply) -> None:
    if usage is None:
        return
    output, prompt = usage.completion_tokens_details, usage.prompt_tokens_details
    reply.usage = Usage(
        prompt=usage.prompt_tokens,
        output=usage.completion_tokens,
        thoughts=output.reasoning_tokens if output else None,
        cached=prompt.cached_tokens if prompt else None,
    )


def _reasoning(message: object) -> str:
    """Thinking that a server sends in a field of its own, which OpenAI's types do not know."""
    text = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
    return text if isinstance(text, str) else ""


def _assistant(message: asked.Message) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for call in message.calls
    ]
    said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    return {**said, "tool_calls": calls} if calls else said


def _user_content(message: asked.Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    text = [{"type": "text", "text": message.text}] if message.text else []
    return text + [{"type": "image_url", "image_url": {"url": _image_url(image)}} for image in message.images]


def _image_url(image: asked.Image) -> str:
    return image.url or f"data:{image.mime_type};base64,{base64.b64encode(image.data).decode()}"


def _tool(tool: asked.Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _response_format(request: LlmRequest, schema: asked.OutputSchema | None) -> dict[str, Any] | None:
    if schema is not None:
        return {"type": "json_schema", "json_schema": {"name": schema.name, "schema": schema.schema}}
    return {"type": "json_object"} if asked.wants_json(request) else None
