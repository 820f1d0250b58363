"""The session service on a real database, each way that there is, and ADK's own service beside it.

A database is made once for each way and process, and emptied before every test.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
from google.adk.sessions import BaseSessionService, InMemorySessionService

from syndicate.storage import migrations
from syndicate.storage.database import Database
from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.sessions import DatabaseSessions
from syndicate.storage.supabase import SupabaseTransport
from syndicate.storage.transport import Transport
from tests.storage.conftest import TestDatabase
from tests.storage.rest_stand_in import rest_stand_in, token
from tests.storage.servers import server

WAYS = ["postgres", "older", "rest"]
EMPTY = "truncate adk_sessions, adk_session_events, adk_app_states, adk_user_states"

Provision = Callable[[int, str], Awaitable[TestDatabase]]


@pytest.fixture(scope="session")
def provision() -> Iterator[Provision]:
    """A database with our schema on a server of this major and flavour; the same one each time."""
    made: dict[tuple[int, str], TestDatabase] = {}

    async def provisioned(major: int, flavour: str) -> TestDatabase:
        if (major, flavour) not in made:
            made[major, flavour] = await _provisioned(major, flavour)
        return made[major, flavour]

    yield provisioned
    for database in made.values():
        asyncio.run(database.server.drop_database(database.name))


async def _provisioned(major: int, flavour: str) -> TestDatabase:
    database = TestDatabase(server(major, flavour), await server(major, flavour).create_database())
    transport = await PostgresTransport.open(database.url)
    await migrations.apply(transport)
    await transport.aclose()
    return database


@pytest.fixture
async def direct_database(provision: Provision) -> TestDatabase:
    return await provision(18, "plain")


@pytest.fixture
async def postgres_way(direct_database: TestDatabase) -> AsyncIterator[PostgresTransport]:
    """As the owner of the tables, who is no superuser."""
    await direct_database.server.execute(EMPTY, direct_database.name)
    transport = await PostgresTransport.open(direct_database.url)
    yield transport
    await transport.aclose()


@pytest.fixture
async def older_way(provision: Provision) -> AsyncIterator[PostgresTransport]:
    """The same on the older major."""
    database = await provision(16, "plain")
    await database.server.execute(EMPTY, database.name)
    transport = await PostgresTransport.open(database.url)
    yield transport
    await transport.aclose()


@pytest.fixture
async def rest_way(provision: Provision) -> AsyncIterator[SupabaseTransport]:
    """Through supabase-py, as the service role."""
    database = await provision(18, "supabase")
    await database.server.execute(EMPTY, database.name)
    async with rest_stand_in(database.url_of("authenticator")) as stand_in:
        transport = await SupabaseTransport.open(stand_in.url, token("service_role"))
        yield transport
        await transport.aclose()


@pytest.fixture(params=WAYS)
def sessions(request: pytest.FixtureRequest) -> DatabaseSessions:
    return _on(request.getfixturevalue(f"{request.param}_way"))


@pytest.fixture
def direct(postgres_way: PostgresTransport) -> DatabaseSessions:
    """The service on `direct_database`."""
    return _on(postgres_way)


@pytest.fixture(params=["adk", *WAYS])
def service(request: pytest.FixtureRequest) -> BaseSessionService:
    """What ADK's in-memory service does, ours does too: a test of both says what is expected."""
    if request.param == "adk":
        return InMemorySessionService()
    return _on(request.getfixturevalue(f"{request.param}_way"))


def _on(transport: Transport) -> DatabaseSessions:
    return DatabaseSessions(Database(transport, "postgres", "the test's"), ttl_days=7)
