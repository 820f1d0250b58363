"""The configured database, for the verbs that need one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from syndicate.errors import UsageError
from syndicate.settings import Settings
from syndicate.storage.database import Database, configured, open_database


@asynccontextmanager
async def the_database(settings: Settings, *, provision: bool | None = None) -> AsyncGenerator[Database]:
    """`open_database`; where nothing is configured or installed, a `UsageError` with both ways out."""
    if configured(settings) is None:
        raise UsageError(
            "there is no database: sessions are kept in memory and end with the program",
            code="no-database",
            remediation="pip install 'syndicate-agents[local]' for the embedded one, or set DATABASE_URL",
        )
    async with open_database(settings, provision=provision) as database:
        yield database
