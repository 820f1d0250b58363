"""`python -m syndicate`: the same as the `syndicate` command."""

from __future__ import annotations

import sys

from syndicate.cli import main

if __name__ == "__main__":
    sys.exit(main())
