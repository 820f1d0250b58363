"""What turns stand on, opened once and handed to them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from google.adk.sessions import BaseSessionService, InMemorySessionService

from syndicate.config.schema import SyndicateConfig
from syndicate.settings import Settings


@dataclass(frozen=True)
class Services:
    """`sessions` is ADK's session service; in this version it keeps them in process memory."""

    sessions: BaseSessionService


@asynccontextmanager
async def open_services(settings: Settings, configs: Iterable[SyndicateConfig]) -> AsyncGenerator[Services]:
    """Open what turns of these syndicates need, and close it at the end.

    Every `memory_system` is served from process memory in this version, so neither argument changes anything yet.
    """
    services = Services(InMemorySessionService())
    try:
        yield services
    finally:
        await services.sessions.flush()
