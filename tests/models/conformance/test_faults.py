"""What goes wrong at each provider: one code and one way out for all of them, the provider's own words, never a key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from syndicate.errors import ModelError
from syndicate.models import ollama_daemon, openai_compatible
from syndicate.models.openai_client import Clients
from tests.models.conformance.conftest import OpenDesk
from tests.models.conformance.desks import KEY, PROVIDERS, Desk
from tests.models.conformance.refusals import TOO_LONG, refused
from tests.models.conformance.wires import Said, broken_off, garbled, unfinished
from tests.models.conftest import Answer, StandIn, each, request_of, text_of

WRONG_EVERYWHERE = json.dumps(
    {
        "choices": [{}, None],
        "candidates": [{"content": 3}],
        "output": [{}],
        "content": [{"type": "text"}],
        "message": "hello",
        "type": "content_block_delta",
        "usage": "much",
    }
)
SAID = Said("Hello there, whoever you are.", thought="A greeting.", signature="c2ln")
EVERYWHERE = pytest.mark.parametrize("provider", PROVIDERS)
BOTH_WAYS = pytest.mark.parametrize("stream", [True, False])


def server_of(desk: Desk) -> StandIn:
    assert isinstance(desk.server, StandIn)
    return desk.server


def script(desk: Desk, answer: Answer | Callable[[Any], Answer]) -> None:
    """Answer requests to the model so."""
    for path in desk.provider.paths:
        server_of(desk).on(path, answer)


def streamed(desk: Desk, said: Said = SAID) -> Answer:
    return desk.provider.wire(said, True)


async def failing(desk: Desk, *, stream: bool = True) -> ModelError:
    """The error of a call, which asked once and shows no key."""
    with pytest.raises(ModelError) as caught:
        async for _ in each(desk.model, request_of(), stream=stream):
            pass
    assert len(desk.requests) == 1
    assert caught.value.model == desk.provider.model_id
    assert KEY not in f"{caught.value}{caught.value!r}{caught.value.remediation}"
    return caught.value


@EVERYWHERE
@BOTH_WAYS
@pytest.mark.parametrize(
    ("status", "words", "code", "retryable"),
    [
        (401, f"Incorrect API key provided: {KEY}", "auth", False),
        (403, "You have no access to this model", "auth", False),
        (404, "There is no model of that name", "unknown-model", False),
        (400, "The temperature is not a temperature", "bad-request", False),
        (429, "Slow down, please", "rate-limited", True),
        (500, "Something broke", "server-error", True),
        (503, "We are busy", "overloaded", True),
    ],
)
async def test_a_refusal(
    provider: str, stream: bool, status: int, words: str, code: str, retryable: bool, loopback: OpenDesk
) -> None:
    desk = loopback(provider)
    script(desk, refused(provider, status, words))
    error = await failing(desk, stream=stream)
    assert (error.code, error.retryable, error.retry_after) == (code, retryable, None)
    assert words.replace(KEY, "…") in error.message
    assert error.remediation or code not in ("auth", "unknown-model")


@EVERYWHERE
@BOTH_WAYS
async def test_a_prompt_that_is_too_long(provider: str, stream: bool, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    script(desk, refused(provider, 400, TOO_LONG[provider]))
    error = await failing(desk, stream=stream)
    assert (error.code, error.retryable) == ("context-too-long", False)
    assert "larger context" in error.remediation


@EVERYWHERE
@BOTH_WAYS
async def test_the_pause_that_is_asked_for(provider: str, stream: bool, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    script(desk, refused(provider, 429, "Slow down", Retry_After="7"))
    error = await failing(desk, stream=stream)
    assert (error.code, error.retry_after) == ("rate-limited", 7)


@EVERYWHERE
async def test_a_stream_that_is_cut(provider: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    whole = streamed(desk)
    script(desk, broken_off(whole, len(list(whole.frames)) // 2))
    error = await failing(desk)
    assert (error.code, error.retryable) == ("stream-cut", True)


@EVERYWHERE
async def test_a_stream_that_ends_without_a_finish(provider: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    whole = streamed(desk)
    script(desk, unfinished(whole, len(list(whole.frames)) // 2))
    error = await failing(desk)
    assert (error.code, error.retryable) == ("stream-cut", True)


@EVERYWHERE
async def test_a_frame_that_is_no_json(provider: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    whole = streamed(desk)
    script(desk, garbled(whole, len(list(whole.frames)) // 2))
    error = await failing(desk)
    assert (error.code, error.retryable) == ("malformed", True)


@EVERYWHERE
async def test_an_answer_that_is_no_json(provider: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    script(desk, Answer(["<html>Welcome to the hotel's network</html>\n"]))
    error = await failing(desk, stream=False)
    assert (error.code, error.retryable) == ("malformed", True)


@EVERYWHERE
@BOTH_WAYS
@pytest.mark.parametrize("shape", ["[]", '"hello"', "null", "7", "{}", '{"object": 3}', WRONG_EVERYWHERE])
async def test_an_answer_of_another_shape(provider: str, stream: bool, shape: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    whole = desk.provider.wire(SAID, stream)
    name = "event: message_start\n" if provider == "anthropic" else ""
    event = f"{name}data: {shape}\n\n" if "event-stream" in whole.content_type else f"{shape}\n"
    script(desk, replace(whole, frames=[event]))
    error = await failing(desk, stream=stream)
    assert error.code in ("malformed", "stream-cut")


@EVERYWHERE
async def test_nobody_is_there(provider: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    server_of(desk).close()
    with pytest.raises(ModelError) as caught:
        await desk.ask(request_of())
    assert (caught.value.code, caught.value.retryable) == ("connection", True)


def hurry(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the adapter wait a third of a second for an answer instead of minutes."""
    seconds = 0.3
    monkeypatch.setattr(openai_compatible, "TIMEOUT", seconds)
    monkeypatch.setattr(ollama_daemon, "TIMEOUT", seconds)
    desk.model = desk.provider.adapter(server_of(desk).url)
    match desk.provider.id:
        case "anthropic" | "gemini":
            desk.model.timeout = seconds  # type: ignore[attr-defined]
        case "openai" | "xai":
            desk.model._clients = Clients(seconds)  # type: ignore[attr-defined]


@EVERYWHERE
@BOTH_WAYS
async def test_no_answer_in_time(
    provider: str, stream: bool, loopback: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = loopback(provider)
    hurry(desk, monkeypatch)
    script(desk, replace(desk.provider.wire(SAID, stream), pause=1.0))
    error = await failing(desk, stream=stream)
    assert (error.code, error.retryable) == ("timeout", True)


def endless(desk: Desk) -> Answer:
    """A stream that goes on for minutes."""
    answer = streamed(desk, Said("x" * 20_000))
    frames = list(answer.frames)
    delta = next(index for index, frame in enumerate(frames) if "xxxx" in str(frame))
    return replace(answer, frames=[*frames[:delta], *frames[delta : delta + 1] * 5_000], pause=0.005)


@EVERYWHERE
async def test_cancelling_closes_the_connection(provider: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    script(desk, endless(desk))
    begun = asyncio.Event()

    async def read() -> None:
        async for _ in each(desk.model, request_of(), stream=True):
            begun.set()

    task = asyncio.create_task(read())
    await asyncio.wait_for(begun.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(server_of(desk).disconnected.wait, 5)


@EVERYWHERE
async def test_leaving_the_stream_closes_the_connection(provider: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    script(desk, endless(desk))
    async for delta in each(desk.model, request_of(), stream=True):
        assert text_of(delta)
        break
    assert await asyncio.to_thread(server_of(desk).disconnected.wait, 5)


@EVERYWHERE
async def test_after_a_failure_and_after_closing_it_can_be_asked_again(provider: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    script(desk, refused(provider, 500, "Something broke"))
    await failing(desk)
    desk.script(SAID)
    for _ in range(2):
        *_, whole = await desk.ask(request_of(), stream=True)
        assert text_of(whole) == SAID.text
        await desk.aclose()
