"""Where files are looked for, and what may be read at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from syndicate.config.shipped import shipped_agents
from syndicate.config.suggestions import closest, did_you_mean
from syndicate.config.text import display
from syndicate.errors import UsageError
from syndicate.settings import Settings

Root = Literal["agents", "examples", "templates", "shipped"]
SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Available:
    """A syndicate that a bare name finds."""

    name: str
    path: Path
    root: Root


class NotFoundError(Exception):
    """A referenced file that is nowhere (`missing-file`), or outside the folders that may be read (`outside`)."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def search_folders(settings: Settings) -> tuple[tuple[Path, Root], ...]:
    """Folders of a bare name, in order: the agents folder, its examples and templates, then the shipped ones."""
    own, shipped = settings.syndicate_agents_dir, shipped_agents()
    return (
        (own, "agents"),
        (own / "examples", "examples"),
        (own / "templates", "templates"),
        (shipped, "shipped"),
        (shipped / "examples", "shipped"),
        (shipped / "templates", "shipped"),
    )


def available(settings: Settings) -> tuple[Available, ...]:
    """Every syndicate a bare name finds, each name once, in the order of the folders and then of the names."""
    found: dict[str, Available] = {}
    for folder, root in search_folders(settings):
        for path in _files(folder):
            if path.suffix == ".yaml":
                found.setdefault(path.stem, Available(path.stem, path, root))
    return tuple(found.values())


def find(name_or_path: str | Path, settings: Settings) -> Path:
    """The file of `name`, `name.yaml` or a path; `UsageError` with suggestions when it is nowhere."""
    written = str(name_or_path)
    if not written.strip() or "\x00" in written:
        raise UsageError("a syndicate's name is empty", remediation="name one, or give the path of a file")
    path = Path(os.path.expanduser(written))
    bare = not {"/", os.sep} & set(written) and written not in (".", "..")
    if not bare or (path.suffix in SUFFIXES and _exists(path)):
        return _existing(path)
    name = path.name if path.suffix in SUFFIXES else f"{path.name}.yaml"
    for folder, _ in search_folders(settings):
        if _exists(folder / name):
            return folder / name
    if _exists(path):
        return path
    raise _unknown(written, settings)


def _existing(path: Path) -> Path:
    """A path as written, or with `.yaml` put behind it."""
    for candidate in (path, path.with_name(f"{path.name}.yaml")) if path.name else (path,):
        if _exists(candidate):
            return candidate
    near = _near_file(path.name, (other.name for other in _files(path.parent)))
    raise UsageError(f"{display(path)} does not exist{near}", code="missing-file", remediation=_look(near))


def _unknown(written: str, settings: Settings) -> UsageError:
    known = [syndicate.name for syndicate in available(settings)]
    here = Path(written).with_name(Path(written).name.removesuffix(".yaml") + ".yaml")
    hint = f"; did you mean './{here.name}'?" if _exists(here) else did_you_mean(written.removesuffix(".yaml"), known)
    return UsageError(f"no syndicate is called {written!r}{hint}", code="unknown-syndicate", remediation=_look(hint))


def _look(hint: str) -> str:
    return "" if hint else "see `syndicate list`, or give the path of a file"


def _exists(path: Path) -> bool:
    """Whether something is there, whatever it is; what may not be looked at counts as there."""
    try:
        path.stat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return os.path.lexists(path)
    return True


def _files(folder: Path) -> list[Path]:
    """Syndicate files of a folder, sorted; none when it cannot be listed."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    except (OSError, ValueError):
        return []


@dataclass(frozen=True)
class Jail:
    """The folders a syndicate may read: the one of its root file, the agents folder and the shipped ones."""

    roots: tuple[Path, ...]
    folders: tuple[Path, ...]

    @classmethod
    def around(cls, root_file: Path, settings: Settings) -> Jail:
        """The jail of a syndicate that was opened as `root_file`."""
        folders = tuple(folder for folder, _ in search_folders(settings))
        roots = (root_file.parent, settings.syndicate_agents_dir, shipped_agents())
        return cls(tuple(dict.fromkeys(real for root in roots if (real := _real(root)))), folders)

    def resolve(self, written: str, beside: Path, suffixes: tuple[str, ...] = ("",)) -> Path:
        """The real path of a reference: beside the file that names it, else in the agents folders.

        Raises `NotFoundError`. What lies outside the roots is not even looked at.
        """
        outside = False
        for candidate in self._candidates(written, beside, suffixes):
            real = _real(candidate)
            if real is None:
                continue
            if not any(real.is_relative_to(root) for root in self.roots):
                outside = True
            elif _exists(real):
                return real
        if outside:
            message = f"{written!r} lies outside the folders that may be read ({self._shown_roots()}); move it into one"
            raise NotFoundError(message, "outside")
        hint = self._near(written, beside) or "; correct the path"
        raise NotFoundError(f"{written!r} does not exist{hint}", "missing-file")

    def _candidates(self, written: str, beside: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
        for folder in (beside, *self.folders):
            for suffix in suffixes:
                yield folder / f"{written}{suffix}"

    def _shown_roots(self) -> str:
        return ", ".join(display(root) for root in self.roots if root.is_dir())

    def _near(self, written: str, beside: Path) -> str:
        path = Path(written)
        folder = _real(beside / path.parent)
        if folder is None or not any(folder.is_relative_to(root) for root in self.roots):
            return ""
        return _near_file(path.name, _names(folder))


def _near_file(name: str, others: Iterable[str]) -> str:
    """A suggestion among files of the same kind: an ending they share does not make two names alike."""
    suffix = Path(name).suffix
    stems = {Path(other).stem: other for other in others if not suffix or Path(other).suffix == suffix}
    word = closest(Path(name).stem, stems)
    return f"; did you mean {stems[word]!r}?" if word is not None else ""


def _names(folder: Path) -> Iterable[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []


def _real(path: Path) -> Path | None:
    """The path with symbolic links resolved; None when it is no path at all."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None
