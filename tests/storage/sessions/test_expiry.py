"""Sessions that nobody uses any more."""

from __future__ import annotations

import pytest

from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.sessions import DatabaseSessions
from tests.storage.sessions.samples import APP, USER, loaded, said, texts

DAY = 86_400


async def seconds_left(postgres_way: PostgresTransport, session_id: str) -> float | None:
    """Until the session expires; None for never."""
    query = "select extract(epoch from expire_at - now())::float8 as left from adk_sessions where id = $1"
    [row] = await postgres_way.fetch(query, session_id)
    return row["left"]


async def test_a_session_expires_so_many_days_after_its_last_event(
    postgres_way: PostgresTransport, direct: DatabaseSessions
):
    session = await direct.create_session(app_name=APP, user_id=USER, session_id="s")
    assert await seconds_left(postgres_way, "s") == pytest.approx(7 * DAY, abs=60)
    await postgres_way.execute("update adk_sessions set expire_at = now() + interval '1 hour'")
    await direct.append_event(session, said("still here"))
    assert await seconds_left(postgres_way, "s") == pytest.approx(7 * DAY, abs=60)


async def test_with_no_days_it_never_does(postgres_way: PostgresTransport, direct: DatabaseSessions):
    for_ever = DatabaseSessions(direct.database, ttl_days=0)
    session = await for_ever.create_session(app_name=APP, user_id=USER, session_id="s")
    await for_ever.append_event(session, said("hi"))
    assert await seconds_left(postgres_way, "s") is None


async def test_what_has_expired_is_pruned_with_its_events(postgres_way: PostgresTransport, direct: DatabaseSessions):
    for name in ("old", "new"):
        session = await direct.create_session(app_name=APP, user_id=USER, session_id=name, state={"user:mood": name})
        await direct.append_event(session, said(name))
    await postgres_way.execute("update adk_sessions set expire_at = now() - interval '1 second' where id = 'old'")
    pruned = await postgres_way.call("prune_expired")
    assert (pruned["sessions"], pruned["events"]) == (1, 1)
    assert await direct.get_session(app_name=APP, user_id=USER, session_id="old") is None
    assert texts(await loaded(direct, session)) == ["new"]
    assert await direct.get_user_state(app_name=APP, user_id=USER) == {"mood": "new"}
