"""Plain scalars are typed as YAML 1.2 says."""

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from syndicate.config.scalars import read_scalar, resolve
from syndicate.config.source import Document
from syndicate.config.text import SourceText


def value_of(text: str) -> object:
    return read_scalar(resolve(text), text)


@pytest.mark.parametrize(
    "text", ["no", "No", "yes", "on", "off", "y", "n", "1:30", "2024-01-01", "1_000", "0b11", "=", "+", ".", "1e", "0x"]
)
def test_what_only_yaml_1_1_takes_for_a_value_is_text(text: str):
    assert value_of(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("012", 12),
        ("-7", -7),
        ("+7", 7),
        ("0o14", 12),
        ("0xFf", 255),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("null", None),
        ("", None),
    ],
)
def test_what_yaml_1_2_takes_for_a_value(text: str, value: object):
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


def test_not_a_number_is_a_number():
    assert math.isnan(value_of(".NaN"))  # type: ignore[arg-type]


def test_a_number_without_end_is_refused():
    with pytest.raises(ValueError, match="is too long"):
        value_of("9" * 5000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!!int x", "'x' is not a whole number"),
        ("!!float x", "'x' is not a number"),
        ("!!bool yes", "'yes' is neither true nor false"),
        ("!!null x", "'x' is not null"),
        ("!!timestamp 2024-01-01", "the tag '!!timestamp' means nothing here"),
        ("!!python/object:os.system x", "the tag '!!python/object:os.system' means nothing here"),
        ("!secret x", "the tag '!secret' means nothing here"),
        ("!secret [x]", "the tag '!secret' means nothing here"),
        ("!!set {x}", "the tag '!!set' means nothing here"),
    ],
)
def test_a_tag_that_does_not_fit_is_a_problem_at_its_value(text: str, message: str):
    (problem,) = Document(SourceText("f", f"a: {text}")).problems
    assert (problem.location.line, problem.location.column) == (1, 4)
    assert problem.message.startswith(message)


def test_a_tag_that_fits_is_obeyed():
    assert Document(SourceText("f", "[!!str 5, !!float 1, !!int 7]")).data == ["5", 1.0, 7]


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.text(st.characters(codec="utf-8"))
)


@given(scalars)
def test_any_scalar_dumped_by_a_yaml_1_1_writer_is_read_by_the_rules_of_1_2(value: object):
    """Quoted text comes back as it was; a plain one as its own 1.2 type, whatever the writer meant."""
    text = yaml.safe_dump([value])
    (event,) = [event for event in yaml.parse(text) if isinstance(event, yaml.ScalarEvent)]
    document = Document(SourceText("f", text))
    if isinstance(value, str) and "\x00" in value:
        assert [problem.code for problem in document.problems] == ["control-character"]
        return
    (read,) = document.data
    expected = value_of(event.value) if event.implicit[0] else event.value
    assert type(read) is type(expected)
    assert read == expected or (isinstance(read, float) and math.isnan(read))
