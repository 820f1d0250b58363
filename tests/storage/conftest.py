"""A database of its own for every test, on real servers that all tests share (`tests.storage.servers`).

A test that is to run on another major, or on both, says so: `@pytest.mark.parametrize("major", [18, 16])`; one that is
to run among the roles of a Supabase project: `@pytest.mark.parametrize("flavour", ["supabase"])`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest

from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.supabase import SupabaseTransport
from tests.storage.rest_stand_in import RestStandIn, rest_stand_in, token
from tests.storage.servers import Server, release, server


@dataclass(frozen=True)
class TestDatabase:
    """An empty database. `url` is its owner's, who is no superuser; `admin_url` the superuser's."""

    __test__ = False
    server: Server
    name: str

    @property
    def url(self) -> str:
        return self.server.url(self.name)

    @property
    def admin_url(self) -> str:
        return self.server.url(self.name, "postgres")

    def url_of(self, role: str) -> str:
        return self.server.url(self.name, role)


@pytest.fixture(scope="session", autouse=True)
def _servers_end_with_the_tests() -> Iterator[None]:
    yield
    release()


@pytest.fixture
def major() -> int:
    return 18


@pytest.fixture
def flavour() -> str:
    return "plain"


@pytest.fixture
async def database(major: int, flavour: str) -> AsyncIterator[TestDatabase]:
    """An empty database, with pgvector, dropped after the test."""
    its_server = server(major, flavour)
    name = await its_server.create_database()
    yield TestDatabase(its_server, name)
    await its_server.drop_database(name)


@pytest.fixture
def database_url(database: TestDatabase) -> str:
    """The address of an empty database, as its owner."""
    return database.url


@pytest.fixture
async def transport(database_url: str) -> AsyncIterator[PostgresTransport]:
    """The owner's connections to an empty database."""
    opened = await PostgresTransport.open(database_url)
    yield opened
    await opened.aclose()


@pytest.fixture
async def supabase_database() -> AsyncIterator[TestDatabase]:
    """An empty database among the roles and default privileges of a Supabase project."""
    its_server = server(18, "supabase")
    name = await its_server.create_database()
    yield TestDatabase(its_server, name)
    await its_server.drop_database(name)


@pytest.fixture
async def stand_in(supabase_database: TestDatabase) -> AsyncIterator[RestStandIn]:
    """The REST address of that database."""
    async with rest_stand_in(supabase_database.url_of("authenticator")) as running:
        yield running


@pytest.fixture
async def supabase_owner(supabase_database: TestDatabase) -> AsyncIterator[PostgresTransport]:
    """The owner's own connections to it, for the schema."""
    opened = await PostgresTransport.open(supabase_database.url)
    yield opened
    await opened.aclose()


@pytest.fixture
async def supabase_transport(stand_in: RestStandIn) -> AsyncIterator[SupabaseTransport]:
    """The service role's way to it, through supabase-py."""
    opened = await SupabaseTransport.open(stand_in.url, token("service_role"))
    yield opened
    await opened.aclose()
