"""Fitting bound data to the schema, and pydantic's complaints in our words."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from syndicate.config.report import Report
from syndicate.config.schema import AgentConfig, OrchestratorConfig, SubagentConfig, SyndicateConfig
from syndicate.config.source import Path
from syndicate.config.suggestions import did_you_mean
from syndicate.config.variables import PLACEHOLDER

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
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
    (OrchestratorConfig, "it belongs to the orchestrator or a subagent"),
    (SubagentConfig, "only a subagent has it"),
)


def fit(data: dict[str, Any], report: Report) -> SyndicateConfig | None:
    """The typed configuration; None when the data does not fit, every reason then being in the report."""
    try:
        return SyndicateConfig.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    empty = [path for path in (tuple(e["loc"]) for e in errors if _is_empty_optional(e)) if _has(data, path)]
    if empty:
        for path in empty:
            _remove(data, path)
        return fit(data, report)
    for details in errors:
        path = _known_part(data, details)
        report.error(path, _message(details, path, report), _code(details), key=_is_about_key(details))
    return None


def _is_empty_optional(details: ErrorDetails) -> bool:
    """Whether a key with nothing behind it (`tools:`) is one that may be left out."""
    loc = details["loc"]
    if details["input"] is not None or not loc or not isinstance(loc[-1], str):
        return False
    field = _fields(model_at(loc[:-1])).get(loc[-1])
    return field is not None and not field.is_required()


def _has(data: Any, path: Path) -> bool:
    return len(_walk(data, path)) == len(path)


def _remove(data: Any, path: Path) -> None:
    for part in path[:-1]:
        data = data[part]
    data.pop(path[-1], None)


def _walk(data: Any, path: Path) -> Path:
    """The part of a path that leads somewhere in the data."""
    for index, part in enumerate(path):
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return path[:index]
    return path


def _known_part(data: Any, details: ErrorDetails) -> Path:
    """Path of an error without what pydantic adds for unions; a missing key keeps its mapping's path."""
    loc = tuple(details["loc"])
    if loc[:1] == ("variables",):
        return loc[:2]
    return _walk(data, loc)


def _is_about_key(details: ErrorDetails) -> bool:
    return details["type"] in ("extra_forbidden", "missing")


def _code(details: ErrorDetails) -> str:
    match details["type"]:
        case "extra_forbidden":
            return "unknown-field"
        case "missing":
            return "missing-field"
        case "literal_error":
            return "unknown-value"
        case kind if kind in _WANTED:
            return "wrong-type"
        case _:
            return "bad-value"


def _message(details: ErrorDetails, path: Path, report: Report) -> str:
    loc, value, context = details["loc"], details["input"], details.get("ctx", {})
    kind = details["type"]
    if loc[:1] == ("variables",) and len(loc) > 1:
        return "a variable holds text, a number, true or false, not a list or mapping"
    if kind == "extra_forbidden":
        return _unknown_field(str(loc[-1]), model_at(loc[:-1]))
    if kind == "missing":
        return f"{_owner(loc[:-1])} has no {loc[-1]!r}; add it"
    if value is None or kind in ("string_too_short",):
        return f"{_field_name(loc)} is empty; write a value"
    if kind in _WANTED:
        return _wrong_type(value, kind, report.document.written(*path))
    if kind == "literal_error":
        return _unknown_value(value, loc)
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"{value!r} is out of range: {_field_name(loc)} must be {words} {context[name]}"
    if kind == "string_pattern_mismatch":
        return f"{value!r}: {_field_name(loc)} {_PATTERNS.get(str(loc[-1]), 'does not fit ' + str(context['pattern']))}"
    return f"{shown(value)}: {details['msg'][:1].lower()}{details['msg'][1:]}"


def _field_name(loc: tuple[str | int, ...]) -> str:
    names = [part for part in loc if isinstance(part, str)]
    return repr(names[-1]) if isinstance(loc[-1], str) else f"an item of {names[-1]!r}"


def _owner(path: tuple[str | int, ...]) -> str:
    if not path:
        return "the file"
    if isinstance(path[-1], int):
        return f"{path[-2]}[{path[-1]}]"
    return repr(path[-1])


def _unknown_field(name: str, model: type[BaseModel] | None) -> str:
    message = f"unknown field {name!r}"
    hint = did_you_mean(name, _fields(model))
    if hint:
        return message + hint
    for home, words in _HOMES:
        if name in _fields(home) and not (model is not None and issubclass(model, home)):
            return f"{message} here; {'only the orchestrator has it' if _is_root_only(name, model) else words}"
    return f"{message}; remove it" + (", or begin its name with 'x-'" if model is SyndicateConfig else "")


def _is_root_only(name: str, model: type[BaseModel] | None) -> bool:
    return name not in _fields(AgentConfig) and name in _fields(OrchestratorConfig) and model is SubagentConfig


def _unknown_value(value: Any, loc: tuple[str | int, ...]) -> str:
    model = model_at(loc[:-1])
    field = _fields(model).get(str(loc[-1]))
    allowed = [str(item) for item in _literals(field.annotation)] if field else []
    hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
    return f"{shown(value)} is not one of {', '.join(map(repr, allowed))}{hint}"


def _wrong_type(value: Any, kind: str, written: str | None) -> str:
    wanted = _WANTED[kind]
    message = f"{shown(value)} is {_kind_of(value)} where {wanted} is wanted"
    variable = PLACEHOLDER.fullmatch(written or "")
    target = f"the value of {variable[1]!r}" if variable else "it"
    scalar = isinstance(value, (str, int, float))
    if wanted == "text" and scalar:
        return f"{message}; put {target} in quotes"
    if wanted == "a list" and scalar:
        return f"{message}; write [{shown(value)}]"
    if wanted == "true or false" and isinstance(value, str):
        return f"{message}; write {'true' if value.lower() in ('yes', 'on', 'y', 'true') else 'false'}"
    if isinstance(value, str) and "number" in wanted and value.lstrip("+-").replace(".", "", 1).isdigit():
        return f"{message}; take {target} out of its quotes"
    return message


def shown(value: Any) -> str:
    """What was written, quoted and cut for a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return "this"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…" + text[-1]


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


def model_at(path: tuple[str | int, ...]) -> type[BaseModel] | None:
    """The model that describes the mapping at a path; None outside the format."""
    model: type[BaseModel] | None = SyndicateConfig
    for part in path:
        if isinstance(part, str):
            field = _fields(model).get(part)
            model = next(_models(field.annotation), None) if field else None
    return model


def _fields(model: type[BaseModel] | None) -> dict[str, Any]:
    """Fields by the name they have in a file."""
    return {field.alias or name: field for name, field in model.model_fields.items()} if model else {}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    for part in _parts(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            yield part


def _literals(annotation: Any) -> list[Any]:
    return [part for part in _parts(annotation) if isinstance(part, str)]


def _parts(annotation: Any) -> Iterator[Any]:
    """An annotation and all that it is made of."""
    yield annotation
    if isinstance(annotation, types.GenericAlias) or typing.get_origin(annotation) is not None:
        for part in typing.get_args(annotation):
            yield from _parts(part)
