"""pydantic's complaints in our words: what was written, what is wanted, what to do."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from syndicate.config.schema import (
    AgentConfig,
    GenerateContentConfig,
    OrchestratorConfig,
    SubagentConfig,
    SyndicateConfig,
)
from syndicate.config.source import KeyPath
from syndicate.config.suggestions import did_you_mean
from syndicate.config.variables import PLACEHOLDER

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
_BOUNDS = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_PATTERNS = {
    "memory_namespace": "may hold 1 to 96 letters, digits, '.', '_' and '-' only",
    "flags": "may hold the letters i, m, s, u and x only",
}
_HOMES: tuple[tuple[type[BaseModel], str], ...] = (
    (SyndicateConfig, "it belongs at the root of the file"),
    (AgentConfig, "it belongs to the orchestrator or a subagent"),
    (GenerateContentConfig, "it belongs under 'generateContentConfig'"),
    (OrchestratorConfig, "only the orchestrator has it"),
    (SubagentConfig, "only a subagent has it"),
)
_TRUE = ("yes", "on", "y", "true", "1")
_SHOWN = 80


def complaint(details: ErrorDetails, written: str | None) -> tuple[str, str]:
    """Message and code of one error. `written`: the scalar's text before variables were bound."""
    loc = tuple(details["loc"])
    value, kind, context = details["input"], details["type"], details.get("ctx", {})
    if loc[:1] == ("variables",) and len(loc) > 1:
        return "a variable holds text, a number, true or false, not a list or mapping", "wrong-type"
    if kind == "extra_forbidden":
        return _unknown_field(_key(loc), model_at(loc[:-1])), "unknown-field"
    if kind == "missing":
        return f"{_owner(loc[:-1])} has no {_last(loc)}; add it", "missing-field"
    if value is None or kind == "string_too_short":
        return f"{_last(loc)} is empty; write a value", "bad-value"
    if kind == "literal_error":
        return _unknown_value(value, loc), "unknown-value"
    if kind in _WANTED:
        return _wrong_type(value, _WANTED[kind], written), "wrong-type"
    return _bad_value(value, loc, details, context), "bad-value"


def _bad_value(value: Any, loc: KeyPath, details: ErrorDetails, context: dict[str, Any]) -> str:
    kind = details["type"]
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"{shown(value)} is out of range; {_last(loc)} must be {words} {context[name]}"
    if kind == "string_pattern_mismatch":
        rule = _PATTERNS.get(_key(loc), f"must fit {context['pattern']}")
        return f"{shown(value)} cannot be used; {_last(loc)} {rule}"
    reason = details["msg"].removeprefix("Input should be ")
    return f"{shown(value)} cannot be used; {_last(loc)} must be {reason[:1].lower()}{reason[1:]}"


def _key(loc: KeyPath) -> str:
    """The last key of a path; empty at the root."""
    return next((part for part in reversed(loc) if isinstance(part, str)), "")


def _last(loc: KeyPath) -> str:
    """What an error is about: a key, or an item of a list."""
    return f"an item of {_key(loc)!r}" if loc and isinstance(loc[-1], int) else repr(_key(loc))


def _owner(loc: KeyPath) -> str:
    return _last(loc) if loc else "the file"


def _unknown_field(name: str, model: type[BaseModel] | None) -> str:
    message = f"unknown field {shown(name)}"
    for home, words in _HOMES:
        if name in fields(home) and home is not model:
            return f"{message} here; {words}"
    hint = did_you_mean(name, fields(model))
    if hint or model is not SyndicateConfig:
        return message + (hint or "; remove it")
    return f"{message}; remove it, or begin its name with 'x-'"


def _unknown_value(value: Any, loc: KeyPath) -> str:
    field = fields(model_at(loc[:-1])).get(_key(loc))
    allowed = [part for part in _parts(field.annotation) if isinstance(part, str)] if field else []
    hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
    return f"{shown(value)} is not one of {', '.join(map(repr, allowed))}{hint}"


def _wrong_type(value: Any, wanted: str, written: str | None) -> str:
    message = f"{shown(value)} is {_kind_of(value)} where {wanted} is wanted"
    variable = PLACEHOLDER.fullmatch(written or "")
    target = f"the value of {variable[1]!r}" if variable else "it"
    match wanted, value:
        case "a list", str() if len(value) > _SHOWN or not value.isprintable():
            return message
        case "text", bool() | int() | float():
            return f"{message}; put {target} in quotes"
        case "a list", str() | bool() | int() | float():
            return f"{message}; write [{value if isinstance(value, str) else shown(value)}]"
        case "true or false", str():
            return f"{message}; write {'true' if value.casefold() in _TRUE else 'false'}"
        case "a number" | "a whole number", str() if _is_number(value):
            return f"{message}; take {target} out of its quotes"
        case _:
            return message


def _is_number(text: str) -> bool:
    return text.lstrip("+-").replace(".", "", 1).isdecimal()


def shown(value: Any) -> str:
    """What was written, quoted as it was and cut to fit a message."""
    match value:
        case bool():
            return "true" if value else "false"
        case dict() | list():
            return "this"
        case str() if len(value) > _SHOWN:
            return f"{value[:_SHOWN]!r}…"
        case _:
            return repr(value)


def _kind_of(value: Any) -> str:
    match value:
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "a mapping"


def model_at(path: KeyPath) -> type[BaseModel] | None:
    """The model that describes the mapping at a path; None outside the format."""
    model: type[BaseModel] | None = SyndicateConfig
    for part in path:
        if isinstance(part, str):
            field = fields(model).get(part)
            model = next(_models(field.annotation), None) if field else None
    return model


def fields(model: type[BaseModel] | None) -> dict[str, FieldInfo]:
    """Fields of a model by the name they have in a file."""
    return {field.alias or name: field for name, field in model.model_fields.items()} if model else {}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    return (part for part in _parts(annotation) if isinstance(part, type) and issubclass(part, BaseModel))


def _parts(annotation: Any) -> Iterator[Any]:
    """An annotation and all that it is made of."""
    yield annotation
    for part in typing.get_args(annotation):
        yield from _parts(part)
