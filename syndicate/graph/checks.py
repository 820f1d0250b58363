"""What the loader asks: is this model, tool, guard, schema known here? Nothing here imports ADK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from syndicate.config.checks import Checks, Finding
from syndicate.graph.features import missing_feature, missing_tool
from syndicate.models import registry as models
from syndicate.settings import Settings
from syndicate.tools import registry as tools


def default_checks(settings: Settings) -> Checks:
    """The checks of this version: unknown ids are errors, what it cannot run yet is a warning."""

    def model(model_id: str) -> Finding | None:
        if unknown := models.unknown_model(model_id):
            return Finding(unknown, "unknown-model")
        missing = models.static_availability(model_id, settings)
        if missing is not None and missing.code == "not-in-this-version":
            return Finding(f"model {model_id!r}: {missing.reason}", missing.code, "warning")
        return None

    return Checks(model=model, tool=_tool, guard=_guard, output_schema=_output_schema, feature=_feature)


def _tool(name: str) -> Finding | None:
    if missing := missing_tool(name):
        return Finding(missing, "not-in-this-version", "warning")
    if tools.is_known(name):
        return None
    guess = tools.suggestion(name)
    hint = f"; did you mean {guess!r}?" if guess else "; register it with syndicate.register_tool"
    return Finding(f"unknown tool {name!r}, left out{hint}", "unknown-tool", "warning")


def _guard(name: str) -> Finding | None:
    """Guards come with a later version, which will know their names; the key itself is warned about."""
    return None


def _output_schema(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Finding]]:
    from syndicate.graph.schema_model import schema_errors

    for path, message in schema_errors(schema):
        yield path, Finding(f"not a JSON Schema: {message}", "output-schema")


def _feature(key: str, value: Any) -> Finding | None:
    missing = missing_feature(key, value)
    return Finding(missing, "not-in-this-version", "warning") if missing else None
