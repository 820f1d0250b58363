"""Names: from what people write to the identifiers ADK and the dispatcher use."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_MAX_LENGTH = 64
_NOT_IDENTIFIER = re.compile(r"[^A-Za-z0-9]+")


def adk_name(display: str) -> str:
    """Derive the ASCII identifier of an agent: at most 64 characters, the same for the same text.

    Accents are folded, every other run of characters becomes one `_`; a name that leaves nothing (`風林火山`)
    becomes `agent_` and 8 hexadecimal digits of its SHA-256.
    """
    folded = unicodedata.normalize("NFKD", display).encode("ascii", "ignore").decode()
    name = _NOT_IDENTIFIER.sub("_", folded).strip("_")
    if not name:
        return "agent_" + hashlib.sha256(display.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    if name[0].isdigit():
        name = "_" + name
    return name[:_MAX_LENGTH].rstrip("_")


def route_name(display: str) -> str:
    """What is left of a name when routes are compared: case and punctuation do not count."""
    return "".join(char for char in unicodedata.normalize("NFKC", display).casefold() if char.isalnum())
