"""Who gets at what is stored, tried on a real server as each role."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from syndicate.storage import migrations
from syndicate.storage.postgres import PostgresTransport
from tests.storage.conftest import TestDatabase

TABLES = "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')"
SEQUENCES = "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S'"
FUNCTIONS = """
select p.proname as name, p.oid::regprocedure::text as signature, p.prosecdef as definer, p.proconfig as config,
  (select string_agg('null::' || format_type(type, null), ', ') from unnest(p.proargtypes::oid[]) type) as nulls,
  pg_get_function_result(p.oid) as result, p.proargnames as names
from pg_proc p where p.pronamespace = 'public'::regnamespace
  and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
"""
ROLES = """
do $$ begin
  create role stranger login;
exception when duplicate_object or unique_violation then null;
end $$;
"""
INTERNAL = ("adk_", "match_memory_facts")


pytestmark = pytest.mark.parametrize(("major", "flavour"), [(18, "plain"), (18, "supabase"), (16, "supabase")])


@pytest.fixture
async def owner(transport: PostgresTransport) -> PostgresTransport:
    """The owning role's connections to the whole schema."""
    await migrations.apply(transport)
    return transport


@pytest.fixture
async def strangers(
    owner: PostgresTransport, database: TestDatabase, flavour: str
) -> AsyncIterator[list[asyncpg.Connection]]:
    """A connection as each role without rights: one that has only what PUBLIC has, and Supabase's two."""
    await database.server.execute(ROLES)
    connections = [await asyncpg.connect(database.url_of("stranger"))]
    if flavour == "supabase":
        for role in ("anon", "authenticated"):
            connections.append(await asyncpg.connect(database.url_of("authenticator")))
            await connections[-1].execute(f"set role {role}")
    yield connections
    for connection in connections:
        await connection.close()


async def names(owner: PostgresTransport, query: str) -> list[str]:
    found = [row["relname"] for row in await owner.fetch(query)]
    assert found
    return found


async def refused(connection: asyncpg.Connection, sql: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute(sql)


async def test_strangers_are_refused_every_table(owner: PostgresTransport, strangers: list[asyncpg.Connection]):
    for table in await names(owner, TABLES):
        for stranger in strangers:
            await refused(stranger, f"select * from public.{table}")
            await refused(stranger, f"insert into public.{table} default values")
            await refused(stranger, f"delete from public.{table}")
            await refused(stranger, f"truncate public.{table}")
            await refused(stranger, f"copy public.{table} to stdout")


async def test_strangers_are_refused_every_sequence(owner: PostgresTransport, strangers: list[asyncpg.Connection]):
    for sequence in await names(owner, SEQUENCES):
        for stranger in strangers:
            await refused(stranger, f"select nextval('public.{sequence}')")
            await refused(stranger, f"select * from public.{sequence}")


async def test_strangers_are_refused_every_function(owner: PostgresTransport, strangers: list[asyncpg.Connection]):
    functions = await owner.fetch(FUNCTIONS)
    assert len(functions) > 15
    for function in functions:
        for stranger in strangers:
            await refused(stranger, f"select public.{function['name']}({function['nulls'] or ''})")


async def test_the_owner_is_no_superuser_and_everything_works_for_it(owner: PostgresTransport):
    (row,) = await owner.fetch("select rolsuper or rolbypassrls as mighty from pg_roles where rolname = current_user")
    assert not row["mighty"]
    await owner.call(
        "create_session",
        p_app_name="a",
        p_user_id="u",
        p_id="s",
        p_state={},
        p_app_state={"x": 1},
        p_user_state={"y": 1},
        p_ttl_days=7,
    )
    assert (await owner.call("storage_status"))["sessions"] == 1
    assert (await owner.call("purge", p_app_name=None, p_user_id=None))["sessions"] == 1


async def test_the_owner_is_bound_by_its_one_policy(owner: PostgresTransport):
    for table in await names(owner, TABLES):
        policies = await owner.fetch("select policyname, roles, cmd from pg_policies where tablename = $1", table)
        assert [(row["policyname"], row["roles"], row["cmd"]) for row in policies] == [("adk_owner", ["owner"], "ALL")]
    await owner.execute("drop policy adk_owner on public.adk_schema_migrations")
    assert await owner.fetch("select * from public.adk_schema_migrations") == []


async def test_every_function_is_made_by_the_same_rules(owner: PostgresTransport):
    functions = await owner.fetch(FUNCTIONS)
    called = [each for each in functions if not each["name"].startswith(INTERNAL)]
    assert len({each["name"] for each in functions}) == len(functions)  # no overloads
    assert {each["result"] for each in called} == {"jsonb"}
    assert {each["name"] for each in called if not each["definer"]} == {"verify_storage"}  # it assumes roles
    for each in functions:
        assert each["config"][0].endswith("pg_temp")
    for each in called:
        assert all(name.startswith("p_") and name == name.lower() for name in each["names"] or [])


async def test_a_table_of_the_callers_session_hijacks_nothing(owner: PostgresTransport, database: TestDatabase):
    await database.server.execute(ROLES)
    await database.server.execute("grant execute on all functions in schema public to stranger", database.name)
    attacker = await asyncpg.connect(database.url_of("stranger"))
    await attacker.execute(
        "create temp table adk_sessions (like pg_catalog.pg_class);"
        "create temp table adk_schema_migrations (version int); insert into adk_schema_migrations values (666);"
        "create function pg_temp.now() returns timestamptz language plpgsql as"
        " $$ begin raise exception 'hijacked as %', current_user; end $$;"
        "set search_path = pg_temp, public"
    )
    assert (
        await attacker.fetchval("select (public.schema_version() ->> 'version')::int") == migrations.expected_version()
    )
    assert await attacker.fetchval("select public.prune_expired() ->> 'sessions'") == "0"
    await attacker.close()


async def test_the_server_role_may_execute_what_the_program_calls(
    owner: PostgresTransport, database: TestDatabase, flavour: str
):
    if flavour != "supabase":
        pytest.skip("there is no service_role")
    server = await asyncpg.connect(database.url_of("authenticator"))
    await server.execute("set role service_role")
    assert await server.fetchval("select public.storage_status() ->> 'sessions'") == "0"
    assert await server.fetchval("select public.verify_storage() ->> 'findings'") == "[]"
    assert await server.fetch("select * from public.match_memory_facts(null, 'tutor/ana')") == []
    await server.close()


async def test_what_the_owner_makes_later_starts_closed(owner: PostgresTransport, strangers: list[asyncpg.Connection]):
    await owner.execute(
        "create table public.later (id int generated always as identity);"
        "create function public.later_too() returns int language sql as 'select 1'"
    )
    for stranger in strangers:
        await refused(stranger, "select * from public.later")
        await refused(stranger, "select nextval('public.later_id_seq')")
        await refused(stranger, "select public.later_too()")


async def test_what_was_opened_is_closed_again(
    owner: PostgresTransport, strangers: list[asyncpg.Connection], flavour: str
):
    to = "public" + (", anon, authenticated" if flavour == "supabase" else "")
    await owner.execute(
        f"create table public.adk_agent_registry (name text); grant all on all tables in schema public to {to};"
        f"grant select (fact) on public.adk_memory_facts to {to};"
        f"grant execute on all functions in schema public to {to};"
        "create policy theirs on public.adk_sessions using (true);"
        "alter table public.adk_session_events disable row level security;"
        "alter function public.purge reset search_path"
    )
    assert (await owner.call("verify_storage"))["findings"] != []
    await migrations.apply(owner)
    assert (await owner.call("verify_storage"))["findings"] == []
    for stranger in strangers:
        await refused(stranger, "select * from public.adk_agent_registry")
        await refused(stranger, "select fact from public.adk_memory_facts")
        await refused(stranger, "select public.purge(null, null)")
