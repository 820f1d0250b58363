"""How much Claude is to think, and what the settings of a request mean to it: those it cannot have are named."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from google.adk.models.llm_request import LlmRequest
from google.genai import types

from syndicate.models import request as asked
from syndicate.models.anthropic_models import Claude
from syndicate.models.request import JsonObject

_LEAST = 1024  # tokens; the API's own minimum of a budget
_LEVELS: dict[types.ThinkingLevel, tuple[Literal["low", "medium", "high"], int]] = {
    types.ThinkingLevel.MINIMAL: ("low", _LEAST),
    types.ThinkingLevel.LOW: ("low", 4096),
    types.ThinkingLevel.MEDIUM: ("medium", 8192),
    types.ThinkingLevel.HIGH: ("high", 16_384),
}
_USUAL_BUDGET = 8192


@dataclass(frozen=True, slots=True)
class Thinking:
    """`wire` is the API's `thinking`, None for the model's own default. `dropped` names what had no equivalent."""

    wire: JsonObject | None = None
    effort: str | None = None
    dropped: tuple[str, ...] = ()

    @property
    def on(self) -> bool:
        """Whether thinking is asked for, which excludes sampling settings and forced tool calls."""
        return self.wire is not None and self.wire["type"] != "disabled"

    @property
    def budget(self) -> int:
        """Tokens set apart for thinking, of those of the answer."""
        return self.wire.get("budget_tokens", 0) if self.wire else 0


@dataclass(frozen=True, slots=True)
class Sampling:
    """The settings as the API spells them, and the names of those it would refuse."""

    wire: JsonObject = field(default_factory=dict[str, Any])
    dropped: tuple[str, ...] = ()


def thinking(request: LlmRequest, claude: Claude) -> Thinking:
    """What `thinkingConfig` means to this model: a budget, adaptive thinking with an effort, or none."""
    config = request.config.thinking_config
    level = _LEVELS.get(config.thinking_level) if config and config.thinking_level else None
    budget = config.thinking_budget if config else None
    if config is None or (budget is None and level is None and not config.include_thoughts):
        return Thinking()
    if budget == 0:
        return _off(claude)
    if not claude.thinks:
        return Thinking(dropped=("thinkingConfig",))
    effort = level[0] if level and claude.effort else None
    shown: JsonObject = {"display": "omitted" if asked.thoughts_hidden(request) else "summarized"}
    if claude.adaptive and (not claude.budgeted or budget is None or budget < 0):
        lost = ("thinkingBudget (this model decides by itself)",) if (budget or 0) > 0 else ()
        return Thinking({"type": "adaptive", **shown}, effort, lost)
    tokens = budget if budget and budget > 0 else level[1] if level else _USUAL_BUDGET
    lost = ("thinkingLevel (thinkingBudget counts)",) if level and budget and budget > 0 and not effort else ()
    return Thinking({"type": "enabled", "budget_tokens": max(tokens, _LEAST), **shown}, effort, lost)


def _off(claude: Claude) -> Thinking:
    if claude.always_thinks:
        return Thinking(dropped=("thinkingBudget (this model always thinks)",))
    return Thinking({"type": "disabled"} if claude.thinks else None)


def sampling(request: LlmRequest, claude: Claude, thinks: Thinking) -> Sampling:
    """Temperature and its relatives, which newer models and thinking exclude."""
    config = request.config
    given: dict[str, tuple[str, float | int | None]] = {
        "temperature": ("temperature", config.temperature),
        "topP": ("top_p", config.top_p),
        "topK": ("top_k", None if config.top_k is None else int(config.top_k)),
    }
    there = {name: (wire, value) for name, (wire, value) in given.items() if value is not None}
    if thinks.on or claude.sampling == "none":
        why = "this model takes none" if claude.sampling == "none" else "excluded by thinking"
        return Sampling(dropped=tuple(f"{name} ({why})" for name in there))
    dropped: list[str] = []
    if claude.sampling == "one" and "temperature" in there and there.pop("topP", None):
        dropped.append("topP (excluded by temperature)")
    wire: JsonObject = dict(there.values())
    if wire.get("temperature", 0) > 1:
        wire["temperature"] = 1.0
        dropped.append("temperature above 1")
    return Sampling(wire, tuple(dropped))


def without_equivalent(request: LlmRequest) -> tuple[str, ...]:
    """Names of the settings that the Messages API does not have, as syndicate files spell them."""
    config: Any = request.config  # genai's own type of some fields names classes of libraries that may not be there
    mime_type = config.response_mime_type
    candidates = {
        "seed": config.seed is not None,
        "presencePenalty": bool(config.presence_penalty),
        "frequencyPenalty": bool(config.frequency_penalty),
        "candidateCount": (config.candidate_count or 1) > 1,
        "safetySettings": bool(config.safety_settings),
        "responseMimeType": mime_type not in (None, "application/json", "text/plain"),
    }
    return tuple(name for name, is_set in candidates.items() if is_set)
