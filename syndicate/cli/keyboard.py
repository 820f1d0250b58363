"""The keyboard while a turn runs: Ctrl-C stops the turn, other keys wait unseen for the next prompt."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

try:
    import termios
except ImportError:  # not on Windows
    termios = None


@contextmanager
def on_interrupt(stop: Callable[[], object]) -> Generator[None]:
    """Call `stop` for each Ctrl-C. To be entered with the event loop running, in the main thread."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, stop)
    except NotImplementedError:  # Windows: Ctrl-C ends the program
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


@contextmanager
def stopping(cancel: asyncio.Event) -> Generator[None]:
    """Let Ctrl-C set `cancel`, which ends a turn in order; a second one breaks off what runs inside, as it is."""
    task = asyncio.current_task()
    assert task is not None

    def stop() -> None:
        if cancel.is_set():
            task.cancel()
        cancel.set()

    with on_interrupt(stop):
        try:
            yield
        except asyncio.CancelledError:
            if not cancel.is_set():
                raise
            task.uncancel()


@contextmanager
def no_echo() -> Generator[None]:
    """Do not show what is typed; it is read by the next prompt."""
    if termios is None or not sys.stdin.isatty():
        yield
        return
    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    quiet = [*before]
    quiet[3] = before[3] & ~termios.ECHO
    termios.tcsetattr(stdin, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(stdin, termios.TCSADRAIN, before)
