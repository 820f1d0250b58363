"""Rules of the `dispatch` block: its routes are subagents, its patterns compile, the classifier can name a route."""

from __future__ import annotations

from typing import Any

from syndicate.config.agent_rules import Data, agents, display_name, items
from syndicate.config.names import route_name
from syndicate.config.patterns import pattern_problem
from syndicate.config.report import Report
from syndicate.config.source import Path
from syndicate.config.suggestions import did_you_mean


def check_dispatch(data: Data, report: Report) -> None:
    """Every rule of a `dispatch` block that is a mapping."""
    dispatch: Data = data["dispatch"]
    routes = _routes(data, report)
    _check_route(("dispatch", "default_route"), dispatch.get("default_route"), routes, report)
    for index, override in enumerate(items(dispatch, "route_overrides")):
        if isinstance(override, dict):
            path = ("dispatch", "route_overrides", index)
            _check_route((*path, "route"), override.get("route"), routes, report)
            _check_pattern((*path, "pattern"), override, report)
    _check_classifier(data, routes, report)


def _routes(data: Data, report: Report) -> dict[str, str]:
    """Display names of subagents by what they are compared by."""
    routes: dict[str, str] = {}
    for path, agent in agents(data):
        name = display_name(agent)
        if path[0] != "subagents" or name is None:
            continue
        taken = routes.setdefault(route_name(name), name)
        if taken != name:
            message = (
                f"routes {taken!r} and {name!r} differ in case or punctuation only, which does not count; rename one"
            )
            report.error((*path, "name"), message, "duplicate-route")
    return routes


def _check_route(path: Path, route: Any, routes: dict[str, str], report: Report) -> None:
    if isinstance(route, str) and route and route_name(route) not in routes:
        report.error(path, f"{route!r} names no subagent{_known(route, routes)}", "unknown-route")


def _known(route: str, routes: dict[str, str]) -> str:
    hint = did_you_mean(route, routes.values())
    if hint:
        return hint
    return f"; there are {', '.join(map(repr, routes.values()))}" if routes else "; this file has no subagents"


def _check_pattern(path: Path, override: Data, report: Report) -> None:
    pattern, flags = override.get("pattern"), override.get("flags")
    if isinstance(pattern, str):
        message = pattern_problem(pattern, flags if isinstance(flags, str) else "")
        if message:
            report.error(path, message, "bad-pattern")


def _check_classifier(data: Data, routes: dict[str, str], report: Report) -> None:
    """A closed `outputSchema` on the orchestrator must have the route's property, and its values must be routes."""
    path = ("orchestrator", "outputSchema")
    root = data.get("orchestrator")
    schema = root.get("outputSchema") if isinstance(root, dict) else None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return
    key = data["dispatch"].get("route_key") or "route"
    if not isinstance(key, str):
        return
    if key not in properties:
        hint = did_you_mean(key, properties) or "; add it, or change 'route_key'"
        message = f"'outputSchema' has no property {key!r}, in which dispatch looks for the route{hint}"
        report.error((*path, "properties"), message, "missing-field", key=True)
        return
    allowed = properties[key].get("enum") if isinstance(properties[key], dict) else None
    for index, route in enumerate(allowed if isinstance(allowed, list) else []):
        _check_route((*path, "properties", key, "enum", index), route, routes, report)
