"""One turn while it runs: what its agents report, as events in order."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from google.genai import types

from syndicate.errors import RunError
from syndicate.graph.agents import AgentInfo, FileLimit
from syndicate.graph.instructions import format_date
from syndicate.graph.scope import Exchange
from syndicate.turn.events import (
    Answer,
    Failed,
    Status,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnEvent,
)
from syndicate.turn.limits import Limits, StepCounter
from syndicate.turn.transcript import History
from syndicate.turn.usage import UsageMeter

PREVIEW_CHARACTERS = 200


class RunningTurn:
    """The turn's side of `graph.scope.TurnScope`; `events()` yields what happens until `finish()`."""

    def __init__(self, orchestrator: AgentInfo, timezone: str, limits: Limits) -> None:
        self._orchestrator = orchestrator
        self._timezone = timezone
        self._history = History((), False)
        self._queue: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
        self._steps = StepCounter(limits)
        self._usage = UsageMeter()
        self._answer: list[str] = []
        self._reply = ""
        self._blank = ""
        self._started: dict[str, float] = {}
        self._failure: Exception | None = None
        self.invocation_id = ""

    async def events(self) -> AsyncIterator[TurnEvent]:
        """Everything that happens in the turn; ends after the usage."""
        while (event := await self._queue.get()) is not None:
            yield event

    def finish(self, error: Exception | None = None) -> None:
        """Close the turn: the answer or the failure, then the usage."""
        error = self._failure or error
        if error is None:
            self._emit(Answer("".join(self._answer), agent=self._orchestrator.name))
        else:
            self._emit(failed(error, self._orchestrator))
        self._emit(self._usage.total(self._steps.calls))
        self._queue.put_nowait(None)

    @property
    def unstored(self) -> str:
        """Text of a reply that was shown and broke off before it was whole."""
        return self._reply

    def remember(self, history: History) -> None:
        """What the orchestrator is to read of the past."""
        self._history = history

    # What agents read and report (graph.scope.TurnScope).

    @property
    def history(self) -> Sequence[Exchange]:
        return self._history.exchanges

    @property
    def history_is_partial(self) -> bool:
        return self._history.is_partial

    @property
    def current_date(self) -> str:
        return format_date(datetime.now(ZoneInfo(self._timezone)))

    @property
    def failure(self) -> Exception | None:
        return self._failure

    def fail(self, error: Exception) -> None:
        self._failure = self._failure or error

    def count_call(self, agent: AgentInfo, limits: Sequence[FileLimit]) -> None:
        self._steps.count(agent, limits)

    def add_usage(
        self, agent: AgentInfo, model_id: str, usage: types.GenerateContentResponseUsageMetadata | None
    ) -> None:
        self._usage.add(model_id, usage)

    def text(self, agent: AgentInfo, delta: str) -> None:
        if not agent.is_root:
            return
        if not self._reply:
            self._blank += delta  # blank space alone may turn out to be an empty reply
            if not self._blank.strip():
                return
            if self._answer:
                self._say("\n\n")  # a reply after a tool call begins a paragraph
            delta, self._blank = self._blank, ""
        self._reply += delta
        self._say(delta)

    def replied(self, agent: AgentInfo, text: str) -> None:
        if not agent.is_root:
            return
        self._blank = ""
        if not self._reply:
            self.text(agent, text)
        self._reply = self._blank = ""

    def thinking(self, agent: AgentInfo, delta: str) -> None:
        self._emit(Thinking(delta, agent=agent.name))

    def status(self, agent: AgentInfo, text: str, *, warning: bool = False) -> None:
        self._emit(Status(text, warning, agent=agent.name))

    def tool_started(self, agent: AgentInfo, call_id: str, name: str, args: Mapping[str, Any]) -> None:
        self._started[call_id] = time.monotonic()
        self._emit(ToolStarted(name, dict(args), call_id, agent=agent.name))

    def tool_finished(self, agent: AgentInfo, call_id: str, name: str, result: object, error: str | None) -> None:
        began = self._started.pop(call_id, None)
        if began is None:
            return  # told already
        seconds = time.monotonic() - began
        preview = _preview(result if error is None else error)
        self._emit(ToolFinished(name, error is None, preview, seconds, call_id, agent=agent.name))

    def _say(self, delta: str) -> None:
        self._answer.append(delta)
        self._emit(Text(delta, agent=self._orchestrator.name))

    def _emit(self, event: TurnEvent) -> None:
        self._queue.put_nowait(event)


def failed(error: Exception, orchestrator: AgentInfo) -> Failed:
    """The event for an exception that ended a turn."""
    if isinstance(error, RunError):
        agent = error.agent or orchestrator.name
        return Failed(error.code, error.headline, error.remediation, error.retryable, error, agent=agent)
    message = f"{type(error).__name__}: {error}"
    return Failed("internal", message, "this looks like a bug: please report it", False, error, agent=orchestrator.name)


def _preview(result: object) -> str:
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
    return text if len(text) <= PREVIEW_CHARACTERS else text[: PREVIEW_CHARACTERS - 1] + "…"
