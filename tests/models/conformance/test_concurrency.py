"""A hundred streams at once through one adapter: each gets its own answer, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable

import pytest

from tests.models.conformance.conftest import OpenDesk
from tests.models.conformance.desks import PROVIDERS, Desk
from tests.models.conformance.test_faults import endless, script, server_of
from tests.models.conformance.wires import Said
from tests.models.conftest import Answer, each, request_of, text_of
from tests.models.relay import Received

STREAMS = 100
EVERYWHERE = pytest.mark.parametrize("provider", PROVIDERS)


def sockets() -> int:
    """Sockets that this process has open, those of the loopback server too."""
    found = 0
    for entry in os.scandir("/proc/self/fd"):
        try:
            found += stat.S_ISSOCK(os.stat(entry.path).st_mode)
        except OSError:  # closed meanwhile
            continue
    return found


async def settled(count: Callable[[], int], expected: int) -> int:
    """The count once it is down to what is expected, or what it is after five seconds."""
    for _ in range(100):
        if count() <= expected:
            break
        await asyncio.sleep(0.05)
    return count()


async def warmed_up(desk: Desk) -> None:
    """One answer, so that what is opened once for all is."""
    desk.script(Said("Hello."))
    await desk.ask(request_of(), stream=True)
    await desk.aclose()
    await asyncio.sleep(0.2)


def named(desk: Desk) -> Callable[[Received], Answer]:
    """Answers that repeat the number in the question."""

    def answer(request: Received) -> Answer:
        number = str(request.body).partition("number ")[2][:3]
        return desk.provider.wire(Said(f"You said {number}, did you not?"), True)

    return answer


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts sockets in /proc")
@EVERYWHERE
async def test_each_stream_has_its_own_answer_and_leaves_nothing(provider: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    await warmed_up(desk)
    before, tasks = sockets(), len(asyncio.all_tasks())
    script(desk, named(desk))

    async def one(number: int) -> str:
        return "".join(
            [
                text_of(part)
                async for part in each(desk.model, request_of(f"number {number}"), stream=True)
                if part.partial
            ]
        )

    answers = await asyncio.gather(*(one(number) for number in range(100, 100 + STREAMS)))
    assert answers == [f"You said {number}, did you not?" for number in range(100, 100 + STREAMS)]
    await desk.aclose()
    assert await settled(lambda: len(asyncio.all_tasks()), tasks) == tasks
    assert await settled(sockets, before) <= before


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts sockets in /proc")
@EVERYWHERE
async def test_streams_that_are_left_or_cancelled_leave_nothing_either(provider: str, loopback: OpenDesk) -> None:
    desk = loopback(provider)
    await warmed_up(desk)
    before, tasks = sockets(), len(asyncio.all_tasks())
    script(desk, endless(desk))

    async def one(number: int) -> None:
        async for part in each(desk.model, request_of(f"number {number}"), stream=True):
            assert part.partial
            if number % 2:
                return

    running = [asyncio.create_task(one(number)) for number in range(30)]
    await asyncio.wait(running[1::2], timeout=20)
    for task in running[::2]:
        task.cancel()
    ended = await asyncio.gather(*running, return_exceptions=True)
    assert [isinstance(end, asyncio.CancelledError) for end in ended] == [not number % 2 for number in range(30)]
    assert await settled(lambda: len(asyncio.all_tasks()), tasks) == tasks
    assert await settled(sockets, before) <= before, f"of {len(server_of(desk).received)} requests"
