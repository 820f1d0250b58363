"""Display names become identifiers, the same ones every time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syndicate.config import adk_name, route_name


@pytest.mark.parametrize(
    ("display", "expected"),
    [
        ("Researcher", "Researcher"),
        ("web-researcher", "web_researcher"),
        ("Web  Researcher!", "Web_Researcher"),
        ("Café Zoë", "Cafe_Zoe"),
        ("２nd ｄesk", "_2nd_desk"),
        ("7 samurai", "_7_samurai"),
        ("__init__", "init"),
        ("a" * 80, "a" * 64),
    ],
)
def test_names_are_folded_to_ascii_identifiers(display: str, expected: str):
    assert adk_name(display) == expected


def test_names_without_a_latin_letter_stay_apart():
    assert adk_name("風林火山") != adk_name("疾風迅雷")
    assert adk_name("風林火山").startswith("agent_")
    assert len(adk_name("風林火山")) == len("agent_") + 8


@given(st.text())
def test_every_name_becomes_an_identifier_tools_can_have(display: str):
    name = adk_name(display)
    assert name.isidentifier()
    assert name.isascii()
    assert 1 <= len(name) <= 64
    assert name == adk_name(display)


@given(st.text(alphabet="abcAB _-é1", min_size=1).filter(lambda text: adk_name(text)[:6] != "agent_"))
def test_an_identifier_is_its_own_identifier(display: str):
    name = adk_name(display)
    assert adk_name(name).lstrip("_") == name.lstrip("_")


def test_routes_are_compared_without_case_and_punctuation():
    assert route_name("Web-Search (beta)") == route_name("web search BETA")
    assert route_name("a") != route_name("b")
