"""Text that comes from models, tools and files, made safe for a terminal."""

from __future__ import annotations

import json
import re
from typing import Any

_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: titles, links, clipboard
    r"|[PX^_][^\x1b]*\x1b\\"  # DCS, SOS, PM, APC
    r"|(?![\[\]PX^_])[ -/]*[0-~])"  # two and three bytes
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ -/]*)\Z")
_LONGEST = 256
"""Characters of an unfinished escape sequence that are waited for."""
_BIDI = "\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}]")
_NOT_IN_JSON_LINES = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def visible(text: str) -> str:
    """The text without terminal escape sequences, control characters (but tab and newline) and direction overrides."""
    return _CONTROL.sub("", _SEQUENCE.sub("", text))


class VisibleStream:
    """`visible` for text in pieces: an escape sequence that is cut between two of them is removed whole."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """The visible text of one more piece."""
        text = self._held + piece
        unfinished = _UNFINISHED.search(text, max(0, len(text) - _LONGEST))
        end = unfinished.start() if unfinished else len(text)
        self._held = text[end:]
        return visible(text[:end])


def masked(text: str) -> str:
    """Like `visible`, but each character keeps its column: a control character or a tab becomes one space."""
    return _CONTROL.sub(" ", text).replace("\t", " ")


def one_line(text: str, limit: int = 80) -> str:
    """Visible text on one line, white space collapsed, at most `limit` characters."""
    line = " ".join(visible(text[: limit * 8]).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def json_line(value: Any) -> str:
    """JSON on one line, in readable Unicode, without a character that a terminal or a line reader would act on."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return _NOT_IN_JSON_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
