"""The console scripts of an installed wheel and of an editable install, run from another folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = {path.stem for path in (ROOT / "config/agents/examples").glob("*.yaml")}
SETTINGS = ("SYNDICATE_", "PYTHONPATH", "VIRTUAL_ENV")


def environment() -> Mapping[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}


def run(program: Path | str, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *args], cwd=cwd, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def wheel_scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of a fresh environment with the built wheel; its dependencies are this environment's."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    assert (made := run(sys.executable, *build, cwd=folder)).returncode == 0, made.stderr
    venv = folder / "venv"
    assert (made := run(sys.executable, "-m", "venv", "--without-pip", str(venv), cwd=folder)).returncode == 0, (
        made.stderr
    )
    (wheel,) = folder.glob("*.whl")
    python = venv / "bin" / "python"
    pip = ["-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    assert (made := run(sys.executable, *pip, cwd=folder)).returncode == 0, made.stderr
    # A plain path in a .pth file is added as it is: this environment's own .pth files, the editable one, are not read.
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


@pytest.fixture(params=["wheel", "editable"])
def scripts(request: pytest.FixtureRequest) -> Path:
    """Where the console scripts are, for each way to install the package."""
    if request.param == "wheel":
        return request.getfixturevalue("wheel_scripts")
    return Path(sysconfig.get_path("scripts"))


def test_the_wheel_is_what_runs(wheel_scripts: Path, tmp_path: Path) -> None:
    where = run(wheel_scripts / "python", "-c", "import syndicate; print(syndicate.__file__)", cwd=tmp_path)
    assert where.stdout.startswith(str(wheel_scripts.parent))


@pytest.mark.parametrize("script", ["syndicate", "syndicate-chat"])
def test_help(scripts: Path, script: str, tmp_path: Path) -> None:
    ran = run(scripts / script, "--help", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"Usage: {script}")


def test_the_shipped_syndicates_are_found(scripts: Path, tmp_path: Path) -> None:
    ran = run(scripts / "syndicate", "list", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    for name in EXAMPLES:
        assert f'"{name}"' in ran.stdout
    json.loads(ran.stdout)


def test_a_shipped_syndicate_is_valid_by_its_bare_name(scripts: Path, tmp_path: Path) -> None:
    ran = run(scripts / "syndicate", "validate", "tutor", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_database_folder_ships(wheel_scripts: Path) -> None:
    (shipped,) = wheel_scripts.parent.glob("lib/python*/site-packages/syndicate/_shipped/db/README.md")
    assert shipped.read_text() == (ROOT / "db/README.md").read_text()
