"""A request as each generation of Gemini takes it, and what a generation cannot have of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.genai import types

from syndicate.models import request as asked
from syndicate.models.server_tools import ServerTool, server_tools
from syndicate.models.signature import opened, seal

PROVIDER = "gemini"
_NEWEST = (3, 0)
_ONLY_JSON = "Answer with one JSON value and nothing else."
# Google's word for a call that another model made, in place of the signature that is else required of the third
# generation on.
_NO_SIGNATURE = b"skip_thought_signature_validator"
_BUDGETS = {"minimal": 512, "low": 1024, "medium": 8192, "high": 24_576}
_LEAST_OF_PRO = 128


def generation_of(model_id: str) -> tuple[int, int]:
    """Its numbers; an id without any, such as `gemini-flash-latest`, means the newest."""
    match = re.match(r"gemini-(\d+)(?:\.(\d+))?(?!\d)", model_id)
    return (int(match[1]), int(match[2] or 0)) if match else _NEWEST


def prepared(request: LlmRequest, model_id: str) -> LlmRequest:
    """A copy in Gemini's words: JSON Schema, native search, tool results as JSON, no thoughts but its own."""
    config = request.config.model_copy()
    _put_tools(config, request, model_id)
    _put_form(config, request, model_id)
    config.thinking_config, _ = _thinking(request, model_id)
    config.candidate_count = None
    config.automatic_function_calling = types.AutomaticFunctionCallingConfig(disable=True)  # ADK runs the tools
    goes_on = bool(config.tool_config and config.tool_config.include_server_side_tool_invocations)
    signed = generation_of(model_id) >= _NEWEST
    contents = [made for item in request.contents if (made := _replayed(item, goes_on, signed)).parts]
    if contents and contents[0].role == "model":
        contents.insert(0, types.Content(role="user", parts=[types.Part(text="Continue.")]))
    return request.model_copy(update={"model": model_id, "config": config, "contents": contents})


def dropped_settings(request: LlmRequest, model_id: str) -> tuple[str, ...]:
    """What this model cannot have of the request, by its names in syndicate files, some with a reason."""
    several = ("candidateCount",) if (request.config.candidate_count or 1) > 1 else ()
    search = _searches(request)
    alone = (f"{search} (not beside other tools)",) if search and not _may_search(request, model_id) else ()
    return (*several, *_thinking(request, model_id)[1], *alone)


def sealed(content: types.Content) -> types.Content:
    """A reply whose signatures are marked as Gemini's."""
    if not any(part.thought_signature for part in content.parts or ()):
        return content
    return content.model_copy(update={"parts": list(map(_sealed_part, content.parts or ()))})


def _sealed_part(part: types.Part) -> types.Part:
    signature = part.thought_signature
    return part.model_copy(update={"thought_signature": seal(PROVIDER, signature)}) if signature else part


def _searches(request: LlmRequest) -> str:
    """The name under which a search is asked for; empty when none is."""
    return next((kind for kind in server_tools(request) if kind in ("web_search", "google_search")), "")


def _may_search(request: LlmRequest, model_id: str) -> bool:
    """Up to the second generation Gemini searches only where there are no other tools."""
    return not asked.tools(request) or generation_of(model_id) >= _NEWEST


def _put_tools(config: Any, request: LlmRequest, model_id: str) -> None:
    """Google Search in place of what stands for it. Beside other tools Gemini also returns what it searched for,
    which it wants back with their results."""
    tools = [tool for tool in config.tools or () if not isinstance(tool, ServerTool)]
    if _searches(request) and _may_search(request, model_id):
        tools.append(types.Tool(google_search=types.GoogleSearch()))
        if asked.tools(request):
            given = config.tool_config or types.ToolConfig()
            config.tool_config = given.model_copy(update={"include_server_side_tool_invocations": True})
    config.tools = tools or None


def _put_form(config: Any, request: LlmRequest, model_id: str) -> None:
    """The form of the answer; up to the second generation tools exclude it, and it is put in words."""
    schema = asked.output_schema(request)
    in_words = bool(config.tools) and generation_of(model_id) < _NEWEST
    config.response_schema = config.response_json_schema = None
    if schema is not None and not in_words:
        config.response_json_schema = schema.schema
        config.response_mime_type = "application/json"
    elif in_words and (schema is not None or asked.wants_json(request)):
        form = asked.schema_instruction(schema) if schema else _ONLY_JSON
        config.system_instruction = "\n\n".join(filter(None, (asked.system_text(request), form)))
        config.response_mime_type = None


def _thinking(request: LlmRequest, model_id: str) -> tuple[types.ThinkingConfig | None, tuple[str, ...]]:
    """How much to think: a level from the third generation on, a budget in 2.5, nothing before; and what was lost."""
    given = request.config.thinking_config
    if given is None:
        return None, ()
    generation = generation_of(model_id)
    if generation < (2, 5):
        return None, ("thinkingConfig",) if given.thinking_budget or asked.thinking_level(request) else ()
    level, pro = asked.thinking_level(request), "pro" in model_id
    if generation < _NEWEST:
        return _budgeted(given, level, pro)
    known = {"minimal": "low"} | ({"medium": "high"} if generation == _NEWEST else {}) if pro else {}
    return _leveled(given, level, known)


def _leveled(
    given: types.ThinkingConfig, level: str, known: Mapping[str, str]
) -> tuple[types.ThinkingConfig, tuple[str, ...]]:
    """A budget stands for the level nearest to it, a negative one for the model's own. `known` has the levels that a
    model knows for those it does not: the large ones cannot but think, and the first of them had two levels only."""
    budget = given.thinking_budget
    lost = ("thinkingBudget (thinkingLevel counts)",) if level and (budget or 0) > 0 else ()
    if not level and budget is not None and budget >= 0:
        level = next((name for name, most in _BUDGETS.items() if budget <= most), "high")
    chosen = types.ThinkingLevel(known.get(level, level).upper()) if level else None
    return given.model_copy(update={"thinking_budget": None, "thinking_level": chosen}), lost


def _budgeted(given: types.ThinkingConfig, level: str, pro: bool) -> tuple[types.ThinkingConfig, tuple[str, ...]]:
    budget, lost = given.thinking_budget, ()
    if budget is None:
        budget = _BUDGETS.get(level)
    elif level:
        lost = ("thinkingLevel (thinkingBudget counts)",)
    if pro and budget is not None and 0 <= budget < _LEAST_OF_PRO:
        budget, lost = _LEAST_OF_PRO, (*lost, f"thinkingBudget below {_LEAST_OF_PRO}")
    return given.model_copy(update={"thinking_budget": budget, "thinking_level": None}), lost


def _replayed(content: types.Content, goes_on: bool, signed: bool) -> types.Content:
    """A copy of an item of the conversation, fit to be sent. `goes_on`: the provider's own calls are sent back too;
    `signed`: the first call of a reply needs a signature."""
    role = "model" if content.role == "model" else "user"
    parts = list(_replayed_parts(content, goes_on))
    first = next((index for index, part in enumerate(parts) if part.function_call), None) if role == "model" else None
    if signed and first is not None and not parts[first].thought_signature:
        parts[first] = parts[first].model_copy(update={"thought_signature": _NO_SIGNATURE})
    return types.Content(role=role, parts=parts)


def _replayed_parts(content: types.Content, goes_on: bool) -> Iterator[types.Part]:
    for part in content.parts or ():
        signature = opened(PROVIDER, part.thought_signature)
        unreadable = part.thought and signature is None
        if unreadable or ((part.tool_call or part.tool_response) and not goes_on):
            continue
        copy = _json_safe(part).model_copy(update={"thought_signature": signature})
        if signature or part.text or copy != types.Part(text=copy.text):
            yield copy


def _json_safe(part: types.Part) -> types.Part:
    """A tool's result may hold live objects, which the SDK cannot write."""
    result = part.function_response
    if result is None:
        return part
    safe = result.model_copy(update={"response": asked.json_safe(result.response or {})})
    return part.model_copy(update={"function_response": safe})
