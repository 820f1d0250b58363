"""How each provider's servers refuse: the shape of the body, and the words for a prompt that is too long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.models.conftest import Answer

_GEMINI = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 400: "INVALID_ARGUMENT"}
_ANTHROPIC = {
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    400: "invalid_request_error",
}

TOO_LONG = {
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "anthropic": "prompt is too long: 210000 tokens > 200000 maximum",
    "openai": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "xai": "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    "ollama": "the input length exceeds the context length",
    "local": "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "gateway": "This endpoint's maximum context length is 200000 tokens. However, you requested about 300000 tokens.",
}

_SHAPES: dict[str, Callable[[int, str], Any]] = {
    "gemini": lambda status, words: {
        "error": {"code": status, "message": words, "status": _GEMINI.get(status, "INTERNAL")}
    },
    "anthropic": lambda status, words: {
        "type": "error",
        "error": {"type": _ANTHROPIC.get(status, "api_error"), "message": words},
        "request_id": "req_1",
    },
    "openai": lambda status, words: {"error": {"message": words, "type": "error", "param": None, "code": None}},
    "xai": lambda status, words: {"code": "refused", "error": words},
    "ollama": lambda status, words: {"error": words},
    "local": lambda status, words: {"error": {"code": status, "message": words, "type": "error"}},
    "gateway": lambda status, words: {"error": {"code": status, "message": words}, "user_id": "user_1"},
}


def refused(provider: str, status: int, words: str, **headers: str) -> Answer:
    """A refusal as the provider sends it."""
    answer = Answer.json(_SHAPES[provider](status, words), status)
    answer.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    return answer
