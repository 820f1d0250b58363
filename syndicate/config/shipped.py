"""Where the syndicates that ship with the package are."""

from __future__ import annotations

from pathlib import Path

import syndicate


def shipped_agents() -> Path:
    """The shipped agents folder: inside the package in a wheel, the checkout's `config/agents` when editable."""
    package = Path(syndicate.__path__[0])
    inside = package / "_shipped" / "agents"
    return inside if inside.is_dir() else package.parent / "config" / "agents"
