"""The stored events of a session as past turns that an orchestrator can read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from google.adk.events import Event
from google.genai import types

MAX_TURNS = 40
MAX_CHARACTERS = 40_000
MAX_EVENTS = 240
"""Events read at most for one turn: six for each turn that can be shown."""

Exchange = list[types.Content]


@dataclass(frozen=True, slots=True)
class History:
    """The newest past turns within the bounds, oldest first; `is_partial` when there are older ones."""

    exchanges: Sequence[Exchange]
    is_partial: bool


def delegate_history(events: Sequence[Event], orchestrator: str) -> History:
    """What the orchestrator (by ADK name) reads of the past: its user, its own words, calls and results in pairs.

    Thoughts and its subagents' inner events are left out. Cut at whole turns to `MAX_TURNS` and `MAX_CHARACTERS`.
    """
    exchanges = list(_exchanges(events, orchestrator))
    kept: list[Exchange] = []
    room = MAX_CHARACTERS
    for exchange in reversed(exchanges[-MAX_TURNS:]):
        room -= sum(map(_characters, exchange))
        if room < 0:
            break
        kept.append(exchange)
    return History(kept[::-1], len(kept) < len(exchanges) or len(events) >= MAX_EVENTS)


def _exchanges(events: Iterable[Event], orchestrator: str) -> Iterable[Exchange]:
    """Turns in the order in which they began; two that ran at once do not mix."""
    turns: dict[str, Exchange] = {}
    for event in events:
        if event.author == "user":
            turns[event.invocation_id] = _readable(event, "user")
        elif event.author == orchestrator and not event.branch and turns.get(event.invocation_id):
            turns[event.invocation_id] += _readable(event, "user" if event.get_function_responses() else "model")
    return (_paired(exchange) for exchange in turns.values() if exchange)


def _readable(event: Event, role: str) -> Exchange:
    parts = [_plain(part) for part in (event.content.parts or () if event.content else ()) if not part.thought]
    shown = [part for part in parts if part is not None]
    return [types.Content(role=role, parts=shown)] if shown else []


def _plain(part: types.Part) -> types.Part | None:
    """The part without signatures, or nothing where there is nothing to read."""
    if part.thought_signature:
        part = part.model_copy(update={"thought_signature": None})
    readable = part.text or part.function_call or part.function_response or part.inline_data or part.file_data
    return part if readable else None


def _paired(exchange: Exchange) -> Exchange:
    """Without calls that were never answered (the turn broke off) and results that nobody called for."""
    calls = {part.function_call.id for content in exchange for part in content.parts or () if part.function_call}
    results = {
        part.function_response.id for content in exchange for part in content.parts or () if part.function_response
    }
    both = calls & results
    kept = (
        content.model_copy(update={"parts": [part for part in content.parts or () if _is_whole(part, both)]})
        for content in exchange
    )
    return [content for content in kept if content.parts]


def _is_whole(part: types.Part, pairs: set[str | None]) -> bool:
    call = part.function_call or part.function_response
    return call is None or call.id in pairs


def _characters(content: types.Content) -> int:
    total = 0
    for part in content.parts or ():
        if part.text:
            total += len(part.text)
        elif part.function_call:
            total += len(json.dumps(part.function_call.args, default=str))
        elif part.function_response:
            total += len(json.dumps(part.function_response.response, default=str))
    return total
