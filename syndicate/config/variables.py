"""`{{name}}`: what it is bound to when a file is loaded, and the one thing that is rendered later, the date."""

from __future__ import annotations

import re
from collections.abc import Mapping

from syndicate.config.schema import Scalar

CURRENT_DATE = "current_date"
CURRENT_DATE_MARK = "\x00current_date\x00"
"""What `{{current_date}}` becomes at load; each turn renders it. No file can hold a NUL, so nothing else looks so."""

PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
VARIABLE_NAME = re.compile(r"\w+")


def render_date(text: str, date: str) -> str:
    """Put `date` where the file says `{{current_date}}`."""
    return text.replace(CURRENT_DATE_MARK, date)


def scalar_text(value: Scalar) -> str:
    """How a value reads inside a text: as YAML writes it (`true`, not `True`); nothing for null."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def bind(text: str, values: Mapping[str, Scalar]) -> Scalar:
    """Replace each `{{name}}` of `values` in one pass; a text that is exactly one `{{name}}` becomes the value itself.

    Any other braces, and names that are not in `values`, stay as they are.
    """
    whole = PLACEHOLDER.fullmatch(text)
    if whole and whole[1] in values:
        return values[whole[1]]
    return bind_text(text, values)


def bind_text(text: str, values: Mapping[str, Scalar]) -> str:
    """`bind` for what stays text whatever it holds (an instruction file)."""
    return PLACEHOLDER.sub(lambda match: scalar_text(values[match[1]]) if match[1] in values else match[0], text)
