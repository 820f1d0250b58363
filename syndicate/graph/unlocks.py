"""What is missing before a model can answer, and what setting it would unlock."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from syndicate.models.registry import availability, provider_of

if TYPE_CHECKING:
    from syndicate.models.registry import Provider, Unavailable
    from syndicate.settings import Settings

Steps = frozenset[str]
"""What has to be done, all of it: names of variables to set, and commands to run."""

START_OLLAMA = "start Ollama (`ollama serve`), or set OLLAMA_BASE_URL"
_GATEWAY = ("MODEL_GATEWAY", "MODEL_GATEWAY_API_KEY")
_NO_HELP = frozenset({"unknown-model", "not-in-this-version"})


@dataclass(frozen=True, slots=True, order=True)
class Unlock:
    """What would run if all `steps` were done: variables by name first, then commands.

    `runs` are agents of the syndicate that was asked for, or else whole syndicates; `ids` are the prefixes of models
    that could be used.
    """

    steps: tuple[str, ...]
    runs: tuple[str, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """What stands between a model id and its answer. `ways` are alternatives; an empty one: it can be used now."""

    missing: Unavailable | None
    ways: tuple[Steps, ...]


async def route_of(model_id: str, settings: Settings, *, daemon_up: bool) -> Route:
    """Ask the registry what is missing, and again as if it had been set."""
    missing = await availability(model_id, settings)
    if missing is None:
        return Route(None, (frozenset(),))
    provider = provider_of(model_id)
    if provider is None or missing.code in _NO_HELP:
        return Route(missing, ())
    if provider.id == "ollama" and not daemon_up and missing.code != "missing-extra":
        return Route(missing, (frozenset({START_OLLAMA}),))
    if not lacks_key(provider, settings):
        return Route(missing, (frozenset({missing.remediation}),))
    assert provider.key is not None
    own = await _behind(model_id, {provider.key}, settings)
    lacking = {name for name in _GATEWAY if getattr(settings, name.lower()) is None}
    gateway = await _behind(model_id, lacking, settings)
    return Route(missing, tuple(way for way in (own, gateway) if way is not None))


async def _behind(model_id: str, variables: set[str], settings: Settings) -> Steps | None:
    """These variables, and what would be missing were they set; None when they do not help."""
    values = {name.lower(): "openrouter" if name == "MODEL_GATEWAY" else SecretStr("-") for name in variables}
    missing = await availability(model_id, settings.model_copy(update=values))
    if missing is None:
        return frozenset(variables)
    return frozenset(variables | {missing.remediation}) if missing.code == "missing-extra" else None


def lacks_key(provider: Provider, settings: Settings) -> bool:
    """Whether the provider wants a key and it is not set."""
    return provider.key is not None and getattr(settings, provider.key.lower(), None) is None


def sample_id(provider: Provider) -> str:
    """A model id of the provider that stands for all of them."""
    return "local/smollm2" if provider.id == "local" else provider.prefixes.split(",")[0].replace("*", "x")


async def explore(model_ids: Iterable[str], settings: Settings, *, daemon_up: bool) -> dict[str, Route]:
    """The route of each id, asked side by side."""
    wanted = list(dict.fromkeys(model_ids))
    routes = await asyncio.gather(*(route_of(model_id, settings, daemon_up=daemon_up) for model_id in wanted))
    return dict(zip(wanted, routes, strict=True))


def best_first(
    routes: Mapping[str, Route], things: Mapping[str, Sequence[Sequence[str]]], prefixes: Mapping[str, str]
) -> tuple[Unlock, ...]:
    """What each way out would unlock: fewest steps first, then what unlocks most; none that unlocks nothing.

    A thing runs when every one of its groups has a model id that can be used. `prefixes` maps a sample id to those it
    stands for.
    """
    now = frozenset[str]()
    waiting = {name: groups for name, groups in things.items() if not _runs(groups, routes, now)}
    mentioned = {model_id for groups in waiting.values() for group in groups for model_id in group}
    candidates = {way for model_id in (*mentioned, *prefixes) for way in routes[model_id].ways if way}
    unlocks: list[Unlock] = []
    for steps in candidates:
        runs = tuple(name for name, groups in waiting.items() if _runs(groups, routes, steps))
        ids = tuple(shown for sample, shown in prefixes.items() if _usable(routes[sample], steps))
        if runs or ids:
            unlocks.append(Unlock(in_order(steps), runs, ids))
    return tuple(sorted(unlocks, key=lambda unlock: (len(unlock.steps), -len(unlock.runs), -len(unlock.ids), unlock)))


def _runs(groups: Sequence[Sequence[str]], routes: Mapping[str, Route], steps: Steps) -> bool:
    return all(any(_usable(routes[model_id], steps) for model_id in group) for group in groups)


def _usable(route: Route, steps: Steps) -> bool:
    return any(way <= steps for way in route.ways)


def in_order(steps: Steps) -> tuple[str, ...]:
    """Variables first, then commands."""
    return tuple(sorted(steps, key=lambda step: (not step.isupper(), step)))
