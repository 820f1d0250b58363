"""A session's state, apart by who shares it: the app, the user, the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from google.adk.sessions.state import State
from pydantic_core import to_jsonable_python

from syndicate.errors import StorageError

Values = dict[str, Any]  # whatever an agent or a tool put there


@dataclass(frozen=True, slots=True)
class Scopes:
    """Values by bare key; what is `temp:` belongs to none of them."""

    app: Values = field(default_factory=dict[str, Any])
    user: Values = field(default_factory=dict[str, Any])
    session: Values = field(default_factory=dict[str, Any])

    def merged(self) -> Values:
        """One mapping, the keys prefixed as agents read them."""
        return {
            **self.session,
            **{State.APP_PREFIX + key: value for key, value in self.app.items()},
            **{State.USER_PREFIX + key: value for key, value in self.user.items()},
        }


def split(state: Mapping[str, Any]) -> Scopes:
    """The scopes of prefixed keys, as JSON can hold them; None is a value like any other."""
    scopes = Scopes()
    for key, value in jsonable(state).items():
        if key.startswith(State.APP_PREFIX):
            scopes.app[key.removeprefix(State.APP_PREFIX)] = value
        elif key.startswith(State.USER_PREFIX):
            scopes.user[key.removeprefix(State.USER_PREFIX)] = value
        elif not key.startswith(State.TEMP_PREFIX):
            scopes.session[key] = value
    return scopes


def jsonable(values: Mapping[str, Any]) -> Values:
    """A copy of JSON's types only: NaN and infinities become null, what has no JSON form its `repr`.

    Raises `StorageError` (`bad-value`) for values that contain themselves or are nested too deep.
    """
    try:
        return _jsonable(values)
    except UnicodeEncodeError:
        return _jsonable(_whole_characters(values))
    except ValueError as error:
        raise bad_value(error) from None


def bad_value(error: Exception) -> StorageError:
    """The error of values that no JSON can be made of."""
    return StorageError(f"a value cannot be stored: {error}", code="bad-value", remediation="store plain data")


def _jsonable(values: Mapping[str, Any]) -> Values:
    return to_jsonable_python(dict(values), serialize_unknown=True, bytes_mode="base64", inf_nan_mode="null")


def _whole_characters(value: Any) -> Any:
    """The value with U+FFFD for every half of a surrogate pair, which pydantic does not take as a key."""
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case Mapping():
            items = cast("Mapping[Any, Any]", value).items()
            return {_whole_characters(key): _whole_characters(item) for key, item in items}
        case list() | tuple():
            return [_whole_characters(item) for item in cast("list[Any]", value)]
        case _:
            return value
