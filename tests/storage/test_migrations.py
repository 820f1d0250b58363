"""The schema's way from nothing to the version this program works with."""

from __future__ import annotations

import asyncio
import re

import asyncpg
import pytest

from syndicate.errors import StorageError
from syndicate.storage import migrations
from syndicate.storage.postgres import PostgresTransport
from tests.storage.conftest import TestDatabase

CATALOGUE = """
select 'column', table_name::text, column_name::text, data_type::text from information_schema.columns
  where table_schema = 'public' and table_name like 'adk%'
union all select 'function', oid::regprocedure::text, prosrc, concat(proconfig, proacl)
  from pg_proc where pronamespace = 'public'::regnamespace
union all select 'index', indexname::text, indexdef, '' from pg_indexes where schemaname = 'public'
union all select 'policy', tablename::text, policyname::text, roles::text from pg_policies
union all select 'table', relname::text, relacl::text, concat(relrowsecurity, relforcerowsecurity) from pg_class
  where relnamespace = 'public'::regnamespace and relname like 'adk%'
union all select 'applied', name, version::text, applied_at::text from public.adk_schema_migrations
order by 1, 2, 3
"""


def test_versions_count_from_one_without_a_gap():
    assert [each.version for each in migrations.migrations()] == list(range(1, migrations.expected_version() + 1))


def test_no_file_holds_what_it_is_wrapped_in():
    for migration in migrations.migrations():
        assert "$migration$" not in migration.sql
        assert "$syndicate$" not in migration.sql


@pytest.mark.parametrize("major", [18, 16])
@pytest.mark.parametrize("flavour", ["plain", "supabase"])
async def test_an_empty_database_gets_the_whole_schema(transport: PostgresTransport):
    before = await migrations.state(transport)
    assert (before.version, before.provisioned, before.occupied) == (0, False, False)
    done = await migrations.apply(transport)
    assert done.migrations == migrations.migrations()
    after = await migrations.state(transport)
    assert after.current
    assert after.occupied
    assert await migrations.pending(transport) == ()


@pytest.mark.parametrize("major", [18, 16])
async def test_applying_again_changes_nothing(transport: PostgresTransport):
    await migrations.apply(transport)
    before = await transport.fetch(CATALOGUE)
    done = await migrations.apply(transport)
    assert done.migrations == ()
    assert await transport.fetch(CATALOGUE) == before


@pytest.mark.parametrize("flavour", ["plain", "supabase"])
async def test_each_file_may_run_again_in_one_transaction(transport: PostgresTransport, database_url: str):
    await migrations.apply(transport)
    before = await transport.fetch(CATALOGUE)
    connection = await asyncpg.connect(database_url)
    for migration in migrations.migrations():
        async with connection.transaction():
            await connection.execute(migration.sql)
    await connection.close()
    await migrations.apply(transport)
    assert await transport.fetch(CATALOGUE) == before


async def test_those_who_apply_at_once_do_it_once(database_url: str):
    transports = [await PostgresTransport.open(database_url, connections=2) for _ in range(4)]
    await asyncio.gather(*(migrations.apply(each) for each in transports))
    applied = await transports[0].fetch("select version from public.adk_schema_migrations order by version")
    assert [row["version"] for row in applied] == [each.version for each in migrations.migrations()]
    assert (await migrations.state(transports[0])).current
    for each in transports:
        await each.aclose()


async def test_the_slower_of_two_does_not_undo_a_later_version(transport: PostgresTransport):
    await migrations.apply(transport)
    await transport.execute(
        "create or replace function public.schema_version() returns jsonb language sql as"
        " $$ select jsonb_build_object('version', 99) from public.adk_schema_migrations limit 1 $$"
    )
    await transport.execute(migrations.script(0))
    assert (await migrations.state(transport)).version == 99


async def test_nobody_sees_a_schema_in_between(transport: PostgresTransport, database_url: str):
    looking = await PostgresTransport.open(database_url, connections=1)
    applying = asyncio.create_task(migrations.apply(transport))
    seen = set[int]()
    while not applying.done():
        seen.add((await migrations.state(looking)).version)
    await applying
    await looking.aclose()
    assert seen <= {0, migrations.expected_version()}


async def test_a_step_that_fails_leaves_nothing_half_done(transport: PostgresTransport, database: TestDatabase):
    await database.server.execute(
        "create function public.storage_status() returns int language sql as 'select 1';"
        "alter function public.storage_status owner to owner",
        database.name,
    )
    with pytest.raises(StorageError, match="cannot change return type"):
        await migrations.apply(transport)
    after = await migrations.state(transport)
    assert (after.provisioned, after.occupied) == (False, False)
    assert await transport.fetch("select 1 from pg_proc where proname = 'create_session'") == []


async def test_the_printed_script_is_the_whole_schema(transport: PostgresTransport):
    script = migrations.script()
    await transport.execute(script)
    assert (await migrations.state(transport)).current
    assert script.rstrip().endswith("NOTIFY pgrst, 'reload schema';")


async def test_the_printed_script_of_a_version_holds_what_is_pending(transport: PostgresTransport):
    script = migrations.script(2)
    assert re.findall(r"^-- (\d{4}) ", script, re.MULTILINE) == [
        f"{each.version:04}" for each in migrations.migrations() if each.version > 2
    ]


async def test_a_newer_schema_is_left_alone(transport: PostgresTransport):
    await migrations.apply(transport)
    await transport.execute("insert into public.adk_schema_migrations (version, name) values (999, 'of tomorrow')")
    with pytest.raises(StorageError, match="version 999") as caught:
        await migrations.apply(transport)
    assert caught.value.code == "schema-too-new"


async def test_what_must_be_done_is_named():
    for version, code in ((0, "not-provisioned"), (1, "schema-too-old"), (99, "schema-too-new")):
        with pytest.raises(StorageError) as caught:
            migrations.SchemaState(version, 4, occupied=True).require_current()
        assert caught.value.code == code
        assert caught.value.remediation
    migrations.SchemaState(4, 4, occupied=True).require_current()


async def test_a_role_that_may_make_no_tables_is_told_the_line(database: TestDatabase):
    await database.server.execute(
        "do $$ begin create role guest login; exception when duplicate_object or unique_violation then null; end $$"
    )
    transport = await PostgresTransport.open(database.url_of("guest"))
    with pytest.raises(StorageError) as caught:
        await migrations.apply(transport)
    await transport.aclose()
    assert caught.value.code == "missing-privilege"
    assert "GRANT USAGE, CREATE ON SCHEMA public TO guest;" in caught.value.remediation


async def test_tables_of_another_role_are_named_with_the_line(transport: PostgresTransport, database: TestDatabase):
    await database.server.execute("create table public.adk_sessions (id text)", database.name)
    with pytest.raises(StorageError, match="adk_sessions belongs to role postgres") as caught:
        await migrations.apply(transport)
    assert "ALTER TABLE public.adk_sessions OWNER TO owner;" in caught.value.remediation


async def test_a_missing_extension_is_named_with_the_line(transport: PostgresTransport, database: TestDatabase):
    await database.server.execute("drop extension vector", database.name)
    with pytest.raises(StorageError, match="no extension vector") as caught:
        await migrations.apply(transport)
    assert caught.value.code == "missing-extension"
    assert "CREATE EXTENSION vector;" in caught.value.remediation


@pytest.mark.parametrize("new", ["", "ana", "/ana", "tutor/"])
async def test_a_user_key_without_namespace_and_user_is_refused(new: str):
    with pytest.raises(StorageError, match="cannot become the user key") as caught:
        migrations.script(map={"tutor:ana": new})
    assert caught.value.code == "bad-value"
