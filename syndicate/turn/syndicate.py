"""`Syndicate`: what library users open and talk to."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syndicate.config.loader import load
from syndicate.config.schema import Scalar
from syndicate.errors import Problem, UsageError
from syndicate.graph.checks import default_checks
from syndicate.graph.compiler import CompiledSyndicate, compile_syndicate
from syndicate.settings import Settings
from syndicate.turn.events import Answer, Confirm, Failed, Routed, TurnEvent, Usage
from syndicate.turn.limits import Limits
from syndicate.turn.runner import run_turn
from syndicate.turn.services import Services, open_services
from syndicate.turn.timezone import checked_zone, machine_zone

if TYPE_CHECKING:
    from google.adk.models import BaseLlm


@dataclass(frozen=True, slots=True)
class TurnResult:
    """One finished turn: the answer, who gave it, the route taken (plan-dispatch), what it used, its session."""

    answer: str
    agent: str
    route: str | None
    usage: Usage
    session: str
    confirms: tuple[Confirm, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """A past message of the user and what was answered (empty: nothing)."""

    user: str
    agent: str
    answer: str


class Syndicate:
    """An open syndicate. Make one with `async with Syndicate.open(name) as s`."""

    def __init__(self, compiled: CompiledSyndicate, services: Services, *, user_id: str, timezone: str) -> None:
        self.compiled = compiled
        self.services = services
        self.user_id = user_id
        self.timezone = timezone
        self.session_id = ""
        self.new_session()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        name: str | Path,
        *,
        settings: Settings | None = None,
        bindings: Mapping[str, Scalar] | None = None,
        models: Mapping[str, str | BaseLlm] | None = None,
        user_id: str | None = None,
        timezone: str | None = None,
        strict: bool = False,
        services: Services | None = None,
    ) -> AsyncGenerator[Syndicate]:
        """Load and compile a syndicate by name or path, and open what it needs, unless `services` are handed in.

        `bindings` win over the file's `variables`. `models` maps an agent's name (`*`: all) to a model id or an ADK
        model. Raises `ConfigError` with every problem of the files, `UsageError`, `SettingsError`.
        """
        settings = settings or Settings.read()
        loaded = load(name, settings=settings, checks=default_checks(settings), bindings=bindings or {}, strict=strict)
        compiled = compile_syndicate(loaded, settings=settings, models=models)
        user, zone = user_id or settings.syndicate_user_id, _zone(timezone or settings.syndicate_timezone)
        checked_user(user)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(compiled.aclose)
            if services is None:
                services = await stack.enter_async_context(open_services(settings, [loaded.config]))
            yield cls(compiled, services, user_id=user, timezone=zone)

    @property
    def name(self) -> str:
        """The `syndicate_name`."""
        return self.compiled.name

    @property
    def path(self) -> Path:
        """The file it was read from."""
        return self.compiled.loaded.path

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What the files' check warned about."""
        return self.compiled.loaded.problems

    @property
    def note(self) -> str:
        """One line for people when sessions that should last do not; else empty."""
        return self.services.note

    async def last_session(self, user_id: str | None = None) -> str | None:
        """The id of the user's session that was used last, if there is one."""
        sessions = await self.sessions(user_id)
        return sessions[-1][0] if sessions else None

    def new_session(self, session_id: str | None = None) -> str:
        """Make this (or a new id) the session of the turns that name none, and return it."""
        self.session_id = session_id or uuid.uuid4().hex[:12]
        return self.session_id

    async def stream(
        self,
        message: str,
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        limits: Limits | None = None,
        cancel: asyncio.Event | None = None,
    ) -> AsyncGenerator[TurnEvent]:
        """The events of one turn; a turn that fails ends with `Failed` instead of `Answer`. The last is `Usage`."""
        turn = run_turn(
            self.compiled,
            message,
            user_id=checked_user(user_id or self.user_id),
            session_id=session_id or self.session_id,
            services=self.services,
            timezone=self.timezone,
            limits=limits,
            cancel=cancel,
        )
        async with aclosing(turn):
            async for event in turn:
                yield event

    async def run(
        self,
        message: str,
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        limits: Limits | None = None,
        cancel: asyncio.Event | None = None,
    ) -> TurnResult:
        """One turn to its end. Raises the `RunError` that a failed turn ended with."""
        session = session_id or self.session_id
        events = [
            event
            async for event in self.stream(message, session_id=session, user_id=user_id, limits=limits, cancel=cancel)
        ]
        return turn_result(events, session)

    def use_model(self, agent: str, model: str | BaseLlm) -> None:
        """From the next turn on, answer for `agent` (`*`: all) with this model only. Raises `UsageError`."""
        self.compiled.use_model(agent, model)

    async def answering_model(self, agent: str | None = None) -> str:
        """The id of the model that answers for an agent, the orchestrator by default.

        Raises `ModelUnavailableError` or `FeatureUnavailableError` when none does.
        """
        info = self.compiled.named(agent)[0] if agent else self.compiled.orchestrator
        return (await self.compiled.models[info.adk_name].resolve()).model

    async def sessions(self, user_id: str | None = None) -> list[tuple[str, float]]:
        """Session ids of a user with the time of their last event, oldest first."""
        listed = await self.services.sessions.list_sessions(
            app_name=self.name, user_id=checked_user(user_id or self.user_id)
        )
        return [(session.id, session.last_update_time) for session in listed.sessions]

    async def transcript(self, session_id: str | None = None, user_id: str | None = None) -> list[Exchange]:
        """What was said in a session, oldest first; empty for one that is not there."""
        session = await self.services.sessions.get_session(
            app_name=self.name,
            user_id=checked_user(user_id or self.user_id),
            session_id=session_id or self.session_id,
        )
        return _spoken(session.events, self.compiled) if session else []


def run_sync(name: str | Path, message: str, **open_options: Any) -> TurnResult:
    """One turn where no event loop runs; `open_options` are those of `Syndicate.open`. Raises as `run` does."""
    if _is_running():
        raise UsageError("run_sync was called where an event loop runs", remediation="await Syndicate.run there")

    async def once() -> TurnResult:
        async with Syndicate.open(name, **open_options) as syndicate:
            return await syndicate.run(message)

    return asyncio.run(once())


def _is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def turn_result(events: list[TurnEvent], session: str) -> TurnResult:
    """The result of a whole turn's events. Raises the error of a turn that failed."""
    by_type: dict[type[object], Any] = {type(event): event for event in events}  # the last of each type
    failed: Failed | None = by_type.get(Failed)
    if failed is not None and failed.error is not None:
        raise failed.error
    answer: Answer = by_type[Answer]
    routed: Routed | None = by_type.get(Routed)
    confirms = tuple(event for event in events if isinstance(event, Confirm))
    route = routed.route if routed else None
    return TurnResult(answer.text, answer.agent, route, by_type[Usage], session, confirms)


def checked_user(user_id: str) -> str:
    """The user id, if it can be one. Raises `UsageError`: a `/` would end the name space of the user's facts."""
    if not user_id.strip() or "/" in user_id:
        raise UsageError(f"{user_id!r} cannot be a user id", remediation="use any text without /")
    return user_id


def _zone(name: str | None) -> str:
    return checked_zone(name) if name else machine_zone()


def _spoken(events: list[Any], compiled: CompiledSyndicate) -> list[Exchange]:
    """Messages and answers of stored events, each turn's pieces of answer joined."""
    agent = compiled.orchestrator
    spoken: dict[str, Exchange] = {}
    for event in events:
        parts = (event.content.parts or ()) if event.content else ()
        text = "".join(part.text for part in parts if part.text and not part.thought)
        turn = event.invocation_id
        if event.author == "user":
            spoken[turn] = Exchange(text, agent.name, "")
        elif event.author == agent.adk_name and not event.branch and text and turn in spoken:
            said = spoken[turn].answer
            spoken[turn] = Exchange(spoken[turn].user, agent.name, f"{said}\n\n{text}" if said else text)
    return list(spoken.values())
