"""Load a syndicate: find, read, bind, check and fit its file and all it nests, reporting all problems at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from syndicate.config.binding import bind_data, bind_file, file_values
from syndicate.config.bindings import check_bindings, check_declared
from syndicate.config.checks import Checks
from syndicate.config.folders import SUFFIXES, Jail, NotFoundError, find
from syndicate.config.limits import MAX_FILES, MAX_TOTAL_BYTES
from syndicate.config.loaded import LoadedSyndicate
from syndicate.config.questions import ask
from syndicate.config.raw import Data, agents, has, is_mapping, subagents, text
from syndicate.config.report import Report, TooManyProblemsError
from syndicate.config.schema import Scalar
from syndicate.config.shape import fit
from syndicate.config.source import Document
from syndicate.config.team_rules import check_rules
from syndicate.config.text import SourceText, UnreadableError, display, read
from syndicate.errors import ConfigError, Location, Problem, UsageError
from syndicate.settings import Settings

_BEGINNING = "a syndicate file is a mapping that begins with 'syndicate_name: …'"


def load(
    name_or_path: str | Path,
    *,
    settings: Settings,
    checks: Checks | None = None,
    bindings: Mapping[str, Scalar] | None = None,
    strict: bool = False,
) -> LoadedSyndicate:
    """Load a syndicate and all it nests.

    Raises `ConfigError` with every problem of every file, `UsageError` for a name that is nowhere, a file that cannot
    be opened and a binding that no file declares. `strict` makes every warning an error.
    """
    given = dict(bindings or {})
    check_bindings(given)
    path = find(name_or_path, settings)
    loading = _Loading(Jail.around(path, settings), checks or Checks(), given)
    loaded = loading.root(path)
    problems = loading.sorted_problems(strict=strict)
    if loaded is None or any(problem.severity == "error" for problem in problems):
        raise ConfigError(problems)
    check_declared(given, loading.declared, display(path))
    return replace(loaded, problems=problems)


@dataclass(frozen=True)
class _Opened:
    """A file being loaded. References are resolved beside `folder`; `chain` are the real paths from the root to it."""

    path: Path
    folder: Path
    chain: tuple[Path, ...]
    report: Report


class _Loading:
    """One run of the loader: what has been read so far, and every problem found."""

    def __init__(self, jail: Jail, checks: Checks, bindings: Mapping[str, Scalar]) -> None:
        self.declared: set[str] = set()
        self._jail = jail
        self._checks = checks
        self._bindings = bindings
        self._loaded: dict[Path, LoadedSyndicate | None] = {}
        self._order: dict[str, int] = {}
        self._problems: list[Problem] = []
        self._size = 0

    def root(self, path: Path) -> LoadedSyndicate | None:
        """Load the file named by the user; one that cannot be opened is a `UsageError`."""
        try:
            source = read(path)
        except UnreadableError as error:
            if not error.line:
                raise UsageError(f"{display(path)} {error.message}", code=error.code) from None
            self._problems.append(_unreadable(path, error))
            return None
        return self._load(Path(os.path.abspath(path)), path.parent.resolve(), source, (path.resolve(),))

    def sorted_problems(self, *, strict: bool) -> tuple[Problem, ...]:
        """All problems, by file in the order the files were reached, then by place; each once."""

        def rank(problem: Problem) -> tuple[int, str, int, int]:
            place = problem.location
            return self._order.get(place.file, len(self._order)), place.file, place.line, place.column

        unique = dict.fromkeys(self._problems)
        severe = (replace(problem, severity="error") if strict else problem for problem in unique)
        return tuple(sorted(severe, key=rank))

    def _load(self, path: Path, folder: Path, source: SourceText, chain: tuple[Path, ...]) -> LoadedSyndicate | None:
        self._count(source)
        document = Document(source)
        file = _Opened(path, folder, chain, Report(document))
        loaded = None
        if is_mapping(document.data):
            with suppress(TooManyProblemsError):
                loaded = self._mapping(file, document.data)
        elif not document.problems:
            written = "the file is empty" if document.data is None else "this is no mapping"
            file.report.error((), f"{written}; {_BEGINNING}", "no-mapping")
        self._problems.extend(file.report.problems)
        self._loaded[chain[-1]] = loaded
        return loaded

    def _mapping(self, file: _Opened, written: Data) -> LoadedSyndicate | None:
        report = file.report
        values = file_values(written, self._bindings, report)
        self.declared.update(values)
        data = bind_data(written, values, report)
        check_rules(data, report)
        ask(self._checks, data, report)
        references = self._references(file, data)
        self._put_instructions(file, data, values)
        config = fit(data, report)
        if config is None or report.failed:
            return None
        return LoadedSyndicate(file.path, file.path.stem, config, references, (), report.document)

    def _references(self, file: _Opened, data: Data) -> dict[int, LoadedSyndicate]:
        references: dict[int, LoadedSyndicate] = {}
        for path, agent in subagents(data):
            written = text(agent, "yaml_reference")
            place = file.report.document.locate(*path, "yaml_reference")
            loaded = self._nested(file, written, place) if written else None
            if loaded is not None:
                references[int(path[1])] = loaded
        return references

    def _nested(self, file: _Opened, written: str, place: Location) -> LoadedSyndicate | None:
        """The file of one `yaml_reference`; None when it, or something below it, is wrong."""
        real = self._resolve(file, written, ("",) if written.endswith(SUFFIXES) else (".yaml", ""), place)
        if real is None:
            return None
        if real in file.chain:
            message = f"cycle: {_shown_chain((*file.chain, real))}; take one of these references out"
            file.report.add(place, message, "cycle")
            return None
        if real not in self._loaded:
            if len(self._loaded) + len(file.chain) > MAX_FILES:
                file.report.add(place, f"more than {MAX_FILES} files are nested; nest fewer", "too-large")
                return None
            source = self._read(file, real, written, place)
            self._loaded[real] = self._load(real, real.parent, source, (*file.chain, real)) if source else None
        return self._loaded[real]

    def _put_instructions(self, file: _Opened, data: Data, values: Mapping[str, Scalar]) -> None:
        """Put the bound text of each `instruction_file` where an `instruction` would stand."""
        for path, agent in agents(data):
            written = text(agent, "instruction_file")
            if not written or has(agent, "instruction"):
                continue
            place = file.report.document.locate(*path, "instruction_file")
            real = self._resolve(file, written, ("",), place)
            source = self._read(file, real, written, place) if real else None
            if source is None:
                continue
            self._count(source)
            if not source.text.strip():
                file.report.add(place, f"{written!r} is empty; write the instruction into it", "empty-file")
                continue
            agent["instruction"], problems = bind_file(source, values)
            self._problems.extend(problems)

    def _resolve(self, file: _Opened, written: str, suffixes: tuple[str, ...], place: Location) -> Path | None:
        try:
            return self._jail.resolve(written, file.folder, suffixes)
        except NotFoundError as error:
            file.report.add(place, str(error), error.code)
            return None

    def _read(self, file: _Opened, real: Path, written: str, place: Location) -> SourceText | None:
        """Text of a file that another one names. What hinders is a problem in that file, else at its name."""
        try:
            source = read(real)
        except UnreadableError as error:
            if error.line:
                self._problems.append(_unreadable(real, error))
            else:
                file.report.add(place, f"{written!r} {error.message}", error.code)
            return None
        if self._size + len(source.text) > MAX_TOTAL_BYTES:
            message = f"the files of one syndicate may hold {MAX_TOTAL_BYTES >> 20} MB together; this one is too much"
            file.report.add(place, message, "too-large")
            return None
        return source

    def _count(self, source: SourceText) -> None:
        self._order.setdefault(source.file, len(self._order))
        self._size += len(source.text)


def _unreadable(path: Path, error: UnreadableError) -> Problem:
    return Problem(Location(display(path), error.line, error.column), f"the file {error.message}", error.code)


def _shown_chain(chain: tuple[Path, ...]) -> str:
    """The files of a cycle, from the one it comes back to, named from the root file's folder."""
    start = chain.index(chain[-1])
    root = chain[0].parent
    names = (path.relative_to(root) if path.is_relative_to(root) else display(path) for path in chain[start:])
    return " → ".join(str(name) for name in names)
