"""What an adapter costs for each streamed delta, and what it costs to read the same frames without one."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx

from benchmarks.report import Row
from tests.models.conformance.desks import CARD, PROVIDERS, Provider
from tests.models.conformance.wires import Said
from tests.models.conftest import Answer, StandIn, each, request_of

DELTAS = 1000
ROUNDS = 3
MOST = 0.3
"""Milliseconds."""


def delta_costs() -> list[Row]:
    """Processor time of each provider's adapter per delta; the server's threads are not counted."""
    return [_row(provider) for provider in PROVIDERS.values()]


def _row(provider: Provider) -> Row:
    ours, bare = asyncio.run(_measure(provider))
    return Row(
        f"a streamed delta through the adapter of {provider.id}, CPU; beside it bare `httpx` and `json`",
        f"{ours:.2f} ms",
        f"{bare:.2f} ms",
        f"≤ {MOST} ms",
        ours <= MOST,
    )


async def _measure(provider: Provider) -> tuple[float, float]:
    """Milliseconds of a delta, ours and bare: medians over rounds, after one that warms up."""
    server = StandIn()
    answer = _long(provider)
    for path in (*provider.paths, "/bare"):
        server.on(path, answer)
    server.on("/api/show", Answer.json(CARD))
    model: Any = provider.adapter(server.url)
    try:
        async with httpx.AsyncClient() as client:
            samples = [
                (
                    await _milliseconds(lambda: _count(each(model, request_of(), stream=True))),
                    await _milliseconds(lambda: _count(_frames(client, f"{server.url}/bare"))),
                )
                for _ in range(ROUNDS + 1)
            ][1:]
    finally:
        await model.aclose()
        server.close()
    ours, bare = zip(*samples, strict=True)
    return statistics.median(ours), statistics.median(bare)


def _long(provider: Provider) -> Answer:
    """A streamed answer of many deltas, as the provider writes them."""
    answer = provider.wire(Said("word word "), True)
    frames = list(answer.frames)
    delta = next(index for index, frame in enumerate(frames) if "word" in str(frame))
    return replace(answer, frames=[*frames[:delta], *frames[delta : delta + 1] * DELTAS, *frames[delta + 1 :]])


async def _milliseconds(read: Callable[[], Awaitable[int]]) -> float:
    """Processor time of this thread for each delta."""
    started = time.thread_time()
    assert await read() >= DELTAS
    return 1000 * (time.thread_time() - started) / DELTAS


async def _count(items: AsyncIterator[Any]) -> int:
    found = 0
    async for _ in items:
        found += 1
    return found


async def _frames(client: httpx.AsyncClient, url: str) -> AsyncIterator[Any]:
    async with client.stream("POST", url, json={"stream": True}) as response:
        async for line in response.aiter_lines():
            text = line.removeprefix("data: ")
            if text.startswith("{"):
                yield json.loads(text)
