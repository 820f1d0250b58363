"""Run one turn. Every surface goes through `run_turn`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from google.adk.agents.run_config import RunConfig, ToolThreadPoolConfig
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.session import Session
from google.genai import types

from syndicate.errors import SyndicateError, TurnStoppedError, UsageError
from syndicate.graph.compiler import CompiledSyndicate
from syndicate.graph.scope import CURRENT
from syndicate.turn.events import TurnEvent
from syndicate.turn.limits import Limits
from syndicate.turn.running import RunningTurn
from syndicate.turn.services import Services
from syndicate.turn.transcript import MAX_EVENTS, delegate_history

TIMEZONE_STATE = "user:timezone"

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
    Raises only `UsageError`, for an empty message, before anything is run.
    """
    if not message.strip():
        raise UsageError("the message is empty", remediation="write something to answer")
    session = await _session(services, compiled.name, user_id, session_id)
    zone = timezone or str(session.state.get(TIMEZONE_STATE) or "UTC")
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


async def _session(services: Services, app_name: str, user_id: str, session_id: str) -> Session:
    recent = GetSessionConfig(num_recent_events=MAX_EVENTS)
    session = await services.sessions.get_session(
        app_name=app_name, user_id=user_id, session_id=session_id, config=recent
    )
    return session or await services.sessions.create_session(app_name=app_name, user_id=user_id, session_id=session_id)


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
    try:
        async with asyncio.timeout(limits.seconds):
            await _run_agents(compiled, message, session, services, state)
    except asyncio.CancelledError:
        turn.finish(TurnStoppedError("the turn was cancelled", agent=compiled.orchestrator.name))
        raise
    except TimeoutError:
        turn.finish(
            TurnStoppedError(
                f"the turn took longer than {limits.seconds:g} s",
                code="DEADLINE",
                agent=compiled.orchestrator.name,
                retryable=True,
            )
        )
    except Exception as error:
        turn.finish(error)
    else:
        turn.finish()


async def _run_agents(
    compiled: CompiledSyndicate, message: str, session: Session, services: Services, state: dict[str, str] | None
) -> None:
    runner = Runner(app_name=compiled.name, agent=compiled.root, session_service=services.sessions)
    events = runner.run_async(
        user_id=session.user_id,
        session_id=session.id,
        new_message=types.Content(role="user", parts=[types.Part(text=message)]),
        state_delta=state,
        run_config=_RUN_CONFIG,
    )
    async with aclosing(events):
        async for _ in events:
            pass


async def _cancel_on(cancel: asyncio.Event, driver: asyncio.Task[None]) -> None:
    await cancel.wait()
    driver.cancel()


class _ReportedElsewhere(logging.Filter):
    """Drops ADK's tracebacks of errors that the turn reports by itself."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        return not isinstance(getattr(error, "error", error), SyndicateError)


for _name in ("workflow._node_runner", "workflow._dynamic_node_scheduler", "runners"):
    logging.getLogger(f"google_adk.google.adk.{_name}").addFilter(_ReportedElsewhere())
