"""`outputSchema` as a pydantic model that ADK and the adapters can hand to a provider, and that validates replies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from pydantic import RootModel, model_validator

Path = tuple[str | int, ...]
Schema = dict[str, Any]

_TYPES = {"OBJECT", "ARRAY", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "NULL"}
_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions", "patternProperties")
_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def normalised(schema: Mapping[str, Any]) -> Schema:
    """Standard JSON Schema of one that may use Gemini's dialect: upper-case types, `nullable`, `propertyOrdering`."""
    plain: Schema = {key: _child(key, value) for key, value in schema.items() if key not in _DIALECT}
    if isinstance(plain.get("type"), str) and plain["type"] in _TYPES:
        plain["type"] = plain["type"].lower()
    for bound in ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"):
        if isinstance(plain.get(bound), str) and plain[bound].isdecimal():
            plain[bound] = int(plain[bound])  # Gemini's wire writes int64 as text
    if schema.get("nullable") is True:
        description = {"description": plain.pop("description")} if "description" in plain else {}
        return {"anyOf": [plain, {"type": "null"}], **description}
    return plain


_DIALECT = ("nullable", "propertyOrdering")


def _child(key: str, value: Any) -> Any:
    if key in _ONE and isinstance(value, Mapping):
        return normalised(cast("Mapping[str, Any]", value))
    if key in _MANY and isinstance(value, Sequence) and not isinstance(value, str):
        items = cast("Sequence[Any]", value)
        return [normalised(cast("Schema", item)) if isinstance(item, Mapping) else item for item in items]
    if key in _NAMED and isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        return {
            name: normalised(cast("Schema", sub)) if isinstance(sub, Mapping) else sub for name, sub in named.items()
        }
    return value


def schema_errors(schema: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """What keeps `schema` from being a JSON Schema: the path inside it and what is wrong."""
    validator = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    errors = cast("Iterator[SchemaError]", validator.iter_errors(normalised(schema)))  # pyright: ignore[reportUnknownMemberType]
    for error in errors:
        deepest = max([error, *(error.context or ())], key=lambda found: len(found.absolute_path))
        yield tuple(deepest.absolute_path), str(deepest.message)


class OutputModel(RootModel[Any]):
    """Base of the models that `output_model` makes: validates against the JSON Schema it stands for."""

    output_schema: ClassVar[Schema]
    _validator: ClassVar[Validator]

    @model_validator(mode="after")
    def _fits(self) -> OutputModel:
        if problems := self.problems(self.root):
            raise ValueError("; ".join(problems))
        return self

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> Schema:
        """The schema as it was written, in standard JSON Schema."""
        return cls.output_schema

    @classmethod
    def problems(cls, value: Any) -> list[str]:
        """Where `value` does not fit the schema, one line each; empty when it does."""
        errors = sorted(cls._validator.iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))  # pyright: ignore[reportUnknownMemberType]
        return [f"{_at(error.absolute_path)}{error.message}" for error in errors]

    @classmethod
    def read(cls, reply: str) -> tuple[str, list[str]]:
        """The JSON text of a reply (a code fence around it is taken off) and what is wrong with it."""
        text = match[1] if (match := _FENCE.match(reply)) else reply.strip()
        try:
            return text, cls.problems(json.loads(text))
        except ValueError as error:
            return text, [f"it is not JSON: {error}"]


def output_model(schema: Mapping[str, Any], name: str = "Output") -> type[OutputModel]:
    """A pydantic model for a checked `outputSchema`."""
    plain = normalised(schema)
    namespace: dict[str, Any] = {"__module__": __name__, "__doc__": str(plain.get("description") or "")}
    model = cast("type[OutputModel]", type(name, (OutputModel,), namespace))
    model.output_schema = plain
    model._validator = Draft202012Validator(plain)  # pyright: ignore[reportPrivateUsage]
    return model


def _at(path: Sequence[str | int]) -> str:
    return f"at {'.'.join(map(str, path))}: " if path else ""
