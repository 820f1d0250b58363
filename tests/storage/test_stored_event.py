"""Stored events that this version of Google ADK did not write."""

from __future__ import annotations

import logging

import pytest

from syndicate.storage.stored_event import decode, encode
from tests.storage.sessions.full_event import full_event


def test_both_spellings_of_keys_are_read():
    stored = {
        "id": "e1",
        "invocationId": "turn-1",
        "author": "Lead",
        "longRunningToolIds": ["c1"],
        "content": {
            "role": "model",
            "parts": [{"functionCall": {"id": "c1", "name": "f"}, "thoughtSignature": "_w=="}],
        },
        "actions": {"stateDelta": {"a": 1}, "artifactDelta": {}},
    }
    event = decode(stored)
    assert (event.invocation_id, event.long_running_tool_ids) == ("turn-1", {"c1"})
    assert event.content.parts[0].thought_signature == b"\xff"
    assert event.actions.state_delta == {"a": 1}


def test_fields_that_are_none_take_no_room():
    assert set(encode(decode({"id": "e1", "author": "user", "timestamp": 1.0}))) == {
        "id",
        "author",
        "timestamp",
        "invocation_id",
        "actions",
        "node_info",
    }


def test_encoding_twice_is_the_same():
    stored = encode(full_event())
    assert encode(decode(stored)) == stored


@pytest.mark.parametrize(
    ("stored", "kept"),
    [
        ({"actions": {"stateDelta": {"a": 1}, "fromTheFuture": 1}}, {"actions": {"state_delta": {"a": 1}}}),
        (
            {"content": {"role": "model", "parts": [{"text": "hi", "glow": 1}, {"sound": 1, "text": "ho"}]}},
            {"content": {"role": "model", "parts": [{"text": "hi"}, {"text": "ho"}]}},
        ),
        ({"content": {"parts": ["no part", {"text": "hi"}, 7]}}, {"content": {"parts": [{"text": "hi"}]}}),
        ({"usageMetadata": {"promptTokenCount": "many"}}, {"usage_metadata": {}}),
        ({"timestamp": "soon", "branch": 7, "author": "Lead"}, {"author": "Lead"}),
        ({"content": "no content", "author": "Lead"}, {"author": "Lead"}),
    ],
)
def test_what_cannot_be_read_is_left_out_and_said(
    stored: dict[str, object], kept: dict[str, object], caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING):
        event = decode({"id": "e1", "author": "Lead", "timestamp": 1.0, **stored})
    assert "e1" in caplog.text
    expected = decode({"id": "e1", "author": "Lead", "timestamp": event.timestamp, **kept})
    assert event == expected
