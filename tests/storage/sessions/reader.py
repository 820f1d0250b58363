"""Another process that loads a session and prints it as JSON: `python -m … URL APP USER SESSION`."""

from __future__ import annotations

import asyncio
import sys

from syndicate.storage.database import Database
from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.sessions import DatabaseSessions


async def main(url: str, app: str, user: str, session_id: str) -> None:
    transport = await PostgresTransport.open(url)
    service = DatabaseSessions(Database(transport, "postgres", "the test's"))
    session = await service.get_session(app_name=app, user_id=user, session_id=session_id)
    await transport.aclose()
    print(session.model_dump_json() if session else "null")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
