"""What tests of the embedded database share: processes that use it, other accounts, and its removal."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from syndicate.settings import Settings
from syndicate.storage import embedded, embedded_place, embedded_server

ROOT = Path(__file__).parents[2]
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another account")


def forget(settings: Settings) -> None:
    """Stop an embedded database and delete it. Root's is not below the test's folder, so it would stay."""
    embedded.stop(settings)
    shutil.rmtree(embedded.status(settings).folder, ignore_errors=True)


def sweep(base: Path) -> None:
    """Stop and delete what root keeps, outside of it, for data folders below a folder of tests."""
    for mark in embedded_place.SYSTEM_FOLDER.glob("*/home"):
        home = Path(os.fsdecode(mark.read_bytes()))
        if base in home.parents:
            forget(Settings.read({"syndicate_home": home}, env_file=None))


def eventually(holds: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether it holds, at the latest after so many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def ordinary() -> int:
    """The user id of an account that is not root: this process's own, or one that every system has."""
    return os.getuid() or pwd.getpwnam("daemon").pw_uid


@contextmanager
def home_of(uid: int) -> Iterator[Path]:
    """A short private folder of an account, for its data folder. Its server is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="syn-"))
    os.chown(folder, uid, -1)
    try:
        yield folder
    finally:
        if eventually(lambda: not any(embedded_server.is_held(lock) for lock in folder.rglob("watch.lock"))):
            shutil.rmtree(folder)


class User:
    """A process that uses the embedded database of a home, as an account; `found` is what it printed."""

    def __init__(self, home: Path, uid: int | None = None) -> None:
        own = uid is None or uid == os.getuid()
        identity: dict[str, Any] = {} if own else {"user": uid, "group": uid, "extra_groups": []}
        self.process = subprocess.Popen(
            [sys.executable if own else _python_for_all(), "-m", "tests.storage.embedded_user", str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            **identity,
        )

    @property
    def found(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def kill(self) -> None:
        """End it with signal 9."""
        self.process.kill()
        self._wait()

    def leave(self) -> None:
        """Let it end by itself."""
        self._wait()

    def _wait(self) -> None:
        self.process.communicate()


@contextmanager
def user_of(home: Path, uid: int | None = None) -> Iterator[User]:
    """A process that uses the database as long as the block runs."""
    user = User(home, uid)
    try:
        yield user
    finally:
        if user.process.returncode is None:
            user.leave()


def _python_for_all() -> str:
    """A Python of this version that every account may run."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for path in (os.path.realpath(sys.executable), shutil.which(name, path="/usr/local/bin:/usr/bin")):
        if path and all(parent.stat().st_mode & 0o005 == 0o005 for parent in Path(path).parents):
            return path
    pytest.skip(f"no {name} that other accounts may run")
