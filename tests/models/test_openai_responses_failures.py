"""OpenAI's models: what goes wrong, and that nothing is left open after it."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import aclosing
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest

from syndicate.errors import ModelError
from syndicate.models.openai_client import Address
from syndicate.models.openai_responses import OpenAIResponsesLlm
from tests.models.aimock import Aimock
from tests.models.conftest import WEATHER, Answer, StandIn, ask, request_of, text_of
from tests.models.relay import Received
from tests.models.responses_wire import PATH, call, events, item_events, message, response, streamed, whole
from tests.models.test_openai_responses import bodies, model_at

KEY = "sesame-1234"
HALF = list(item_events([message("Hello")]))[:3]
"""The events of an answer up to its first delta."""


@pytest.fixture
def model(stand_in: StandIn) -> OpenAIResponsesLlm:
    return model_at(stand_in)


def refused(message: str, status: int = 400, **fields: Any) -> Answer:
    return Answer.json({"error": {"message": message, "type": "invalid_request_error", **fields}}, status)


def failed(**error: Any) -> dict[str, Any]:
    return {"type": "response.failed", "response": response(status="failed", usage=None, error=error)}


async def error_of(model: OpenAIResponsesLlm, request: LlmRequest | None = None, *, stream: bool = True) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(model, request or request_of(), stream=stream)
    assert caught.value.model == "gpt-5.2"
    assert KEY not in f"{caught.value}{caught.value!r}{caught.value.__cause__!r}"
    return caught.value


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (refused(f"Incorrect API key provided: {KEY}", 401, code="invalid_api_key"), "auth", "Incorrect API key"),
        (refused("no access", 403), "auth", "no access"),
        (refused("The model 'gpt-9' does not exist", 404), "unknown-model", "does not exist"),
        (refused("Your input is too big", code="context_length_exceeded"), "context-too-long", "too big"),
        (refused("Invalid 'input'", param="input"), "bad-request", "Invalid 'input'"),
        (refused("conflict", 409), "overloaded", "conflict"),
        (refused("slow", 408), "timeout", "slow"),
        (refused("The engine is overloaded", 503), "overloaded", "overloaded"),
        (refused("oops", 500), "server-error", "oops"),
        (Answer(["<html>oops</html>"], 502, "text/html"), "server-error", "oops"),
    ],
)
async def test_a_refusal_has_a_code_and_the_providers_words(
    stream: bool, answer: Answer, code: str, words: str, model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    stand_in.on(PATH, answer)
    error = await error_of(model, stream=stream)
    assert (error.code, error.retry_after) == (code, None)
    assert words in error.message
    assert len(stand_in.bodies(PATH)) == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_the_pause_that_is_asked_for_comes_with_the_error(
    stream: bool, model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    answer = refused("slow down", 429, code="rate_limit_exceeded")
    answer.headers["Retry-After"] = "7"
    stand_in.on(PATH, answer)
    error = await error_of(model, stream=stream)
    assert (error.code, error.retryable, error.retry_after) == ("rate-limited", True, 7)


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (events(*HALF), "stream-cut", "broke off"),
        (events(*HALF, drop=True), "stream-cut", ""),
        (events(*item_events([message("Hello")])), "stream-cut", "broke off"),
        (Answer.events("[DONE]"), "stream-cut", "broke off"),
        (Answer(["<html>hello</html>"], 200, "text/html"), "stream-cut", "broke off"),
        (events(*HALF, "{not json"), "malformed", "cannot be read"),
        (events(*HALF, "[1, 2]"), "malformed", "cannot be read"),
        (events(*HALF, {"type": "response.completed", "response": None}), "malformed", "cannot be read"),
        (events(failed(code="server_error", message="The model crashed")), "server-error", "The model crashed"),
        (events(*HALF, failed(code="rate_limit_exceeded", message="Too fast")), "rate-limited", "Too fast"),
        (events(failed(code="image_too_large", message="Too big an image")), "bad-request", "Too big an image"),
        (events(failed(code="bio_policy", message="Not that")), "bad-request", "Not that"),
        (
            events(*HALF, {"type": "error", "code": "server_error", "message": "oops", "param": None}),
            "server-error",
            "oops",
        ),
        (
            events({"type": "error", "error": {"type": "rate_limit_exceeded", "message": "Too fast"}}),
            "rate-limited",
            "Too fast",
        ),
        (
            events({"type": "error", "error": {"code": "context_length_exceeded", "message": "Too long an input"}}),
            "context-too-long",
            "Too long",
        ),
    ],
)
async def test_a_stream_that_goes_wrong(
    answer: Answer, code: str, words: str, model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    stand_in.on(PATH, answer)
    error = await error_of(model)
    assert error.code == code
    assert words in error.message


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (whole(status="failed", error={"code": "server_error", "message": "oops"}), "server-error"),
        (whole(status="failed", error={"code": "invalid_prompt", "message": "oops"}), "bad-request"),
        (whole(status="cancelled"), "server-error"),
        (Answer(["<html>hello</html>"], 200, "text/html"), "malformed"),
        (Answer(["{not json"], 200), "malformed"),
        (Answer.json([]), "malformed"),
        (Answer.json({"output": [{"type": "message", "content": [1]}]}), "malformed"),
        (whole(call("call_a", "get_weather", '["Oslo"]')), "malformed"),
    ],
)
async def test_a_whole_answer_that_goes_wrong(
    answer: Answer, code: str, model: OpenAIResponsesLlm, stand_in: StandIn
) -> None:
    stand_in.on(PATH, answer)
    assert (await error_of(model, stream=False)).code == code


async def test_arguments_cut_off_by_the_limit_name_the_remedy(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    items = [call("call_a", "get_weather", '{"city": "Os')]
    cut: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    stand_in.on(PATH, streamed(*items, end="incomplete", **cut))
    error = await error_of(model)
    assert (error.code, error.remediation, error.retryable) == ("malformed", "raise maxOutputTokens", False)


async def test_a_server_that_falls_silent_is_given_up(stand_in: StandIn) -> None:
    stand_in.on(PATH, events(*HALF, pause=0.4))
    for stream in (False, True):
        assert (await error_of(model_at(stand_in, timeout=0.2), stream=stream)).code == "timeout"


async def test_nobody_there_is_a_connection_error(stand_in: StandIn) -> None:
    stand_in.close()
    error = await error_of(model_at(stand_in))
    assert (error.code, error.retryable) == ("connection", True)
    assert stand_in.url in error.message


async def test_no_key_names_the_variable() -> None:
    error = await error_of(OpenAIResponsesLlm(model="gpt-5.2"))
    assert (error.code, error.remediation) == ("auth", "set OPENAI_API_KEY")


@pytest.mark.parametrize("key", ["sesame-1234\u2026", "sesame-1234\nx", "sesame\t1234"])
async def test_a_key_that_cannot_be_sent_is_not_quoted(key: str, stand_in: StandIn) -> None:
    model = OpenAIResponsesLlm.at(Address(f"{stand_in.url}/v1", key), "gpt-5.2")
    error = await error_of(model)
    assert error.code == "auth"
    assert "sesame" not in f"{error}{error!r}{model!r}"


async def test_no_key_in_logs(model: OpenAIResponsesLlm, stand_in: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    stand_in.on(PATH, refused(f"Incorrect API key provided: {KEY}", 401))
    await error_of(model)
    ours = [record for record in caplog.records if record.name.startswith("syndicate")]
    assert KEY not in "".join(record.getMessage() for record in ours) + repr(model)
    assert KEY not in "".join(record.getMessage() for record in caplog.records if "headers" in record.getMessage())


@pytest.mark.parametrize(
    ("fields", "config", "gone"),
    [
        ({"param": "temperature"}, {"temperature": 0.5}, "temperature"),
        ({"param": "top_p"}, {"top_p": 0.5}, "top_p"),
        ({"param": "reasoning.effort"}, {"thinking_config": {"thinking_level": "HIGH"}}, "reasoning.effort"),
        ({"param": "reasoning.summary"}, {}, "reasoning"),
        ({"param": "include"}, {}, "include"),
        ({"param": "parallel_tool_calls"}, {"tools": [WEATHER]}, "parallel_tool_calls"),
        ({"param": "text.format.schema"}, {"response_json_schema": {"type": "object"}}, "text.format.strict"),
    ],
)
async def test_what_a_model_can_do_without_is_left_out_from_then_on(
    fields: dict[str, Any],
    config: dict[str, Any],
    gone: str,
    model: OpenAIResponsesLlm,
    stand_in: StandIn,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def answer(received: Received) -> Answer:
        present = at(received.body, gone) is not None
        return refused(f"Unsupported parameter: {gone}", **fields) if present else whole(message("ok"))

    stand_in.on(PATH, answer)
    for _ in range(2):
        assert text_of((await ask(model, request_of(**config)))[0]) == "ok"
    assert [at(body, gone) is not None for body in bodies(stand_in)] == [True, False, False]
    assert [record.getMessage() for record in caplog.records if record.name.startswith("syndicate")] == [
        f"gpt-5.2 refuses {fields['param'] if gone == 'reasoning' else gone}: it is left out from here on"
    ]


def at(body: Any, path: str) -> Any:
    """What a body has at a dotted path."""
    for name in path.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body


async def test_what_a_model_refuses_altogether_is_an_error(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, refused("Unsupported parameter: temperature", param="temperature"))
    error = await error_of(model, request_of(temperature=0.5))
    assert error.code == "bad-request"
    assert len(bodies(stand_in)) == 2


async def test_leaving_the_stream_closes_the_connection(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, streamed(message("x" * 5_000_000), pieces=500, pause=0.01))
    async with aclosing(model.generate_content_async(request_of(), stream=True)) as responses:
        async for _ in responses:
            break
    assert await asyncio.to_thread(stand_in.disconnected.wait, 5)
    await model.aclose()


async def test_cancelling_closes_the_connection(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, streamed(message("x" * 5_000_000), pieces=500, pause=0.01))
    task = asyncio.create_task(ask(model, request_of(), stream=True))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stand_in.disconnected.wait, 5)


def test_one_instance_serves_one_event_loop_after_another(model: OpenAIResponsesLlm, stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message("hello")))
    for _ in range(3):
        (reply,) = asyncio.run(ask(model, request_of()))
        assert text_of(reply) == "hello"


async def test_a_hundred_streams_at_once_do_not_mix_and_leave_nothing() -> None:
    connected: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.add(writer)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        body = json.loads(await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0])))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for frame in streamed(message(body["input"][0]["content"]), pieces=5).frames:
            writer.write(b"%x\r\n%s\r\n" % (len(frame), str(frame).encode()))
            await asyncio.sleep(0.01)
        writer.write(b"0\r\n\r\n")
        assert await reader.read() == b"", "the client closes the connection"
        writer.close()
        connected.discard(writer)

    async with await asyncio.start_server(serve, "127.0.0.1", 0, backlog=200) as server:
        model = OpenAIResponsesLlm.at(
            Address(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", KEY), "gpt-5"
        )
        before = asyncio.all_tasks()
        answers = await asyncio.gather(*(last_text(model, f"message {number}") for number in range(100)))
        assert answers == [f"message {number}" for number in range(100)]
        await model.aclose()
        async with asyncio.timeout(5):
            while asyncio.all_tasks() != before:  # noqa: ASYNC110 - no event tells that a task is gone
                await asyncio.sleep(0.01)
    assert connected == set()


async def last_text(model: OpenAIResponsesLlm, text: str) -> str:
    async with aclosing(model.generate_content_async(request_of(text), stream=True)) as replies:
        return [text_of(reply) async for reply in replies][-1]


async def test_a_stream_refused_by_a_server_of_all_formats(aimock: Aimock) -> None:
    aimock.fail(429, "slow down", type="rate_limit_error")
    model = OpenAIResponsesLlm.at(Address(f"{aimock.url}/v1", KEY), "gpt-5.2")
    error = await error_of(model)
    assert error.code == "rate-limited"
    assert "slow down" in error.message


async def test_a_stream_cut_by_a_server_of_all_formats(aimock: Aimock) -> None:
    aimock.reply("Hello there, whoever you are.", chunkSize=4, latency=20, truncateAfterChunks=6)
    model = OpenAIResponsesLlm.at(Address(f"{aimock.url}/v1", KEY), "gpt-5.2")
    assert (await error_of(model)).code == "stream-cut"
