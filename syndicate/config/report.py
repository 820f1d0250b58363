"""The problems of one file, while it is checked."""

from __future__ import annotations

from syndicate.config.limits import MAX_PROBLEMS
from syndicate.config.source import Document, KeyPath, cut_short
from syndicate.errors import Location, Problem, Severity


class TooManyProblemsError(Exception):
    """A file has more than `MAX_PROBLEMS` errors: the rest of it is not looked at."""


class Report:
    """Collects problems by path, each once. A place that YAML itself complained about gets no second one."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._problems: dict[Problem, None] = dict.fromkeys(document.problems)
        self._taken = {problem.location for problem in document.problems}
        self._left: dict[Severity, int] = {"error": MAX_PROBLEMS, "warning": MAX_PROBLEMS}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was found so far, in that order."""
        return tuple(self._problems)

    @property
    def failed(self) -> bool:
        """Whether there is an error among the problems."""
        return any(problem.severity == "error" for problem in self._problems)

    @property
    def wants_warnings(self) -> bool:
        """Whether another warning would be kept, or noted as one too many."""
        return self._left["warning"] >= 0

    def error(self, path: KeyPath, message: str, code: str, *, key: bool = False) -> None:
        """An error at the value of `path` (or at its key)."""
        self.add(self.document.locate(*path, key=key), message, code)

    def warning(self, path: KeyPath, message: str, code: str, *, key: bool = False) -> None:
        """A warning at the value of `path` (or at its key)."""
        self.add(self.document.locate(*path, key=key), message, code, "warning")

    def add(self, place: Location, message: str, code: str, severity: Severity = "error") -> None:
        """A problem at a place of this file.

        What is over the limit is said once instead; an error that is raises `TooManyProblemsError`.
        """
        problem = self.document.problem(place, message, code, severity)
        if place in self._taken or problem in self._problems or self._left[severity] < 0:
            return
        kept = problem if self._left[severity] else cut_short(self.document.source, severity)
        self._problems[kept] = None
        self._left[severity] -= 1
        if severity == "error" and self._left[severity] < 0:
            raise TooManyProblemsError
