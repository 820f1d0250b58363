"""Fitting bound data to the schema: typed configuration, or every reason why not, located."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from syndicate.config.report import Report
from syndicate.config.schema import SyndicateConfig
from syndicate.config.source import KeyPath
from syndicate.config.wording import complaint, fields, model_at


def fit(data: dict[str, Any], report: Report) -> SyndicateConfig | None:
    """The typed configuration; None when the data does not fit, every reason then being in the report.

    A key with nothing behind it (`tools:`) is as good as absent where the format has a default.
    """
    try:
        return SyndicateConfig.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    empty = [path for path in (tuple(details["loc"]) for details in errors if _is_empty(details)) if _has(data, path)]
    if empty:
        for path in empty:
            _remove(data, path)
        return fit(data, report)
    for details in errors:
        path = _known_part(data, details)
        message, code = complaint(details, report.document.written(*path))
        report.error(path, message, code, key=code in ("unknown-field", "missing-field"))
    return None


def _is_empty(details: ErrorDetails) -> bool:
    """Whether an error is about an empty key that may be left out."""
    *parents, name = details["loc"] or ("",)
    if details["input"] is not None or not isinstance(name, str):
        return False
    field = fields(model_at(tuple(parents))).get(name)
    return field is not None and not field.is_required()


def _known_part(data: Any, details: ErrorDetails) -> KeyPath:
    """KeyPath of an error without what pydantic adds for unions; a missing key keeps its mapping's path."""
    loc = tuple(details["loc"])
    return loc[:2] if loc[:1] == ("variables",) else _walk(data, loc)


def _has(data: Any, path: KeyPath) -> bool:
    return len(_walk(data, path)) == len(path)


def _walk(data: Any, path: KeyPath) -> KeyPath:
    """The part of a path that leads somewhere in the data."""
    for index, part in enumerate(path):
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return path[:index]
    return path


def _remove(data: Any, path: KeyPath) -> None:
    for part in path[:-1]:
        data = data[part]
    data.pop(path[-1], None)
