from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syndicate.cli.visible import VisibleStream, json_line, masked, one_line, visible

HOSTILE = [
    ("\x1b[31mred\x1b[0m", "red"),
    ("\x1b]0;title\x07after", "after"),
    ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("\x1b]52;c;Zm9v\x07", ""),
    ("a\x9b2Jb", "a2Jb"),
    ("bell\x07 back\x08 nul\x00", "bell back nul"),
    ("over\rwrite", "overwrite"),
    ("user\u202etxt.exe", "usertxt.exe"),
    ("\x1bcreset", "reset"),
    ("tab\tand\nline stay", "tab\tand\nline stay"),
    ("naïve 日本 👩\u200d🔬", "naïve 日本 👩\u200d🔬"),
]


@pytest.mark.parametrize(("text", "left"), HOSTILE)
def test_what_a_terminal_would_act_on_is_taken_out(text: str, left: str) -> None:
    assert visible(text) == left


@pytest.mark.parametrize(("text", "left"), HOSTILE)
def test_a_sequence_cut_anywhere_between_two_pieces_is_taken_out_whole(text: str, left: str) -> None:
    for cut in range(len(text) + 1):
        stream = VisibleStream()
        assert stream.feed(text[:cut]) + stream.feed(text[cut:]) == left


def test_a_sequence_that_never_ends_does_not_hold_the_answer_back() -> None:
    stream = VisibleStream()
    shown = "".join(stream.feed(piece) for piece in ["\x1b]0;", "x" * 300, " and on"])
    assert shown.endswith(" and on")


@given(st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from("\x1b[]\x07\x9b\r\\;0m")))
def test_nothing_that_moves_a_cursor_ever_remains(text: str) -> None:
    left = visible(text)
    assert not any(ord(char) < 32 and char not in "\t\n" for char in left)
    assert not any(0x7F <= ord(char) <= 0x9F for char in left)


@given(st.text(alphabet=st.characters()))
def test_masking_keeps_every_column(text: str) -> None:
    assert len(masked(text)) == len(text)


def test_one_line_collapses_and_shortens() -> None:
    assert one_line("a\n\n  b\tc") == "a b c"
    assert one_line("x" * 100, 10) == "x" * 9 + "…"


@given(st.text(alphabet=st.characters(codec=None)))
def test_a_json_line_is_one_line_and_reads_back(text: str) -> None:
    line = json_line({"text": text})
    assert len(line.splitlines()) == 1
    assert json.loads(line)["text"] == text
    line.encode("utf-8")
