"""Compile a loaded syndicate to ADK agents."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.genai import types
from typing_extensions import override

from syndicate.config.loader import LoadedSyndicate
from syndicate.config.names import adk_name
from syndicate.config.schema import AgentConfig, GenerateContentConfig
from syndicate.errors import ConfigError, FeatureUnavailableError, Problem, UsageError
from syndicate.graph.agent_model import AgentModel
from syndicate.graph.agents import AgentInfo, FileLimit
from syndicate.graph.callbacks import HistoryCallback, ToolCallbacks
from syndicate.graph.delegate import DelegateTool
from syndicate.graph.features import AGENT_KEYS, ROOT_KEYS, missing_feature, missing_tool
from syndicate.graph.instructions import DatedText
from syndicate.graph.schema_model import output_model
from syndicate.graph.selection import ModelPool
from syndicate.models.registry import unknown_model
from syndicate.tools import registry as tools

if TYPE_CHECKING:
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
    from google.adk.models import BaseLlm

    from syndicate.settings import Settings

ConfigPath = tuple[str | int, ...]
Overrides = Mapping[str, "str | BaseLlm"]


class OrchestratorAgent(LlmAgent):
    """An `LlmAgent` whose prompt is the instruction alone: ADK's sentence about name and description is left out."""

    @property
    @override
    def _llm_flow(self) -> BaseLlmFlow:
        flow = super()._llm_flow
        flow.remove_request_processor("identity")
        return flow


@dataclass(frozen=True)
class CompiledSyndicate:
    """A syndicate ready to run. `models` and `agents` are by ADK name, root orchestrator first."""

    loaded: LoadedSyndicate
    root: LlmAgent
    agents: tuple[AgentInfo, ...]
    models: Mapping[str, AgentModel]
    pool: ModelPool

    @property
    def name(self) -> str:
        """The `syndicate_name`."""
        return self.loaded.config.syndicate_name

    @property
    def orchestrator(self) -> AgentInfo:
        """The root agent."""
        return self.agents[0]

    def named(self, name: str) -> tuple[AgentInfo, ...]:
        """The agents with this display or ADK name (`*`: all). Raises `UsageError` with a suggestion."""
        found = tuple(info for info in self.agents if name in (info.name, info.adk_name, "*"))
        if found:
            return found
        names = [info.name for info in self.agents]
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"its agents: {', '.join(names)}"
        raise UsageError(f"{self.name!r} has no agent {name!r}", remediation=hint)

    def use_model(self, agent: str, model: str | BaseLlm) -> None:
        """From the next call on, answer for `agent` with `model` only. Raises `UsageError`."""
        if isinstance(model, str) and (problem := unknown_model(model)):
            raise UsageError(problem)
        for info in self.named(agent):
            self.models[info.adk_name].use(model)

    async def aclose(self) -> None:
        """Close what the agents' models hold open."""
        await self.pool.aclose()


def compile_syndicate(
    loaded: LoadedSyndicate, *, settings: Settings, models: Overrides | None = None
) -> CompiledSyndicate:
    """ADK agents for a syndicate and all it nests; no model, key or daemon is looked for yet.

    `models` replaces the models of agents, by display or ADK name, `*` for all others: an id or an ADK model. Raises
    `UsageError` for an agent or id that is not there, `ConfigError` for tools whose names clash.
    """
    compiler = _Compiler(loaded, settings)
    root = compiler.syndicate(loaded, parent=None, depth=0)
    compiled = CompiledSyndicate(loaded, root, tuple(compiler.infos), compiler.models, compiler.pool)
    for agent, model in sorted((models or {}).items(), key=lambda named: named[0] != "*"):
        compiled.use_model(agent, model)
    return compiled


@dataclass
class _Compiler:
    """One compilation; files reached twice are compiled once."""

    root: LoadedSyndicate
    settings: Settings
    infos: list[AgentInfo] = field(default_factory=list[AgentInfo])
    models: dict[str, AgentModel] = field(default_factory=dict[str, AgentModel])
    done: dict[Path, LlmAgent] = field(default_factory=dict[Path, LlmAgent])

    def __post_init__(self) -> None:
        self.pool = ModelPool(self.settings)

    def syndicate(self, loaded: LoadedSyndicate, *, parent: str | None, depth: int) -> LlmAgent:
        """The orchestrator of a file, its team behind delegate tools."""
        if loaded.path in self.done:
            return self.done[loaded.path]
        config = loaded.config.orchestrator
        place = _Place(loaded, ("orchestrator",), config, parent, depth)
        position = len(self.infos)  # parents are listed before their team
        delegates = [self._delegate(loaded, index, depth + 1) for index in range(len(loaded.config.subagents))]
        agent = self._agent(place, delegates, position)
        self.done[loaded.path] = agent
        return agent

    def _delegate(self, loaded: LoadedSyndicate, index: int, depth: int) -> DelegateTool:
        config = loaded.config.subagents[index]
        limit = None
        parent = loaded.config.orchestrator.name
        if nested := loaded.references.get(index):
            agent = self.syndicate(nested, parent=parent, depth=depth)
            limit = _limit(loaded)
        else:
            agent = self._agent(_Place(loaded, ("subagents", index), config, parent, depth), [], len(self.infos))
        description = DatedText(config.description or "")
        return DelegateTool(
            adk_name(config.name), agent, display_name=config.name, description=description, limit=limit
        )

    def _agent(self, place: _Place, delegates: Sequence[DelegateTool], position: int) -> LlmAgent:
        own_tools = _tools(place, delegates)
        names = tuple(getattr(tool, "display_name", getattr(tool, "name", "")) for tool in own_tools)
        info = place.info(self._unique(place), names)
        schema = output_model(place.config.output_schema) if place.config.output_schema else None
        model = AgentModel(
            info, info.models, self.pool, _limit(place.loaded), schema=schema, blocked=_blocked(place, info)
        )
        self.infos.insert(position, info)
        self.models[info.adk_name] = model
        callbacks = ToolCallbacks(info)
        description = DatedText(info.description)
        kind = OrchestratorAgent if info.is_root else LlmAgent
        return kind(
            name=info.adk_name,
            description=description.render(),
            model=model,
            mode=None if info.is_root else "single_turn",
            instruction=_instruction(place),
            tools=own_tools,
            generate_content_config=generate_content_config(place.config.generate_content_config),
            output_schema=schema,
            output_key=place.config.output_key,
            include_contents="none",  # what the orchestrator reads of the past is the turn's to say
            disallow_transfer_to_parent=True,
            disallow_transfer_to_peers=True,
            before_model_callback=self._history(place, info, model),
            before_tool_callback=callbacks.before,
            after_tool_callback=callbacks.after,
            on_tool_error_callback=callbacks.failed,
        )

    def _history(self, place: _Place, info: AgentInfo, model: AgentModel) -> HistoryCallback | None:
        reads = info.is_root and place.config.include_contents == "default"
        return HistoryCallback(info, model, self.settings) if reads else None

    def _unique(self, place: _Place) -> str:
        """The agent's ADK name: its own in the root file, qualified by the file's id in nested ones."""
        own = adk_name(place.config.name)
        if place.loaded is self.root:
            return own
        file_id, number = adk_name(place.loaded.name)[:24], 1
        name = f"{file_id}_{own[:32]}"
        while name in self.models:  # two nested files with the same stem
            number += 1
            name = f"{file_id}{number}_{own[:32]}"
        return name


@dataclass(frozen=True)
class _Place:
    """An agent of a file, before it is compiled."""

    loaded: LoadedSyndicate
    path: ConfigPath
    config: AgentConfig
    parent: str | None
    depth: int

    def info(self, name: str, tool_names: tuple[str, ...]) -> AgentInfo:
        return AgentInfo(
            name=self.config.name,
            adk_name=name,
            description=self.config.description or "",
            models=self._models(),
            tools=tool_names,
            file=self.loaded.path,
            depth=self.depth,
            parent=self.parent,
            location=self.loaded.locate(*self.path, "name"),
        )

    def _models(self) -> tuple[str, ...]:
        for config in (self.config, self.loaded.config.orchestrator):
            if config.models or config.model:
                return config.models or (config.model or "",)
        raise AssertionError("a loaded orchestrator has a model")


def _limit(loaded: LoadedSyndicate) -> FileLimit:
    return FileLimit(loaded.path, loaded.config.max_steps)


def _instruction(place: _Place) -> Callable[[ReadonlyContext], str]:
    """A callable, so that ADK fills in nothing: braces are the model's to read."""
    shared = place.loaded.config.orchestrator.global_instruction
    own = place.config.instruction
    text = DatedText("\n\n".join(part for part in (shared, own) if part))

    def instruction(_context: ReadonlyContext) -> str:
        return text.render()

    return instruction


def generate_content_config(config: GenerateContentConfig | None) -> types.GenerateContentConfig | None:
    """The settings of the model call as ADK takes them."""
    if config is None:
        return None
    return types.GenerateContentConfig.model_validate(config.model_dump(exclude_unset=True))


def _tools(place: _Place, delegates: Sequence[DelegateTool]) -> list[Any]:
    """The agent's tools and its team. Unknown names are left out: the loader has warned."""
    made: list[Any] = [tools.create(name) for name in place.config.tools if tools.is_known(name)]
    made.extend(delegates)
    origins: dict[str, str] = {}
    for tool in made:
        name = getattr(tool, "name", None)
        origin = f"subagent {tool.display_name!r}" if isinstance(tool, DelegateTool) else f"tool {name!r}"
        if name is not None and name in origins:
            message = f"{origins[name]} and {origin} are both called {name!r} by the model: rename one"
            raise ConfigError([Problem(place.loaded.locate(*place.path, "tools"), message, "tool-name-clash")])
        if name is not None:
            origins[name] = origin
    return made


def _blocked(place: _Place, info: AgentInfo) -> FeatureUnavailableError | None:
    """The error of an agent that needs what this version cannot do, at the place where it is asked for."""
    config, file = place.config, place.loaded.config
    for index, name in enumerate(config.tools):
        if missing := missing_tool(name):
            return _unavailable(place, info, missing, (*place.path, "tools", index))
    for key in AGENT_KEYS:
        if missing := missing_feature(key, getattr(config, key, None)):
            return _unavailable(place, info, missing, (*place.path, key))
    for key in ROOT_KEYS if place.path == ("orchestrator",) else ():
        # the root file alone decides about memory
        if (key != "memory_system" or info.is_root) and (missing := missing_feature(key, getattr(file, key))):
            return _unavailable(place, info, missing, (key,))
    return None


def _unavailable(place: _Place, info: AgentInfo, missing: str, path: ConfigPath) -> FeatureUnavailableError:
    return FeatureUnavailableError(
        missing,
        remediation=f"remove it to run {info.name!r} with this version",
        agent=info.name,
        location=place.loaded.locate(*path, key=isinstance(path[-1], str)),
    )
