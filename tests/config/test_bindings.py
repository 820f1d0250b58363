"""`--bind name=value`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syndicate.config import parse_binding
from syndicate.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("topic=bees and wasps", ("topic", "bees and wasps")),
        ("count=012", ("count", 12)),
        ("share=.5", ("share", 0.5)),
        ("sure=true", ("sure", True)),
        ("answer=no", ("answer", "no")),
        ("nothing=null", ("nothing", None)),
        ("empty=", ("empty", "")),
        ("code='012'", ("code", "012")),
        ('code="012"', ("code", "012")),
        ("sum=1=1", ("sum", "1=1")),
        ("said='tis so", ("said", "'tis so")),
        ("merge=<<", ("merge", "<<")),
        ("list=[1, 2]", ("list", "[1, 2]")),
    ],
)
def test_values_are_typed_as_in_a_file(text: str, expected: tuple[str, object]):
    assert parse_binding(text) == expected


@pytest.mark.parametrize("text", ["", "topic", "=x", "a b=1", "a-b=1", "a=x\x00", 'a="\\0"', "a=" + "9" * 900])
def test_what_binds_nothing_is_refused(text: str):
    with pytest.raises(UsageError):
        parse_binding(text)


@given(st.text())
def test_any_text_is_a_binding_or_refused(text: str):
    try:
        name, _ = parse_binding(text)
    except UsageError:
        return
    assert text.startswith(f"{name}=")
