"""The folder in which embedded models are kept and run, when the system refuses it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path

from syndicate.errors import ModelUnavailableError


@contextlib.contextmanager
def writing(folder: Path) -> Generator[None]:
    """Around what writes below the data folder: `ModelUnavailableError` instead of `OSError`."""
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else folder
        reason = (error.strerror or str(error)).lower()
        raise ModelUnavailableError(
            f"{str(place)!r} cannot be written: {reason}",
            code="data-folder",
            remediation="set SYNDICATE_HOME to a folder that can be written",
        ) from error
