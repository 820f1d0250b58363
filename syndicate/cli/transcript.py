"""A stored session as rows: who said what, and within each turn who called whom and what came back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from itertools import groupby
from typing import Any, Literal, cast

from syndicate.cli.notes import preview
from syndicate.cli.visible import one_line, visible

_SHORT = 200
"""Characters of a tool's result, and of what a subagent says, that are shown."""
Json = Mapping[str, Any]
Kind = Literal["day", "author", "user", "said", "call", "detail", "failed"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row, or the paragraphs of what was said; `depth` counts levels of indentation."""

    kind: Kind
    text: str
    depth: int = 0


def rows(events: Sequence[Json], zone: tzinfo | None = None) -> Iterator[Row]:
    """The rows of all turns, in the order in which they began; two that ran at once do not mix.

    `events` are ADK events as JSON, oldest first; times are those of `zone`, without one the machine's. A subagent's
    rows stand below the call that started it, those of calls side by side one call after the other.
    """
    turns: dict[str, list[Json]] = {}
    for event in events:
        turns.setdefault(_text(event, "invocation_id") or str(id(event)), []).append(event)
    day = ""
    for turn in turns.values():
        today = f"{_when(turn[0], zone):%Y-%m-%d}"
        if today != day:
            yield Row("day", today)
        day = today
        yield from _Turn(turn, zone).rows()


def turn_count(events: Sequence[Json]) -> int:
    """How many turns the events belong to."""
    return len({_text(event, "invocation_id") for event in events})


@dataclass
class _Turn:
    """One turn. `branches` are its events by branch: a subagent's are on one of their own, named after its call."""

    events: Sequence[Json]
    zone: tzinfo | None
    branches: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    told: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        for event in self.events:
            self.branches.setdefault(_text(event, "branch"), []).append(event)

    def rows(self) -> Iterator[Row]:
        for author, events in groupby(self.branches.get("", ()), key=lambda event: _text(event, "author")):
            said = list(events)
            inner = [row for event in said for row in self._event(event, 1)]
            if inner:
                yield Row("author", f"{_who(author)}  {_when(said[0], self.zone):%H:%M:%S}")
                yield from inner
        for branch in self.branches:
            if branch and branch not in self.told:  # of a call that was not stored
                yield Row("call", f"→ {_who(branch.rpartition('.')[2].partition('@')[0])}", 1)
                yield from self._inside(branch, 2)

    def _inside(self, branch: str, depth: int) -> Iterator[Row]:
        self.told.add(branch)
        for event in self.branches[branch]:
            yield from self._event(event, depth)

    def _event(self, event: Json, depth: int) -> Iterator[Row]:
        for part in _parts(event):
            if call := _get(part, "function_call"):
                yield from self._call(event, call, depth)
            elif not _get(part, "thought") and not _get(part, "function_response"):
                yield from _spoken(part, event, depth)
        if code := _get(event, "error_code"):
            yield Row("failed", one_line(f"✗ {_get(event, 'error_message') or code}", _SHORT), depth)

    def _call(self, event: Json, call: Json, depth: int) -> Iterator[Row]:
        name, call_id, on = _text(call, "name"), _text(call, "id"), _text(event, "branch")
        inner = self._branch_of(on, call_id)
        answer, response = self._result(on, call_id)
        args = preview(_get(call, "args") or {}, 100)
        took = f"{_time(answer) - _time(event):.1f} s" if answer else "no answer"
        head = f"→ {_who(name)}" if inner else f"• {one_line(name)}"
        yield Row("call", "  ".join(part for part in (head, args, took) if part), depth)
        told = list(self._inside(inner, depth + 1)) if inner else []
        yield from told
        if answer and not (told and told[-1].text == _shown(response)):
            failed = _is_only(response, "error")
            yield Row("failed" if failed else "detail", f"{'✗' if failed else '='} {_shown(response)}", depth + 1)

    def _branch_of(self, on: str, call_id: str) -> str | None:
        """The branch of the subagent that the call started, `CALLER'S.NAME@CALL`."""
        prefix = f"{on}." if on else ""
        for branch in self.branches:
            if branch.startswith(prefix) and branch[len(prefix) :].partition("@")[2] == call_id and call_id:
                return branch
        return None

    def _result(self, on: str, call_id: str) -> tuple[Json | None, Any]:
        """The event that answers a call, and what it says."""
        for event in self.branches[on]:
            for part in _parts(event):
                response = _get(part, "function_response")
                if response and _text(response, "id") == call_id:
                    return event, _get(response, "response")
        return None, None


def _spoken(part: Json, event: Json, depth: int) -> Iterator[Row]:
    """What a part says: the whole text of the user and of who answers; a line of anybody further in."""
    text = visible(_text(part, "text")).strip()
    if text and depth > 1:
        yield Row("detail", one_line(text, _SHORT), depth)
    elif text:
        yield Row("user" if _text(event, "author") == "user" else "said", text, depth)
    elif data := _get(part, "inline_data"):
        yield Row(
            "detail", f"[{_text(data, 'mime_type') or 'data'}, {len(_text(data, 'data')) * 3 // 4:,} bytes]", depth
        )
    elif data := _get(part, "file_data"):
        yield Row("detail", one_line(f"[{_text(data, 'file_uri')}]", _SHORT), depth)
    elif code := _get(part, "executable_code"):
        yield Row("call", f"• code  {one_line(_text(code, 'code'), 100)}", depth)
    elif result := _get(part, "code_execution_result"):
        yield Row("detail", f"= {one_line(_text(result, 'output'), _SHORT)}", depth + 1)


def _shown(response: Any) -> str:
    """A result on one line; a single one without its name, and without quotes when it is text."""
    if _is_only(response, "omitted_bytes") and isinstance(size := response["omitted_bytes"], int):
        return f"({size:,} bytes, not kept after the turn)"
    for name in ("result", "error"):
        if _is_only(response, name):
            response = response[name]
    text = response if isinstance(response, str) else json.dumps(response, ensure_ascii=False, default=str)
    return one_line(text, _SHORT)


def _is_only(response: Any, name: str) -> bool:
    return isinstance(response, Mapping) and list(cast(Json, response)) == [name]


def _who(author: str) -> str:
    """An author as a person writes it; the stored name is ADK's identifier."""
    return "you" if author == "user" else one_line(author.replace("_", " ")) or "somebody"


def _when(event: Json, zone: tzinfo | None) -> datetime:
    return datetime.fromtimestamp(_time(event), zone)


def _time(event: Json) -> float:
    value = _get(event, "timestamp")
    return float(value) if isinstance(value, int | float) else 0.0


def _parts(event: Json) -> Sequence[Json]:
    parts = _get(_get(event, "content"), "parts")
    return cast("list[Json]", parts) if isinstance(parts, list) else ()


def _text(data: Any, name: str) -> str:
    value = _get(data, name)
    return value if isinstance(value, str) else ""


def _get(data: Any, name: str) -> Any:  # JSON of any shape
    """A field of an ADK event, which may have been written in snake_case or in camelCase; None where there is none."""
    if not isinstance(data, Mapping):
        return None
    fields = cast(Json, data)
    head, *rest = name.split("_")
    return fields.get(name, fields.get(head + "".join(map(str.capitalize, rest))))
