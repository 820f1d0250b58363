"""Which room imports which: the table of the house, held against the code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import syndicate

PACKAGE = Path(syndicate.__file__).parent
EVERYWHERE = {"errors", "settings"}
MAY_IMPORT = {
    "errors": set[str](),
    "settings": {"errors"},
    "config": set[str](),
    "tools": {"models"},
    "models": set[str](),
    "storage": set[str](),
    "graph": {"config", "models", "tools"},
    "turn": {"config", "graph", "models", "storage", "tools"},
    "testing": {"models"},
    "cli": {"config", "graph", "models", "storage", "tools", "turn"},
}
OUTSIDE = {"__init__", "__main__"}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(module), level=0) if module.startswith("syndicate."):
                yield module.split(".")[1]
            case ast.ImportFrom(module="syndicate", level=0):
                yield "__init__"
            case ast.Import(names=names):
                yield from (name.name.split(".")[1] for name in names if name.name.startswith("syndicate."))
            case _:
                pass


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_room_may(path: Path):
    room = room_of(path)
    if room in OUTSIDE:
        return
    allowed = MAY_IMPORT[room] | {room} | (EVERYWHERE if room != "errors" else set())
    if room == "cli":
        allowed |= {"__init__"}
    assert set(imported_rooms(path)) <= allowed


def test_only_settings_reads_the_environment():
    readers = {
        room_of(path)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in ("environ", "getenv")
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    }
    assert readers <= {"settings"}
