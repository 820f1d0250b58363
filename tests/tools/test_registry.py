import pytest

from syndicate import UsageError, register_tool
from syndicate.tools import registry


def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def make_shout():
    return shout


def test_a_factory_may_be_named_and_is_imported_when_the_tool_is_made():
    register_tool("shout_later", "json:dumps_nothing")
    with pytest.raises(UsageError, match="cannot import 'json:dumps_nothing'"):
        registry.create("shout_later")


def test_a_function_is_declared_under_the_registered_name():
    register_tool("shout", make_shout)
    tool = registry.create("shout")
    declaration = tool._get_declaration()  # type: ignore[union-attr]
    assert declaration is not None
    assert (tool.name, declaration.name, declaration.description) == (  # type: ignore[union-attr]
        "shout",
        "shout",
        "Say it louder.",
    )


@pytest.mark.parametrize(
    ("name", "factory", "problem"),
    [
        ("web_search", make_shout, "is a tool of the framework"),
        ("two words", make_shout, "cannot name a tool"),
        ("fine", "no_colon", "does not name a factory"),
    ],
)
def test_names_that_cannot_be_registered(name: str, factory: object, problem: str):
    with pytest.raises(UsageError, match=problem):
        register_tool(name, factory)  # type: ignore[arg-type]


def test_a_typo_is_answered_with_the_nearest_name():
    register_tool("shout", make_shout)
    assert registry.suggestion("shuot") == "shout"
    assert registry.suggestion("web_serch") == "web_search"
    assert registry.suggestion("zzzz") is None
