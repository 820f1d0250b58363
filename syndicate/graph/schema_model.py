"""`outputSchema` as a pydantic model that ADK and the adapters can hand to a provider, and that validates replies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, cast

import regex
from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema.protocols import Validator
from pydantic import RootModel, model_validator
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from syndicate.models.json_schema import JsonSchema, normalised

Path = tuple[str | int, ...]

PATTERN_SECONDS = 1.0
"""How long one `pattern` may search one text of a reply."""

_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def schema_errors(schema: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """What keeps `schema` from being one that replies can be held to: the path inside it and what is wrong.

    Every `$ref` must resolve inside the schema itself, and every `pattern` compile.
    """
    plain = normalised(schema)
    broken = list(_shape_errors(plain))
    broken += [] if broken else [*_reference_errors(plain), *_pattern_errors(plain, ())]
    yield from broken
    if not broken and _is_endless(plain):
        yield (), "it refers to itself without end"


class OutputModel(RootModel[Any]):
    """Base of the models that `output_model` makes: validates against the JSON Schema it stands for."""

    output_schema: ClassVar[JsonSchema]
    _validator: ClassVar[Validator]

    @model_validator(mode="after")
    def _fits(self) -> OutputModel:
        if problems := self.problems(self.root):
            raise ValueError("; ".join(problems))
        return self

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> JsonSchema:
        """The schema as it was written, in standard JSON Schema."""
        return cls.output_schema

    @classmethod
    def problems(cls, value: Any) -> list[str]:
        """Where `value` does not fit the schema, one line each; empty when it does."""
        errors = sorted(_errors(cls._validator, value), key=lambda error: list(map(str, error.absolute_path)))
        return [f"{_at(error.absolute_path)}{error.message}" for error in errors]

    @classmethod
    def read(cls, reply: str) -> tuple[str, list[str]]:
        """The JSON text of a reply (a code fence around it is taken off) and what is wrong with it."""
        text = match[1] if (match := _FENCE.match(reply)) else reply.strip()
        try:
            return text, cls.problems(json.loads(text, parse_constant=_refuse))
        except ValueError as error:
            return text, [f"it is not JSON: {error}"]
        except RecursionError:
            return text, ["it is nested too deeply"]


def output_model(schema: Mapping[str, Any], name: str = "Output") -> type[OutputModel]:
    """A pydantic model for a checked `outputSchema`."""
    plain = normalised(schema)
    namespace: dict[str, Any] = {"__module__": __name__, "__doc__": str(plain.get("description") or "")}
    model = cast("type[OutputModel]", type(name, (OutputModel,), namespace))
    model.output_schema = plain
    model._validator = _validator(plain)  # pyright: ignore[reportPrivateUsage]
    return model


def _search(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """The keyword `pattern`, with a limit of time: the text is a model's."""
    if not isinstance(instance, str):
        return
    try:
        if regex.search(pattern, instance, timeout=PATTERN_SECONDS) is None:
            yield ValidationError(f"{instance!r} does not match {pattern!r}")
    except TimeoutError:
        yield ValidationError(f"it takes too long to match {pattern!r}")


# Untyped, as jsonschema's `extend` and referencing's generics are. An empty registry fetches nothing.
_Checked = cast("Any", validators).extend(Draft202012Validator, {"pattern": _search})
_NOTHING_ELSE: Any = cast("Any", Registry)()


def _validator(schema: Any) -> Validator:
    return cast("Validator", _Checked(schema, registry=_NOTHING_ELSE))


def _errors(validator: Validator, value: Any) -> list[ValidationError]:
    return list(validator.iter_errors(value))  # pyright: ignore[reportUnknownMemberType]


def _shape_errors(plain: JsonSchema) -> Iterator[tuple[Path, str]]:
    for error in _errors(_validator(Draft202012Validator.META_SCHEMA), plain):
        deepest = max([error, *(error.context or ())], key=lambda found: len(found.absolute_path))
        yield tuple(deepest.absolute_path), deepest.message


def _reference_errors(plain: JsonSchema) -> Iterator[tuple[Path, str]]:
    root = _NOTHING_ELSE.with_resource("", DRAFT202012.create_resource(plain))
    for path, key, value in _strings(plain, ()):
        if key == "$ref":
            try:
                root.resolver().lookup(value)
            except Unresolvable:
                yield path, f"nothing in this schema is at {value!r}, and nothing is fetched from elsewhere"


def _pattern_errors(plain: JsonSchema, place: Path) -> Iterator[tuple[Path, str]]:
    for path, key, value in _strings(plain, place):
        if key == "pattern":
            try:
                regex.compile(value)
            except regex.error as error:
                yield path, f"{value!r} is no regular expression: {error}"


def _strings(value: Any, path: Path) -> Iterator[tuple[Path, str, str]]:
    """Every text below a keyword, with its path; those of `enum`, `const`, `default` and `examples` are data."""
    if isinstance(value, dict):
        for key, sub in cast("dict[str, Any]", value).items():
            if isinstance(sub, str):
                yield (*path, key), key, sub
            elif key not in ("enum", "const", "default", "examples"):
                yield from _strings(sub, (*path, key))
    elif isinstance(value, list):
        for index, sub in enumerate(cast("list[Any]", value)):
            yield from _strings(sub, (*path, index))


def _is_endless(plain: JsonSchema) -> bool:
    try:
        _errors(_validator(plain), None)
    except RecursionError:
        return True
    return False


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


def _at(path: Sequence[str | int]) -> str:
    return f"at {'.'.join(map(str, path))}: " if path else ""
