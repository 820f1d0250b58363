"""A loopback server in the place of PostgREST, over a real database: `POST /rest/v1/rpc/<function>` and table reads.

What it does as PostgREST does: named JSON arguments converted by Postgres (`json_to_record` with the types of
`pg_proc`), the role of the JWT assumed inside a transaction from `authenticator` (no token: `anon`), errors as
`{code, message, details, hint}` with PostgREST's HTTP status for each SQLSTATE, `PGRST202` for a function it does not
know with these names, 204 for `void`, 401 for a token that is not signed with the project's secret or has expired.

What it does not imitate: read-only transactions for stable functions, `max-rows`, timeouts of roles, the schema cache
(`NOTIFY pgrst`), filters, prefer headers, and the gateway before a real project (keys that are no JWT, rate limits).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg

_SECRET = b"the secret of the stand-in, which signs nothing else"
_STATUS = {"42501": 403, "42883": 404, "42P01": 404, "P0001": 400, "53400": 500, "25006": 405, "PGRST202": 404}
_STATUS_OF_CLASS = {
    "08": 503, "09": 500, "0L": 403, "0P": 403, "23": 409, "25": 500, "28": 403, "2D": 500, "38": 500, "39": 500,
    "3B": 500, "40": 500, "53": 503, "54": 500, "55": 500, "57": 500, "58": 500, "F0": 500, "HV": 500, "P0": 500,
    "XX": 500,
}  # fmt: skip
_SIGNATURE = """
select p.prorettype = 'void'::regtype as is_void, p.pronargs - p.pronargdefaults as required,
       coalesce((select json_object_agg(name, format_type(type, null)) from unnest(p.proargnames, p.proargtypes::oid[])
                 as parameter(name, type) where type is not null), '{}')::text as types,
       p.proargnames[1:p.pronargs] as names
  from pg_catalog.pg_proc p where p.proname = $1 and p.pronamespace = 'public'::regnamespace
"""


def token(role: str, *, seconds: float = 3600, secret: bytes = _SECRET) -> str:
    """A key of the project for a role, as Supabase makes them."""
    head = _encoded({"alg": "HS256", "typ": "JWT"})
    body = _encoded({"role": role, "iss": "stand-in", "exp": int(time.time() + seconds)})
    signature = hmac.new(secret, f"{head}.{body}".encode(), hashlib.sha256).digest()
    return f"{head}.{body}.{_base64(signature)}"


@dataclass
class RestStandIn:
    """The running server. `requests` are the functions called, in order; each of `breaks` spoils one answer: `lost`
    (the function runs, the connection is cut), `page` (a gateway's HTML with status 502), `hang` (no answer).
    """

    url: str
    pool: asyncpg.Pool
    requests: list[str] = field(default_factory=list)
    breaks: list[str] = field(default_factory=list)

    async def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        """Status and body of the response to a request."""
        try:
            role = _role(headers)
        except ValueError as error:
            return _refused(401, "PGRST301", str(error))
        if (function := re.fullmatch(r"/rest/v1/rpc/(\w+)", path)) and method == "POST":
            self.requests.append(function[1])
            return await self._in_role(
                role, lambda connection: self._call(connection, function[1], json.loads(body or b"{}"))
            )
        if (table := re.fullmatch(r"/rest/v1/(\w+)", path.partition("?")[0])) and method == "GET":
            return await self._in_role(role, lambda connection: self._read(connection, table[1]))
        return _refused(404, "PGRST125", "Invalid path specified in request URL")

    async def _in_role(self, role: str, work: Any) -> tuple[int, bytes]:
        try:
            async with self.pool.acquire() as connection, connection.transaction():
                await connection.execute("select set_config('role', $1, true)", role)
                return await work(connection)
        except asyncpg.PostgresError as error:
            refusal: Any = error  # its attributes are set at run time
            state = refusal.sqlstate
            return _refused(_status(state, role), state, str(error.args[0]), refusal.detail, refusal.hint)

    async def _call(self, connection: Any, function: str, given: dict[str, Any]) -> tuple[int, bytes]:
        signature = await connection.fetchrow(_SIGNATURE, function)
        types = json.loads(signature["types"]) if signature else {}
        needed = (signature["names"] or [])[: signature["required"]] if signature else []
        if signature is None or not set(given) <= set(types) or not set(needed) <= set(given):
            names = ", ".join(sorted(given))
            message = f"Could not find the function public.{function}({names}) in the schema cache"
            return _refused(404, "PGRST202", message)
        arguments = ", ".join(f'"{name}" => a."{name}"' for name in given)
        columns = ", ".join(f'"{name}" {types[name]}' for name in given) or "nothing text"
        sql = f'select to_json(public."{function}"({arguments}))::text from json_to_record($1::json) a({columns})'
        if signature["is_void"]:
            await connection.fetchval(sql.replace("to_json(", "(", 1), json.dumps(given))
            return 204, b""
        return 200, (await connection.fetchval(sql, json.dumps(given)) or "null").encode()

    async def _read(self, connection: Any, table: str) -> tuple[int, bytes]:
        sql = f"select coalesce(json_agg(t), '[]')::text from (select * from public.\"{table}\" limit 1000) t"
        return 200, (await connection.fetchval(sql)).encode()


@asynccontextmanager
async def rest_stand_in(authenticator_url: str) -> AsyncIterator[RestStandIn]:
    """Serve a database over REST; the address is the one of its role `authenticator`."""
    async with asyncpg.create_pool(authenticator_url, min_size=1, max_size=10, statement_cache_size=0) as pool:
        stand_in = RestStandIn("", pool)
        clients: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            client = asyncio.ensure_future(_serve(stand_in, reader, writer))
            clients.add(client)
            client.add_done_callback(clients.discard)

        listener = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1 << 26)
        stand_in.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        try:
            yield stand_in
        finally:
            listener.close()
            for client in list(clients):
                client.cancel()
            await asyncio.gather(*clients, return_exceptions=True)


async def _serve(stand_in: RestStandIn, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    try:
        while request := await _request(reader):
            status, body = await stand_in.answer(*request)
            kind = "application/json; charset=utf-8"
            match stand_in.breaks.pop(0) if stand_in.breaks else "":
                case "lost":
                    return
                case "hang":
                    await asyncio.sleep(3600)
                case "page":
                    status, body, kind = 502, b"<html><h1>502 Bad Gateway</h1></html>", "text/html"
                case _:
                    pass
            head = f"HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _request(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes] | None:
    """Method, path, headers and body of the next request; None when the client has gone."""
    first = (await reader.readline()).decode()
    if not first.strip():
        return None
    headers: dict[str, str] = {}
    while line := (await reader.readline()).decode().strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ", 2)
    return method, path, headers, body


def _role(headers: dict[str, str]) -> str:
    """The role of a request's token; raises `ValueError` for one that is not the project's."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return "anon"
    head, _, rest = value.partition(".")
    body, _, signature = rest.partition(".")
    expected = _base64(hmac.new(_SECRET, f"{head}.{body}".encode(), hashlib.sha256).digest())
    if not hmac.compare_digest(signature, expected):
        raise ValueError("JWSError JWSInvalidSignature")
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    if claims["exp"] < time.time():
        raise ValueError("JWT expired")
    return claims["role"]


def _status(state: str, role: str) -> int:
    if state == "42501" and role == "anon":
        return 401
    if re.fullmatch(r"PT\d{3}", state):
        return int(state[2:])
    return _STATUS.get(state) or _STATUS_OF_CLASS.get(state[:2], 400)


def _refused(
    status: int, code: str, message: str, details: str | None = None, hint: str | None = None
) -> tuple[int, bytes]:
    return status, json.dumps({"code": code, "message": message, "details": details, "hint": hint}).encode()


def _encoded(value: dict[str, Any]) -> str:
    return _base64(json.dumps(value).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
