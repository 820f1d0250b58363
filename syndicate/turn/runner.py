"""Run one turn. Every surface goes through `run_turn`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from itertools import takewhile

from google.adk.agents.run_config import RunConfig, ToolThreadPoolConfig
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.session import Session
from google.genai import types

from syndicate.errors import TurnStoppedError, UsageError
from syndicate.graph.compiler import CompiledSyndicate
from syndicate.graph.scope import CURRENT
from syndicate.turn.events import TurnEvent
from syndicate.turn.limits import Limits
from syndicate.turn.running import RunningTurn
from syndicate.turn.services import Services
from syndicate.turn.timezone import checked_zone, is_zone
from syndicate.turn.transcript import MAX_EVENTS, delegate_history

TIMEZONE_STATE = "user:timezone"

LARGE_RESULT = 32 * 1024
"""Bytes of a tool's result that a finished turn keeps; a larger one is a marker from then on."""

# Past turns reach the model as the turn projects them, so ADK itself loads none; it streams nothing, for the agents'
# models report to the turn directly; calls are counted there too.
_RUN_CONFIG = RunConfig(
    get_session_config=GetSessionConfig(num_recent_events=0),
    max_llm_calls=10**9,
    tool_thread_pool_config=ToolThreadPoolConfig(),
)


async def run_turn(
    compiled: CompiledSyndicate,
    message: str,
    *,
    user_id: str,
    session_id: str,
    services: Services,
    timezone: str | None = None,
    limits: Limits | None = None,
    cancel: asyncio.Event | None = None,
) -> AsyncGenerator[TurnEvent]:
    """Answer `message` in a session, which is made if it is not there.

    Yields events as they happen: at the end an `Answer` or a `Failed`, then the `Usage`. `timezone` is an IANA name;
    without one, the user's last or UTC. Setting `cancel`, or closing the iterator, stops the model call in flight.
    Raises only `UsageError`, for an empty message or an unknown time zone, before anything is run.
    """
    if not message.strip():
        raise UsageError("the message is empty", remediation="write something to answer")
    if timezone is not None:
        checked_zone(timezone)
    session = await _session(services, compiled.name, user_id, session_id)
    if _broke_off(session):
        await services.end_turn(session)
        session = await _session(services, compiled.name, user_id, session_id)
    zone = timezone or _kept_zone(session)
    limits = limits or Limits()
    turn = RunningTurn(compiled.orchestrator, zone, limits)
    turn.remember(delegate_history(session.events, compiled.root.name))
    state = {TIMEZONE_STATE: zone} if zone != session.state.get(TIMEZONE_STATE) else None
    driver = asyncio.create_task(_drive(turn, compiled, message, session, services, state, limits))
    watcher = asyncio.create_task(_cancel_on(cancel, driver)) if cancel else None
    try:
        async for event in turn.events():
            yield event
    finally:
        for task in (driver, watcher):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


def _broke_off(session: Session) -> bool:
    """Whether the last turn never came to its end: what only a running turn needs is still stored."""
    last = session.events[-1].invocation_id if session.events else ""
    turn = takewhile(lambda event: event.invocation_id == last, reversed(session.events))
    parts = (part for event in turn for part in (event.content and event.content.parts) or ())
    return any(part.thought_signature or _is_large(part.function_response) for part in parts)


def _is_large(result: types.FunctionResponse | None) -> bool:
    return result is not None and len(json.dumps(result.response, default=str)) > LARGE_RESULT


def _kept_zone(session: Session) -> str:
    kept = str(session.state.get(TIMEZONE_STATE) or "UTC")
    return kept if is_zone(kept) else "UTC"


async def _session(services: Services, app_name: str, user_id: str, session_id: str) -> Session:
    recent = GetSessionConfig(num_recent_events=MAX_EVENTS)
    session = await services.sessions.get_session(
        app_name=app_name, user_id=user_id, session_id=session_id, config=recent
    )
    if session is not None:
        return session
    try:
        return await services.sessions.create_session(app_name=app_name, user_id=user_id, session_id=session_id)
    except AlreadyExistsError:  # another turn has just begun it
        return await _session(services, app_name, user_id, session_id)


async def _drive(
    turn: RunningTurn,
    compiled: CompiledSyndicate,
    message: str,
    session: Session,
    services: Services,
    state: dict[str, str] | None,
    limits: Limits,
) -> None:
    """Run the agents to the end of the turn and close it, whatever happens."""
    CURRENT.set(turn)
    error: Exception | None = None
    try:
        async with asyncio.timeout(limits.seconds):
            await _run_agents(turn, compiled, message, session, services, state)
    except asyncio.CancelledError:
        error = TurnStoppedError("the turn was cancelled", agent=compiled.orchestrator.name)
        raise
    except TimeoutError:
        error = _over_deadline(limits, compiled)
    except Exception as raised:
        error = raised
    finally:
        try:
            await _store_what_was_shown(turn, compiled, session, services)
            await services.end_turn(session)
        finally:
            turn.finish(error)


async def _run_agents(
    turn: RunningTurn,
    compiled: CompiledSyndicate,
    message: str,
    session: Session,
    services: Services,
    state: dict[str, str] | None,
) -> None:
    runner = Runner(app_name=compiled.name, agent=compiled.root, session_service=services.sessions)
    events = runner.run_async(
        user_id=session.user_id,
        session_id=session.id,
        new_message=types.Content(role="user", parts=[types.Part(text=message)]),
        state_delta=state,
        run_config=_RUN_CONFIG,
        yield_user_message=True,
    )
    async with aclosing(events):
        async for event in events:
            turn.invocation_id = event.invocation_id


async def _store_what_was_shown(
    turn: RunningTurn, compiled: CompiledSyndicate, session: Session, services: Services
) -> None:
    """Keep the text of a reply that broke off: what a person has seen is what the next turn reads."""
    if not turn.unstored:
        return
    content = types.Content(role="model", parts=[types.Part(text=turn.unstored)])
    event = Event(author=compiled.root.name, invocation_id=turn.invocation_id, content=content)
    await services.sessions.append_event(session, event)


def _over_deadline(limits: Limits, compiled: CompiledSyndicate) -> TurnStoppedError:
    return TurnStoppedError(
        f"the turn took longer than {limits.seconds:g} s",
        code="DEADLINE",
        agent=compiled.orchestrator.name,
        retryable=True,
    )


async def _cancel_on(cancel: asyncio.Event, driver: asyncio.Task[None]) -> None:
    await cancel.wait()
    driver.cancel()


class _ReportedElsewhere(logging.Filter):
    """Drops ADK's tracebacks inside a turn: its `Failed` event carries the exception."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.exc_info is None or CURRENT.get() is None


for _name in ("workflow._node_runner", "workflow._dynamic_node_scheduler", "runners"):
    logging.getLogger(f"google_adk.google.adk.{_name}").addFilter(_ReportedElsewhere())
