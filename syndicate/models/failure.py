"""What went wrong at a provider, as one `ModelError`: its own words, a stable code, never a key."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

from syndicate.errors import ModelError

_BY_STATUS = {
    400: "bad-request",
    401: "auth",
    403: "auth",
    404: "unknown-model",
    408: "timeout",
    409: "overloaded",
    413: "context-too-long",
    422: "bad-request",
    425: "overloaded",
    429: "rate-limited",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
_RETRYABLE = {"rate-limited", "overloaded", "server-error", "connection", "timeout", "stream-cut", "malformed"}
_TOO_LONG = re.compile(
    r"exceed_context_size|context_length_exceeded|context (?:size|length|window)|(?:prompt|input) is too long"
    r"|input token count .*exceeds|too many tokens|maximum (?:context|prompt)",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"api[ _]key not valid|API_KEY_INVALID|invalid api key", re.IGNORECASE)
_BLIND = re.compile(r"image input is not supported|data required for image input", re.IGNORECASE)
_SEEING = "leave the image out, or use a model that sees images"
_REMEDIES = {
    "auth": "check the key and what it may be used for",
    "unknown-model": "check the model id",
    "context-too-long": "shorten the prompt, or use a model with a larger context window",
    "rate-limited": "ask less often, or raise the provider's limit",
    "connection": "check the address and the network",
    "overloaded": "try again later, or name another model under `models:`",
    "server-error": "try again later, or name another model under `models:`",
    "timeout": "try again, or ask for less",
    "stream-cut": "try again",
    "malformed": "check that the address is that of the provider's API",
    "bad-request": "change what the message names",
}


def failure(
    message: str,
    *,
    model: str,
    status: int | None = None,
    code: str = "",
    remediation: str = "",
    secret: str = "",
    retry_after: float | None = None,
) -> ModelError:
    """The error for a refusal. `status` is that of HTTP; a `code` that is known goes first; `secret` is blotted out.

    `retry_after` is the pause in seconds that the provider asks for, as `retry_after_of` finds it.
    """
    words = " ".join(message.replace(secret, "…").split() if secret else message.split())
    found = code or _code(words, status)
    remedy = remediation or (_SEEING if _BLIND.search(words) else _REMEDIES.get(found, ""))
    error = ModelError(
        f"model {model!r}: {words or found}",
        code=found,
        remediation=remedy if retry_after is None else f"wait {retry_after:.0f} s, as the provider asks; or {remedy}",
        retryable=found in _RETRYABLE,
        model=model,
    )
    error.retry_after = retry_after
    return error


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date; else None."""
    values = {name.lower(): value.strip() for name, value in headers.items()}
    if (milliseconds := _number(values.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    asked = values.get("retry-after", "")
    if (seconds := _number(asked)) is not None:
        return seconds
    try:
        date = parsedate_to_datetime(asked)
        moment = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max((moment - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    """A finite number, negative ones as 0."""
    try:
        number = float(text)
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None


def _code(words: str, status: int | None) -> str:
    if status is None or status in (400, 413, 422, 500):
        if _TOO_LONG.search(words):
            return "context-too-long"
        if _NO_KEY.search(words):
            return "auth"
        if _BLIND.search(words):
            return "bad-request"
    return _BY_STATUS.get(status or 500, "server-error" if (status or 500) >= 500 else "bad-request")


def words_of(body: object, fallback: str) -> str:
    """The provider's sentence out of an error body, which is JSON of several shapes or text."""
    if isinstance(body, str | bytes):
        try:
            body = json.loads(body)
        except ValueError:
            return (body if isinstance(body, str) else body.decode(errors="replace")).strip()[:2000] or fallback
    if isinstance(body, Mapping):
        fields = cast("Mapping[str, Any]", body)
        inner = fields.get("error") or fields.get("message")
        if isinstance(inner, Mapping):
            named = cast("Mapping[str, Any]", inner)
            return f"{named.get('message') or fallback} {_kind(named)}".strip()
        if isinstance(inner, str):
            return f"{inner} {_kind(fields)}".strip()
    return fallback


def _kind(fields: Mapping[str, Any]) -> str:
    """The type of the error, kept since it tells what the sentence may not."""
    kind = fields.get("code") or fields.get("type")
    return f"({kind})" if isinstance(kind, str) else ""
