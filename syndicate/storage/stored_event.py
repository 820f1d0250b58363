"""An event as the JSON object that is stored."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from google.adk.events import Event
from pydantic import ValidationError

from syndicate.storage.state import bad_value, jsonable

logger = logging.getLogger(__name__)


def encode(event: Event) -> dict[str, Any]:
    """The event without fields that are None; a value that has no JSON form (in a tool's result, say) as text.

    Raises `StorageError` (`bad-value`) as `jsonable` does.
    """
    try:
        document = event.model_dump(mode="json", exclude_none=True, fallback=repr)
    except UnicodeEncodeError:
        document = event.model_dump(exclude_none=True)  # `jsonable` knows what to do with such keys
    except ValueError as error:
        raise bad_value(error) from None
    if configs := event.actions.requested_auth_configs:
        # Security schemes are read by their aliases only (`in`, `type`).
        document["actions"]["requested_auth_configs"] = {
            call: config.model_dump(mode="json", by_alias=True, exclude_none=True) for call, config in configs.items()
        }
    return jsonable(document)


def decode(stored: Mapping[str, Any]) -> Event:
    """The event, with keys of either spelling (`invocation_id`, `invocationId`).

    A part that this version of Google ADK does not accept, written by another, is left out rather than the session.
    """
    try:
        return Event.model_validate(stored)
    except ValidationError as error:
        logger.warning("event %r: left out what cannot be read: %s", stored.get("id"), error)
        return Event.model_validate(_without(jsonable(stored), error))


def _without(document: dict[str, Any], error: ValidationError) -> dict[str, Any]:
    """The document less the innermost values that the errors point at."""
    places = [detail["loc"] for detail in error.errors(include_url=False, include_input=False, include_context=False)]
    for place in reversed(places):  # from the back, so that positions in a list stay right
        _drop(document, place)
    return document


def _drop(document: dict[str, Any], place: Sequence[int | str]) -> None:
    holder: Any = document
    inner: Any = document
    key: int | str = ""
    for step in place:
        if not _holds(inner, step):
            break
        holder, key, inner = inner, step, inner[step]
    if _holds(holder, key):
        del holder[key]


def _holds(value: Any, key: int | str) -> bool:
    if isinstance(value, dict):
        return key in value
    return isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value)  # type: ignore[arg-type]
