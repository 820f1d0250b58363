"""A process that talks in sessions: `python -m tests.storage.sessions.writer URL NAME SESSIONS TURNS`.

In each of the sessions `s0`, `s1`, … at once it runs turns of two events, and prints the session and the id of an event
once the service has said that it is stored. The ids are NAME, session and a number that counts up.
"""

from __future__ import annotations

import asyncio
import sys

from google.adk.sessions.base_session_service import GetSessionConfig

from syndicate.storage.database import Database
from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.sessions import DatabaseSessions
from tests.storage.sessions.samples import APP, USER, said


async def talk(service: DatabaseSessions, name: str, session_id: str, turns: int) -> None:
    """The turns of one session; each begins by loading it, as a turn does."""
    for turn in range(turns):
        recent = GetSessionConfig(num_recent_events=20)
        session = await service.get_session(app_name=APP, user_id=USER, session_id=session_id, config=recent)
        assert session is not None
        for number, author in enumerate(("user", "Lead")):
            event_id = f"{name}-{session_id}-{2 * turn + number:04}"
            await service.append_event(session, said("x", author=author, id=event_id, state={name: event_id}))
            print(session_id, event_id, flush=True)


async def main(url: str, name: str, sessions: int, turns: int) -> None:
    transport = await PostgresTransport.open(url)
    service = DatabaseSessions(Database(transport, "postgres", "the test's"))
    await asyncio.gather(*(talk(service, name, f"s{number}", turns) for number in range(sessions)))
    await transport.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
