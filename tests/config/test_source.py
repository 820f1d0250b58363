"""YAML with positions: keys, values, merges, duplicates, hostile sizes, syntax errors in our words."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from syndicate.config.limits import MAX_DEPTH, MAX_NODES, MAX_PROBLEMS
from syndicate.config.source import Document
from syndicate.config.text import SourceText


def document(text: str) -> Document:
    return Document(SourceText("f", text))


def problems(text: str) -> list[str]:
    return [str(problem).removeprefix("f:") for problem in document(text).problems]


def place(text: str, *path: str | int, key: bool = False) -> tuple[int, int]:
    location = document(text).locate(*path, key=key)
    return location.line, location.column


def test_values_and_keys_are_found_by_path():
    text = "a: 1\nb:\n  - x\n  - c:   [u, v]\n"
    assert place(text, "b", 1, "c") == (4, 10)
    assert place(text, "b", 1, "c", key=True) == (4, 5)
    assert place(text, "b", 1, "c", 1) == (4, 14)


def test_what_is_not_written_is_found_at_its_nearest_parent():
    assert place("a:\n  b: 1\n", "a", "c", "d") == (2, 3)
    assert place("a:\n  b: 1\n", "a", 7) == (2, 3)
    assert place("", "a") == (1, 1)


def test_columns_count_characters_whatever_they_are():
    text = "é☃😀: {k: v}\n'😀😀': [☃, x]\n"
    assert place(text, "é☃😀", "k") == (1, 10)
    assert place(text, "😀😀", 1) == (2, 11)


@given(st.lists(st.text(st.characters(codec="utf-8", categories=["L", "So", "Nd"]), min_size=1), min_size=1))
def test_every_item_is_located_exactly(words: list[str]):
    text = "list:\n" + "".join(f'  - {"x" * index}: "{word}"\n' for index, word in enumerate(words, 1))
    found = document(text)
    for index, word in enumerate(words):
        location = found.locate("list", index, "x" * (index + 1))
        line = found.source.line(location.line)
        assert line[location.column - 1 :] == f'"{word}"'


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_counts_lines(end: str):
    text = end.join(["a: 1", "b: |", "  one", "  two", "c: 3", ""])
    found = document(text)
    assert found.data == {"a": 1, "b": "one\ntwo\n", "c": 3}
    assert found.locate("c").line == 5
    assert found.source.line(5) == "c: 3"


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029"])
def test_line_ends_of_yaml_1_1_only_are_ordinary_characters(char: str):
    found = document(f"a: one{char}two\nb: |\n  x{char}y\n{char}c: [z, *q]\n")
    assert [str(problem)[:6] for problem in found.problems] == ["f:4:9:"]
    found = document(f"a: one{char}two\nb: |\n  x{char}y\n{char}c: [z]\n")
    assert found.data == {"a": f"one{char}two", "b": f"x{char}y\n", f"{char}c": ["z"]}


def test_a_byte_order_mark_inside_is_a_character():
    assert document("a: x\ufeffy").data == {"a": "x\ufeffy"}


def test_keys_are_text_as_written():
    assert document("1: a\nno: b\n~: c\n012: d").data == {"1": "a", "no": "b", "~": "c", "012": "d"}


def test_a_duplicate_key_names_both_lines_and_the_first_one_counts():
    found = document("a: 1\nb: 2\n'a': 3\n")
    assert [str(p) for p in found.problems] == ["f:3:1: duplicate key 'a': written on lines 1 and 3; keep one"]
    assert found.data == {"a": 1, "b": 2}


def test_duplicates_are_found_at_every_depth_in_one_run():
    assert problems("a: {x: 1, x: 2}\nb:\n  - y: 1\n    y: 2\n") == [
        "1:11: duplicate key 'x': written twice on line 1; keep one",
        "4:5: duplicate key 'y': written on lines 3 and 4; keep one",
    ]


def test_an_own_key_beats_a_merged_one_wherever_the_merge_stands():
    text = "base: &b {a: 1, c: 2}\nx:\n  a: 3\n  <<: *b\ny:\n  <<: *b\n  a: 4\n"
    found = document(text)
    assert found.problems == []
    assert found.data == {"base": {"a": 1, "c": 2}, "x": {"a": 3, "c": 2}, "y": {"a": 4, "c": 2}}
    assert place(text, "y", "a") == (7, 6)
    assert place(text, "y", "c") == (1, 20)


def test_of_several_merged_mappings_the_first_wins_and_they_may_merge_themselves():
    text = "a: &a {k: 1}\nb: &b {<<: *a, k: 2, l: 2}\nc:\n  <<: [*a, *b]\n"
    assert document(text).data["c"] == {"k": 1, "l": 2}


def test_merging_something_else_is_a_problem():
    assert problems("a: &a [1]\nb: {<<: *a}\nc: {<<: 5}") == [
        "1:8: '<<' merges mappings only: give it an alias of one, or a list of such",
        "3:9: '<<' merges mappings only: give it an alias of one, or a list of such",
    ]


def test_two_merge_keys_in_one_mapping_are_a_duplicate():
    assert "duplicate key '<<'" in problems("a: &a {k: 1}\nb:\n  <<: *a\n  <<: *a\n")[0]


def test_a_quoted_merge_sign_is_an_ordinary_key():
    assert document("a: {'<<': 1}").data == {"a": {"<<": 1}}


@pytest.mark.parametrize("text", ["name: {{x}}", "name: {{ x }}", "- {{x}}", "a: [{{x}}]"])
def test_a_variable_without_quotes_says_so(text: str):
    (problem,) = problems(text)
    assert "must stand in quotes" in problem
    assert problem.startswith(f"1:{text.index('{') + 1}: ")


def test_a_variable_without_quotes_before_more_text_says_so_too():
    (problem,) = problems('a: 1\nname: {{who}} and more\nb: "{{x}}"')
    assert problem == "2:7: '{{who}}' must stand in quotes, with all of its value"


@pytest.mark.parametrize("key", ["? [a, b]\n: c", "{a: 1}: c", "[a]: c"])
def test_a_key_that_is_no_scalar_is_refused(key: str):
    (problem,) = problems(key)
    assert "a key must be text" in problem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\n\tb: 1", "2:1: a tab indents here; indent with spaces"),
        ("a: @x", "1:4: text cannot begin with '@'; put it in quotes"),
        ("a: `x`", "1:4: text cannot begin with '`'; put it in quotes"),
        ("a: b: c", "1:5: ':' is not allowed here; put the text in quotes, or correct the indentation"),
        ("a: 'x' y", "1:8: a key is expected here; correct the indentation, or put the text in quotes"),
        ("- a\nb: 1", "2:1: a '- ' is expected here; correct the indentation"),
        ("a: [1,\nb: 2", "1:4: this '[' is not closed: ',' or ']' is missing"),
        ("a: {b: 2", "1:4: this '{' is not closed: ',' or '}' is missing"),
        ('x: 1\na: "text', "2:4: this quote is never closed"),
        ("a: 1\nword\nb: 2", "2:1: a ':' is missing after this key"),
        ("a: *nobody", "1:4: alias '*nobody' names no anchor; define it above with '&'"),
        ("a: &x 1\nb: &x 2", "2:4: this anchor is defined on line 1 already; rename one"),
        ("a: 1\n---\nb: 2", "2:1: a second document begins here; keep one in a file"),
        ('a: "\\q"', "1:5: unknown escape in double quotes; double the backslash, or use single quotes"),
        ('a: "\\ud800"', "1:7: this escape names no character; correct it"),
        ("%YAML 1.3\n---\na: 1", "1:1: only YAML 1.1 and 1.2 are read; remove the %YAML line"),
    ],
)
def test_syntax_errors_are_located_and_say_what_to_do(text: str, expected: str):
    assert problems(text) == [expected]


@pytest.mark.parametrize(
    ("before", "quote"), [("", ""), ("a: 1\n", ""), ("a: 1\n", "'"), ("a:\n  ", ""), ("- ", ""), ("a: {x: 1, ", '"')]
)
def test_a_key_that_is_too_long_says_so(before: str, quote: str):
    key = f"{quote}{'k, l ' * 210 if quote else 'k' * 1050}{quote}"
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    (problem,) = problems(f"{before}{key}: v{'}' * before.count('{')}\n")
    assert problem.startswith(f"{line}:{column}: this key has {len(key):,} characters and may have 1,024; shorten it")
    assert "shorten it" not in str(problems(f"{before}{key[:500]}{quote}: v{'}' * before.count('{')}\n"))


def test_a_long_value_is_no_long_key():
    assert problems(f"a: {'v' * 2000}: c") == [
        "1:2004: ':' is not allowed here; put the text in quotes, or correct the indentation"
    ]


@pytest.mark.parametrize("char", ["\x01", "\x1b", "\x7f", "\x9f", "\ufffe"])
def test_a_control_character_is_refused_where_it_stands(char: str):
    assert problems(f"a: 1\nb: x{char}")[0].startswith(f"2:5: a control character, {char!r}; remove it")


@pytest.mark.parametrize(
    ("text", "where"), [('a: "x\\0"', "1:4"), ('"\\0": 1', "1:1"), ('a: ["\\x00current_date\\x00"]', "1:5")]
)
def test_no_text_can_hold_a_nul(text: str, where: str):
    (problem,) = problems(text)
    assert problem.startswith(f"{where}: a NUL character")


def bomb(levels: int) -> str:
    first = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    return first + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, levels))


MANY_KEYS = ", ".join(f"k{number}: 1" for number in range(MAX_NODES // 3))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(bomb(9), id="alias bomb"),
        pytest.param("a: &a [*a]", id="alias in itself"),
        pytest.param("a: &a {<<: *a}", id="merge of itself"),
        pytest.param("a: &a {<<: [*a, *a], k: *a}", id="merge of itself, twice"),
        pytest.param("[" * 100_000, id="deep flow"),
        pytest.param("{a: " * 100_000, id="deep flow mappings"),
        pytest.param("- " * 100_000, id="deep block"),
        pytest.param("- x\n" * 2 * MAX_NODES, id="many values"),
        pytest.param(f"a: &a {{{MANY_KEYS}}}\nb: {{<<: [{', '.join(['*a'] * 20_000)}]}}", id="merge bomb"),
    ],
)
def test_hostile_sizes_are_refused_quickly(text: str):
    started = time.process_time()
    found = document(text)
    assert time.process_time() - started < 2
    assert [problem.code for problem in found.problems] == ["too-large"]
    assert found.data is None


def test_what_is_just_deep_enough_is_read():
    assert document("[" * MAX_DEPTH + "]" * MAX_DEPTH).problems == []


def test_aliases_used_with_measure_are_fine():
    assert document(bomb(3)).problems == []


def test_no_more_problems_than_anyone_reads():
    *shown, last = problems("".join(f"a: {n}\n" for n in range(5000)))
    assert len(shown) == MAX_PROBLEMS
    assert last == "5000:8: more than 200 errors in this file; only 200 of them are shown"
    assert len(problems("".join(f"a: {n}\n" for n in range(MAX_PROBLEMS + 1)))) == MAX_PROBLEMS


@given(st.text(st.characters(codec="utf-8")))
@example("a: \ud7ff\ue000￼")
@example("?")
@example("- - ? : ,")
def test_any_text_gives_data_or_located_problems(text: str):
    found = document(text.replace("\x00", ""))
    for problem in found.problems:
        assert problem.location.line >= 1
        assert problem.location.column >= 1
        assert problem.source_line == found.source.line(problem.location.line)


@given(st.text(alphabet=":-[]{}&*!|>'\"%@`#,?<~ \n\tabx0."))
def test_any_punctuation_gives_data_or_located_problems(text: str):
    found = document(text)
    assert found.data is not None or found.problems or not text.strip() or found.locate().line == 1
