"""The turn that is running, as the agents see it.

The turn's runner sets `CURRENT`; outside a turn (an agent run by a bare ADK runner) it is None and nothing is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from syndicate.graph.agents import AgentInfo, FileLimit

if TYPE_CHECKING:
    from google.genai import types

Exchange = Sequence["types.Content"]
"""One past turn as a model reads it: the user's message, then what the orchestrator did and said."""


class TurnScope(Protocol):
    """What a turn offers to the agents that run in it."""

    @property
    def history(self) -> Sequence[Exchange]:
        """Past turns for the orchestrator, oldest first."""
        ...

    @property
    def history_is_partial(self) -> bool:
        """Whether the conversation has turns that are older than `history`."""
        ...

    @property
    def current_date(self) -> str:
        """The user's date, like `November 30, 2026`."""
        ...

    @property
    def failure(self) -> Exception | None:
        """The error that ends this turn, once there is one."""
        ...

    def fail(self, error: Exception) -> None:
        """End the turn with this error, however the exception travels."""
        ...

    def count_call(self, agent: AgentInfo, limits: Sequence[FileLimit]) -> None:
        """One more model call. Raises `StepLimitError` when one of the limits does not allow it."""
        ...

    def add_usage(
        self, agent: AgentInfo, model_id: str, usage: types.GenerateContentResponseUsageMetadata | None
    ) -> None:
        """Add what a model reported for one whole reply; None when it reported nothing."""
        ...

    def text(self, agent: AgentInfo, delta: str) -> None:
        """A piece of text of a reply that is being made."""
        ...

    def thinking(self, agent: AgentInfo, delta: str) -> None:
        """A piece of an agent's thinking."""
        ...

    def replied(self, agent: AgentInfo, text: str) -> None:
        """A reply is whole, and this is its text: what was not shown of it is to be shown now."""
        ...

    def status(self, agent: AgentInfo, text: str, *, warning: bool = False) -> None:
        """A line for the waiting person; a `warning` says that something is not as it was asked for."""
        ...

    def tool_started(self, agent: AgentInfo, call_id: str, name: str, args: Mapping[str, Any]) -> None:
        """A tool call or delegation begins."""
        ...

    def tool_finished(self, agent: AgentInfo, call_id: str, name: str, result: object, error: str | None) -> None:
        """It ended, with a result or an error. Of one that was told already, nothing more is told."""
        ...


CURRENT: ContextVar[TurnScope | None] = ContextVar("syndicate_turn", default=None)
"""The turn in which this task runs."""

LIMITS: ContextVar[tuple[FileLimit, ...]] = ContextVar("syndicate_limits", default=())
"""The files on whose account this task spends: the nested ones it was delegated through, outermost first."""
