"""Patterns of route overrides compile, or say why not, and never eat the machine."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syndicate.config.patterns import pattern_problem, written_out


@pytest.mark.parametrize("pattern", [r"\binvoice\b", r"(?<year>\d{4})-\d{2}", "[(]", r"\(", "a{2,}", "", "{x}", "[]a]"])
def test_what_compiles_is_fine(pattern: str):
    assert pattern_problem(pattern, "i") is None


def test_what_does_not_compile_says_where():
    message = pattern_problem("invoice(", "")
    assert message is not None
    assert message.startswith("'invoice(' is no regular expression: missing )")


@pytest.mark.parametrize(
    "pattern",
    ["(((a{1000}){1000}){1000}){1000}", "(?:(?:a{999,}b){999}){999}", "a{999999999999}", "x" * 20_000, "[ab]{20000}"],
)
def test_what_would_fill_the_memory_is_refused(pattern: str):
    started = time.process_time()
    assert pattern_problem(pattern, "") == "this pattern repeats too much; use smaller counts"
    assert time.process_time() - started < 1


def test_repeats_are_counted_as_an_engine_writes_them_out():
    assert written_out("(a{10}b){10}") == 110
    assert written_out(r"\d{4}-[a-f]{2}") == 7
    assert written_out("(a") == 1


@given(st.text(alphabet="ab(){}[]|*+?^$\\.:<>=!P0123456789,-", max_size=60), st.text(alphabet="imsux", max_size=3))
def test_any_pattern_is_judged_without_an_exception(pattern: str, flags: str):
    message = pattern_problem(pattern, flags)
    assert message is None or message
