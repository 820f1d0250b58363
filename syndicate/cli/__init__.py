"""The command line: one module a verb, rendering only."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["chat_main", "main"]


def main(args: Sequence[str] | None = None) -> int:
    """The `syndicate` command. Returns its exit code: 0 done, 1 problems found, 2 usage, 130 interrupted."""
    from syndicate.cli.app import group
    from syndicate.cli.boundary import run

    return run(group, sys.argv[1:] if args is None else args, "syndicate")


def chat_main(args: Sequence[str] | None = None) -> int:
    """The `syndicate-chat` command: `syndicate chat` under its own name."""
    from syndicate.cli.boundary import run
    from syndicate.cli.chat import command

    return run(command, sys.argv[1:] if args is None else args, "syndicate-chat")
