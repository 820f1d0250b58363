"""Binding `{{variables}}` into the data of one file, once, with a warning for each name that is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syndicate.config.limits import MAX_PROBLEMS
from syndicate.config.raw import Data, is_list, is_mapping, mapping
from syndicate.config.report import Report
from syndicate.config.schema import Scalar
from syndicate.config.source import KeyPath, cut_short
from syndicate.config.suggestions import did_you_mean
from syndicate.config.text import SourceText
from syndicate.config.variables import CURRENT_DATE, CURRENT_DATE_MARK, PLACEHOLDER, VARIABLE_NAME, bind, bind_text
from syndicate.errors import Problem


def is_extension(key: str) -> bool:
    """Whether a root key is one of others' (`x-…`)."""
    return key.startswith("x-")


def file_values(data: Data, bindings: Mapping[str, Scalar], report: Report) -> dict[str, Scalar]:
    """What each `{{name}}` of a file stands for: its own variables, with the bindings that name one of them."""
    variables = mapping(data, "variables")
    for name, value in variables.items():
        _check_variable(name, value, report)
    values: dict[str, Scalar] = {CURRENT_DATE: CURRENT_DATE_MARK} | {
        name: value for name, value in variables.items() if not (is_mapping(value) or is_list(value))
    }
    return values | {name: value for name, value in bindings.items() if name in values or name in variables}


def _check_variable(name: str, value: Any, report: Report) -> None:
    path = ("variables", name)
    if not VARIABLE_NAME.fullmatch(name):
        message = f"variable name {name!r} has other characters than letters, digits and '_'; rename it"
        report.error(path, message, "variable-name", key=True)
    if isinstance(value, str) and (found := PLACEHOLDER.search(value)):
        message = f"{found[0]!r} stays as it is: variables are not bound into one another"
        report.warning(path, message, "unbound-variable")


def bind_data(data: Data, values: Mapping[str, Scalar], report: Report) -> Data:
    """The root mapping with every text bound, but for `variables`, and without `x-*` keys."""
    return {
        key: value if key == "variables" else _bind(value, (key,), values, report)
        for key, value in data.items()
        if not is_extension(key)
    }


def _bind(value: Any, path: KeyPath, values: Mapping[str, Scalar], report: Report) -> Any:
    if isinstance(value, str):
        return _bind_scalar(value, path, values, report) if "{{" in value else value
    if is_mapping(value):
        return {key: _bind(item, (*path, key), values, report) for key, item in value.items()}
    if is_list(value):
        return [_bind(item, (*path, index), values, report) for index, item in enumerate(value)]
    return value


def _bind_scalar(text: str, path: KeyPath, values: Mapping[str, Scalar], report: Report) -> Scalar:
    for name in _unset(text, values) if report.wants_warnings else ():
        place = report.document.find_in(path, f"{{{{{name}}}}}")
        report.add(place, _unset_message(name, values), "unset-variable", "warning")
    return bind(text, values)


def bind_file(source: SourceText, values: Mapping[str, Scalar]) -> tuple[str, list[Problem]]:
    """The text of an instruction file, bound, and the warnings located in it."""
    problems: list[Problem] = []
    unset = _unset(source.text, values)
    for name in unset[:MAX_PROBLEMS]:
        place = source.at(source.text.find(f"{{{{{name}}}}}"))
        line = source.line(place.line)
        problems.append(Problem(place, _unset_message(name, values), "unset-variable", "warning", line))
    if len(unset) > MAX_PROBLEMS:
        problems.append(cut_short(source, "warning"))
    return bind_text(source.text, values), problems


def _unset(text: str, values: Mapping[str, Scalar]) -> list[str]:
    """Names in `{{…}}` that are no variable, each once, in order."""
    return list(dict.fromkeys(name for name in PLACEHOLDER.findall(text) if name not in values))


def _unset_message(name: str, values: Mapping[str, Scalar]) -> str:
    hint = did_you_mean(name, values) or "; declare it under 'variables'"
    return f"'{{{{{name}}}}}' names no variable and stays as it is{hint}"
