"""`verify` finds what is open, and says what it could not try."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from syndicate.errors import StorageError
from syndicate.settings import Settings
from syndicate.storage import migrations
from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.supabase import SupabaseTransport
from syndicate.storage.verify import verify
from tests.storage.conftest import TestDatabase
from tests.storage.rest_stand_in import RestStandIn, token

# What is done to a hardened database, and what must be found then; SUPABASE stands for a project's roles.
MUTATIONS = {
    "a table of later without a policy": (
        "create table public.adk_later (id int)",
        ("public.adk_later", "row-level security is not enabled and forced"),
    ),
    "a table of later with row-level security and no policy": (
        "create table public.a2a_later (id int); alter table public.a2a_later enable row level security,"
        " force row level security",
        ("public.a2a_later", "its policies are others than the one for its owner"),
    ),
    "row-level security not forced": (
        "alter table public.adk_sessions no force row level security",
        ("public.adk_sessions", "row-level security is not enabled and forced"),
    ),
    "row-level security off": (
        "alter table public.adk_telemetry disable row level security",
        ("public.adk_telemetry", "row-level security is not enabled and forced"),
    ),
    "a second policy": (
        "create policy theirs on public.adk_sessions for select using (true)",
        ("public.adk_sessions", "its policies are others than the one for its owner"),
    ),
    "everybody may read a table": (
        "grant select on public.adk_memory_facts to public",
        ("public.adk_memory_facts", "public has a privilege on it"),
    ),
    "everybody may read a column": (
        "grant select (fact) on public.adk_memory_facts to public",
        ("public.adk_memory_facts", "public has a privilege on it"),
    ),
    "everybody may empty a table": (
        "grant truncate on public.adk_session_events to public",
        ("public.adk_session_events", "public has a privilege on it"),
    ),
    "everybody may use a sequence": (
        "grant usage on sequence public.adk_telemetry_id_seq to public",
        ("public.adk_telemetry_id_seq", "public has a privilege on it"),
    ),
    "everybody may execute a function": (
        "grant execute on function public.prune_expired() to public",
        ("public.prune_expired()", "public may execute it"),
    ),
    "a function of later about a table of ours": (
        "create function public.all_facts() returns bigint language sql as"
        " 'select count(*) from public.adk_memory_facts';"
        "grant execute on function public.all_facts() to public",
        ("public.all_facts()", "public may execute it"),
    ),
    "a function that looks where its caller says": (
        "alter function public.prune_expired() reset search_path",
        ("public.prune_expired()", "its search_path is not pinned with pg_temp at the end"),
    ),
    "a function that looks into temporary tables first": (
        "alter function public.prune_expired() set search_path = public",
        ("public.prune_expired()", "its search_path is not pinned with pg_temp at the end"),
    ),
    "a view on a table": (
        "create view public.adk_open as select fact from public.adk_memory_facts;"
        "grant select on public.adk_open to public",
        ("public.adk_open", "public has a privilege on it"),
    ),
    "functions of later for everybody": (
        "alter default privileges grant execute on functions to public",
        ("functions that owner will make", "everybody may execute them"),
    ),
    "tables of later for everybody": (
        "alter default privileges in schema public grant select on tables to public",
        ("tables that owner will make", "public gets privileges on them"),
    ),
}
ON_SUPABASE = {
    "anon may read a table": (
        "grant select on public.adk_sessions to anon",
        ("public.adk_sessions", "anon has a privilege on it"),
    ),
    "anon was tried": (
        "grant select on public.adk_sessions to anon",
        ("table public.adk_sessions", "as anon this works: explain select from public.adk_sessions"),
    ),
    "authenticated may delete": (
        "grant delete on public.adk_sessions to authenticated",
        ("table public.adk_sessions", "as authenticated this works: explain delete from public.adk_sessions"),
    ),
    "authenticated may execute": (
        "grant execute on function public.storage_status() to authenticated",
        ("function public.storage_status()", "as authenticated this works: explain select public.storage_status()"),
    ),
    "tables of later for anon": (
        "alter default privileges in schema public grant all on tables to anon",
        ("tables that owner will make", "anon gets privileges on them"),
    ),
}


def over_rest(stand_in: RestStandIn, settings: Settings, anon_key: str | None) -> Settings:
    keys = {"supabase_url": stand_in.url, "supabase_anon_key": SecretStr(anon_key) if anon_key else None}
    return settings.model_copy(update=keys)


@pytest.mark.parametrize("major", [18, 16])
async def test_a_hardened_database_is_found_hardened(transport: PostgresTransport, settings: Settings):
    await migrations.apply(transport)
    found = await verify(transport, settings)
    assert found.hardened
    assert found.findings == ()
    assert [line.split(" does not exist")[0] for line in found.untried] == ["role anon", "role authenticated"]


@pytest.mark.parametrize("major", [18, 16])
@pytest.mark.parametrize("flavour", ["supabase"])
async def test_among_supabases_roles_everything_is_tried(transport: PostgresTransport, settings: Settings):
    await migrations.apply(transport)
    found = await verify(transport, settings)
    assert (found.findings, found.untried) == ((), ())
    tables = await transport.fetch("select 1 from pg_tables where schemaname = 'public'")
    assert found.refused["anon"] == found.refused["authenticated"] > 4 * len(tables)


@pytest.mark.parametrize("what", MUTATIONS)
async def test_what_is_open_is_found_with_the_line_that_closes_it(
    transport: PostgresTransport, settings: Settings, what: str
):
    await migrations.apply(transport)
    change, expected = MUTATIONS[what]
    await transport.execute(change)
    found = await verify(transport, settings)
    assert not found.hardened
    assert expected in [(finding.object, finding.problem) for finding in found.findings]
    for finding in found.findings:
        await transport.execute(finding.remedy)
    assert (await verify(transport, settings)).findings == ()


@pytest.mark.parametrize("what", ON_SUPABASE)
async def test_what_is_open_to_supabases_roles_is_found(supabase_database: TestDatabase, settings: Settings, what: str):
    transport = await PostgresTransport.open(supabase_database.url)
    await migrations.apply(transport)
    change, expected = ON_SUPABASE[what]
    await transport.execute(change)
    found = await verify(transport, settings)
    await transport.aclose()
    assert expected in [(finding.object, finding.problem) for finding in found.findings]


@pytest.mark.parametrize("flavour", ["supabase"])
async def test_trying_has_no_effect(transport: PostgresTransport, settings: Settings):
    await migrations.apply(transport)
    await transport.call(
        "create_session",
        p_app_name="a",
        p_user_id="u",
        p_id="s",
        p_state={},
        p_app_state={},
        p_user_state={},
        p_ttl_days=7,
    )
    await transport.execute(
        "grant all on all tables in schema public to anon; grant execute on all functions in schema public to anon"
    )
    assert not (await verify(transport, settings)).hardened
    counts = await transport.call("storage_status")
    assert (counts["sessions"], counts["spans"]) == (1, 0)
    assert (await transport.fetch("select current_user as name"))[0]["name"] == "owner"


async def test_a_role_that_may_not_be_assumed_is_said(supabase_database: TestDatabase, settings: Settings):
    await supabase_database.server.execute(
        "do $$ begin create role lonely login; exception when duplicate_object or unique_violation then null; end $$;"
        "alter schema public owner to lonely",
        supabase_database.name,
    )
    transport = await PostgresTransport.open(supabase_database.url_of("lonely"))
    await migrations.apply(transport)
    found = await verify(transport, settings)
    await transport.aclose()
    assert found.hardened
    assert [line.split(":")[0] for line in found.untried] == [
        "role anon may not be assumed by lonely",
        "role authenticated may not be assumed by lonely",
    ]
    assert found.refused == {}


async def test_an_old_schema_and_none_are_named(transport: PostgresTransport, settings: Settings):
    with pytest.raises(StorageError, match="not provisioned"):
        await verify(transport, settings)
    await migrations.apply(transport)
    await transport.execute("delete from public.adk_schema_migrations where version > 1")
    with pytest.raises(StorageError, match="version 1"):
        await verify(transport, settings)


async def test_over_rest_the_anon_key_is_tried_too(
    supabase_owner: PostgresTransport, supabase_transport: SupabaseTransport, stand_in: RestStandIn, settings: Settings
):
    await migrations.apply(supabase_owner)
    found = await verify(supabase_transport, over_rest(stand_in, settings, token("anon")))
    assert (found.findings, found.untried) == ((), ())
    assert found.refused["the anon key"] == 8
    assert found.refused["anon"] > 30
    assert "service_role bypasses row-level security" in found.notes[0]


async def test_over_rest_an_open_table_and_function_are_found(
    supabase_owner: PostgresTransport, supabase_transport: SupabaseTransport, stand_in: RestStandIn, settings: Settings
):
    await migrations.apply(supabase_owner)
    await supabase_owner.execute(
        "grant select on public.adk_memory_facts to anon; grant execute on function public.storage_status() to anon"
    )
    found = await verify(supabase_transport, over_rest(stand_in, settings, token("anon")))
    outside = {finding.object for finding in found.findings if finding.problem.startswith("anybody with the anon key")}
    assert outside == {"table adk_memory_facts", "function storage_status()"}


@pytest.mark.parametrize(
    ("key", "said"), [(None, "SUPABASE_ANON_KEY is not set"), ("wrong.key.here", "neither yes nor no")]
)
async def test_over_rest_what_could_not_be_tried_is_said(
    supabase_owner: PostgresTransport,
    supabase_transport: SupabaseTransport,
    stand_in: RestStandIn,
    settings: Settings,
    key: str | None,
    said: str,
):
    await migrations.apply(supabase_owner)
    found = await verify(supabase_transport, over_rest(stand_in, settings, key))
    assert found.hardened
    assert found.untried
    assert all(said in line for line in found.untried)
