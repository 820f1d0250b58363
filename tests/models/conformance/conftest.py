"""Desks: a provider's adapter and the server that plays the provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from tests.models.aimock import Aimock
from tests.models.conformance.desks import PROVIDERS, Desk
from tests.models.conftest import StandIn

OpenDesk = Callable[[str], Desk]


@pytest.fixture
async def loopback() -> AsyncIterator[OpenDesk]:
    """Open the desk of a provider, played by a loopback server of its own."""
    opened: list[tuple[Desk, StandIn]] = []

    def open_desk(provider_id: str) -> Desk:
        server = StandIn()
        opened.append((Desk(PROVIDERS[provider_id], server), server))
        return opened[-1][0]

    yield open_desk
    for desk, server in opened:
        await desk.aclose()
        server.close()


@pytest.fixture
async def at_aimock(aimock: Aimock) -> AsyncIterator[OpenDesk]:
    """Open the desk of a provider, played by aimock."""
    opened: list[Desk] = []

    def open_desk(provider_id: str) -> Desk:
        opened.append(Desk(PROVIDERS[provider_id], aimock))
        return opened[-1]

    yield open_desk
    for desk in opened:
        await desk.aclose()
