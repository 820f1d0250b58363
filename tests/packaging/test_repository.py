"""Rules that every file of the repository keeps."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Written in pieces, or this file would be the first to break the rule.
FORBIDDEN = {
    "a registry's host": "|".join(
        re.escape(".".join(parts))
        for parts in (
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("debian", "org"),
            ("golang", "org"),
        )
    ),
    "an index of packages": "--(extra-)?" + "index-url",
    "a path of one machine": r"(?<![\w.])/(work|root|opt/(pypi|wheels)|tmp/(v0|brief))/",
    "a folder beside the repository": r"\.\./" + "shared",
}


def tracked() -> list[Path]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def texts() -> Iterator[tuple[Path, str]]:
    for path in tracked():
        yield path.relative_to(ROOT), path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found = [f"{path}: {match[0]}" for path, text in texts() for match in pattern.finditer(text)]
    assert not found


def test_functions_stay_short_and_modules_small() -> None:
    long = []
    for path in (ROOT / "syndicate").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if source.count("\n") > 600:
            long.append(f"{path.relative_to(ROOT)}: {source.count(chr(10))} lines")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > 60:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has {length} lines")
    assert not long


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for path, text in texts():
        if path.suffix != ".md":
            continue
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", text):
            if not (ROOT / path.parent / target).exists():
                broken.append(f"{path}: {target}")
    assert not broken
