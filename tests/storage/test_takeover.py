"""A database made by the predecessor's own SQL becomes ours, and goes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from syndicate.errors import StorageError
from syndicate.storage import migrations
from syndicate.storage.postgres import PostgresTransport
from tests.storage import predecessor
from tests.storage.conftest import TestDatabase
from tests.storage.predecessor import START, add_session, event

ROLL_BACK = Path(__file__).parents[2] / "db" / "roll_back_takeover.sql"
KEY = {"p_app_name": "tutor", "p_user_id": "ana"}
EVERYTHING = (
    "select id, app_name, user_id, state, events, last_update_time, expire_at, created_at from public.adk_sessions"
)


async def load(transport: PostgresTransport, id: str, **key: str) -> dict[str, Any]:
    return await transport.call("load_session", **{**KEY, **key}, p_id=id, p_recent=None, p_after=None)


def in_seconds(old: dict[str, Any]) -> dict[str, Any]:
    return {**old, "timestamp": old["timestamp"] / 1000}


@pytest.mark.parametrize("major", [18, 16])
@pytest.mark.parametrize("flavour", ["plain", "supabase"])
async def test_a_thousand_sessions_keep_events_order_and_state(transport: PostgresTransport, database_url: str):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    before = {f"s{n}": [event(i) for i in range(n % 12)] for n in range(1000)}
    rows = [
        (f"tutor:user{n % 7}:s{n}", f"user{n % 7}", json.dumps({"count": n}), json.dumps(before[f"s{n}"]), START + n)
        for n in range(1000)
    ]
    await connection.executemany(
        "insert into public.adk_sessions (id, app_name, user_id, state, events, last_update_time)"
        " values ($1, 'tutor', $2, $3, $4, $5)",
        rows,
    )
    await connection.close()
    await migrations.apply(transport)
    listed = await transport.call("list_sessions", p_app_name="tutor", p_user_id=None, p_limit=None, p_before=None)
    assert [each["id"] for each in listed["sessions"]] == [f"s{n}" for n in range(1000)]
    for n in range(1000):
        session = await load(transport, f"s{n}", p_user_id=f"user{n % 7}")
        assert session["events"] == [in_seconds(each) for each in before[f"s{n}"]]
        assert session["state"] == {"count": n}
        assert session["last_update_time"] == (START + n) / 1000


async def test_a_session_that_was_taken_over_goes_on(transport: PostgresTransport, database_url: str):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    await add_session(connection, "tutor:ana:s", events=[event(0), event(1)])
    await connection.close()
    await migrations.apply(transport)
    more = {"p_author": "user", "p_invocation_id": "turn-9", "p_state": {"x": 1}, "p_app_state": {}, "p_user_state": {}}
    added = await transport.call(
        "append_session_event", **KEY, p_id="s", p_event={"id": "n"}, p_event_id="n", p_time=2e9, p_ttl_days=7, **more
    )
    assert added == {"seq": 3, "duplicate": False}
    again = await transport.call(
        "append_session_event",
        **KEY,
        p_id="s",
        p_event=event(1),
        p_event_id="event-1",
        p_time=2e9,
        p_ttl_days=7,
        **more,
    )
    assert again == {"seq": 2, "duplicate": True}


async def test_only_the_prefix_of_the_sessions_own_app_and_user_goes(transport: PostgresTransport, database_url: str):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    for id in ("tutor:ana:a", "tutor:bob:b", "plain", "tutor:ana:plain", "tutor:ana:", "tutor:ana:x:y"):
        await add_session(connection, id, events=[])
    await add_session(connection, "tutor:bob:a", user="bob", events=[])
    await connection.close()
    await migrations.apply(transport)
    listed = await transport.call("list_sessions", p_app_name=None, p_user_id=None, p_limit=None, p_before=None)
    assert sorted((each["user_id"], each["id"]) for each in listed["sessions"]) == [
        ("ana", "a"),
        ("ana", "plain"),
        ("ana", "tutor:ana:"),
        ("ana", "tutor:ana:plain"),  # the short id is another session's
        ("ana", "tutor:bob:b"),
        ("ana", "x:y"),
        ("bob", "a"),
    ]


async def test_shared_state_is_shared_and_the_newest_value_holds(transport: PostgresTransport, database_url: str):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    new = {"mine": 2, "app:theme": "dark", "user:name": "Ana", "temp:x": 1}
    await add_session(connection, "b", events=[], state=new, updated=START + 5)
    await add_session(connection, "a", events=[], state={"mine": 1, "app:theme": "light", "user:age": 7})
    await connection.close()
    await migrations.apply(transport)
    session = await load(transport, "a")
    assert session["state"] == {"mine": 1}
    assert session["app_state"] == {"theme": "dark"}
    assert session["user_state"] == {"name": "Ana", "age": 7}
    assert (await load(transport, "b"))["state"] == {"mine": 2}


async def test_odd_rows_are_kept_as_they_can_be(transport: PostgresTransport, database_url: str):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    twice, nameless = event(1), {"author": "user", "timestamp": 1712345678.5}
    await add_session(connection, "twice", events=[twice, nameless, twice])
    await add_session(connection, "nothing", events=None, state=None, updated=None)
    await connection.execute("insert into public.adk_sessions values ('null', 'tutor', 'ana', null, null)")
    await connection.close()
    await migrations.apply(transport)
    assert (await load(transport, "twice"))["events"] == [in_seconds(twice), nameless, in_seconds(twice)]
    for id in ("nothing", "null"):
        session = await load(transport, id)
        assert (session["events"], session["state"]) == ([], {})
        assert session["last_update_time"] > 1e9


@pytest.mark.parametrize("events", ["text", {"a": 1}, [1], [event(0), None]])
async def test_events_that_are_none_stop_it_with_the_sessions_id(
    transport: PostgresTransport, database_url: str, events: Any
):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    await add_session(connection, "good", events=[event(0)])
    await add_session(connection, "tutor:ana:broken", events=events)
    before = await connection.fetch(EVERYTHING)
    with pytest.raises(StorageError, match="events of session tutor:ana:broken") as caught:
        await migrations.apply(transport)
    assert "Correct or delete this row" in caught.value.remediation
    assert await connection.fetch(EVERYTHING) == before
    await connection.close()


async def test_rows_behind_forced_row_level_security_are_seen(transport: PostgresTransport, database_url: str):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    await add_session(connection, "s", events=[event(0)])
    await connection.execute(
        "alter table public.adk_sessions enable row level security, force row level security;"
        "create policy theirs on public.adk_sessions for select using (user_id = current_user)"
    )
    await connection.close()
    await migrations.apply(transport)
    assert len((await load(transport, "s"))["events"]) == 1
    assert (await transport.call("verify_storage"))["findings"] == []


@pytest.mark.parametrize("major", [18, 16])
@pytest.mark.parametrize("flavour", ["plain", "supabase"])
async def test_facts_gain_their_columns_and_lose_their_approximate_index(
    transport: PostgresTransport, database_url: str
):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    vectors = [[1.0] + [0.0] * 767, [0.0, 1.0] + [0.0] * 766]
    for vector in vectors:
        await connection.execute(
            "insert into public.adk_memory_facts (user_key, fact, embedding)"
            " values ('tutor:ana', 'f', $1::text::vector)",
            json.dumps(vector),
        )
    await connection.execute("insert into public.adk_memory_facts (user_key, fact) values ('tutor:ana', 'bare')")
    await connection.execute("create index theirs on public.adk_memory_facts using hnsw (embedding vector_l2_ops)")
    await migrations.apply(transport)
    rows = await connection.fetch(
        "select embedding_half::vector = embedding as same, embedding_model from public.adk_memory_facts"
        " where embedding is not null"
    )
    assert [tuple(row) for row in rows] == [(True, "gemini-embedding-001")] * 2
    kinds = await connection.fetch(
        "select a.amname from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam"
        " where i.indrelid = 'public.adk_memory_facts'::regclass"
    )
    assert sorted(kind["amname"] for kind in kinds) == ["btree", "btree", "gin"]
    found = await connection.fetch(
        "select fact, similarity from public.match_memory_facts($1::text::vector, 'tutor:ana', 1)",
        json.dumps(vectors[1]),
    )
    assert [tuple(row) for row in found] == [("f", 1.0)]
    await connection.close()


@pytest.mark.parametrize("flavour", ["plain", "supabase"])
async def test_match_memory_facts_refuses_a_null_key(transport: PostgresTransport):
    await migrations.apply(transport)
    with pytest.raises(StorageError, match="filter_user_key is required"):
        await transport.fetch("select * from public.match_memory_facts(null, null)")


async def test_old_user_keys_become_ours(transport: PostgresTransport, database_url: str):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    for key in ("tutor:ana", "tutor:ana", "tutor:bob", "tutor/bob", "other"):
        await connection.execute("insert into public.adk_memory_facts (user_key, fact) values ($1, 'f')", key)
    renamed = {"tutor:ana": "tutor/ana", "tutor:bob": "tutor/bob", "tutor/bob": "a/b/c", "nobody": "tutor/nobody"}
    done = await migrations.apply(transport, map=renamed)
    assert done.mapped == {"tutor:ana": 2, "tutor:bob": 1, "tutor/bob": 1, "nobody": 0}
    keys = await connection.fetch("select user_key from public.adk_memory_facts order by 1")
    assert [row["user_key"] for row in keys] == ["a/b/c", "other", "tutor/ana", "tutor/ana", "tutor/bob"]
    await connection.close()


async def test_the_printed_script_maps_keys_too(transport: PostgresTransport, database_url: str):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    await connection.execute("insert into public.adk_memory_facts (user_key, fact) values ($1, 'f')", "it's")
    await transport.execute(migrations.script(map={"it's": "tutor/o'neill"}))
    assert await connection.fetchval("select user_key from public.adk_memory_facts") == "tutor/o'neill"
    await connection.close()


@pytest.mark.parametrize("major", [18, 16])
async def test_rolling_back_gives_the_predecessor_what_it_had(transport: PostgresTransport, database_url: str):
    await predecessor.make(database_url)
    connection = await predecessor.connect(database_url)
    await add_session(connection, "tutor:ana:s", events=[event(0), event(1)], state={"a": 1})
    await add_session(connection, "free", events=[], state={"b": None})
    before = await connection.fetch(EVERYTHING + " order by id")
    await migrations.apply(transport)
    await transport.execute(ROLL_BACK.read_text())
    after = await connection.fetch(EVERYTHING + " order by id")
    decoded = [
        [{**row, **{key: json.loads(row[key]) for key in ("state", "events")}} for row in rows]
        for rows in (before, after)
    ]
    assert decoded[0] == decoded[1]
    assert not (await migrations.state(transport)).provisioned
    await migrations.apply(transport)
    assert (await load(transport, "s"))["events"] == [in_seconds(event(0)), in_seconds(event(1))]
    await connection.close()


async def test_rolling_back_takes_later_events_and_sessions_along(transport: PostgresTransport, database: TestDatabase):
    await predecessor.make(database.url)
    connection = await predecessor.connect(database.url)
    await add_session(connection, "tutor:ana:s", events=[event(0)], state={"a": 1})
    await migrations.apply(transport)
    made = {"p_state": {"x": 1}, "p_app_state": {}, "p_user_state": {"name": "Ana"}, "p_ttl_days": 7}
    await transport.call("create_session", **KEY, p_id="new", **made)
    await transport.call(
        "append_session_event",
        **KEY,
        p_id="s",
        p_event={"id": "later", "timestamp": 1800000000.25},
        p_event_id="later",
        p_author="user",
        p_invocation_id="i",
        p_time=1800000000.25,
        **made,
    )
    await transport.execute(ROLL_BACK.read_text())
    rows = {row["id"]: row for row in await connection.fetch(EVERYTHING)}
    assert set(rows) == {"tutor:ana:s", "tutor:ana:new"}
    assert json.loads(rows["tutor:ana:s"]["events"]) == [event(0), {"id": "later", "timestamp": 1800000000250}]
    assert json.loads(rows["tutor:ana:s"]["state"]) == {"a": 1, "x": 1, "user:name": "Ana"}
    await connection.close()
