"""`make bench`: every number in one run, as a Markdown table. `--write` puts it into README.md."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from benchmarks.adapters import delta_costs
from benchmarks.chat import first_token
from benchmarks.report import Row, table
from benchmarks.startup import help_cost, import_cost
from benchmarks.storage import storage_costs
from benchmarks.turn import turn_cost
from benchmarks.validate import validate_cost

README = Path(__file__).parent.parent / "README.md"
REGION = re.compile(r"(?<=<!-- benchmarks -->\n).*(?=<!-- /benchmarks -->)", re.DOTALL)


def rows() -> list[Row]:
    """All measurements, the quiet ones first."""
    return [import_cost(), help_cost(), validate_cost(), turn_cost(), *delta_costs(), *storage_costs(), *first_token()]


def main(args: list[str]) -> int:
    """Print the table; exit 1 when a target is missed."""
    measured = rows()
    text = table(measured)
    print(text)
    if "--write" in args:
        page = README.read_text(encoding="utf-8")
        README.write_text(REGION.sub(lambda _: f"{text}\n", page), encoding="utf-8")
    return 0 if all(row.reached for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
