"""Every error of the package.

    SyndicateError
    ├── UsageError            a wrong name, path or option on a command or a call
    ├── ConfigError           you wrote this: one or more problems in syndicate files
    ├── SettingsError         an environment variable holds a value that cannot be used
    ├── StorageError          the database cannot be reached or used, or refused
    └── RunError              the run failed: which agent, which model, why
        ├── ModelUnavailableError   no key, no extra, no daemon, no weights, no adapter yet
        ├── ModelError              the provider refused or broke off
        ├── FeatureUnavailableError a key of the format that this version cannot run
        ├── StepLimitError          `max_steps` model calls were made in one turn
        ├── OutputSchemaError       the reply does not fit `outputSchema`, after one repair
        ├── EmptyAnswerError        the turn produced no text, twice
        └── TurnStoppedError        cancelled, or over its deadline

Each carries `code` (stable, kebab-case), `category` (`usage`, `config`, `settings`, `storage`, `run`), `message` (what
is wrong), `remediation` (what to do; may be empty) and `retryable`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a text file; line and column count from 1, columns in characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding in a syndicate file. `source_line` is the text of its line, without the line end."""

    location: Location
    message: str
    code: str
    severity: Severity = "error"
    source_line: str = ""

    def __str__(self) -> str:
        label = "" if self.severity == "error" else "warning: "
        return f"{self.location}: {label}{self.message}"


class SyndicateError(Exception):
    """Base of every error that a user of the package is to see."""

    category: ClassVar[str] = "run"
    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str = "", remediation: str = "", retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.remediation = remediation
        self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.message}; {self.remediation}" if self.remediation else self.message


class UsageError(SyndicateError):
    """A name, path or option that means nothing."""

    category = "usage"
    default_code = "usage"


class SettingsError(SyndicateError):
    """An environment variable (or a line of `.env`) that cannot be used."""

    category = "settings"
    default_code = "settings"


class StorageError(SyndicateError):
    """A database that cannot be reached or used, or a value it cannot hold.

    Codes: `connection`, `timeout`, `wrong-url`, `missing-extension`, `missing-privilege`, `not-provisioned`,
    `schema-too-old`, `schema-too-new`, `disk-full`, `bad-value`, `conflict`, `storage`.
    """

    category = "storage"
    default_code = "storage"


class ConfigError(SyndicateError):
    """Problems in syndicate files. `problems` holds all of them, warnings too, in file order."""

    category = "config"
    default_code = "config"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        first = next((p for p in self.problems if p.severity == "error"), self.problems[0])
        self.location = first.location
        super().__init__("\n".join(str(problem) for problem in self.problems), code=first.code)

    @property
    def file(self) -> str:
        """File of the first error."""
        return self.location.file

    @property
    def line(self) -> int:
        """Line of the first error, from 1."""
        return self.location.line

    @property
    def column(self) -> int:
        """Column of the first error, from 1."""
        return self.location.column


class RunError(SyndicateError):
    """A turn that failed. `agent` is a display name, `model` a model id, `location` where the agent was written."""

    category = "run"
    default_code = "run"

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        remediation: str = "",
        retryable: bool = False,
        agent: str = "",
        model: str = "",
        location: Location | None = None,
    ) -> None:
        super().__init__(message, code=code, remediation=remediation, retryable=retryable)
        self.agent = agent
        self.model = model
        self.location = location

    @property
    def headline(self) -> str:
        """Where, who and what, without the remedy."""
        place = f"{self.location}: " if self.location else ""
        who = f"agent {self.agent!r}: " if self.agent else ""
        return f"{place}{who}{self.message}"

    def __str__(self) -> str:
        return f"{self.headline}; {self.remediation}" if self.remediation else self.headline


class ModelUnavailableError(RunError):
    """No model of an agent can be used here: its key, extra, daemon, weights or adapter is missing."""

    default_code = "model-unavailable"


class ModelError(RunError):
    """A provider's refusal or failure.

    Codes: `auth`, `unknown-model`, `bad-request`, `context-too-long`, `rate-limited`, `overloaded`, `server-error`,
    `connection`, `timeout`, `stream-cut`, `malformed`. `retry_after` is the pause in seconds the provider asks for.
    """

    default_code = "server-error"
    retry_after: float | None = None


class FeatureUnavailableError(RunError):
    """A key of the format that this version parses and checks but cannot run."""

    default_code = "not-in-this-version"


class StepLimitError(RunError):
    """The turn made as many model calls as `max_steps` allows."""

    default_code = "STEP_LIMIT"


class OutputSchemaError(RunError):
    """A reply that does not fit the agent's `outputSchema`, after one repair."""

    default_code = "output-schema"


class EmptyAnswerError(RunError):
    """The answering agent produced no text, twice."""

    default_code = "empty-answer"


class TurnStoppedError(RunError):
    """The turn was stopped from outside: `CANCELLED`, or `DEADLINE`."""

    default_code = "CANCELLED"


class MissingExtraError(ModelUnavailableError):
    """An optional dependency that is not installed."""

    default_code = "missing-extra"

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the {extra!r} extra",
            remediation=f"pip install 'syndicate-agents[{extra}]'",
        )
        self.extra = extra
