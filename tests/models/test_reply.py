"""Replies put together from pieces: thoughts apart from text, tool calls whole, an end or an error."""

from __future__ import annotations

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from syndicate.errors import ModelError
from syndicate.models.reply import PartialCall, Reply, ThinkTags, Usage
from tests.models.conftest import calls_of, text_of


def split(frames: list[str]) -> tuple[str, str]:
    """Thoughts and text of a reply that arrives in these frames."""
    tags = ThinkTags()
    pieces = [piece for frame in frames for piece in tags.feed(frame)] + list(tags.end())
    assert all(text for _, text in pieces)
    thoughts = "".join(text for kind, text in pieces if kind == "thought")
    return thoughts, "".join(text for kind, text in pieces if kind == "text")


REPLIES = {
    "<think>let me see</think>It is 4.": ("let me see", "It is 4."),
    "\n<think>\nhm < 5\n</think>\n\nIt is <b>4</b>.": ("\nhm < 5\n", "It is <b>4</b>."),
    "<think></think>yes": ("", "yes"),
    "<think>one</think> <think>two</think> done": ("onetwo", "done"),
    "<think>never closed </thin": ("never closed </thin", ""),
    "The tag <think> opens a thought.": ("", "The tag <think> opens a thought."),
    "<thin": ("", "<thin"),
    "  indented": ("", "  indented"),
    "   ": ("", ""),
    "": ("", ""),
}


@pytest.mark.parametrize(("reply", "expected"), REPLIES.items())
def test_thoughts_and_text_come_apart_wherever_a_frame_ends(reply: str, expected: tuple[str, str]) -> None:
    assert split([reply]) == expected
    assert split(list(reply)) == expected
    for first in range(len(reply) + 1):
        for second in range(first, len(reply) + 1):
            assert split([reply[:first], reply[first:second], reply[second:]]) == expected


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "think>", "a", " ", "\n", "</"]), max_size=12))
def test_framing_never_changes_what_is_thought_and_what_is_said(pieces: list[str]) -> None:
    assert split(pieces) == split(["".join(pieces)])


def test_text_is_not_held_back_longer_than_needed() -> None:
    tags = ThinkTags()
    assert list(tags.feed("He")) == [("text", "He")]
    assert list(tags.feed("llo")) == [("text", "llo")]


def reply(*texts: str, finish: str = "stop", hide_thoughts: bool = False) -> Reply:
    made = Reply("some-model", hide_thoughts=hide_thoughts)
    for text in texts:
        made.add_text(text)
    made.finish = finish
    return made


def test_the_whole_response_comes_last_and_holds_everything() -> None:
    *partial, whole = reply("<think>so</think>", "Hel", "lo").end()
    assert not partial
    assert whole.partial is False
    assert text_of(whole, thought=True) == "so"
    assert text_of(whole) == "Hello"
    assert whole.finish_reason is types.FinishReason.STOP
    assert whole.usage_metadata is None


def test_hidden_thoughts_reach_nobody() -> None:
    whole = reply("<think>so</think>yes", hide_thoughts=True).end()[-1]
    assert text_of(whole, thought=True) == ""
    assert text_of(whole) == "yes"


@pytest.mark.parametrize(
    ("word", "reason"),
    [("length", "MAX_TOKENS"), ("content_filter", "SAFETY"), ("tool_calls", "STOP"), ("eos_of_some_kind", "OTHER")],
)
def test_every_way_to_end_has_a_reason(word: str, reason: str) -> None:
    assert reply("x", finish=word).end()[-1].finish_reason == types.FinishReason(reason)


def test_a_reply_without_an_end_was_cut() -> None:
    with pytest.raises(ModelError) as caught:
        reply("half a sent", finish="").end()
    assert caught.value.code == "stream-cut"
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [("", {}), ("  ", {}), ("{}", {}), ('{"city": "Oslo"}', {"city": "Oslo"}), ({"a": 1}, {"a": 1})],
)
def test_arguments_are_an_object_always(arguments: str | dict[str, int], parsed: dict[str, object]) -> None:
    made = reply()
    made.calls.append(PartialCall("call_1", "weather", arguments))
    (call,) = calls_of(made.end()[-1])
    assert (call.id, call.name, call.args) == ("call_1", "weather", parsed)


def test_calls_without_an_id_get_one_of_their_own() -> None:
    made = reply()
    made.calls += [PartialCall("", "weather"), PartialCall("", "weather")]
    first, second = calls_of(made.end()[-1])
    assert first.id
    assert second.id
    assert first.id != second.id
    assert not first.id.startswith("adk-")


@pytest.mark.parametrize("arguments", ['{"city": "Os', "[1]", '"text"', "not json"])
def test_arguments_that_are_no_object_are_malformed(arguments: str) -> None:
    made = reply()
    made.calls.append(PartialCall("call_1", "weather", arguments))
    with pytest.raises(ModelError, match="'weather' with arguments that are no JSON object") as caught:
        made.end()
    assert caught.value.code == "malformed"


def test_arguments_cut_by_the_limit_say_what_to_raise() -> None:
    made = reply(finish="length")
    made.calls.append(PartialCall("call_1", "weather", '{"city": "Os'))
    with pytest.raises(ModelError, match="cut off; raise maxOutputTokens"):
        made.end()


def test_usage_counts_thoughts_apart_from_the_answer() -> None:
    counted = Usage(prompt=10, output=30, thoughts=20, cached=4).metadata()
    assert counted.candidates_token_count == 10
    assert counted.thoughts_token_count == 20
    assert counted.cached_content_token_count == 4
    assert counted.total_token_count == 40


def test_unknown_usage_is_unknown_not_zero() -> None:
    counted = Usage(output=3).metadata()
    assert counted.prompt_token_count is None
    assert counted.total_token_count is None
    assert counted.cached_content_token_count is None
