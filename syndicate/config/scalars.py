"""Plain scalars as YAML 1.2 (core schema) types them: `no` and `on` are text, `012` is 12, a date is text."""

from __future__ import annotations

import re
from collections.abc import Callable

from syndicate.config.limits import MAX_NUMBER_LENGTH
from syndicate.config.schema import Scalar

_PREFIX = "tag:yaml.org,2002:"
NULL, BOOL, INT, FLOAT, STR = (_PREFIX + name for name in ("null", "bool", "int", "float", "str"))
SEQ, MAP, MERGE = (_PREFIX + name for name in ("seq", "map", "merge"))

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_MAY_BE_NUMBER = frozenset("+-.0123456789")
_WORDS: dict[str, str] = dict.fromkeys(_NULLS, NULL) | dict.fromkeys(_BOOLS, BOOL) | {"<<": MERGE}


def resolve(text: str) -> str:
    """The tag of a plain scalar."""
    if text[:1] in _MAY_BE_NUMBER:
        if _INT.fullmatch(text):
            return INT
        if _FLOAT.fullmatch(text):
            return FLOAT
    return _WORDS.get(text, STR)


def _integer(text: str) -> int:
    if not _INT.fullmatch(text):
        raise ValueError(f"{text!r} is not a whole number")
    if len(text) > MAX_NUMBER_LENGTH:
        raise ValueError(f"a number of {len(text)} digits is too long; put it in quotes if it is text")
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    return int(text, base)


def _number(text: str) -> float:
    if not _FLOAT.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


def _boolean(text: str) -> bool:
    if text not in _BOOLS:
        raise ValueError(f"{text!r} is neither true nor false")
    return _BOOLS[text]


def _null(text: str) -> None:
    if text not in _NULLS:
        raise ValueError(f"{text!r} is not null")


_READ: dict[str, Callable[[str], Scalar]] = {
    STR: lambda text: text,
    INT: _integer,
    FLOAT: _number,
    BOOL: _boolean,
    NULL: _null,
}


def read_scalar(tag: str, text: str) -> Scalar:
    """The value of a scalar; `ValueError` with a message when its text does not fit its tag or the tag is unknown."""
    reader = _READ.get(tag)
    if reader is None:
        raise ValueError(f"the tag {short_tag(tag)!r} means nothing here; remove it")
    return reader(text)


def short_tag(tag: str) -> str:
    """A tag as people write it: `!!int` for YAML's own."""
    return "!!" + tag.removeprefix(_PREFIX) if tag.startswith(_PREFIX) else tag
