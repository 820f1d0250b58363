"""The checker of request bodies: it takes those that are right and names what is wrong with the others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.models.wire import check

CHAT, RESPONSES, ANTHROPIC = "/v1/chat/completions", "/v1/responses", "/v1/messages"
GEMINI, OLLAMA = "/v1beta/models/gemini-3-pro:streamGenerateContent", "/api/chat"
SCHEMA = {"type": "object", "properties": {"city": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
BROKEN = {"type": "object", "properties": {"city": {"type": "text"}}}
IMAGE = "aGVsbG8="

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
ASKED = {"role": "user", "content": "weather?"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWERED = {"role": "tool", "tool_call_id": "c1", "content": "rain"}
CHAT_TOOL = {"type": "function", "function": {"name": "weather", "description": "", "parameters": SCHEMA}}
ITEM = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "rain"}
USE = {"type": "tool_use", "id": "c1", "name": "weather", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "rain"}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
MODEL_CALL = {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "weather", "args": {}}}]}
USER_RESULT = {
    "role": "user",
    "parts": [{"functionResponse": {"id": "c1", "name": "weather", "response": {"result": "rain"}}}],
}
HI = {"role": "user", "parts": [{"text": "hi"}]}


def chat(*messages: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    return CHAT, {"model": "gpt-5", "messages": list(messages), **more}


def responses(*items: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    return RESPONSES, {"model": "gpt-5", "input": list(items), **more}


def anthropic(*messages: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    return ANTHROPIC, {"model": "claude-opus-4-5", "max_tokens": 9, "messages": list(messages), **more}


def gemini(*contents: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    return GEMINI, {"contents": list(contents), **more}


def ollama(*messages: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    return OLLAMA, {"model": "qwen3", "messages": list(messages), **more}


OLLAMA_CALLED = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": {}}}],
}
OLLAMA_ANSWERED = {"role": "tool", "content": "rain", "tool_name": "weather", "tool_call_id": "c1"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        chat(ASKED, CALLED, ANSWERED, tools=[CHAT_TOOL], stream=True, stream_options={"include_usage": True}),
        chat({"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;{IMAGE}"}}]}),
        responses(ASKED, ITEM, OUTPUT, tools=[{"type": "function", "name": "f", "parameters": SCHEMA, "strict": True}]),
        responses({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}, ITEM, OUTPUT),
        anthropic(
            ASKED,
            {"role": "assistant", "content": [THINKING, USE]},
            {"role": "user", "content": [RESULT, {"type": "text", "text": "and?"}]},
            tools=[{"name": "weather", "input_schema": SCHEMA}],
            thinking={"type": "enabled", "budget_tokens": 1024},
        ),
        gemini(HI, MODEL_CALL, USER_RESULT, generationConfig={"responseJsonSchema": SCHEMA, "temperature": 0}),
        gemini({"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": IMAGE}}]}),
        ollama(ASKED, OLLAMA_CALLED, OLLAMA_ANSWERED, tools=[CHAT_TOOL], options={"num_ctx": 8192}, truncate=False),
        ollama({"role": "user", "content": "look", "images": [IMAGE]}, think="high", format=SCHEMA),
    ],
)
def test_a_body_that_is_right(path: str, body: dict[str, Any]) -> None:
    check(path, body)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (chat(ASKED, tool=1), r"\.tool: Extra"),
        (chat(ASKED, tools=None), r"\.tools"),
        (chat({"role": "user", "content": "x", "text": "x"}), r"\.text: Extra"),
        (chat({"role": "user", "content": [{"type": "text", "text": "x", "more": 1}]}), r"\.more: Extra"),
        (chat({"role": "model", "content": "x"}), "role"),
        (
            chat({"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}]}, ANSWERED),
            r"function\.arguments: Input should be a valid string",
        ),
        (chat(ASKED, CALLED), "'c1'] were not answered"),
        (chat(ASKED, CALLED, ASKED, ANSWERED), "'c1'] were not answered"),
        (chat(ASKED, ANSWERED), "'c1' answers no call"),
        (
            chat(ASKED, tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "OBJECT"}}}]),
            "no object",
        ),
        (chat(ASKED, tools=[{"type": "function", "function": {"name": "f", "parameters": BROKEN}}]), "no JSON Schema"),
        (responses(ASKED, {"type": "reasoning", "summary": []}), r"\.id: Field required"),
        (responses(ASKED, ITEM), "'c1'] were not answered"),
        (responses(ASKED, OUTPUT), "'c1' answers no call"),
        (responses({"role": "user", "content": [{"type": "text", "text": "x"}]}), "input_text"),
        (anthropic({"role": "assistant", "content": "x"}), "not the user's"),
        (anthropic({"role": "user", "content": []}), "without content"),
        (anthropic(ASKED, {"role": "assistant", "content": [USE]}, ASKED), "'c1'] were not answered"),
        (anthropic(ASKED, {"role": "assistant", "content": [{**THINKING, "signature": None}]}), r"\.signature"),
        (
            anthropic(
                ASKED,
                {"role": "assistant", "content": [USE]},
                {"role": "user", "content": [{"type": "text", "text": "x"}, RESULT]},
            ),
            "come before all else",
        ),
        (anthropic(ASKED, temperature=0.5), r"\.temperature: Extra"),
        (gemini({"role": "assistant", "parts": [{"text": "hi"}]}), "no role of Gemini"),
        (gemini({"role": "user", "parts": []}), "without parts"),
        (gemini(HI, MODEL_CALL, HI), "were answered by"),
        (gemini(HI, USER_RESULT), "were answered by"),
        (gemini(HI, generationConfig={"schema": SCHEMA}), r"generationConfig\.schema: Extra"),
        (ollama(ASKED, options={"context": 3}), r"options\.context: Extra"),
        (ollama({"role": "user", "content": "x", "image": IMAGE}), r"\.image: Extra"),
        (ollama(ASKED, OLLAMA_CALLED, ASKED), "were not answered"),
        (ollama(ASKED, OLLAMA_ANSWERED), "answers no call"),
        (
            ollama(ASKED, {**OLLAMA_CALLED, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}),
            r"arguments: Input should be a valid mapping|arguments: Input should be an object",
        ),
    ],
)
def test_a_body_that_is_not(sent: tuple[str, dict[str, Any]], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check(*sent)


def test_what_a_compatible_server_knows_beyond_the_sdk_is_named() -> None:
    path, body = chat(ASKED, top_k=7)
    check(path, body, beyond=["top_k"])
    with pytest.raises(AssertionError, match="top_k"):
        check(path, body)


def test_a_path_of_nobody() -> None:
    with pytest.raises(AssertionError, match="no wire format"):
        check("/v1/embeddings", {})
