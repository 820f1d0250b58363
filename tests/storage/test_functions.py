"""What each SQL function promises, called as the program calls it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from syndicate.storage import migrations
from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.transport import DatabaseFailure
from tests.storage.servers import server

KEY = {"p_app_name": "tutor", "p_user_id": "ana"}
EVERY_SESSION: dict[str, Any] = {"p_app_name": None, "p_user_id": None, "p_limit": None, "p_before": None}


@pytest.fixture(scope="module", params=[18, 16])
def its_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """One database with the whole schema for all tests of a major."""
    its_server = server(request.param)
    name = asyncio.run(its_server.create_database())
    asyncio.run(_provision(its_server.url(name)))
    yield its_server.url(name)
    asyncio.run(its_server.drop_database(name))


async def _provision(url: str) -> None:
    transport = await PostgresTransport.open(url)
    await migrations.apply(transport)
    await transport.aclose()


@pytest.fixture
async def database(its_url: str) -> AsyncIterator[PostgresTransport]:
    """Connections to it; it is empty again afterwards."""
    transport = await PostgresTransport.open(its_url)
    yield transport
    await transport.call("purge", p_app_name=None, p_user_id=None)
    await transport.aclose()


async def create(db: PostgresTransport, id: str | None = "s", **more: Any) -> dict[str, Any]:
    given = {"p_state": {}, "p_app_state": {}, "p_user_state": {}, "p_ttl_days": 7, **KEY, **more}
    return await db.call("create_session", p_id=id, **given)


async def append(db: PostgresTransport, number: int, id: str = "s", **more: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "p_event": {"id": f"e{number}", "n": number},
        "p_event_id": f"e{number}",
        "p_author": "user",
        "p_invocation_id": f"i{number}",
        "p_time": 100.0 + number,
        "p_state": None,
        "p_app_state": None,
        "p_user_state": None,
        "p_ttl_days": 7,
        **KEY,
        **more,
    }
    return await db.call("append_session_event", p_id=id, **given)


async def load(
    db: PostgresTransport, id: str = "s", recent: int | None = None, after: float | None = None, **key: str
) -> dict[str, Any]:
    return await db.call("load_session", **{**KEY, **key}, p_id=id, p_recent=recent, p_after=after)


def numbers(session: dict[str, Any]) -> list[int]:
    return [event["n"] for event in session["events"]]


async def test_a_new_session_has_the_state_it_was_given(database: PostgresTransport):
    made = await create(database, p_state={"a": None}, p_app_state={"b": [1]}, p_user_state={"c": "é"})
    assert made.pop("last_update_time") > 1.7e9
    assert made == {"id": "s", "state": {"a": None}, "app_state": {"b": [1]}, "user_state": {"c": "é"}}
    loaded = await load(database)
    assert loaded["found"]
    assert loaded["events"] == []
    assert {key: loaded[key] for key in made} == made


async def test_a_session_without_an_id_gets_one(database: PostgresTransport):
    first, second = await create(database, None), await create(database, None)
    assert first["id"] != second["id"]
    assert (await load(database, first["id"]))["found"]


async def test_a_session_that_exists_is_refused_and_left_alone(database: PostgresTransport):
    await create(database, p_state={"a": 1}, p_user_state={"u": 1})
    with pytest.raises(DatabaseFailure, match="session s exists") as caught:
        await create(database, p_state={"a": 2}, p_user_state={"u": 2})
    assert caught.value.sqlstate == "AG001"
    session = await load(database)
    assert (session["state"], session["user_state"]) == ({"a": 1}, {"u": 1})


async def test_the_same_id_of_another_user_is_another_session(database: PostgresTransport):
    await create(database, p_state={"a": 1}, p_app_state={"shared": 1}, p_user_state={"u": 1})
    await create(database, p_user_id="bob")
    other = await load(database, p_user_id="bob")
    assert (other["state"], other["app_state"], other["user_state"]) == ({}, {"shared": 1}, {})
    assert not (await load(database, p_user_id="eve"))["found"]


async def test_ids_of_any_text_are_told_apart_and_too_long_ones_refused(database: PostgresTransport):
    for id in ("", " ", "a/b", "a:b", "é" * 400, "x" * 300, "'; drop table adk_sessions; --"):
        assert (await create(database, id))["id"] == id
    with pytest.raises(DatabaseFailure, match="at most 800 bytes") as caught:
        await create(database, "x" * 801)
    assert caught.value.sqlstate == "AG003"


async def test_events_are_numbered_and_come_oldest_first(database: PostgresTransport):
    await create(database)
    for number in (1, 2, 3):
        assert await append(database, number) == {"seq": number, "duplicate": False}
    session = await load(database)
    assert numbers(session) == [1, 2, 3]
    assert session["last_update_time"] == 103.0


async def test_an_event_for_no_session_is_refused(database: PostgresTransport):
    await create(database)
    for key in ({"id": "t"}, {"p_user_id": "bob"}, {"p_app_name": "other"}):
        with pytest.raises(DatabaseFailure, match="does not exist") as caught:
            await append(database, 1, p_user_state={"u": 1}, **key)
        assert caught.value.sqlstate == "AG002"
    assert (await database.call("user_state", **KEY))["state"] == {}


async def test_an_event_that_is_there_changes_nothing(database: PostgresTransport):
    await create(database)
    await append(database, 1, p_state={"a": 1})
    await append(database, 2)
    assert await append(database, 1, p_state={"a": 2}, p_user_state={"u": 1}) == {"seq": 1, "duplicate": True}
    session = await load(database)
    assert (numbers(session), session["state"], session["user_state"]) == ([1, 2], {"a": 1}, {})


async def test_the_same_event_id_in_another_session_is_another_event(database: PostgresTransport):
    for id in ("s", "t"):
        await create(database, id)
        assert await append(database, 1, id) == {"seq": 1, "duplicate": False}


async def test_an_event_that_is_no_object_is_refused(database: PostgresTransport):
    await create(database)
    for event in (None, "text", [1]):
        with pytest.raises(DatabaseFailure) as caught:
            await append(database, 1, p_event=event)
        assert caught.value.sqlstate == "AG003"
    assert numbers(await load(database)) == []


async def test_state_is_merged_key_by_key_each_where_it_belongs(database: PostgresTransport):
    await create(database, p_state={"a": 1, "b": {"x": 1}}, p_app_state={"p": 1}, p_user_state={"q": 1})
    await create(database, "t")
    await append(database, 1, p_state={"b": {"y": 2}, "c": None}, p_app_state={"p": 2}, p_user_state={"r": [None]})
    session = await load(database)
    assert session["state"] == {"a": 1, "b": {"y": 2}, "c": None}
    other = await load(database, "t")
    assert (other["state"], other["app_state"], other["user_state"]) == ({}, {"p": 2}, {"q": 1, "r": [None]})
    assert await database.call("user_state", **KEY) == {"state": {"q": 1, "r": [None]}}


async def test_a_hundred_appends_at_once_have_one_order_and_lose_nothing(database: PostgresTransport):
    await create(database)
    done = await asyncio.gather(*(append(database, n, p_state={f"k{n}": n}, p_user_state={"u": n}) for n in range(100)))
    assert sorted(each["seq"] for each in done) == list(range(1, 101))
    session = await load(database)
    order = {each["seq"]: number for number, each in enumerate(done)}
    assert numbers(session) == [order[seq] for seq in range(1, 101)]
    assert session["state"] == {f"k{n}": n for n in range(100)}


async def test_one_event_sent_eight_times_at_once_is_one_event(database: PostgresTransport):
    await create(database)
    done = await asyncio.gather(*(append(database, 1) for _ in range(8)))
    assert sorted(each["duplicate"] for each in done) == [False] + [True] * 7
    assert numbers(await load(database)) == [1]


@pytest.mark.parametrize(
    ("recent", "after", "expected"),
    [
        (None, None, [1, 2, 3, 4, 5]),
        (2, None, [4, 5]),
        (0, None, []),
        (-1, None, []),
        (99, None, [1, 2, 3, 4, 5]),
        (None, 103.0, [3, 4, 5]),
        (None, 103.1, [4, 5]),
        (None, 999.0, []),
        (2, 102.0, [4, 5]),
        (4, 104.0, [4, 5]),
    ],
)
async def test_events_are_limited_by_number_and_by_time(
    database: PostgresTransport, recent: int | None, after: float | None, expected: list[int]
):
    await create(database)
    for number in (1, 2, 3, 4, 5):
        await append(database, number)
    assert numbers(await load(database, recent=recent, after=after)) == expected


async def test_times_keep_every_digit(database: PostgresTransport):
    await create(database)
    await append(database, 1, p_time=1712345678.123457, p_event={"n": 1, "timestamp": 1712345678.123457})
    session = await load(database)
    assert session["last_update_time"] == session["events"][0]["timestamp"] == 1712345678.123457


async def test_sessions_are_listed_the_last_used_at_the_end(database: PostgresTransport):
    for number, (user, id) in enumerate([("ana", "old"), ("bob", "b"), ("ana", "new")]):
        await create(database, id, p_user_id=user, p_state={"n": number}, p_user_state={"name": user})
        await append(database, number, id, p_user_id=user)
    await append(database, 9, "old")
    listed = (await database.call("list_sessions", **EVERY_SESSION))["sessions"]
    assert [(each["user_id"], each["id"], each["events"]) for each in listed] == [
        ("bob", "b", 1),
        ("ana", "new", 1),
        ("ana", "old", 2),
    ]
    assert listed[0]["app_name"] == "tutor"
    assert listed[0]["user_state"] == {"name": "bob"}
    assert listed[0]["state"] == {"n": 1}
    assert listed[0]["created_at"] > 1.7e9
    assert listed[0]["last_update_time"] == 101.0


async def test_a_list_is_limited_to_the_last_used_and_goes_on_before_them(database: PostgresTransport):
    for number in range(5):
        await create(database, f"s{number}")
        await append(database, number, f"s{number}")

    async def ids(**bounds: Any) -> list[str]:
        listed = await database.call("list_sessions", **{**EVERY_SESSION, **bounds})
        return [each["id"] for each in listed["sessions"]]

    assert await ids(p_limit=2) == ["s3", "s4"]
    assert await ids(p_limit=2, p_before=103.0) == ["s1", "s2"]
    assert await ids(p_limit=0) == []
    assert await ids(p_app_name="tutor", p_user_id="ana") == [f"s{n}" for n in range(5)]
    assert await ids(p_user_id="bob") == []
    assert await ids(p_app_name="other") == []


async def test_a_deleted_session_takes_its_events_along(database: PostgresTransport):
    await create(database, p_user_state={"u": 1})
    await append(database, 1)
    assert await database.call("delete_session", p_app_name="tutor", p_user_id="bob", p_id="s") == {"deleted": 0}
    assert await database.call("delete_session", **KEY, p_id="s") == {"deleted": 1}
    assert await database.call("delete_session", **KEY, p_id="s") == {"deleted": 0}
    assert not (await load(database))["found"]
    assert await database.fetch("select 1 from public.adk_session_events") == []
    assert (await database.call("user_state", **KEY))["state"] == {"u": 1}


async def test_a_session_expires_when_nobody_uses_it_any_more(database: PostgresTransport):
    await create(database, "kept", p_ttl_days=0)
    await create(database, "used")
    await create(database, "gone")
    await append(database, 1, "gone")
    await database.execute("update public.adk_sessions set expire_at = expire_at - interval '8 days'")
    await append(database, 1, "used")
    assert (await database.call("storage_status"))["expired"] == 1
    assert await database.call("prune_expired") == {"sessions": 1, "events": 1}
    listed = (await database.call("list_sessions", **EVERY_SESSION))["sessions"]
    assert {each["id"] for each in listed} == {"kept", "used"}


@pytest.mark.parametrize(("days", "expected"), [(7, 7), (0, None), (None, None)])
async def test_an_append_sets_the_expiry_anew(database: PostgresTransport, days: int | None, expected: int | None):
    await create(database, p_ttl_days=3)
    await append(database, 1, p_ttl_days=days)
    (row,) = await database.fetch("select expire_at, updated_at from public.adk_sessions")
    assert (row["expire_at"] and (row["expire_at"] - row["updated_at"]).days) == expected


def result(size: int, **more: Any) -> dict[str, Any]:
    return {"function_response": {"id": "c1", "name": "search", "response": {"text": "x" * size}, **more}}


async def parts_after(db: PostgresTransport, parts: Any, **more: Any) -> Any:
    await create(db)
    await append(db, 1, p_event={"id": "e1", "content": {"role": "model", "parts": parts}})
    await db.call("trim_session", **KEY, p_id="s", p_except_invocation=None, **more)
    return (await load(db))["events"][0]["content"]["parts"]


async def test_trimming_drops_signatures_and_what_was_nothing_else(database: PostgresTransport):
    parts = [
        {"text": "thinking", "thought": True, "thought_signature": "AA"},
        {"thought": True, "thoughtSignature": "AA"},
        {"thoughtSignature": "AA"},
        {"function_call": {"id": "c1", "name": "search", "args": {"thought_signature": "an argument"}}},
        {"text": ""},
        {},
        "odd",
    ]
    assert await parts_after(database, parts) == [{"text": "thinking", "thought": True}, *parts[3:]]


async def test_trimming_turns_a_long_result_into_its_size(database: PostgresTransport):
    short, long = result(32_000), result(40_000, parts=[{"inline_data": {"data": "A" * 100}}])
    kept, marker = await parts_after(database, [short, long])
    assert kept == short
    size = marker["function_response"]["response"].pop("omitted_bytes")
    assert 40_100 < size < 40_300
    assert marker == {"function_response": {"id": "c1", "name": "search", "response": {}}}


async def test_trimming_keeps_what_is_no_part(database: PostgresTransport):
    await create(database)
    event = {
        "id": "e1",
        "content": None,
        "actions": {"thought_signature": "AA"},
        "custom_metadata": {"a": "x" * 40_000},
    }
    await append(database, 1, p_event=event)
    assert await database.call("trim_session", **KEY, p_id="s", p_except_invocation=None) == {"trimmed": 0}
    assert (await load(database))["events"] == [event]


async def test_an_excepted_invocation_is_trimmed_later(database: PostgresTransport):
    await create(database)
    for number in (1, 2, 3):
        event = {"id": f"e{number}", "content": {"parts": [{"text": "a", "thought_signature": "AA"}]}}
        await append(database, number, p_event=event)

    async def trim(invocation: str | None) -> int:
        done = await database.call("trim_session", **KEY, p_id="s", p_except_invocation=invocation)
        return done["trimmed"]

    assert await trim("i2") == 2
    assert await trim("i2") == 0
    assert await trim(None) == 1
    assert await trim(None) == 0
    assert all(event["content"]["parts"] == [{"text": "a"}] for event in (await load(database))["events"])
    assert await append(database, 2) == {"seq": 2, "duplicate": True}


async def test_trimming_no_session_is_no_error(database: PostgresTransport):
    assert await database.call("trim_session", **KEY, p_id="no", p_except_invocation=None) == {"trimmed": 0}


async def fill(db: PostgresTransport) -> None:
    """Two syndicates, two users each, with a session of two events, a fact and state; two spans."""
    for app in ("tutor", "other"):
        for user in ("ana", "bob"):
            of = {"p_app_name": app, "p_user_id": user}
            await create(db, **of, p_app_state={"a": 1}, p_user_state={"u": 1})
            await append(db, 1, **of)
            await append(db, 2, **of)
            await db.execute(f"insert into public.adk_memory_facts (user_key, fact) values ('{app}/{user}', 'f')")
        await db.execute(
            f"insert into public.adk_telemetry (trace_id, span_id, span_name, syndicate, span)"
            f" values ('t', 's', 'llm.request', '{app}', '{{}}')"
        )


@pytest.mark.parametrize(
    ("app", "user", "gone"),
    [
        (None, None, {"sessions": 4, "events": 8, "facts": 4, "user_states": 4, "app_states": 2, "spans": 2}),
        ("tutor", None, {"sessions": 2, "events": 4, "facts": 2, "user_states": 2, "app_states": 1, "spans": 1}),
        (None, "ana", {"sessions": 2, "events": 4, "facts": 2, "user_states": 2, "app_states": 0, "spans": 0}),
        ("tutor", "ana", {"sessions": 1, "events": 2, "facts": 1, "user_states": 1, "app_states": 0, "spans": 0}),
        ("no", None, {"sessions": 0, "events": 0, "facts": 0, "user_states": 0, "app_states": 0, "spans": 0}),
    ],
)
async def test_a_purge_deletes_what_was_named_and_counts_it(
    database: PostgresTransport, app: str | None, user: str | None, gone: dict[str, int]
):
    await fill(database)
    assert await database.call("purge", p_app_name=app, p_user_id=user) == gone
    status = await database.call("storage_status")
    left = {"sessions": 4 - gone["sessions"], "events": 8 - gone["events"], "facts": 4 - gone["facts"]}
    assert {key: status[key] for key in left} == left
    assert status["spans"] == 2 - gone["spans"]


async def test_the_status_counts_what_is_stored(database: PostgresTransport):
    await fill(database)
    status = await database.call("storage_status")
    assert status.pop("bytes") > 100_000
    version = migrations.expected_version()
    assert status == {"version": version, "sessions": 4, "events": 8, "expired": 0, "facts": 4, "spans": 2}
