from __future__ import annotations

from syndicate.cli.notes import Notes, preview
from syndicate.turn.events import Answer, Routed, Status, ToolFinished, ToolStarted


def test_a_call_is_one_line_when_it_has_ended() -> None:
    notes = Notes({"web_researcher": "Web Researcher"})
    assert notes.note(ToolStarted("web_researcher", {"request": "find\nit"}, "1")) is None
    assert (
        str(notes.note(ToolFinished("web_researcher", True, "found", 1.25, "1"))) == "→ Web Researcher  find it  1.2 s"
    )
    assert not notes.running


def test_calls_that_run_side_by_side_keep_their_own_arguments() -> None:
    notes = Notes({})
    notes.note(ToolStarted("look", {"at": "a"}, "1"))
    notes.note(ToolStarted("look", {"at": "b"}, "2"))
    assert "b" in str(notes.note(ToolFinished("look", True, "", 0.0, "2")))
    assert "a" in str(notes.note(ToolFinished("look", True, "", 0.0, "1")))


def test_a_failed_call_says_why() -> None:
    note = Notes({}).note(ToolFinished("look", False, "no \x1b[2Jsuch\nplace", 0.5, "1"))
    assert note is not None
    assert (str(note), note.ok) == ("✗ look  no such place  0.5 s", False)


def test_routes_and_status_are_lines_and_an_answer_is_not() -> None:
    notes = Notes({})
    assert str(notes.note(Routed("Billing", "asks for an invoice", "classifier"))) == (
        "→ Billing  classifier: asks for an invoice"
    )
    assert str(notes.note(Status("older turns are left out"))) == "·  older turns are left out"
    assert notes.note(Answer("text")) is None


def test_several_arguments_are_named() -> None:
    assert preview({"url": "x", "offset": 3}) == "url=x, offset=3"
