"""xAI's own searches and what the deployment constrains them to."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from syndicate.models.request import JsonObject

if TYPE_CHECKING:
    from syndicate.models.server_tools import ServerToolKind
    from syndicate.settings import Settings

_NO_COLLECTIONS = "collections_search is left out: XAI_COLLECTION_IDS names no collection"


@dataclass(frozen=True, slots=True)
class XaiSearch:
    """The tools by kind, as the wire spells them, and by kind what of the settings is not followed."""

    _tools: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    _warnings: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @classmethod
    def from_settings(cls, settings: Settings) -> XaiSearch:
        """The searches that the settings allow."""
        web, x = _Notes(), _Notes()
        tools: dict[str, JsonObject] = {
            "web_search": _web_search(settings, web),
            "x_search": _x_search(settings, x),
        }
        collections = _listed(settings.xai_collection_ids)
        if collections:
            tools["collections_search"] = {"type": "file_search", "vector_store_ids": collections} | (
                {"max_num_results": most} if (most := settings.xai_collections_max_results) else {}
            )
        missing = () if collections else (_NO_COLLECTIONS,)
        return cls(tools, {"web_search": web.lines, "x_search": x.lines, "collections_search": missing})

    def tool(self, kind: ServerToolKind) -> JsonObject | None:
        """The tool of a kind; None where there is none."""
        return self._tools.get(kind)

    def warnings(self, kind: ServerToolKind) -> tuple[str, ...]:
        """What of the settings this kind does not follow, and why."""
        return self._warnings.get(kind, ())


@dataclass(frozen=True, slots=True)
class _Names:
    """A list of domains or handles: its variables, what the wire calls it, and how many xAI takes."""

    variables: str
    wire: str
    most: int

    def variable(self, which: str) -> str:
        return self.variables.format(which.upper())


_DOMAINS = _Names("XAI_WEB_SEARCH_{}_DOMAINS", "domains", 5)
_HANDLES = _Names("XAI_X_SEARCH_{}_HANDLES", "x_handles", 20)


class _Notes:
    """The warnings of one tool."""

    def __init__(self) -> None:
        self.lines: tuple[str, ...] = ()

    def add(self, line: str) -> None:
        self.lines += (line,)


def _web_search(settings: Settings, notes: _Notes) -> JsonObject:
    allowed = _listed(settings.xai_web_search_allowed_domains)
    filters = _one_of(_DOMAINS, allowed, _listed(settings.xai_web_search_excluded_domains), notes)
    return {"type": "web_search"} | ({"filters": filters} if filters else {})


def _x_search(settings: Settings, notes: _Notes) -> JsonObject:
    allowed = _handles(settings.xai_x_search_allowed_handles)
    handles = _one_of(_HANDLES, allowed, _handles(settings.xai_x_search_excluded_handles), notes)
    return {"type": "x_search", **_dates(settings, notes), **handles}


def _dates(settings: Settings, notes: _Notes) -> JsonObject:
    """The days between which to search; malformed ones are left out, and both where the first comes after the last."""
    first = _day("XAI_X_SEARCH_FROM_DATE", settings.xai_x_search_from_date, notes)
    last = _day("XAI_X_SEARCH_TO_DATE", settings.xai_x_search_to_date, notes)
    if first and last and first > last:
        notes.add("XAI_X_SEARCH_FROM_DATE is after XAI_X_SEARCH_TO_DATE: both are left out")
        return {}
    return {name: day for name, day in (("from_date", first), ("to_date", last)) if day}


def _day(variable: str, written: str | None, notes: _Notes) -> str | None:
    if written is None:
        return None
    try:
        return date.fromisoformat(written.strip()).isoformat()
    except ValueError:
        notes.add(f"{variable} is left out: {written!r} is not a date such as 2026-01-31")
        return None


def _one_of(kind: _Names, allowed: list[str], excluded: list[str], notes: _Notes) -> JsonObject:
    """The names that are allowed, else those that are excluded, cut to as many as xAI takes."""
    which, names = ("allowed", allowed) if allowed else ("excluded", excluded)
    if allowed and excluded:
        notes.add(f"{kind.variable('excluded')} is left out: {kind.variable('allowed')} is set too")
    if len(names) > kind.most:
        notes.add(f"{kind.variable(which)} is cut to the first {kind.most} of its {len(names)}")
    return {f"{which}_{kind.wire}": names[: kind.most]} if names else {}


def _listed(text: str | None) -> list[str]:
    """What stands between commas, each once."""
    return list(dict.fromkeys(item.strip() for item in (text or "").split(",") if item.strip()))


def _handles(text: str | None) -> list[str]:
    return list(dict.fromkeys(bare for item in _listed(text) if (bare := item.lstrip("@").strip())))
