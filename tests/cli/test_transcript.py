"""A stored session as people read it."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from syndicate.cli.transcript import rows, turn_count

NOON = 1_796_040_000.0  # 2026-11-30 12:00 UTC


def event(author: str, *parts: dict[str, Any], turn: str = "t1", branch: str = "", at: float = NOON) -> dict[str, Any]:
    where = {"branch": branch} if branch else {}
    content = {"role": "user" if author == "user" else "model", "parts": list(parts)}
    return {"author": author, "invocation_id": turn, "timestamp": at, "content": content, **where}


def text(words: str) -> dict[str, Any]:
    return {"text": words}


def call(name: str, call_id: str, **args: Any) -> dict[str, Any]:
    return {"function_call": {"id": call_id, "name": name, "args": args}}


def result(name: str, call_id: str, **response: Any) -> dict[str, Any]:
    return {"function_response": {"id": call_id, "name": name, "response": response}}


def shown(*events: dict[str, Any]) -> list[str]:
    return ["  " * row.depth + row.text for row in rows(events, UTC)]


def test_who_said_what_and_when() -> None:
    assert shown(event("user", text("Hello\nthere")), event("The_Lead", text("Hi."), at=NOON + 2.4)) == [
        "2026-11-30",
        "you  12:00:00",
        "  Hello\nthere",
        "The Lead  12:00:02",
        "  Hi.",
    ]


def test_a_tool_is_one_line_with_its_result_below() -> None:
    lines = shown(
        event("Lead", call("roll", "1", sides=6)),
        event("Lead", result("roll", "1", got=4), at=NOON + 1.5),
        event("Lead", text("You rolled a 4.")),
    )
    assert lines[2:] == ["  • roll  6  1.5 s", '    = {"got": 4}', "  You rolled a 4."]


def test_a_long_result_is_shortened_and_a_text_needs_no_quotes() -> None:
    call_and_result = event("Lead", call("read", "1")), event("Lead", result("read", "1", result="long " * 1000))
    (line,) = [line for line in shown(*call_and_result) if "=" in line]
    assert line.startswith("    = long long")
    assert line.endswith("…")
    assert len(line) < 220


def test_a_result_that_was_trimmed_says_how_long_it_was() -> None:
    lines = shown(event("Lead", call("read", "1")), event("Lead", result("read", "1", omitted_bytes=40_960)))
    assert lines[-1] == "    = (40,960 bytes, not kept after the turn)"


def test_what_a_tool_refused_is_marked() -> None:
    lines = shown(event("Lead", call("read", "1")), event("Lead", result("read", "1", error="no such page")))
    assert lines[-1] == "    ✗ no such page"


def test_a_call_that_was_never_answered_says_so() -> None:
    assert shown(event("Lead", call("read", "1")))[-1] == "  • read  no answer"


def test_delegations_side_by_side_are_told_one_after_the_other() -> None:
    """Their events arrive mixed, and their inner calls have the same ids as the outer ones."""
    lines = shown(
        event("Lead", call("Re_Searcher", "1", request="one"), call("Re_Searcher", "2", request="two")),
        event("Re_Searcher", call("look", "1", at="a"), branch="Re_Searcher@1"),
        event("Re_Searcher", call("look", "1", at="b"), branch="Re_Searcher@2"),
        event("Re_Searcher", result("look", "1", result="B"), branch="Re_Searcher@2"),
        event("Re_Searcher", result("look", "1", result="A"), branch="Re_Searcher@1"),
        event("Re_Searcher", text("first"), branch="Re_Searcher@1"),
        event("Re_Searcher", text("second"), branch="Re_Searcher@2"),
        event("Lead", result("Re_Searcher", "1", result="first"), result("Re_Searcher", "2", result="second")),
        event("Lead", text("Both.")),
    )
    assert lines[2:] == [
        "  → Re Searcher  one  0.0 s",
        "    • look  a  0.0 s",
        "      = A",
        "    first",
        "  → Re Searcher  two  0.0 s",
        "    • look  b  0.0 s",
        "      = B",
        "    second",
        "  Both.",
    ]


def test_a_subagent_of_a_subagent_stands_further_in() -> None:
    lines = shown(
        event("Lead", call("Desk", "1", request="do")),
        event("Desk", call("Clerk", "2", request="file it"), branch="Desk@1"),
        event("Clerk", text("filed"), branch="Desk@1.Clerk@2"),
        event("Desk", result("Clerk", "2", result="filed"), branch="Desk@1"),
        event("Lead", result("Desk", "1", result="done")),
    )
    assert lines[2:] == ["  → Desk  do  0.0 s", "    → Clerk  file it  0.0 s", "      filed", "    = done"]


def test_what_stands_on_a_branch_without_a_call_is_told_too() -> None:
    assert shown(event("Clerk", text("filed"), branch="Clerk@9"))[1:] == ["  → Clerk", "    filed"]


def test_turns_that_ran_at_once_do_not_mix() -> None:
    lines = shown(
        event("user", text("one")),
        event("user", text("two"), turn="t2"),
        event("Lead", text("first")),
        event("Lead", text("second"), turn="t2"),
    )
    assert [line.strip() for line in lines if line.startswith("  ")] == ["one", "first", "two", "second"]


def test_a_new_day_is_said_once() -> None:
    days = [event("user", text("hi"), turn=str(day), at=NOON + day * 43_200) for day in range(3)]
    assert [row.text for row in rows(days, UTC) if row.kind == "day"] == ["2026-11-30", "2026-12-01"]
    assert turn_count(days) == 3


def test_thinking_is_left_out_and_a_failure_is_told() -> None:
    thought = event("Lead", {"text": "hm", "thought": True})
    broken = {**event("Lead"), "error_code": "SAFETY", "error_message": "the provider\nrefused"}
    assert shown(thought, broken)[1:] == ["Lead  12:00:00", "  ✗ the provider refused"]


def test_events_in_camel_case_read_the_same() -> None:
    old = {
        "author": "Lead",
        "invocationId": "t1",
        "timestamp": NOON,
        "content": {"parts": [{"functionCall": {"id": "1", "name": "roll", "args": {"sides": 6}}}]},
    }
    assert shown(old) == shown(event("Lead", call("roll", "1", sides=6)))


def test_files_and_code_have_a_line() -> None:
    lines = shown(
        event(
            "Lead",
            {"inline_data": {"mime_type": "image/png", "data": "AAAA" * 1000}},
            {"file_data": {"file_uri": "gs://bucket/a.pdf"}},
            {"executable_code": {"code": "print(1)\nprint(2)"}},
            {"code_execution_result": {"output": "1\n2"}},
        )
    )
    assert lines[2:] == [
        "  [image/png, 3,000 bytes]",
        "  [gs://bucket/a.pdf]",
        "  • code  print(1) print(2)",
        "    = 1 2",
    ]


def test_nothing_reaches_the_terminal_as_a_command() -> None:
    hostile = "\x1b[2J\x1b]0;title\x07gone"
    told = shown(
        event("user", text(hostile)),
        event(f"Lead{hostile}", call(f"look{hostile}", "1", at=hostile)),
        event("Lead", result("look", "1", result=hostile), {"file_data": {"file_uri": hostile}}),
    )
    assert not [line for line in told if "\x1b" in line or "\x07" in line]


def test_events_of_another_shape_are_no_error() -> None:
    odd: list[Any] = [{"content": "text", "timestamp": "now"}, {"content": {"parts": [None, 3, "x"]}}, {}]
    assert [row.kind for row in rows(odd, UTC)] == ["day"]
