"""Refusals of providers as errors with a code."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syndicate.models.failure import failure, retry_after_of, words_of


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
        (400, "This model's maximum prompt length is 131072", "context-too-long", False),
        (400, "The input token count (9) exceeds the maximum number of tokens allowed (8)", "context-too-long", False),
        (500, "image input is not supported - hint: you may need the mmproj", "bad-request", False),
        (500, "this model is missing data required for image input", "bad-request", False),
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


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_pause_that_a_response_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_of(headers) == seconds


def test_a_date_to_come_is_seconds_from_now() -> None:
    seconds = retry_after_of({"Retry-After": formatdate(time.time() + 30, usegmt=True)})
    assert seconds is not None
    assert 28 <= seconds <= 30


@given(value=st.text() | st.builds("{} Oct {} {}:0 GMT".format, st.integers(), st.integers(), st.integers()))
def test_any_value_is_read_without_an_exception(value: str) -> None:
    assert (retry_after_of({"retry-after": value}) or 0) >= 0


def test_a_model_that_sees_no_images_is_what_to_change() -> None:
    assert "sees images" in failure("image input is not supported", model="m", status=500).remediation


def test_an_error_carries_the_pause() -> None:
    assert failure("slow down", model="m", status=429, retry_after=7).retry_after == 7
    assert failure("slow down", model="m", status=429).retry_after is None
