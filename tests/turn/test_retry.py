"""A model that fails is asked again, then the next of `models` takes over; never after it has begun to answer."""

from typing import Any

import pytest

from syndicate import ModelError
from syndicate.models.retry import RetryPolicy
from syndicate.testing import Reply, ScriptedModel
from syndicate.turn.events import Answer, Status, Text
from tests.conftest import Open
from tests.turn.scripted_provider import register

TWO = "syndicate_name: Two\norchestrator: {name: Solo, models: [scripted/first, scripted/second], instruction: i}\n"
ONE = TWO.replace(", scripted/second", "")


@pytest.fixture(autouse=True)
def _provider() -> None:
    register()


def failure(code: str = "overloaded", after: float | None = 0.0) -> ModelError:
    error = ModelError(f"it is {code}", code=code)
    error.retry_after = after
    return error


async def outcome(syndicate: Any) -> tuple[list[str], str]:
    events = [event async for event in syndicate.stream("hello")]
    answers = [event.text for event in events if isinstance(event, Answer)]
    return [event.text for event in events if isinstance(event, Status)], answers[0] if answers else ""


async def test_a_call_that_fails_twice_succeeds_at_the_third_attempt(open_syndicate: Open):
    register(first=ScriptedModel([failure("rate-limited"), failure("server-error"), "at last"], model="scripted/first"))
    async with open_syndicate(ONE) as s:
        status, answer = await outcome(s)
    assert (answer, status) == (
        "at last",
        [
            "scripted/first: rate-limited, asking again in 0.0 s",
            "scripted/first: server-error, asking again in 0.0 s",
        ],
    )


@pytest.mark.parametrize("code", ["auth", "unknown-model", "bad-request", "context-too-long"])
async def test_a_refusal_that_another_attempt_would_not_mend_is_final(open_syndicate: Open, code: str):
    model = ScriptedModel([failure(code), "never"])
    async with open_syndicate(ONE, model) as s:
        with pytest.raises(ModelError) as caught:
            await s.run("hello")
    assert (caught.value.code, len(model.requests)) == (code, 1)


async def test_nothing_is_asked_again_after_the_answer_has_begun(open_syndicate: Open):
    begun = Reply(deltas=["half an "], error=failure("stream-cut"), fail_after=1)
    register(first=ScriptedModel([begun, "never"], model="scripted/first"), second=ScriptedModel(["never"]))
    async with open_syndicate(TWO) as s:
        events = [event async for event in s.stream("hello")]
    assert [event.delta for event in events if isinstance(event, Text)] == ["half an "]
    assert not [event for event in events if isinstance(event, Answer)]


async def test_the_next_model_takes_over_and_keeps_answering(open_syndicate: Open):
    first = ScriptedModel([failure()] * 3, model="scripted/first")
    second = ScriptedModel(["from the second", "again the second"], model="scripted/second")
    register(first=first, second=second)
    async with open_syndicate(TWO) as s:
        status, answer = await outcome(s)
        assert answer == "from the second"
        assert status[-1] == "scripted/first: overloaded; scripted/second takes over"
        assert (await s.run("hello")).answer == "again the second"
        assert await s.answering_model() == "scripted/second"
    assert len(first.requests) == 3


async def test_when_the_last_model_fails_too_its_error_is_the_turns(open_syndicate: Open):
    register(
        first=ScriptedModel([failure()] * 3, model="scripted/first"),
        second=ScriptedModel([failure("server-error")] * 3, model="scripted/second"),
    )
    async with open_syndicate(TWO) as s:
        with pytest.raises(ModelError) as caught:
            await s.run("hello")
    assert (caught.value.code, caught.value.model) == ("server-error", "scripted/second")


async def test_a_wrong_key_does_not_send_the_question_to_another_provider(open_syndicate: Open):
    second = ScriptedModel(["never"], model="scripted/second")
    register(first=ScriptedModel([failure("auth")], model="scripted/first"), second=second)
    async with open_syndicate(TWO) as s:
        with pytest.raises(ModelError, match="it is auth"):
            await s.run("hello")
    assert second.requests == []


def test_pauses_grow_within_their_bounds_and_end():
    policy = RetryPolicy(attempts=4, first=1, longest=3, patience=10)
    for attempt, longest in enumerate((1, 2, 3)):
        pause = policy.pause(attempt, failure(after=None))
        assert pause is not None
        assert longest / 2 <= pause <= longest
    assert policy.pause(3, failure(after=None)) is None


def test_the_provider_says_how_long_to_wait_within_patience():
    policy = RetryPolicy(patience=10)
    assert policy.pause(0, failure(after=7.5)) == 7.5
    assert policy.pause(0, failure(after=60)) is None
