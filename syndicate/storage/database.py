"""Open the database that the settings name: `DATABASE_URL`, a Supabase project, or the embedded one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from syndicate.errors import MissingExtraError, SettingsError
from syndicate.settings import Settings
from syndicate.storage import embedded, migrations
from syndicate.storage.postgres import PostgresTransport, shown
from syndicate.storage.supabase import SupabaseTransport, project
from syndicate.storage.transport import Transport

Kind = Literal["embedded", "postgres", "supabase"]


@dataclass(frozen=True, slots=True)
class Database:
    """An open database. `address` is for people: a folder or an address, never with a password."""

    transport: Transport
    kind: Kind
    address: str


def configured(settings: Settings) -> Kind | None:
    """Which database these settings name; None without any, when the embedded one is not installed either."""
    if settings.database_url is not None:
        return "postgres"
    if settings.supabase_url is not None:
        return "supabase"
    return "embedded" if embedded.is_installed() else None


@asynccontextmanager
async def open_database(settings: Settings, *, provision: bool | None = None) -> AsyncGenerator[Database]:
    """Connect, see to the schema, and close at the end. Raises `StorageError`, or `MissingExtraError`.

    The embedded database gets this version's schema by itself; of another one the version is only checked. `provision`
    changes that: True makes the schema in a database that holds nothing of ours, False leaves the schema alone.
    """
    async with AsyncExitStack() as stack:
        database = await _open(settings, stack)
        if provision is not False:
            await _see_to_schema(database, provision=bool(provision))
        yield database


async def _open(settings: Settings, stack: AsyncExitStack) -> Database:
    match configured(settings):
        case "postgres":
            database = await _open_postgres(settings)
        case "supabase":
            database = await _open_supabase(settings)
        case "embedded":
            database = await _open_embedded(settings, stack)
        case None:
            raise MissingExtraError("local", "the embedded database")
    stack.push_async_callback(database.transport.aclose)
    return database


async def _open_postgres(settings: Settings) -> Database:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    return Database(await PostgresTransport.open(url), "postgres", shown(url))


async def _open_supabase(settings: Settings) -> Database:
    assert settings.supabase_url is not None
    if settings.supabase_service_role_key is None:
        remedy = "set SUPABASE_SERVICE_ROLE_KEY to the project's service-role key, or unset SUPABASE_URL"
        raise SettingsError("SUPABASE_URL is set and SUPABASE_SERVICE_ROLE_KEY is not", remediation=remedy)
    key = settings.supabase_service_role_key.get_secret_value()
    transport = await SupabaseTransport.open(settings.supabase_url, key)
    return Database(transport, "supabase", project(settings.supabase_url))


async def _open_embedded(settings: Settings, stack: AsyncExitStack) -> Database:
    """The server is started in a thread, which may take a second, and started again when somebody stopped it."""
    share = stack.enter_context(ExitStack())
    url = await asyncio.to_thread(lambda: share.enter_context(embedded.using(settings)))

    def revive() -> None:
        with embedded.using(settings):
            pass

    transport = await PostgresTransport.open(url, revive=revive)
    return Database(transport, "embedded", str(embedded.status(settings).folder))


async def _see_to_schema(database: Database, *, provision: bool) -> None:
    found = await migrations.state(database.transport)
    if not found.current and (database.kind == "embedded" or (provision and not found.occupied)):
        await migrations.apply(database.transport)
    else:
        found.require_current()
