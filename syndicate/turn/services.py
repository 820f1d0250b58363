"""What turns stand on, opened once and handed to them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from google.adk.sessions import BaseSessionService, InMemorySessionService


@dataclass(frozen=True)
class Services:
    """`sessions` is ADK's session service; in this version it keeps them in process memory."""

    sessions: BaseSessionService


@asynccontextmanager
async def open_services() -> AsyncIterator[Services]:
    """Open what turns need, and close it at the end."""
    services = Services(InMemorySessionService())
    try:
        yield services
    finally:
        await services.sessions.flush()
