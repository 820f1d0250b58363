"""The client of OpenAI's SDK, and what its failures mean: the same for every server that speaks one of its formats."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import openai

from syndicate.models.failure import failure, retry_after_of, words_of
from syndicate.settings import without_password

if TYPE_CHECKING:
    from syndicate.errors import ModelError

TIMEOUT = 600.0
"""Seconds of silence after which a call has failed."""

# HTTP statuses of the codes that errors inside an answer carry instead of one.
_STATUS_OF_CODE = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "server_is_overloaded": 503,
    "overloaded_error": 503,
    "slow_down": 503,
    "vector_store_timeout": 504,
    "invalid_api_key": 401,
    "model_not_found": 404,
    "server_error": 500,
    "api_error": 500,
    "internal_error": 500,
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where to send requests and with which key; the key is kept out of every `repr`."""

    url: str
    key: str

    def __repr__(self) -> str:
        return f"Address({without_password(self.url)!r})"


class Clients:
    """One client per event loop, made when it is first needed. `timeout` is seconds of silence."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self._timeout = timeout
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = WeakKeyDictionary()

    def at(self, address: Address) -> openai.AsyncOpenAI:
        """The running loop's client of an address. It asks once only: whether to ask again is decided elsewhere."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = openai.AsyncOpenAI(
                api_key=address.key,
                base_url=address.url,
                max_retries=0,
                default_headers={"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()},  # type: ignore[dict-item]
                http_client=openai.DefaultAsyncHttpxClient(timeout=openai.Timeout(self._timeout, connect=10)),
            )
        return self._clients[loop]

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


def unusable_key(address: Address, model: str, variable: str) -> ModelError | None:
    """The error for no key, or for one that no HTTP header can carry, which a library would quote."""
    if not address.key:
        return failure(f"{variable} is not set", model=model, code="auth", remediation=f"set {variable}")
    if address.key.isascii() and address.key.isprintable():
        return None
    wrong = f"{variable} holds characters that no key has"
    return failure(wrong, model=model, code="auth", remediation=f"correct {variable}")


def failure_of(error: Exception, *, model: str, address: Address, begun: bool) -> ModelError:
    """The error for an exception of the SDK or of reading its answer. `begun`: the answer had begun to arrive."""
    match error:
        case openai.APIStatusError():
            words = words_of(error.body or error.response.text, error.message)
            pause = retry_after_of(error.response.headers)
            return failure(words, model=model, status=error.status_code, secret=address.key, retry_after=pause)
        case openai.APITimeoutError():
            return failure("no answer in time", model=model, code="timeout")
        case openai.APIConnectionError():
            cause = str(error.__cause__ or "") or type(error.__cause__).__name__
            code = "stream-cut" if begun else "connection"
            return failure(f"{without_password(address.url)}: {cause}", model=model, code=code, secret=address.key)
        case openai.APIResponseValidationError():
            return failure("the answer is not JSON", model=model, code="malformed")
        case openai.APIError():
            return failure_in_answer(error.body, error.message, model=model, address=address)
        case openai.OpenAIError():
            return failure(str(error), model=model, code="bad-request", secret=address.key)
        case _:
            return failure("the answer cannot be read", model=model, code="malformed")


def failure_in_answer(body: object, message: str, *, model: str, address: Address) -> ModelError:
    """The error for one that came inside an answer whose HTTP status was fine: `body` has its code and words."""
    fields: Mapping[str, Any] = cast("Mapping[str, Any]", body) if isinstance(body, Mapping) else {}
    codes = [str(fields.get(name) or "") for name in ("code", "type")]
    status = next((_STATUS_OF_CODE[code] for code in codes if code in _STATUS_OF_CODE), None)
    if status is None and any(code.startswith(_MISTAKES) or code.endswith(_POLICIES) for code in codes):
        status = 400
    return failure(words_of(fields, message), model=model, status=status, secret=address.key)


_MISTAKES = ("invalid_", "image_", "unsupported_", "empty_", "failed_to_download", "context_length", "data_residency")
_POLICIES = ("_policy", "_policy_violation")
