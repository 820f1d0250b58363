"""The role that reads the rows of one user, tried on a real server as that role."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from syndicate.errors import StorageError
from syndicate.settings import Settings
from syndicate.storage import migrations
from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.verify import verify
from tests.storage.conftest import TestDatabase

ROOT = Path(__file__).parents[2]
KINDS = pytest.mark.parametrize(("major", "flavour"), [(18, "plain"), (18, "supabase"), (16, "plain")])
READABLE = ("adk_memory_facts", "adk_sessions", "adk_session_events")
OURS = """
select relname as name, relkind = 'S' as sequence from pg_class
where relnamespace = 'public'::regnamespace and relkind in ('r', 'S') and relname like 'adk%'
"""
FUNCTIONS = """
select p.proname || '(' || coalesce((select string_agg('null::' || format_type(type, null), ', ')
                                     from unnest(p.proargtypes::oid[]) type), '') || ')' as called
from pg_proc p where p.pronamespace = 'public'::regnamespace
  and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
"""
# Whose rows are whose is in the slashes, too: user `b/ana` of `Tutor` is not user `ana` of `Tutor/b`.
PEOPLE = (("Tutor", "ana"), ("Tutor", "bob"), ("Pair", "ana"), ("Tutor", "b/ana"), ("Tutor/b", "ana"), ("Tutor", ""))

# What is done to the tier, and what must be found then.
MUTATIONS = {
    "its condition always holds": (
        "alter policy adk_user on public.adk_sessions using (true)",
        ("public.adk_sessions", "its policies are others than the one for its owner"),
    ),
    "its condition is another": (
        "alter policy adk_user on public.adk_memory_facts"
        " using (user_key like current_setting('app.user_key', true) || '%')",
        ("public.adk_memory_facts", "its policies are others than the one for its owner"),
    ),
    "its condition calls a function of somebody's": (
        "create function public.nullif_(text, text) returns text language sql as 'select $1';"
        "alter policy adk_user on public.adk_memory_facts"
        " using (user_key = public.nullif_(current_setting('app.user_key', true), ''))",
        ("public.adk_memory_facts", "its policies are others than the one for its owner"),
    ),
    "its policy is everybody's": (
        "alter policy adk_user on public.adk_session_events to public",
        ("public.adk_session_events", "its policies are others than the one for its owner"),
    ),
    "its policy is for another, too": (
        "alter policy adk_user on public.adk_sessions to {role}, owner",
        ("public.adk_sessions", "its policies are others than the one for its owner"),
    ),
    "a second policy for it": (
        "create policy more on public.adk_sessions for select to {role} using (true)",
        ("public.adk_sessions", "its policies are others than the one for its owner"),
    ),
    "its policy is for writing, too": (
        "drop policy adk_user on public.adk_memory_facts; create policy adk_user on public.adk_memory_facts to {role}"
        " using (user_key = nullif(current_setting('app.user_key', true), ''))",
        ("public.adk_memory_facts", "its policies are others than the one for its owner"),
    ),
    "the record names another": (
        "update public.adk_user_tier set role = 'somebody'",
        ("public.adk_sessions", "its policies are others than the one for its owner"),
    ),
    "row-level security not forced": (
        "alter table public.adk_sessions no force row level security",
        ("public.adk_sessions", "row-level security is not enabled and forced"),
    ),
    "it may delete": (
        "grant delete on public.adk_sessions to {role}",
        ("public.adk_sessions", "{role} may do more than read it"),
    ),
    "it may change a column": (
        "grant update (fact) on public.adk_memory_facts to {role}",
        ("public.adk_memory_facts", "{role} may do more than read it"),
    ),
    "it may let others read": (
        "grant select on public.adk_memory_facts to {role} with grant option",
        ("public.adk_memory_facts", "{role} may do more than read it"),
    ),
    "it may read another table": (
        "grant select on public.adk_user_states to {role}",
        ("public.adk_user_states", "{role} has a privilege on it"),
    ),
    "it may use a sequence": (
        "grant usage on sequence public.adk_telemetry_id_seq to {role}",
        ("public.adk_telemetry_id_seq", "{role} has a privilege on it"),
    ),
    "it may execute a function": (
        "grant execute on function public.purge(text, text) to {role}",
        ("public.purge(text,text)", "{role} may execute it"),
    ),
    "it gets the tables of later": (
        "alter default privileges in schema public grant select on tables to {role}",
        ("tables that owner will make", "{role} gets privileges on them"),
    ),
}


@pytest.fixture
async def role(database: TestDatabase) -> AsyncIterator[str]:
    """The name of a role that does not exist yet; roles are the server's, so it goes after the test."""
    name = f"Reader-{uuid.uuid4().hex[:12]}"
    yield name
    await database.server.drop_database(database.name)
    await database.server.execute(f'drop role if exists "{name}"')


@pytest.fixture
async def owner(transport: PostgresTransport, role: str) -> PostgresTransport:
    """The owner's connections to a database with the tier and the rows of several people."""
    await migrations.apply(transport, user_role=role)
    for number, (app, user) in enumerate(PEOPLE):
        key = {"p_app_name": app, "p_user_id": user, "p_id": f"s{number}"}
        shared = {"p_state": {}, "p_app_state": {}, "p_user_state": {}, "p_ttl_days": 7}
        await transport.call("create_session", **key, **shared)
        await transport.fetch(
            "insert into public.adk_session_events (session_key, seq, event, time)"
            " select key, 1, '{}', 0 from public.adk_sessions where id = $1",
            f"s{number}",
        )
        await transport.fetch(
            "insert into public.adk_memory_facts (user_key, fact) values ($1, $2)", f"{app}/{user}", f"of s{number}"
        )
    await transport.execute("insert into public.adk_memory_facts (user_key, fact) values ('', 'nobody''s')")
    return transport


@pytest.fixture
async def reader(owner: PostgresTransport, database: TestDatabase, role: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection as the role."""
    await database.server.execute(f'alter role "{role}" login')
    connection = await asyncpg.connect(database.url_of(role))
    yield connection
    await connection.close()


async def seen(reader: asyncpg.Connection, key: str | None) -> list[list[str]]:
    """The facts, the sessions and the sessions of the events that the role sees with this key."""
    if key is None:
        await reader.execute("reset app.user_key")
    else:
        await reader.execute("select set_config('app.user_key', $1, false)", key)
    facts = await reader.fetch("select fact from public.adk_memory_facts order by 1")
    sessions = await reader.fetch("select id from public.adk_sessions order by 1")
    keys = await reader.fetch("select session_key from public.adk_session_events")
    assert len(keys) == len(sessions)
    return [[row[0] for row in facts], [row[0] for row in sessions]]


async def refused(connection: asyncpg.Connection, sql: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute(sql)


@KINDS
async def test_it_sees_the_rows_of_its_user_and_of_nobody_else(reader: asyncpg.Connection):
    assert await seen(reader, "Tutor/ana") == [["of s0"], ["s0"]]
    assert await seen(reader, "Tutor/bob") == [["of s1"], ["s1"]]
    assert await seen(reader, "Pair/ana") == [["of s2"], ["s2"]]
    assert await seen(reader, "Tutor/nobody") == [[], []]
    assert (await seen(reader, "Tutor/b/ana"))[1] == ["s4"]
    events = "select s.id from public.adk_session_events e join public.adk_sessions s on s.key = e.session_key"
    assert [row["id"] for row in await reader.fetch(events)] == ["s4"]


@KINDS
@pytest.mark.parametrize("key", [None, "", "/", "ana", "/ana", "%", "Tutor"])
async def test_without_a_whole_key_it_sees_nothing(reader: asyncpg.Connection, key: str | None):
    assert await seen(reader, key) == [[], []]


@KINDS
async def test_it_may_do_nothing_else(reader: asyncpg.Connection, owner: PostgresTransport):
    await reader.execute("select set_config('app.user_key', 'Tutor/ana', false)")
    for each in await owner.fetch(OURS):
        name = each["name"]
        if each["sequence"]:
            await refused(reader, f"select nextval('public.{name}')")
            continue
        if name not in READABLE:
            await refused(reader, f"select * from public.{name}")
        await refused(reader, f"insert into public.{name} default values")
        await refused(reader, f"delete from public.{name}")
        await refused(reader, f"truncate public.{name}")
    await refused(reader, "update public.adk_sessions set id = 'x'")
    await refused(reader, "select 1 from public.adk_sessions for update")
    functions = await owner.fetch(FUNCTIONS)
    assert len(functions) > 15
    for function in functions:
        await refused(reader, f"select public.{function['called']}")


@KINDS
async def test_the_tier_is_found_hardened_and_stays_when_applied_again(
    owner: PostgresTransport, reader: asyncpg.Connection, role: str, settings: Settings
):
    assert (await verify(owner, settings)).findings == ()
    for again in (None, role):
        await migrations.apply(owner, user_role=again)
        assert (await verify(owner, settings)).findings == ()
        assert await seen(reader, "Tutor/ana") == [["of s0"], ["s0"]]


@pytest.mark.parametrize("major", [18, 16])
@pytest.mark.parametrize("what", MUTATIONS)
async def test_a_looser_tier_is_found_and_closed(owner: PostgresTransport, settings: Settings, role: str, what: str):
    change, (place, problem) = MUTATIONS[what]
    await owner.execute(change.format(role=f'"{role}"'))
    found = await verify(owner, settings)
    assert (place, problem.format(role=role)) in [(finding.object, finding.problem) for finding in found.findings]
    for finding in found.findings:
        await owner.execute(finding.remedy)
    assert (await verify(owner, settings)).findings == ()
    await migrations.apply(owner, user_role=role)
    assert (await verify(owner, settings)).findings == ()


@pytest.mark.parametrize("table", ["adk_sessions", "adk_telemetry"])
async def test_a_privilege_that_only_newer_servers_have_is_found(
    owner: PostgresTransport, settings: Settings, role: str, table: str
):
    await owner.execute(f'grant maintain on public.{table} to "{role}"')
    (finding,) = (await verify(owner, settings)).findings
    assert finding.object == f"public.{table}"
    await owner.execute(finding.remedy)
    assert (await verify(owner, settings)).findings == ()


async def test_applying_closes_what_was_loosened(owner: PostgresTransport, reader: asyncpg.Connection, role: str):
    await owner.execute(
        f'alter policy adk_user on public.adk_sessions using (true); grant all on public.adk_sessions to "{role}";'
        f'grant all on public.adk_user_states to "{role}"; grant execute on all functions in schema public to "{role}"'
    )
    await migrations.apply(owner)
    await refused(reader, "select * from public.adk_sessions")
    await refused(reader, "select * from public.adk_user_states")
    await refused(reader, "select public.storage_status()")
    await migrations.apply(owner, user_role=role)
    assert await seen(reader, "Tutor/ana") == [["of s0"], ["s0"]]
    await refused(reader, "delete from public.adk_sessions")


async def test_a_role_without_its_policies_loses_what_it_may_read(
    owner: PostgresTransport, reader: asyncpg.Connection, settings: Settings
):
    for table in READABLE:
        await owner.execute(f"drop policy adk_user on public.{table}")
    assert await seen(reader, "Tutor/ana") == [[], []]
    await migrations.apply(owner)
    for table in READABLE:
        await refused(reader, f"select * from public.{table}")
    assert (await verify(owner, settings)).findings == ()


async def test_a_role_that_no_policy_would_bind_any_more_is_found(
    owner: PostgresTransport, database: TestDatabase, role: str, settings: Settings
):
    await database.server.execute(f'alter role "{role}" bypassrls')
    found = (await verify(owner, settings)).findings
    assert [(each.object, each.problem) for each in found] == [(f"role {role}", "no policy binds it")]
    await database.server.execute(f'{found[0].remedy} create role "{role}+" bypassrls; grant "{role}+" to "{role}"')
    found = (await verify(owner, settings)).findings
    assert [(each.object, each.problem) for each in found] == [(f"role {role}", f"it may become {role}+")]
    await database.server.execute(f'{found[0].remedy} drop role "{role}+"')
    assert (await verify(owner, settings)).findings == ()


async def test_another_name_takes_the_place_of_the_last(
    owner: PostgresTransport, reader: asyncpg.Connection, database: TestDatabase, settings: Settings
):
    await database.server.execute(
        "do $$ begin create role second_reader login; exception when duplicate_object or unique_violation then null;"
        " end $$"
    )
    await owner.execute("grant all on all tables in schema public to second_reader")  # from before
    await migrations.apply(owner, user_role="second_reader")
    for table in READABLE:
        await refused(reader, f"select * from public.{table}")
    second = await asyncpg.connect(database.url_of("second_reader"))
    assert await seen(second, "Tutor/bob") == [["of s1"], ["s1"]]
    await refused(second, "delete from public.adk_sessions")
    await second.close()
    assert (await verify(owner, settings)).findings == ()


async def test_the_printed_script_makes_it_too(transport: PostgresTransport, role: str, settings: Settings):
    await transport.execute(migrations.script(user_role=role))
    assert (await verify(transport, settings)).findings == ()
    rows = await transport.fetch("select tablename from pg_policies where $1 = any(roles)", role)
    assert {row["tablename"] for row in rows} == set(READABLE)
    (made,) = await transport.fetch("select rolcanlogin from pg_roles where rolname = $1", role)
    assert not made["rolcanlogin"]


async def test_a_takeover_with_the_tier_can_be_rolled_back_and_made_again(
    owner: PostgresTransport, role: str, settings: Settings
):
    await owner.execute((ROOT / "db" / "roll_back_takeover.sql").read_text())
    await migrations.apply(owner, user_role=role)
    assert (await verify(owner, settings)).findings == ()


@pytest.mark.parametrize("flavour", ["supabase"])
@pytest.mark.parametrize("name", ["owner", "postgres", "anon", "service_role", "authenticator", "public"])
async def test_a_role_that_would_see_more_is_refused(transport: PostgresTransport, name: str):
    await migrations.apply(transport)
    with pytest.raises(StorageError) as caught:
        await migrations.apply(transport, user_role=name)
    assert caught.value.code == "bad-value"
    assert await transport.fetch("select 1 from public.adk_user_tier") == []


@pytest.mark.parametrize("name", ["", "a b", "x; drop table adk_sessions", "it's", '"quoted"', "pg_x", "a" * 64, "1a"])
def test_what_is_no_name_of_a_role_is_refused(name: str):
    with pytest.raises(StorageError, match="cannot be the name") as caught:
        migrations.script(user_role=name)
    assert caught.value.code == "bad-value"


async def test_who_may_make_no_roles_is_told_the_line(transport: PostgresTransport, database: TestDatabase, role: str):
    await database.server.execute(
        "do $$ begin create role lonely login; exception when duplicate_object or unique_violation then null; end $$;"
        "alter schema public owner to lonely",
        database.name,
    )
    lonely = await PostgresTransport.open(database.url_of("lonely"))
    with pytest.raises(StorageError) as caught:
        await migrations.apply(lonely, user_role=role)
    assert caught.value.code == "missing-privilege"
    assert f'CREATE ROLE "{role}" NOLOGIN;' in str(caught.value)
    assert not (await migrations.state(lonely)).provisioned
    await lonely.aclose()
