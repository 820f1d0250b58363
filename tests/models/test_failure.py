"""Refusals of providers as errors with a code."""

from __future__ import annotations

import pytest

from syndicate.models.failure import failure, words_of


@pytest.mark.parametrize(
    ("status", "words", "code", "retryable"),
    [
        (401, "no", "auth", False),
        (403, "no", "auth", False),
        (404, "no such model", "unknown-model", False),
        (400, "temperature is too high", "bad-request", False),
        (422, "unprocessable", "bad-request", False),
        (400, "request exceeds the available context size (exceed_context_size_error)", "context-too-long", False),
        (400, "This model's maximum context length is 8192 tokens", "context-too-long", False),
        (400, "The input token count (9) exceeds the maximum number of tokens allowed (8)", "context-too-long", False),
        (400, "API key not valid. Please pass a valid API key.", "auth", False),
        (408, "slow", "timeout", True),
        (429, "slow down", "rate-limited", True),
        (500, "oops", "server-error", True),
        (502, "oops", "server-error", True),
        (503, "busy", "overloaded", True),
        (529, "busy", "overloaded", True),
        (418, "teapot", "bad-request", False),
        (None, "oops", "server-error", True),
    ],
)
def test_status_and_words_make_a_code(status: int | None, words: str, code: str, retryable: bool) -> None:
    error = failure(words, model="some-model", status=status)
    assert (error.code, error.retryable) == (code, retryable)
    assert words in error.message
    assert error.model == "some-model"


def test_a_key_that_a_provider_repeats_is_blotted_out() -> None:
    error = failure("Incorrect API key provided: sesame-1234", model="m", status=401, secret="sesame-1234")
    assert "sesame" not in str(error)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            {"error": {"message": "too long", "type": "exceed_context_size_error"}},
            "too long (exceed_context_size_error)",
        ),
        ({"error": {"message": "bad", "code": 400, "type": None}}, "bad"),
        ({"error": "model not found"}, "model not found"),
        ({"message": "gone", "code": "model_gone"}, "gone (model_gone)"),
        (b'{"error": "busy"}', "busy"),
        ("<html>Bad Gateway</html>", "<html>Bad Gateway</html>"),
        ("", "Bad Gateway"),
        (None, "Bad Gateway"),
        ({"error": {}}, "Bad Gateway"),
    ],
)
def test_the_providers_own_words_are_found_in_any_body(body: object, words: str) -> None:
    assert words_of(body, "Bad Gateway") == words
