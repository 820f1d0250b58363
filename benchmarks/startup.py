"""What it costs to import the package and to ask for help."""

from __future__ import annotations

import sys
from functools import partial

from benchmarks.process import cpu_seconds, medians, script
from benchmarks.report import Row

RUNS = 9


def import_cost() -> Row:
    """Processor time of `import syndicate`, above that of an interpreter that does nothing."""
    bare, imported = medians(
        [partial(cpu_seconds, [sys.executable, "-c", code]) for code in ("pass", "import syndicate")], RUNS
    )
    return Row(
        "`import syndicate` above `pass`, CPU",
        f"{1000 * (imported - bare):.0f} ms",
        f"{1000 * bare:.0f} ms",
        "≤ 60 ms",
        1000 * (imported - bare) <= 60,
    )


def help_cost() -> Row:
    """Processor time of `syndicate --help`, and of `adk --help`."""
    ours, theirs = medians([partial(cpu_seconds, [script(name), "--help"]) for name in ("syndicate", "adk")], RUNS)
    return Row(
        "`syndicate --help`, CPU; beside it `adk --help`",
        f"{ours:.2f} s ({ours / theirs:.2f}×)",
        f"{theirs:.2f} s",
        "≤ 0.35 s",
        ours <= 0.35,
    )
