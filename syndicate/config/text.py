"""A text file with positions: read under limits, as UTF-8, or refused with one clear line."""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from syndicate.config.limits import MAX_BYTES
from syndicate.errors import Location

_LINE_END = re.compile(r"\r\n|\r|\n")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class UnreadableError(Exception):
    """A file that cannot be read as text. `line` and `column` are 0 when no place in the file is meant."""

    def __init__(self, message: str, code: str = "unreadable", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.line = line
        self.column = column


def display(path: Path) -> str:
    """How a path is shown: relative to the working directory when it lies below it."""
    absolute = Path(os.path.abspath(path))
    try:
        return str(absolute.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(absolute)


@dataclass(frozen=True)
class SourceText:
    """Text of a file, without its byte-order mark. Lines end at `\\n`, `\\r\\n` or `\\r`."""

    file: str
    text: str

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @cached_property
    def _lines(self) -> list[str]:
        return _LINE_END.split(self.text)

    def line(self, number: int) -> str:
        """Line `number` (from 1) without its end; empty beyond the last one."""
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def at(self, index: int) -> Location:
        """Place of the character at `index`."""
        line = bisect_right(self._starts, index)
        return Location(self.file, line, index - self._starts[line - 1] + 1)


def read(path: Path) -> SourceText:
    """Read a file of at most `MAX_BYTES`; raises `UnreadableError`."""
    data = _read_bytes(path)
    return SourceText(display(path), _decode(data))


def _read_bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UnreadableError("is a directory, not a file", "directory")
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("is not a regular file", "not-a-file")
        if status.st_size > MAX_BYTES:
            raise _too_large(status.st_size)
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableError("does not exist", "missing-file") from None
    except PermissionError:
        raise UnreadableError("may not be read: permission denied", "no-permission") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableError(f"cannot be read: {reason.lower()}") from None
    if len(data) > MAX_BYTES:
        raise _too_large(len(data))
    return data


def _too_large(size: int) -> UnreadableError:
    return UnreadableError(f"is {size / 2**20:,.1f} MB large; at most {MAX_BYTES >> 20} MB is read", "too-large")


def _decode(data: bytes) -> str:
    if data.startswith(_UTF16_MARKS):
        raise UnreadableError("is UTF-16 text; save it as UTF-8", "not-utf8", 1, 1)
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = SourceText("", data[: error.start].decode("utf-8").removeprefix("\ufeff"))
        place = before.at(len(before.text))
        kind = "is binary, not text" if b"\x00" in data else "is not UTF-8 text"
        message = f"{kind}: byte 0x{data[error.start]:02x} here; save it as UTF-8"
        raise UnreadableError(message, "not-utf8", place.line, place.column) from None
    nul = text.find("\x00")
    if nul >= 0:
        place = SourceText("", text).at(nul)
        raise UnreadableError("is binary, not text: a NUL character here", "binary", place.line, place.column)
    return text
