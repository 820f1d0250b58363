"""Which database is opened, in what state it must be, and what is said when it cannot be."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from syndicate.errors import SettingsError, StorageError
from syndicate.settings import Settings
from syndicate.storage import embedded, migrations
from syndicate.storage.database import configured, open_database
from syndicate.storage.postgres import PostgresTransport
from tests.storage.conftest import TestDatabase
from tests.storage.rest_stand_in import RestStandIn, token


def settings_of(**values: Any) -> Settings:
    return Settings.read(values, env_file=None)


async def refusal(settings: Settings, **options: Any) -> StorageError:
    with pytest.raises(StorageError) as caught:
        async with open_database(settings, **options):
            pass
    assert "\n" not in str(caught.value)
    assert caught.value.remediation
    return caught.value


def test_a_database_url_goes_before_everything_and_the_embedded_one_is_last():
    url = "postgresql://u@h/d"
    assert configured(settings_of(database_url=url, supabase_url="https://x.example")) == "postgres"
    assert configured(settings_of(supabase_url="https://x.example")) == "supabase"
    assert configured(settings_of()) == "embedded"


async def test_a_database_without_a_schema_is_not_touched_but_named(database_url: str, transport: PostgresTransport):
    error = await refusal(settings_of(database_url=database_url))
    assert error.code == "not-provisioned"
    assert "syndicate db apply" in str(error)
    assert not (await migrations.state(transport)).provisioned


async def test_on_request_a_database_that_holds_nothing_of_ours_gets_the_schema(database_url: str):
    async with open_database(settings_of(database_url=database_url), provision=True) as database:
        assert database.kind == "postgres"
        assert (await migrations.state(database.transport)).current
    async with open_database(settings_of(database_url=database_url)) as database:
        assert (await database.transport.call("storage_status"))["sessions"] == 0


async def test_a_predecessors_tables_are_taken_over_only_by_db_apply(database_url: str, transport: PostgresTransport):
    await transport.execute("create table adk_sessions (id text primary key)")
    error = await refusal(settings_of(database_url=database_url), provision=True)
    assert error.code == "not-provisioned"


@pytest.mark.parametrize(("version", "code"), [(-1, "schema-too-old"), (1, "schema-too-new")])
async def test_another_version_of_the_schema_is_an_error(
    database_url: str, transport: PostgresTransport, version: int, code: str
):
    await migrations.apply(transport)
    last = migrations.expected_version()
    change = f"delete from adk_schema_migrations where version = {last}"
    if version > 0:
        change = f"insert into adk_schema_migrations (version, name) values ({last + 1}, 'future')"
    await transport.execute(change)
    assert (await refusal(settings_of(database_url=database_url))).code == code
    async with open_database(settings_of(database_url=database_url), provision=False) as database:
        assert not (await migrations.state(database.transport)).current


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "mysql://u:hunter2@h/d",
        "postgresql://u:hunter2@h:port/d",
        "postgresql://u:hunter2@h:99999/d",
        "postgresql://u:hunter2@127.0.0.1:1/d?sslmode=perhaps",
    ],
)
async def test_a_wrong_address_says_how_to_write_one_and_shows_no_password(url: str):
    error = await refusal(settings_of(database_url=url))
    assert error.code == "wrong-url"
    assert "postgresql://user:password@host" in str(error)
    assert "hunter2" not in str(error)


async def test_a_refused_connection_names_the_address_without_its_password():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"postgresql://u:hunter2@127.0.0.1:{closed.getsockname()[1]}/d?sslmode=disable"
        error = await refusal(settings_of(database_url=url))
    assert error.code == "connection"
    assert error.retryable
    assert "postgresql://u@127.0.0.1" in str(error)
    assert "nothing listens there" in str(error)
    assert "hunter2" not in str(error)


async def test_a_host_that_does_not_exist_is_named():
    error = await refusal(settings_of(database_url="postgresql://u:hunter2@nowhere.invalid/d"))
    assert (error.code, "nowhere.invalid" in str(error), "hunter2" in str(error)) == ("connection", True, False)


async def test_a_database_or_a_user_that_does_not_exist_is_named(database: TestDatabase):
    error = await refusal(settings_of(database_url=database.server.url("nowhere")))
    assert (error.code, "nowhere" in str(error)) == ("wrong-url", True)
    error = await refusal(settings_of(database_url=database.url_of("nobody_here")))
    assert (error.code, "nobody_here" in str(error)) == ("connection", True)


async def test_a_parameter_that_neither_the_driver_nor_the_server_knows_is_named(database_url: str):
    error = await refusal(settings_of(database_url=f"{database_url}&pgbouncer=true"))
    assert (error.code, "pgbouncer" in str(error)) == ("wrong-url", True)


async def test_a_missing_extension_comes_with_the_line_for_an_administrator(database: TestDatabase):
    await database.server.execute("drop extension vector", database.name)
    error = await refusal(settings_of(database_url=database.url), provision=True)
    assert error.code == "missing-extension"
    assert "create extension" in error.remediation.lower()


async def test_a_role_that_may_not_make_tables_is_told(database: TestDatabase):
    await database.server.execute("do $$ begin create role guest login; exception when others then null; end $$")
    error = await refusal(settings_of(database_url=database.url_of("guest")), provision=True)
    assert error.code == "missing-privilege"
    assert not await _tables(database)


async def _tables(database: TestDatabase) -> int:
    connection = await asyncpg.connect(database.admin_url)
    try:
        return await connection.fetchval("select count(*) from pg_tables where schemaname = 'public'")
    finally:
        await connection.close()


async def test_a_supabase_project_is_opened_when_it_is_provisioned(
    stand_in: RestStandIn, supabase_owner: PostgresTransport
):
    key = token("service_role")
    settings = settings_of(supabase_url=stand_in.url, supabase_service_role_key=key)
    error = await refusal(settings)
    assert error.code == "not-provisioned"
    assert key not in str(error)
    await migrations.apply(supabase_owner)
    async with open_database(settings) as database:
        assert (database.kind, database.address) == ("supabase", stand_in.url)
        assert (await database.transport.call("storage_status"))["sessions"] == 0


async def test_a_supabase_project_without_its_key_is_a_wrong_setting():
    with pytest.raises(SettingsError, match="SUPABASE_SERVICE_ROLE_KEY"):
        async with open_database(settings_of(supabase_url="https://x.example")):
            pass


@pytest.fixture
def own_home(tmp_path: Path) -> Iterator[Settings]:
    """Settings of an embedded database that is gone after the test."""
    from tests.storage.embedding import forget

    settings = settings_of(syndicate_home=tmp_path / "home")
    yield settings
    forget(settings)


async def test_the_embedded_database_has_its_schema_by_itself(own_home: Settings):
    async with open_database(own_home) as database:
        assert database.kind == "embedded"
        assert (await migrations.state(database.transport)).current
    async with open_database(own_home) as database:
        assert (await database.transport.call("storage_status"))["sessions"] == 0


async def test_two_that_open_a_new_embedded_database_at_once_both_succeed(own_home: Settings):
    async def used() -> int:
        async with open_database(own_home) as database:
            return (await database.transport.call("storage_status"))["version"]

    assert await asyncio.gather(used(), used()) == [migrations.expected_version()] * 2


@pytest.mark.parametrize("function", ["storage_status", "create_session"])
async def test_connections_outlive_a_restart_of_the_server(own_home: Settings, function: str):
    arguments: dict[str, Any] = {}
    if function == "create_session":  # which is sent once only, since a second answer would differ
        texts = {"p_app_name": "a", "p_user_id": "u", "p_id": "s"}
        arguments = {**texts, "p_state": {}, "p_app_state": {}, "p_user_state": {}, "p_ttl_days": 7}
    async with open_database(own_home):
        transport = await PostgresTransport.open(embedded.ensure(own_home))
        await asyncio.gather(*(transport.call("storage_status") for _ in range(5)))
        await asyncio.to_thread(embedded.stop, own_home)
        await asyncio.to_thread(embedded.ensure, own_home)
        assert await transport.call(function, **arguments)
        await transport.aclose()


@pytest.mark.parametrize("how", ["stopped", "killed"])
async def test_an_embedded_server_that_ends_under_an_open_database_is_started_again(own_home: Settings, how: str):
    async with open_database(own_home) as database:
        await database.transport.call("storage_status")
        if how == "stopped":
            await asyncio.to_thread(embedded.stop, own_home)
        else:
            os.kill(embedded.status(own_home).pid or 0, signal.SIGKILL)
        assert (await database.transport.call("storage_status"))["sessions"] == 0
