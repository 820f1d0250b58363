"""A syndicate file, loaded with every check this version has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syndicate.config import LoadedSyndicate
    from syndicate.config.schema import Scalar
    from syndicate.settings import Settings


def load_checked(
    name: str, settings: Settings, *, bindings: Mapping[str, Scalar] | None = None, strict: bool = False
) -> LoadedSyndicate:
    """Load by name or path. Raises `ConfigError` with all problems, `UsageError` for what names no file."""
    from syndicate.config import load
    from syndicate.graph.checks import default_checks

    return load(name, settings=settings, checks=default_checks(settings), bindings=bindings or {}, strict=strict)


def to_type(loaded: LoadedSyndicate, settings: Settings) -> str:
    """How a shell is told to open this file again: by its bare name where that finds it, else by its path."""
    import shlex

    from syndicate.config import find
    from syndicate.errors import UsageError

    try:
        by_name = find(loaded.name, settings).samefile(loaded.path)
    except (UsageError, OSError):
        by_name = False
    return shlex.quote(loaded.name if by_name else shown_path(loaded.path))


def shown_path(path: Path) -> str:
    """The path as a person would type it: relative when it is below the working directory."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):  # the working directory may be gone
        return str(path)
