"""The problems of one file, while it is checked."""

from __future__ import annotations

from syndicate.config.source import Document
from syndicate.errors import Location, Problem, Severity


class Report:
    """Collects problems by path. A place that YAML itself already complained about gets no second error."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = list(document.problems)
        self._taken = {problem.location for problem in document.problems}

    def error(self, path: tuple[str | int, ...], message: str, code: str, *, key: bool = False) -> None:
        """An error at the value of `path` (or at its key)."""
        self.add(self.document.locate(*path, key=key), message, code)

    def warning(self, path: tuple[str | int, ...], message: str, code: str, *, key: bool = False) -> None:
        """A warning at the value of `path` (or at its key)."""
        self.add(self.document.locate(*path, key=key), message, code, "warning")

    def add(self, place: Location, message: str, code: str, severity: Severity = "error") -> None:
        """A problem at a place of this file; the same one twice counts once."""
        problem = self.document.problem(place, message, code, severity)
        if place not in self._taken and problem not in self.problems:
            self.problems.append(problem)

    @property
    def failed(self) -> bool:
        """Whether there is an error among the problems."""
        return any(problem.severity == "error" for problem in self.problems)
