"""A measurement as a row, and the rows as a Markdown table."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: ours, what it is compared with (may be empty), the target, and whether it is reached."""

    what: str
    ours: str
    beside: str
    target: str
    reached: bool

    def __str__(self) -> str:
        return f"| {self.what} | {self.ours} | {self.beside} | {self.target} | {'yes' if self.reached else 'no'} |"


HEAD = "| what | here | beside it | target | reached |\n| --- | --- | --- | --- | --- |"


def table(rows: Iterable[Row]) -> str:
    """The table, and where it was made."""
    place = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    lines = "\n".join(map(str, rows))
    return f"{HEAD}\n{lines}\n\nMedians of one run of `make bench` ({place})."
