"""Variables given from outside: `--bind name=value` and `bindings=`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from yaml import CSafeLoader, YAMLError
from yaml.nodes import ScalarNode

from syndicate.config import scalars
from syndicate.config.schema import Scalar
from syndicate.config.suggestions import did_you_mean
from syndicate.config.variables import CURRENT_DATE, VARIABLE_NAME
from syndicate.errors import UsageError

_QUOTES = ("'", '"')
_SCALARS = "bind text, a number, true, false or nothing"


def parse_binding(text: str) -> tuple[str, Scalar]:
    """`name=value` of `--bind`, the value typed as YAML 1.2 does (quotes keep it text); `UsageError` when malformed."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} binds nothing", remediation="write --bind name=value")
    bound = _quoted(value) if value.startswith(_QUOTES) else _plain(value)
    check_bindings({name: bound})
    return name, bound


def _plain(value: str) -> Scalar:
    if not value:
        return ""
    tag = scalars.resolve(value)
    try:
        return scalars.read_scalar(scalars.STR if tag == scalars.MERGE else tag, value)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _quoted(value: str) -> str:
    """The text inside quotes, read as YAML; a quote that only begins a text is part of it."""
    try:
        node = CSafeLoader(value).get_single_node()
    except YAMLError:
        return value
    return node.value if isinstance(node, ScalarNode) else value


def check_bindings(bindings: Mapping[str, object]) -> None:
    """Refuse names and values that no variable can have."""
    for name, value in bindings.items():
        if not VARIABLE_NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no variable's name", remediation="use letters, digits and '_'")
        if not isinstance(value, (str, int, float, bool, type(None))):
            raise UsageError(
                f"variable {name!r} is bound to a value of type {type(value).__name__!r}", remediation=_SCALARS
            )
        if isinstance(value, str) and "\x00" in value:
            raise UsageError(f"variable {name!r} is bound to text with a NUL character", remediation="remove it")


def check_declared(bindings: Mapping[str, Scalar], declared: Iterable[str], file: str) -> None:
    """Refuse a binding whose name no loaded file declares: it would do nothing."""
    known = sorted(set(declared))
    for name in bindings:
        if name not in known and name != CURRENT_DATE:
            hint = did_you_mean(name, known)
            remedy = "" if hint else f"declare it under 'variables' of {file}"
            message = f"{file}, with what it nests, declares no variable {name!r}{hint}"
            raise UsageError(message, code="unknown-variable", remediation=remedy)
