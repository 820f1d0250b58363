"""`scripts/install` says what is missing, knows what is there, and keeps standard output clean."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What the script reads, in a folder of its own."""
    for name in ("scripts/install", "pyproject.toml", "requirements/local.txt", "requirements/dev.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def install(project: Path, tier: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [project / "scripts/install", tier],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def installed(project: Path, tier: str) -> None:
    """Leave what an install leaves: an interpreter, and a stamp with the checksum of what it was made from."""
    (project / ".venv/bin").mkdir(parents=True, exist_ok=True)
    if not (project / ".venv/bin/python").exists():
        (project / ".venv/bin/python").symlink_to(sys.executable)
    made_from = (project / "pyproject.toml").read_bytes() + (project / f"requirements/{tier}.txt").read_bytes()
    checksum = subprocess.run(["cksum"], input=made_from, capture_output=True, check=True).stdout
    (project / f".venv/{tier}.stamp").write_bytes(checksum)


def test_without_a_fit_python_it_says_what_to_do(project: Path) -> None:
    ran = install(project, "local", PYTHON="/nowhere/python3")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.strip() == (
        "no Python 3.11 or newer found (PYTHON is '/nowhere/python3'): install one, or name it with"
        " PYTHON=/path/to/python3"
    )


@pytest.mark.parametrize(("there", "wanted"), [("local", "local"), ("dev", "dev"), ("dev", "local")])
def test_what_is_installed_is_not_installed_again(project: Path, there: str, wanted: str) -> None:
    installed(project, there)
    ran = install(project, wanted, PYTHON="/nowhere/python3")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize("change", ["pyproject.toml", "requirements/local.txt"])
def test_a_change_of_dependencies_installs_again(project: Path, change: str) -> None:
    installed(project, "local")
    with (project / change).open("a") as file:
        file.write("# changed\n")
    (project / ".venv/bin/python").unlink()
    assert "no Python 3.11" in install(project, "local", PYTHON="/nowhere/python3").stderr


def test_the_chats_packages_do_not_do_for_the_tests(project: Path) -> None:
    installed(project, "local")
    (project / ".venv/bin/python").unlink()
    assert install(project, "dev", PYTHON="/nowhere/python3").returncode == 1
