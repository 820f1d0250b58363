"""A request as the Messages API spells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.adk.models.llm_request import LlmRequest

from syndicate.models import request as asked
from syndicate.models.anthropic_messages import conversation, thinks_from_the_start, without_thoughts
from syndicate.models.anthropic_models import Claude, claude_of
from syndicate.models.anthropic_schema import fitted
from syndicate.models.anthropic_thinking import Sampling, Thinking, sampling, thinking, without_equivalent
from syndicate.models.request import JsonObject
from syndicate.models.server_tools import server_tools

_ONLY_JSON = "Answer with one JSON value and nothing else."
_CACHED = {"cache_control": {"type": "ephemeral"}}


def body_of(request: LlmRequest, model_id: str) -> JsonObject:
    """The request without `stream`. What is the same in the next one is marked to be cached."""
    claude = claude_of(model_id)
    messages, thinks = _thinking_messages(request, claude)
    schema = asked.output_schema(request)
    shape = fitted(schema.schema) if schema and _is_native(request, claude) else None
    tools = list(_tools(request, claude, messages))
    config = {"effort": thinks.effort, "format": {"type": "json_schema", "schema": shape} if shape else None}
    body: JsonObject = {
        "model": model_id,
        "max_tokens": _most_tokens(request, claude, thinks),
        "system": _system(request, None if shape else schema),
        "messages": _marked_messages(messages),
        "tools": [*tools[:-1], tools[-1] | _CACHED] if tools else None,
        "tool_choice": _choice(request, claude, thinks) if tools else None,
        "thinking": thinks.wire,
        "output_config": {key: value for key, value in config.items() if value is not None} or None,
        "stop_sequences": [text for text in request.config.stop_sequences or () if text.strip()] or None,
        **sampling(request, claude, thinks).wire,
    }
    return {key: value for key, value in body.items() if value is not None}


def dropped_settings(request: LlmRequest, model_id: str) -> tuple[str, ...]:
    """Settings of the request that this model cannot have, by their names in syndicate files, some with a reason."""
    claude = claude_of(model_id)
    thinks = thinking(request, claude)
    chosen: Sampling = sampling(request, claude, thinks)
    forced = thinks.on and asked.tool_choice(request) not in ("auto", "none")
    choice = ("toolConfig (excluded by thinking)",) if forced else ()
    return (*without_equivalent(request), *thinks.dropped, *chosen.dropped, *choice)


def _thinking_messages(request: LlmRequest, claude: Claude) -> tuple[list[JsonObject], Thinking]:
    """The conversation, and how much to think: not at all while a turn that began without thoughts of Claude's goes
    on, which a budget would be refused for."""
    messages, thinks = conversation(request), thinking(request, claude)
    if thinks.budget and not thinks_from_the_start(messages):
        thinks = Thinking({"type": "disabled"})
    if thinks.wire is not None and not thinks.on:
        messages = without_thoughts(messages)
    return messages, thinks


def _most_tokens(request: LlmRequest, claude: Claude, thinks: Thinking) -> int:
    """The limit of the answer; the API counts thinking in, and refuses a budget that is not below it."""
    wanted = request.config.max_output_tokens or claude.usual
    if not thinks.budget or (request.config.max_output_tokens and wanted > thinks.budget):
        return wanted
    return max(min(thinks.budget + wanted, claude.longest), thinks.budget + 1)


def _system(request: LlmRequest, schema: asked.OutputSchema | None) -> list[JsonObject] | None:
    """The system instruction, with the form of the answer where the API cannot hold the model to it."""
    form = asked.schema_instruction(schema) if schema else _ONLY_JSON if asked.wants_json(request) else ""
    text = "\n\n".join(filter(None, (asked.system_text(request).strip(), form)))
    return [{"type": "text", "text": text, **_CACHED}] if text else None


def _is_native(request: LlmRequest, claude: Claude) -> bool:
    """Whether the API holds the reply to a schema: not beside a search, whose citations a bare JSON value excludes."""
    return claude.output_schema and not _searches(request, claude)


def _searches(request: LlmRequest, claude: Claude) -> bool:
    return claude.web_search and "web_search" in server_tools(request)


def _tools(request: LlmRequest, claude: Claude, messages: list[JsonObject]) -> Iterator[JsonObject]:
    """The tools on offer. A conversation with calls must have tools: without any, those once called are named."""
    offered = asked.tools(request)
    for tool in offered:
        described = {"description": tool.description} if tool.description else {}
        yield {"name": tool.name, **described, "input_schema": {"type": "object", **tool.parameters}}
    if _searches(request, claude):
        yield {"type": "web_search_20250305", "name": "web_search"}
    elif not offered:
        for name in _called(messages):
            yield {"name": name, "input_schema": {"type": "object"}}


def _called(messages: list[JsonObject]) -> Iterator[str]:
    blocks = (block for message in messages for block in message["content"])
    return iter(dict.fromkeys(block["name"] for block in blocks if block["type"] == "tool_use"))


def _choice(request: LlmRequest, claude: Claude, thinks: Thinking) -> JsonObject | None:
    """Which tool to call; thinking leaves that to the model."""
    choice = asked.tool_choice(request)
    if choice == "none" or not (asked.tools(request) or _searches(request, claude)):
        return {"type": "none"}
    if choice == "auto" or thinks.on:
        return None
    return {"type": "any"} if choice == "required" else {"type": "tool", "name": choice}


def _marked_messages(messages: list[JsonObject]) -> list[dict[str, Any]]:
    """The messages with a mark at the end: the next request of the conversation begins with the same ones."""
    *earlier, last = messages
    *blocks, end = last["content"]
    return [*earlier, {**last, "content": [*blocks, end | _CACHED]}]
