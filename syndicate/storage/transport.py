"""How a SQL function is called: what both transports take, give back and raise.

A call sends JSON arguments by the parameters' own names and gets one JSON object. What the server refuses becomes a
`DatabaseFailure` here and nowhere else.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from syndicate.errors import StorageError

# A second call after a lost answer would do something else than the first.
ONCE = frozenset({"create_session"})

_NUL = "\x00"


@runtime_checkable
class Transport(Protocol):
    """A way to the database. Arguments and results are JSON values, so `Any`."""

    async def call(self, function: str, **arguments: Any) -> dict[str, Any]:
        """Run `public.<function>` with `p_*` keyword arguments; raises `DatabaseFailure` or `StorageError`.

        A NUL character or a lone surrogate in a text argument is refused; inside a JSON one they are dropped, replaced.
        """
        ...

    async def execute(self, sql: str) -> None:
        """Run a script, where the way to the database can; `StorageError` where it cannot."""
        ...

    async def aclose(self) -> None:
        """Close every connection. Nothing can be called afterwards."""
        ...


class DatabaseFailure(StorageError):  # noqa: N818 - the server's refusal, beside our own StorageError
    """A refusal of the server. `sqlstate` is Postgres's five characters, one of ours (`AGnnn`) or PostgREST's code."""

    def __init__(self, sqlstate: str, message: str, hint: str = "") -> None:
        meaning = _meaning(sqlstate, message)
        remedy = meaning.remedy or hint
        super().__init__(message, code=meaning.code, remediation=remedy, retryable=meaning.retryable)
        self.sqlstate = sqlstate
        self.hint = hint


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a class of SQLSTATEs is to us. Without a `remedy` the server's hint is one."""

    code: str
    remedy: str = ""
    retryable: bool = False


_PROVISION = "run `syndicate db apply`"
_MEANINGS = [
    (
        r"08...|57P0[123]|53300|53400",
        _Meaning("connection", "try again; see whether the database runs", retryable=True),
    ),
    (r"28...", _Meaning("connection", "correct the user and the password of the database's address")),
    (r"3D000", _Meaning("wrong-url", "correct the database's name in its address, or create it")),
    (r"57014|55P03|57P05|25P0[34]|PGRST003", _Meaning("timeout", "try again", retryable=True)),
    (r"53100", _Meaning("disk-full", "free some space where the database keeps its data")),
    (r"42501", _Meaning("missing-privilege", "ask the database's administrator for it")),
    (r"42883|42P01|42703|3F000|PGRST20[25]", _Meaning("not-provisioned", _PROVISION)),
    (r"PGRST30[0-9]", _Meaning("connection", "correct SUPABASE_SERVICE_ROLE_KEY")),
    (r"PGRST00[012]", _Meaning("connection", "try again; see whether the project runs", retryable=True)),
    (r"22...|54...", _Meaning("bad-value")),
    (r"40...", _Meaning("conflict", "try again", retryable=True)),
    (r"23...", _Meaning("conflict")),
]


def _meaning(sqlstate: str, message: str) -> _Meaning:
    if re.search(r"extension .* is not available|extension control file|could not access file", message):
        return _Meaning("missing-extension", "install pgvector 0.7 or newer on the database's server")
    if "permission denied to create extension" in message:
        remedy = "ask the database's administrator to run: CREATE EXTENSION vector"
        return _Meaning("missing-extension", remedy)
    if "no space left on device" in message.lower():
        return _Meaning("disk-full", "free some space where the database keeps its data")
    return next((meaning for pattern, meaning in _MEANINGS if re.fullmatch(pattern, sqlstate)), _Meaning("storage"))


def encode(arguments: dict[str, Any]) -> str:
    """The arguments as JSON that Postgres takes; `StorageError` (`bad-value`) for those it cannot."""
    for name, value in arguments.items():
        if isinstance(value, str) and (_NUL in value or not _encodable(value)):
            raise _bad(f"{_plain(name)} {value!r} holds a character that a database cannot keep")
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise _bad(f"a value cannot be kept in a database: {error}") from None
    if "\\u0000" in text or not _encodable(text):
        return json.dumps(_storable(arguments), ensure_ascii=False)
    return text


def parse(function: str, answer: object) -> dict[str, Any]:
    """The object a function returned; `StorageError` when something else answered."""
    try:
        value = json.loads(answer) if isinstance(answer, str) else answer
    except ValueError:
        value = None
    if not isinstance(value, dict):
        remedy = "see whether the address is that of the database"
        raise StorageError(f"{function} answered with something that is no object of JSON", remediation=remedy)
    return cast("dict[str, Any]", value)


def _storable(value: Any) -> Any:
    """A JSON value without what jsonb refuses: NUL characters go, lone surrogates become U+FFFD."""
    match value:
        case str():
            return value.replace(_NUL, "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case dict():
            return {_storable(key): _storable(item) for key, item in cast("dict[Any, Any]", value).items()}
        case list() | tuple():
            return [_storable(item) for item in cast("list[Any]", value)]
        case _:
            return value


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(parameter: str) -> str:
    return parameter.removeprefix("p_").replace("_", " ")


def _bad(message: str) -> StorageError:
    return StorageError(message, code="bad-value")
