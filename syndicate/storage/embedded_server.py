"""What a database folder tells about its server, and how that is stopped. Run as a script, this minds a server.

The locks of a folder, all released by the system when their holders are gone, however they ended:
`server.lock` is held by the server's processes, `users.lock` is shared by those that use it, `start.lock` is held while
somebody starts or stops it, `watch.lock` by the one that minds it: a process that stops a server nobody uses.

Standard library only: the minder starts quickly and stays small.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where no server is ever started
    fcntl = None

_LOOK_SECONDS = 1.0
_UNUSED_LOOKS = 2
_STOP_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Running:
    """A server that takes connections: its process and the folder of its socket."""

    pid: int
    sockets: str


def open_lock(path: Path) -> int:
    """A descriptor of a lock file that exists. Programs started from here do not inherit it."""
    return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)


def share(descriptor: int) -> None:
    """Take a share of a lock, after whoever holds it alone."""
    assert fcntl
    fcntl.flock(descriptor, fcntl.LOCK_SH)


def take(descriptor: int) -> bool:
    """Take a lock alone, if nobody has it now."""
    assert fcntl
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def alone(path: Path) -> Generator[int]:
    """Hold a lock alone, after whoever has it."""
    assert fcntl
    descriptor = open_lock(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether anybody has a lock alone."""
    assert fcntl
    try:
        descriptor = open_lock(path)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def is_alive(folder: Path) -> bool:
    """Whether any process of the folder's server exists."""
    return is_held(folder / "server.lock")


def running(folder: Path) -> Running | None:
    """The folder's server if it takes connections."""
    pid_file = folder / "data" / "postmaster.pid"
    try:
        lines = pid_file.read_text(errors="replace").splitlines()
        found = Running(int(lines[0]), lines[4])
        ready = lines[7].strip() == "ready"
    except (OSError, ValueError, IndexError):
        return None
    return found if ready and _exists(found.pid) and is_alive(folder) else None


def shut_down(folder: Path, send: Callable[[int, signal.Signals], None]) -> None:
    """End the server: its clients are sent away first, or it is cut off. `start.lock` is held by the caller."""
    for how in (signal.SIGINT, signal.SIGQUIT):
        deadline = time.monotonic() + _STOP_SECONDS
        asked = False
        while is_alive(folder) and time.monotonic() < deadline:
            if not asked and (pid := _postmaster(folder)) is not None:
                send(pid, how)
                asked = True
            time.sleep(0.01)


def signal_directly(pid: int, how: signal.Signals) -> None:
    """Send a signal as the account of this process."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, how)


def _postmaster(folder: Path) -> int | None:
    try:
        return int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    except (OSError, ValueError, IndexError):
        return None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def mind(folder: Path) -> None:
    """Stop the folder's server when nobody has used it for a moment; return when it is gone, or minded already."""
    watch, users = open_lock(folder / "watch.lock"), open_lock(folder / "users.lock")
    if not take(watch):
        return
    unused = 0
    while True:
        time.sleep(_LOOK_SECONDS)
        if not folder.exists() or not is_alive(folder):
            if _is_gone(folder):
                return
        elif not take(users):
            unused = 0
        elif (unused := unused + 1) < _UNUSED_LOOKS:
            _give_back(users)
        else:
            with alone(folder / "start.lock"):
                shut_down(folder, signal_directly)
            _give_back(users)


def _is_gone(folder: Path) -> bool:
    """Whether the server is dead and nobody is starting it again: that one relies on being minded."""
    try:
        with alone(folder / "start.lock"):
            return not is_alive(folder)
    except FileNotFoundError:
        return True


def _give_back(descriptor: int) -> None:
    assert fcntl
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def main(folder: str, uid: str, gid: str) -> None:
    """Mind the server of a folder, as the account that it runs as."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(int(gid))
        os.setuid(int(uid))
    mind(Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
