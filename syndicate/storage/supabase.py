"""A Supabase project, through supabase-py's `rpc`: the same SQL functions, over HTTPS."""

from __future__ import annotations

import asyncio
import importlib
import json
from typing import Any
from urllib.parse import urlsplit

import httpx

from syndicate.errors import MissingExtraError, StorageError
from syndicate.storage.transport import ONCE, DatabaseFailure, encode, parse

_CALL_SECONDS = 30
_CONNECT_SECONDS = 10
_CONNECTIONS = 20
_PAUSES = (0.2, 1.0)
_OVERLOADED = frozenset({"502", "503", "504", "520", "521", "522", "523", "524"})


class SupabaseTransport:
    """Calls SQL functions over REST as the role of its key. Make one with `open`."""

    def __init__(self, client: Any, http: httpx.AsyncClient, address: str) -> None:
        self._client = client
        self._http = http
        self._address = address

    @classmethod
    async def open(cls, url: str, key: str) -> SupabaseTransport:
        """A client of the project at `url`; nothing is sent yet. Raises `StorageError` when it cannot be one."""
        try:
            supabase: Any = importlib.import_module("supabase")
        except ImportError:
            raise MissingExtraError("supabase", "a Supabase project") from None
        address = project(url)
        limits = httpx.Limits(max_connections=_CONNECTIONS)
        http = httpx.AsyncClient(timeout=httpx.Timeout(_CALL_SECONDS, connect=_CONNECT_SECONDS), limits=limits)
        options = supabase.AsyncClientOptions(httpx_client=http, auto_refresh_token=False, persist_session=False)
        try:
            client = await supabase.acreate_client(address, key, options)
        except Exception as error:  # supabase-py refuses an address or a key that it does not know the shape of
            await http.aclose()
            remedy = "correct SUPABASE_URL and SUPABASE_SERVICE_ROLE_KEY"
            raise StorageError(f"{error}".lower(), code="wrong-url", remediation=remedy) from None
        return cls(client, http, address)

    async def call(self, function: str, **arguments: Any) -> dict[str, Any]:
        """Run `public.<function>`; asked again when the answer was lost, unless a second run would do harm."""
        values = json.loads(encode(arguments))
        for pause in () if function in ONCE else _PAUSES:
            try:
                return parse(function, await self._send(function, values))
            except StorageError as error:
                if not error.retryable or error.code == "timeout":
                    raise
            await asyncio.sleep(pause)
        return parse(function, await self._send(function, values))

    async def execute(self, sql: str) -> None:
        """Always refused: over REST only functions can be called."""
        raise StorageError(
            "no SQL can be run over Supabase's REST address",
            code="missing-privilege",
            remediation="set DATABASE_URL, or run what `syndicate db print` prints in the project's SQL editor",
        )

    async def aclose(self) -> None:
        """Close the connections; supabase-py itself has no way to."""
        await self._http.aclose()

    async def _send(self, function: str, values: dict[str, Any]) -> object:
        try:
            return (await self._client.rpc(function, values).execute()).data
        except httpx.TimeoutException:
            message = f"{self._address} did not answer in {_CALL_SECONDS} seconds"
            raise StorageError(message, code="timeout", remediation="try again", retryable=True) from None
        except httpx.HTTPError as error:
            raise self._unreachable(str(error) or type(error).__name__) from None
        except Exception as error:
            code = getattr(error, "code", None)
            if code is None or not hasattr(error, "hint"):
                raise
            raise self._refusal(str(code), str(getattr(error, "message", "") or error), error) from None

    def _refusal(self, code: str, message: str, error: Any) -> StorageError:
        """PostgREST's `APIError`, whose `code` is an SQLSTATE, one of PostgREST's, or a gateway's HTTP status."""
        if code in _OVERLOADED:
            return self._unreachable(f"HTTP {code}")
        if code.isdecimal() and len(code) == 3:
            remedy = "correct SUPABASE_URL and SUPABASE_SERVICE_ROLE_KEY"
            return StorageError(f"{self._address} refused with HTTP {code}", code="connection", remediation=remedy)
        return DatabaseFailure(code, message, str(error.hint or ""))

    def _unreachable(self, reason: str) -> StorageError:
        return StorageError(
            f"{self._address} cannot be reached: {reason.lower()}",
            code="connection",
            remediation="see whether SUPABASE_URL is right and the project is not paused",
            retryable=True,
        )


def project(url: str) -> str:
    """The project's address as supabase-py takes it; raises `StorageError` for anything else."""
    address = url.strip().rstrip("/").removesuffix("/rest/v1")
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or "@" in address:
        raise StorageError(
            "SUPABASE_URL is not the address of a Supabase project",
            code="wrong-url",
            remediation="write it as https://<project>.supabase.co, without a user or a password",
        )
    return address
