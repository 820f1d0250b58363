"""Sessions on an embedded Postgres of their own: beside ADK's session service on the same server, and over time."""

from __future__ import annotations

import asyncio
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

from google.adk.events import Event, EventActions
from google.adk.sessions import BaseSessionService, DatabaseSessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

from benchmarks.report import Row, table
from syndicate import Syndicate
from syndicate.settings import Settings
from syndicate.storage import embedded
from syndicate.storage.database import open_database
from syndicate.storage.embedded_place import place_of
from syndicate.storage.sessions import DatabaseSessions
from syndicate.testing import Reply, ScriptedModel, ToolCall
from syndicate.turn.services import Services

APPENDS = 300
LOADS = 100
TURNS = 50
STARTS = 3
NEWEST = GetSessionConfig(num_recent_events=50)
TEXT = "The wren is small, and sings as if it were not. " * 12
FILE = """
syndicate_name: Bench
memory_system: internal-only
orchestrator:
  name: Lead
  model: local/smollm2
  instruction: Ask the one who knows.
subagents:
  - name: Helper
    description: Knows birds.
    model: local/smollm2
    instruction: You know birds.
"""
REPLIES = [Reply(calls=[ToolCall("Helper", {"request": "what sings?"})]), "A wren sings.", "It is a wren."]

Work = Callable[[], Awaitable[object]]


def storage_costs() -> list[Row]:
    """Every measurement that needs a database."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    rows = await _starts()
    with _home() as settings:
        async with open_database(settings) as database:
            sessions = DatabaseSessions(database)
            rows += [await _append(sessions, settings), await _append_late(sessions)]
            rows += [await _load(sessions), await _turn(sessions)]
    return rows


async def _append(sessions: DatabaseSessions, settings: Settings) -> Row:
    """One event with a change of state, to a session of ours and to one of ADK's service."""
    async with _adks_service(settings) as adks:
        ours, theirs = await _together(await _appending(sessions, 0), await _appending(adks, 0), times=APPENDS)
    factor = theirs / ours
    return Row(
        "append an event; beside it ADK's `DatabaseSessionService` on the same server",
        f"{1000 * ours:.2f} ms ({factor:.1f}× faster)",
        f"{1000 * theirs:.2f} ms",
        "≥ 4× faster",
        factor >= 4,
    )


async def _append_late(sessions: DatabaseSessions) -> Row:
    late, early = await _together(await _appending(sessions, 3_000), await _appending(sessions, 20), times=APPENDS // 2)
    return Row(
        "append to a session of 3,000 events; beside it to one of 20",
        f"{1000 * late:.2f} ms ({late / early:.2f}×)",
        f"{1000 * early:.2f} ms",
        "≤ 1.3×",
        late / early <= 1.3,
    )


async def _load(sessions: DatabaseSessions) -> Row:
    long, short = await _together(await _loading(sessions, 2_000), await _loading(sessions, 50), times=LOADS)
    return Row(
        "load the last 50 of 2,000 events; beside it a session of 50",
        f"{1000 * long:.1f} ms ({long / short:.2f}×)",
        f"{1000 * short:.1f} ms",
        "≤ 1.5×",
        long / short <= 1.5,
    )


async def _turn(sessions: DatabaseSessions) -> Row:
    """A scripted turn in a session of its own: three model calls, six events."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(FILE, encoding="utf-8")
        model = ScriptedModel(REPLIES, cycle=True)
        async with Syndicate.open(path, models={"*": model}) as syndicate:
            in_memory = syndicate.services
            in_database = replace(in_memory, sessions=sessions)

            def turn(services: Services) -> Callable[[], Work]:
                def made() -> Work:
                    syndicate.services = services
                    session_id = syndicate.new_session()
                    return lambda: syndicate.run("what sings?", session_id=session_id)

                return made

            ours, memory = await _together(turn(in_database), turn(in_memory), times=TURNS)
    return Row(
        "scripted turn with a delegation, sessions in Postgres; beside it in memory",
        f"{1000 * ours:.1f} ms",
        f"{1000 * memory:.1f} ms",
        "≤ 40 ms",
        1000 * ours <= 40,
    )


async def _starts() -> list[Row]:
    """From opening to the answer of the first query, in each state that the embedded server can be in."""
    samples = [await _three_starts() for _ in range(STARTS)]
    states = (("first start ever", 2.5), ("already initialised", 1.0), ("already running", 0.2))
    rows: list[Row] = []
    for (state, target), seconds in zip(states, zip(*samples, strict=True), strict=True):
        median = statistics.median(seconds)
        what = f"embedded database to the first query, {state}"
        rows.append(Row(what, f"{median:.2f} s", "", f"≤ {target:g} s", median <= target))
    return rows


async def _three_starts() -> tuple[float, float, float]:
    with _home() as settings:
        first = await _seconds(lambda: _first_query(settings))
        await asyncio.to_thread(embedded.stop, settings)
        initialised = await _seconds(lambda: _first_query(settings))
        with embedded.using(settings):
            running = await _seconds(lambda: _first_query(settings))
    return first, initialised, running


async def _first_query(settings: Settings) -> None:
    async with open_database(settings) as database:
        await database.transport.call("storage_status")


async def _appending(service: BaseSessionService, events: int) -> Callable[[], Work]:
    """Makes what appends one event more to a session that has so many already."""
    session = await _session_of(service, events)

    def made() -> Work:
        event = _event()
        session.events.clear()  # the cost of the database alone, however long the list in memory gets
        return lambda: service.append_event(session, event)

    return made


async def _loading(service: BaseSessionService, events: int) -> Callable[[], Work]:
    session = await _session_of(service, events)
    names = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
    return lambda: lambda: service.get_session(**names, config=NEWEST)


async def _session_of(service: BaseSessionService, events: int) -> Session:
    session = await service.create_session(app_name="bench", user_id="user")
    for _ in range(events):
        await service.append_event(session, _event())
    session.events.clear()
    return session


def _event() -> Event:
    content = types.Content(role="model", parts=[types.Part(text=TEXT)])
    actions = EventActions(state_delta={"count": 1, "last": "wren"})
    return Event(author="Lead", invocation_id="turn", content=content, actions=actions)


async def _together(one: Callable[[], Work], other: Callable[[], Work], *, times: int) -> tuple[float, float]:
    """Median seconds of what each makes, done in turn: what slows the machine slows them alike."""
    samples = [(await _seconds(one()), await _seconds(other())) for _ in range(times + 10)][10:]
    ones, others = zip(*samples, strict=True)
    return statistics.median(ones), statistics.median(others)


async def _seconds(work: Work) -> float:
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


@asynccontextmanager
async def _adks_service(settings: Settings) -> AsyncGenerator[DatabaseSessionService]:
    """ADK's service with tables of its own in the same database."""
    with embedded.using(settings) as url:
        async with DatabaseSessionService(url.replace("postgresql://", "postgresql+asyncpg://")) as service:
            yield service


@contextmanager
def _home() -> Iterator[Settings]:
    """Settings with a data folder of their own, which is gone at the end, with its server."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.read({"syndicate_home": folder, "database_url": None, "supabase_url": None}, env_file=None)
        try:
            yield settings
        finally:
            embedded.stop(settings)
            shutil.rmtree(place_of(settings).folder, ignore_errors=True)


if __name__ == "__main__":
    print(table(storage_costs()))
