"""What runs here and what is missing: an examination of models, tools and providers. It prints nothing.

A key is only ever said to be there or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from syndicate.config import available, load
from syndicate.errors import Location, SyndicateError
from syndicate.graph.checks import default_checks
from syndicate.graph.features import AGENT_KEYS, ROOT_KEYS, missing_feature, missing_tool
from syndicate.graph.unlocks import Route, Unlock, best_first, explore, in_order, lacks_key, sample_id
from syndicate.models import gateway
from syndicate.models.capabilities import calls_tools, native_tools
from syndicate.models.ollama_daemon import base_url
from syndicate.models.registry import create, provider_of, providers
from syndicate.models.xai_search import XaiSearch
from syndicate.settings import without_password
from syndicate.tools import registry as tools

if TYPE_CHECKING:
    from syndicate.config import LoadedSyndicate
    from syndicate.config.schema import AgentConfig
    from syndicate.models.registry import Provider
    from syndicate.settings import Settings

SEARCHES = frozenset({"web_search", "google_search", "x_search", "collections_search"})
"""Tools that run at the provider."""


@dataclass(frozen=True, slots=True)
class ModelReport:
    """One model an agent may answer with. `via` is `gateway` when that carries the request to the provider."""

    id: str
    provider: str | None
    available: bool
    via: str | None = None
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class ToolReport:
    """A tool, or a subagent that is called as one; `why` says why it is dropped."""

    name: str
    kept: bool
    why: str = ""
    is_agent: bool = False


@dataclass(frozen=True, slots=True)
class AgentReport:
    """One agent. `answers` is the model that would, now; `blocked` is what it asks for that this version cannot run.

    `settings_left_out` are those of the model call that the answering provider has no equivalent for; they are looked
    at only where one syndicate is examined.
    """

    name: str
    location: Location
    depth: int
    models: tuple[ModelReport, ...]
    answers: str | None
    tools: tuple[ToolReport, ...]
    settings_left_out: tuple[str, ...]
    blocked: tuple[str, ...]

    @property
    def runs(self) -> bool:
        """Whether the agent could answer now."""
        return self.answers is not None and not self.blocked


@dataclass(frozen=True, slots=True)
class SyndicateReport:
    """One syndicate that can be named here: how many of its agents run now."""

    name: str
    running: int
    agents: int

    @property
    def runs(self) -> bool:
        """Whether all of its agents do."""
        return self.running == self.agents


@dataclass(frozen=True, slots=True)
class ProviderReport:
    """One provider. `key` names its variable, `extra` what it needs installed, `daemon` the address of a server.

    `key_set`, `installed` and `daemon_up` are None where there is nothing of the kind; `pulled` are a daemon's models.
    `needs` is what to do before its models can be asked, empty when nothing; `notes` tell of settings it cannot follow.
    """

    id: str
    ids: str
    ready: bool
    key: str | None
    key_set: bool | None
    extra: str | None
    installed: bool | None
    daemon: str | None
    daemon_up: bool | None
    pulled: tuple[str, ...]
    via: str | None
    needs: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GatewayReport:
    """The gateway for cloud models without a key of their own. `serves` are the providers it speaks for now."""

    name: str | None
    key_set: bool
    serves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """An examination. `agents` are those of the syndicate that was asked for, `syndicates` all when none was."""

    name: str | None
    title: str
    agents: tuple[AgentReport, ...]
    syndicates: tuple[SyndicateReport, ...]
    providers: tuple[ProviderReport, ...]
    gateway: GatewayReport
    database: str
    unlocks: tuple[Unlock, ...]

    @property
    def runs(self) -> bool:
        """Whether every agent could answer now."""
        return all(agent.runs for agent in self.agents)


async def examine(loaded: LoadedSyndicate | None, settings: Settings, *, database: str = "") -> Report:
    """Examine a syndicate, or all that can be named here. Asks an Ollama daemon, calls no model, pulls nothing.

    `database` is what the caller found of it.
    """
    teams = {loaded.name: tuple(_members(loaded))} if loaded is not None else _nameable(settings)
    pulled = await pulled_models(settings)
    samples = {provider.id: sample_id(provider) for provider in providers()}
    mentioned = (model_id for team in teams.values() for member in team for model_id in member.models)
    routes = await explore([*samples.values(), *mentioned], settings, daemon_up=pulled is not None)
    checked = tuple(_provider(provider, routes[samples[provider.id]], settings, pulled) for provider in providers())
    agents = {
        name: tuple(_agent(member, routes, settings, closely=loaded is not None) for member in team)
        for name, team in teams.items()
    }
    own = agents[loaded.name] if loaded is not None else ()
    return Report(
        name=loaded.name if loaded is not None else None,
        title=loaded.config.syndicate_name if loaded is not None else "",
        agents=own,
        syndicates=() if loaded is not None else tuple(_syndicate(name, team) for name, team in agents.items()),
        providers=checked,
        gateway=_gateway(settings),
        database=database,
        unlocks=best_first(
            routes,
            {agent.name: [_choices(agent)] for agent in own} or {name: _groups(team) for name, team in agents.items()},
            {} if loaded is not None else {samples[row.id]: row.ids for row in checked if not row.ready},
        ),
    )


async def examine_providers(settings: Settings) -> tuple[ProviderReport, ...]:
    """Each provider, in the order in which they are asked. Asks an Ollama daemon."""
    pulled = await pulled_models(settings)
    samples = [sample_id(provider) for provider in providers()]
    routes = await explore(samples, settings, daemon_up=pulled is not None)
    rows = zip(providers(), samples, strict=True)
    return tuple(_provider(provider, routes[sample], settings, pulled) for provider, sample in rows)


async def pulled_models(settings: Settings) -> tuple[str, ...] | None:
    """The models of the Ollama daemon by name; None when no daemon answers."""
    import httpx

    from syndicate.models.ollama_daemon import Daemon, speaks_openai

    daemon = Daemon(settings)
    path, kind, name = ("/models", "data", "id") if speaks_openai(settings) else ("/api/tags", "models", "name")
    try:
        listed: list[dict[str, object]] = (await daemon.get(path, timeout=2)).get(kind) or []
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return None
    finally:
        await daemon.aclose()
    return tuple(str(model.get(name)) for model in listed)


@dataclass(frozen=True, slots=True)
class _Member:
    """An agent of a file. `place` is its path in the file, `models` are its own or those it inherits."""

    loaded: LoadedSyndicate
    place: tuple[str | int, ...]
    config: AgentConfig
    models: tuple[str, ...]
    depth: int
    team: tuple[str, ...]
    is_root: bool


def _nameable(settings: Settings) -> dict[str, tuple[_Member, ...]]:
    """The agents of every syndicate that can be named and loaded."""
    found: dict[str, tuple[_Member, ...]] = {}
    for entry in available(settings):
        try:
            found[entry.name] = tuple(_members(load(entry.path, settings=settings, checks=default_checks(settings))))
        except SyndicateError:
            continue  # `syndicate list` says why
    return found


def _members(loaded: LoadedSyndicate) -> Iterator[_Member]:
    """All agents in order of delegation; what a file holds is listed where the file is first reached."""
    seen: set[int] = set()

    def walk(file: LoadedSyndicate, depth: int) -> Iterator[_Member]:
        if id(file) in seen:
            return
        seen.add(id(file))
        lead = file.config.orchestrator
        inherited = lead.models or ((lead.model,) if lead.model else ())
        team = tuple(subagent.name for subagent in file.config.subagents)
        yield _Member(file, ("orchestrator",), lead, inherited, depth, team, file is loaded)
        for index, config in enumerate(file.config.subagents):
            if nested := file.references.get(index):
                yield from walk(nested, depth + 1)
                continue
            models = config.models or ((config.model,) if config.model else inherited)
            yield _Member(file, ("subagents", index), config, models, depth + 1, (), is_root=False)

    return walk(loaded, 0)


def _agent(member: _Member, routes: Mapping[str, Route], settings: Settings, *, closely: bool) -> AgentReport:
    models = tuple(_model(model_id, routes[model_id], settings) for model_id in member.models)
    answering = next((model for model in models if model.available), None)
    names = [(name, False) for name in member.config.tools] + [(name, True) for name in member.team]
    drops = ((name, _dropped(name, answering, settings, is_agent=is_agent), is_agent) for name, is_agent in names)
    return AgentReport(
        name=member.config.name,
        location=member.loaded.locate(*member.place, "name"),
        depth=member.depth,
        models=models,
        answers=answering.id if answering else None,
        tools=tuple(ToolReport(name, not why, why, is_agent) for name, why, is_agent in drops),
        settings_left_out=_settings_left_out(member, answering, settings) if closely else (),
        blocked=tuple(_blocked(member)),
    )


def _settings_left_out(member: _Member, answering: ModelReport | None, settings: Settings) -> tuple[str, ...]:
    """The settings of the model call for which the provider that answers has no equivalent."""
    config = member.config.generate_content_config
    if config is None or answering is None:
        return ()
    from google.adk.models.llm_request import LlmRequest

    from syndicate.graph.compiler import generate_content_config

    adapter = create(answering.id, settings)
    dropped: Callable[[LlmRequest], tuple[str, ...]] | None = getattr(adapter, "dropped_settings", None)
    settings_of_call = generate_content_config(config)
    return dropped(LlmRequest(config=settings_of_call)) if dropped and settings_of_call else ()


def _model(model_id: str, route: Route, settings: Settings) -> ModelReport:
    provider = provider_of(model_id)
    missing = route.missing
    return ModelReport(
        id=model_id,
        provider=provider.id if provider else None,
        available=missing is None,
        via=_via(model_id, settings),
        reason=missing.reason if missing else "",
        remedy=missing.remediation if missing else "",
    )


def _dropped(name: str, answering: ModelReport | None, settings: Settings, *, is_agent: bool) -> str:
    """Why an agent does not get a tool; empty when it does, or when no model answers and nobody can tell."""
    if not is_agent and missing_tool(name):
        return "comes with a later version"
    if not is_agent and not tools.is_known(name):
        guess = tools.suggestion(name)
        return f"unknown; did you mean {guess!r}?" if guess else "unknown"
    if answering is None:
        return ""
    if not calls_tools(answering.id):
        return f"{answering.id} calls no tools"
    served = answering.via or answering.provider or ""
    if not is_agent and name in SEARCHES and name not in native_tools(served):
        return f"{f'a {served}' if answering.via else served} has none of its own"
    if name == "collections_search":
        lines = XaiSearch.from_settings(settings).warnings(name)
        return "; ".join(line.removeprefix(f"{name} is left out: ") for line in lines)
    return ""


def _blocked(member: _Member) -> Iterator[str]:
    """What the agent asks for that this version cannot run."""
    yield from filter(None, map(missing_tool, member.config.tools))
    for key in AGENT_KEYS:
        if missing := missing_feature(key, getattr(member.config, key, None)):
            yield missing
    for key in ROOT_KEYS if member.place == ("orchestrator",) else ():
        mine = key != "memory_system" or member.is_root  # the root file alone decides about memory
        if mine and (missing := missing_feature(key, getattr(member.loaded.config, key))):
            yield missing


def _choices(agent: AgentReport) -> list[str]:
    """The models that would make the agent run; none when something else is in the way."""
    return [] if agent.blocked else [model.id for model in agent.models]


def _groups(team: Iterable[AgentReport]) -> list[list[str]]:
    return [_choices(agent) for agent in team]


def _syndicate(name: str, team: tuple[AgentReport, ...]) -> SyndicateReport:
    return SyndicateReport(name, sum(agent.runs for agent in team), len(team))


def _provider(provider: Provider, route: Route, settings: Settings, pulled: tuple[str, ...] | None) -> ProviderReport:
    needs_extra = any(step.startswith("pip install") for way in route.ways for step in way)
    is_ollama = provider.id == "ollama"
    ready = route.missing is None or (is_ollama and pulled is not None and not needs_extra)
    return ProviderReport(
        id=provider.id,
        ids=provider.prefixes,
        ready=ready,
        key=provider.key,
        key_set=None if provider.key is None else not lacks_key(provider, settings),
        extra=provider.extra,
        installed=None if provider.extra is None else not needs_extra,
        daemon=without_password(base_url(settings)) if is_ollama else None,
        daemon_up=pulled is not None if is_ollama else None,
        pulled=(pulled or ()) if is_ollama else (),
        via=_via(sample_id(provider), settings),
        needs="" if ready else _needs(route),
        notes=_notes(provider, settings),
    )


def _notes(provider: Provider, settings: Settings) -> tuple[str, ...]:
    """What the settings of xAI's searches say that it does not take."""
    if provider.id != "xai":
        return ()
    search = XaiSearch.from_settings(settings)
    return tuple(line for kind in ("web_search", "x_search") for line in search.warnings(kind))


def _needs(route: Route) -> str:
    """The shortest way out in words; the reason where there is none."""
    way = min(route.ways, key=len, default=None)
    if way is None:
        return route.missing.reason if route.missing else ""
    return ", ".join(f"set {step}" if step.isupper() else step for step in in_order(way))


def _via(model_id: str, settings: Settings) -> str | None:
    """The gateway's id, when it carries what is asked of the model."""
    return gateway.PROVIDER if gateway.route(model_id, settings) is not None else None


def _gateway(settings: Settings) -> GatewayReport:
    serves = tuple(provider.id for provider in providers() if _via(sample_id(provider), settings))
    return GatewayReport(settings.model_gateway, settings.model_gateway_api_key is not None, serves)
