"""Parameters that not every model on the Responses wire takes: how hard to think, and what is left out and reported."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Set
from typing import Any, cast

import openai
from google.adk.models.llm_request import LlmRequest

from syndicate.models import request as asked
from syndicate.models.request import JsonObject

_ANSWERS_AT_ONCE = re.compile(r"gpt-[34].*|chatgpt-.*|gpt-5(\.\d+)?-chat.*")
_ALWAYS_THINKS = re.compile(r"o\d.*|gpt-5(?![.\d]).*")
_EFFORTS = (
    (re.compile(r"o\d.*|grok-.*"), ("low", "medium", "high")),
    (re.compile(r"gpt-5(?![.\d]).*"), ("minimal", "low", "medium", "high")),
    (re.compile(r".*"), ("none", "low", "medium", "high")),
)
_LOW_BUDGET, _MEDIUM_BUDGET = 4096, 16384
"""Tokens of `thinkingBudget` up to which low and medium effort think about as long."""

# By what the provider calls it in a refusal, the path in the body; the first that its words name where it gives none.
_OPTIONAL = {
    "reasoning.effort": "reasoning.effort",
    "reasoning.summary": "reasoning.summary",
    "reasoning": "reasoning",
    "include": "include",
    "temperature": "temperature",
    "top_p": "top_p",
    "parallel_tool_calls": "parallel_tool_calls",
    "text.format": "text.format.strict",
}
_IN_WORDS = (
    (re.compile(r"encrypted[ _.]?content", re.IGNORECASE), "include"),
    (re.compile(r"reasoning[ _.]?effort", re.IGNORECASE), "reasoning"),
    (re.compile(r"parallel[ _.]?tool[ _.]?calls", re.IGNORECASE), "parallel_tool_calls"),
    (
        re.compile(r"(?=.*\breasoning\b).*(support|unknown|unexpected|unrecogni[sz]ed|invalid arg)", re.I | re.S),
        "reasoning",
    ),
)
_SETTINGS = {"temperature": "temperature", "top_p": "topP"}
_NO_EQUIVALENT = {
    "top_k": "topK",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
    "stop_sequences": "stopSequences",
}


def refused_from_the_start(model: str) -> frozenset[str]:
    """The parameters that the model's family is known to refuse, by their paths in the body."""
    if _ANSWERS_AT_ONCE.fullmatch(model):
        return frozenset({"reasoning", "include"})
    return frozenset({"temperature", "top_p"}) if _ALWAYS_THINKS.fullmatch(model) else frozenset()


def refused_by(error: openai.APIStatusError) -> str | None:
    """The path of the optional parameter that this refusal is about; None when it is about anything else."""
    if error.status_code not in (400, 422):
        return None
    body: Any = error.body
    fields: Mapping[str, Any] = cast("Mapping[str, Any]", body) if isinstance(body, Mapping) else {}
    if isinstance(named := fields.get("param"), str) and named:
        return next((path for start, path in _OPTIONAL.items() if named.startswith(start)), None)
    words = f"{error.message} {body or ''}"
    return next((path for pattern, path in _IN_WORDS if pattern.search(words)), None)


def holds(body: JsonObject, path: str) -> bool:
    """Whether a body has something at a dotted path."""
    found: Any = body
    for name in path.split("."):
        if not isinstance(found, dict) or name not in found:
            return False
        found = cast("JsonObject", found)[name]
    return True


def without(body: JsonObject, paths: Collection[str]) -> JsonObject:
    """A copy of a body without what is at these paths, and without objects that this empties."""
    for path in paths:
        head, _, rest = path.partition(".")
        if not holds(body, path):
            continue
        kept = without(body[head], [rest]) if rest else None
        body = {key: value for key, value in body.items() if key != head} | ({head: kept} if kept else {})
    return body


def effort_of(request: LlmRequest, model: str) -> str | None:
    """`reasoning.effort` for `thinkingLevel`, else `thinkingBudget`; None leaves it to the model."""
    config = request.config.thinking_config
    least, *more = next(efforts for pattern, efforts in _EFFORTS if pattern.fullmatch(model))
    level = asked.thinking_level(request)
    if level:
        return level if level in (least, *more) else "low"
    budget = config.thinking_budget if config else None
    if budget is None or budget < 0:
        return None
    if asked.thinking_off(request):
        return least
    return "low" if budget <= _LOW_BUDGET else "medium" if budget <= _MEDIUM_BUDGET else "high"


def dropped_settings(request: LlmRequest, refused: Set[str]) -> tuple[str, ...]:
    """The settings of a request that have no effect, as syndicate files call them: the wire has no word for them, or
    the model refuses it."""
    config = request.config
    names = [name for field, name in _NO_EQUIVALENT.items() if getattr(config, field) not in (None, [])]
    names += ["candidateCount"] if (config.candidate_count or 1) > 1 else []
    names += asked.settings_given(request, "safetySettings", "responseMimeType")
    names += [name for field, name in _SETTINGS.items() if field in refused and getattr(config, field) is not None]
    thinking = config.thinking_config
    if thinking is not None and refused & {"reasoning", "reasoning.effort"}:
        names += ["thinkingLevel"] if asked.thinking_level(request) else []
        names += asked.settings_given(request, "thinkingBudget")
    return tuple(names)
