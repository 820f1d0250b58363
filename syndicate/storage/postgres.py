"""Any Postgres, through a pool of asyncpg connections that outlives a restart of the server."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import socket
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import unquote, urlsplit

from syndicate.errors import MissingExtraError, StorageError
from syndicate.storage.transport import ONCE, DatabaseFailure, encode, parse

_Result = TypeVar("_Result")

OLDEST_MAJOR = 15
"""Of Postgres; the SQL uses nothing newer, and is tested on 16 and 18."""

_POOLER_PORT = 6543  # Supabase's pooler in transaction mode: a prepared statement does not outlive its transaction
_ADDRESS_FORM = "write it as postgresql://user:password@host:5432/name, special characters percent-encoded"
_CALL_SECONDS = 60
_CONNECT_SECONDS = 15
_PAUSES = (0.05, 0.3, 1.0)
_TYPES = """
select coalesce(json_object_agg(name, format_type(type, null)), '{}')::text from pg_catalog.pg_proc p
  cross join unnest(p.proargnames, p.proargtypes::oid[]) as parameter(name, type)
 where p.proname = $1 and p.pronamespace = 'public'::regnamespace and type is not null
"""


class _Connection(Protocol):
    """The part of asyncpg's connection that scripts need."""

    async def execute(self, query: str, *, timeout: float | None) -> str: ...
    async def reset(self) -> None: ...


class _Pool(Protocol):
    """What is used of `asyncpg.Pool`, which has no types. What passes through it are a query's values."""

    async def fetchval(self, query: str, *arguments: Any) -> Any: ...
    async def fetch(self, query: str, *arguments: Any) -> list[Any]: ...
    def acquire(self) -> AbstractAsyncContextManager[_Connection]: ...
    async def close(self) -> None: ...
    def terminate(self) -> None: ...


class PostgresTransport:
    """Calls SQL functions over asyncpg. Make one with `open`."""

    def __init__(self, pool: _Pool, revive: Callable[[], None] | None = None) -> None:
        self._pool = pool
        self._revive = revive
        self._types: dict[str, dict[str, str]] = {}

    @classmethod
    async def open(
        cls, url: str, *, connections: int = 10, revive: Callable[[], None] | None = None
    ) -> PostgresTransport:
        """Connect to a `postgresql://` address; raises `StorageError`, which never shows its password.

        `revive` is called, in a thread, before a lost connection is tried again: it may start the server.
        """
        try:
            asyncpg = _driver()
        except ImportError:
            raise MissingExtraError("postgres", "a Postgres database") from None
        address = normal_url(url)
        try:
            pool = await asyncpg.create_pool(
                address,
                min_size=0,  # with a minimum, asyncpg logs tracebacks while the server is away
                max_size=connections,
                timeout=_CONNECT_SECONDS,
                command_timeout=_CALL_SECONDS,
                reset=_leave,
                statement_cache_size=0 if urlsplit(address).port == _POOLER_PORT else 100,
                server_settings={"application_name": "syndicate"},
            )
        except Exception as error:
            raise _not_opened(error, url) from None
        try:
            version = int(await pool.fetchval("show server_version_num"))
        except Exception as error:
            pool.terminate()
            raise _not_opened(error, url) from None
        if version < OLDEST_MAJOR * 10_000:
            pool.terminate()
            raise StorageError(
                f"the database at {shown(url)!r} is Postgres {version // 10_000}",
                code="schema-too-old",
                remediation=f"use Postgres {OLDEST_MAJOR} or newer",
            )
        return cls(pool, revive)

    async def call(self, function: str, **arguments: Any) -> dict[str, Any]:
        """Run `public.<function>`; asked again when the connection was lost, unless a second run would do harm."""
        text = encode(arguments)
        attempts = 1 if function in ONCE else len(_PAUSES) + 1
        if attempts == 1:
            await self._run(lambda: self._pool.fetchval("select 1"))  # finds out whether the connections are alive
        answer = await self._run(lambda: self._call(function, sorted(arguments), text), attempts)
        return parse(function, answer)

    async def execute(self, sql: str) -> None:
        """Run a script of any number of statements, in one transaction unless it says otherwise."""
        await self._run(lambda: self._execute(sql), 1)

    async def fetch(self, sql: str, *arguments: Any) -> list[dict[str, Any]]:
        """The rows of a query with `$n` parameters, as asyncpg gives them."""
        rows = await self._run(lambda: self._pool.fetch(sql, *arguments))
        return [dict(row) for row in rows]

    async def aclose(self) -> None:
        """Close the pool; what still runs after ten seconds is cut off."""
        try:
            await asyncio.wait_for(self._pool.close(), 10)
        except Exception:  # a server that is gone already
            self._pool.terminate()

    async def _execute(self, sql: str) -> None:
        async with self._pool.acquire() as connection:
            try:
                await connection.execute(sql, timeout=None)
            finally:
                await connection.reset()

    async def _call(self, function: str, names: list[str], arguments: str) -> object:
        statement = _statement(function, names, await self._types_of(function, names))
        try:
            return await self._pool.fetchval(statement, arguments)
        except Exception as error:
            if getattr(error, "sqlstate", None) == "42883":  # another version of the schema was applied meanwhile
                self._types.pop(function, None)
            raise

    async def _types_of(self, function: str, names: list[str]) -> dict[str, str]:
        """The types of the function's parameters, read once; again when it turns out to have got others."""
        if function not in self._types or not self._types[function].keys() >= set(names):
            self._types[function] = json.loads(cast(str, await self._pool.fetchval(_TYPES, function)))
        return self._types[function]

    async def _run(self, work: Callable[[], Awaitable[_Result]], attempts: int = len(_PAUSES) + 1) -> _Result:
        """Do it, again after a pause while the connection is lost and attempts are left."""
        for pause in _PAUSES[: attempts - 1]:
            try:
                return await work()
            except Exception as error:
                if not _lost(error):
                    raise _failure(error) from None
            await asyncio.sleep(pause)
            if self._revive:
                await asyncio.to_thread(self._revive)
        try:
            return await work()
        except Exception as error:
            raise _failure(error) from None


async def _leave(_connection: object) -> None:
    """What the pool does with a connection that comes back: functions leave nothing behind that a reset would mend."""


def normal_url(url: str) -> str:
    """The address as asyncpg takes it; SQLAlchemy's way of naming a driver is understood. Raises `StorageError`."""
    address = re.sub(r"^(postgres(?:ql)?)\+\w+://", r"\1://", url.strip())
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("postgres", "postgresql") and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise StorageError(
            f"{shown(url)!r} is not the address of a Postgres database",
            code="wrong-url",
            remediation=_ADDRESS_FORM,
        )
    return address


def shown(url: str) -> str:
    """An address that people may see: without user's password and without parameters."""
    scheme, found, rest = url.strip().partition("://")
    if not found:
        return "(not an address)"
    user, at, host = rest.rpartition("@")  # a password may hold what ends an address elsewhere
    place = re.split(r"[?#]", host)[0]
    if not at and not re.fullmatch(r"(\[[^\]]*\]|[^:/]*)(:\d*)?(/.*)?", place):
        return f"{scheme}://(not shown)"
    return f"{scheme}://{unquote(user.partition(':')[0])}{at}{place}"


def _statement(function: str, names: list[str], types: dict[str, str]) -> str:
    """JSON in, JSON out: Postgres converts the arguments as it does for PostgREST, so both transports behave alike."""
    if unknown := [name for name in names if name not in types]:
        raise DatabaseFailure("42883", f"the database has no function {function} that takes {unknown[0]}")
    if not names:
        if not types and not re.fullmatch(r"[a-z_]+", function):
            raise DatabaseFailure("42883", f"the database has no function {function}")
        return f'select to_json(public."{function}"())::text from (values ($1::json)) a(x)'
    given = ", ".join(f'"{name}" => a."{name}"' for name in names)
    columns = ", ".join(f'"{name}" {types[name]}' for name in names)
    return f'select to_json(public."{function}"({given}))::text from json_to_record($1::json) a({columns})'


def _lost(error: Exception) -> bool:
    """Whether the connection broke, so that nobody knows what became of the call."""
    if isinstance(error, StorageError | TimeoutError):
        return False
    sqlstate = getattr(error, "sqlstate", None) or ""
    return isinstance(error, OSError) or sqlstate.startswith(("08", "57P0")) or _is_of_the_driver(error)


def _is_of_the_driver(error: Exception) -> bool:
    asyncpg = _driver()
    return isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError) and not isinstance(error, ValueError)


def _failure(error: Exception) -> Exception:
    """Any exception of asyncpg as one of ours. What is a fault of the program stays what it is."""
    if isinstance(error, StorageError):
        return error
    if sqlstate := getattr(error, "sqlstate", None):
        return DatabaseFailure(
            sqlstate, str(error.args[0]) if error.args else sqlstate, getattr(error, "hint", "") or ""
        )
    if isinstance(error, TimeoutError):
        return StorageError("the database did not answer in time", code="timeout", retryable=True)
    if isinstance(error, OSError) or _is_of_the_driver(error):
        return _unreachable("the database", error)
    return error


def _not_opened(error: Exception, url: str) -> StorageError:
    """Why the first connection was not made, with the address and without anything secret."""
    place = f"the database at {shown(url)!r}"
    if isinstance(error, TimeoutError):
        remedy = "see whether its host and port are right, and whether a firewall is between"
        return StorageError(f"{place} did not answer in time", code="timeout", remediation=remedy, retryable=True)
    if isinstance(error, OSError):
        return _unreachable(place, error)
    found = _failure(error)
    if isinstance(found, DatabaseFailure):
        message = f"{place} refused: {found.message}"
        code, remedy = found.code, found.remediation
        if found.sqlstate == "42704":  # what the address has after its `?` and no driver knows goes to the server
            code, remedy = "wrong-url", "correct what follows the ? of its address"
        return StorageError(message, code=code, remediation=remedy, retryable=found.retryable)
    if isinstance(found, StorageError):
        return StorageError(f"{place}: {found.message}", code=found.code, remediation=found.remediation)
    return StorageError(
        f"{place} cannot be used: its address is not understood", code="wrong-url", remediation=_ADDRESS_FORM
    )


def _unreachable(what: str, error: Exception) -> StorageError:
    match error:
        case socket.gaierror():
            reason = "its host is not known"
        case ConnectionRefusedError():
            reason = "nothing listens there"
        case OSError(strerror=str(reason)):
            reason = reason.lower()
        case _:
            reason = "nothing listens there" if "Connect call failed" in str(error) else "the connection was lost"
    remedy = "see whether it runs and whether its address is right"
    return StorageError(f"{what} cannot be reached: {reason}", code="connection", remediation=remedy, retryable=True)


def _driver() -> Any:
    """asyncpg, loaded when a database is opened; it ships no types, so `Any`."""
    return importlib.import_module("asyncpg")
