"""What tests of the embedded database share: its removal, and waiting for what another process does."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable

from syndicate.settings import Settings
from syndicate.storage import embedded


def forget(settings: Settings) -> None:
    """Stop an embedded database and delete it. Root's is not below the test's folder, so it would stay."""
    embedded.stop(settings)
    shutil.rmtree(embedded.status(settings).folder, ignore_errors=True)


def eventually(holds: Callable[[], bool], seconds: float = 30) -> bool:
    """Whether it holds, at the latest after so many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
