"""Rules of the `dispatch` block: its routes are subagents, its patterns compile, the classifier can name a route."""

from __future__ import annotations

from syndicate.config.names import route_name
from syndicate.config.patterns import pattern_problem
from syndicate.config.raw import Data, blocks, has, mapping, subagents, text, texts
from syndicate.config.report import Report
from syndicate.config.source import KeyPath
from syndicate.config.suggestions import did_you_mean


def check_dispatch(data: Data, report: Report) -> None:
    """Every rule of a `dispatch` block that is a mapping."""
    dispatch = mapping(data, "dispatch")
    routes = _routes(data, report)
    _check_route(("dispatch", "default_route"), text(dispatch, "default_route"), routes, report)
    for index, override in blocks(dispatch, "route_overrides"):
        path = ("dispatch", "route_overrides", index)
        _check_route((*path, "route"), text(override, "route"), routes, report)
        message = pattern_problem(text(override, "pattern"), text(override, "flags"))
        if message:
            report.error((*path, "pattern"), message, "bad-pattern")
    key = text(dispatch, "route_key") if has(dispatch, "route_key") else "route"
    _check_classifier(mapping(mapping(data, "orchestrator"), "outputSchema"), key, routes, report)


def _routes(data: Data, report: Report) -> dict[str, str]:
    """Display names of the subagents, by what routes are compared by."""
    routes: dict[str, str] = {}
    for path, agent in subagents(data):
        name = text(agent, "name")
        taken = routes.setdefault(route_name(name), name) if name else name
        if taken != name:
            message = f"routes {taken!r} and {name!r} differ in case or punctuation only, which dispatch ignores"
            report.error((*path, "name"), f"{message}; rename one", "duplicate-route")
    return routes


def _check_route(path: KeyPath, route: str, routes: dict[str, str], report: Report) -> None:
    if route and route_name(route) not in routes:
        names = ", ".join(map(repr, routes.values()))
        hint = did_you_mean(route, routes.values()) or (f"; there are {names}" if names else "; add some")
        report.error(path, f"{route!r} names no subagent{hint}", "unknown-route")


def _check_classifier(schema: Data, key: str, routes: dict[str, str], report: Report) -> None:
    """An `outputSchema` of the orchestrator has the route's property, and allows nothing that is no route."""
    path = ("orchestrator", "outputSchema", "properties")
    properties = mapping(schema, "properties")
    if properties and key and key not in properties:
        hint = did_you_mean(key, properties) or "; add it, or name another one in 'route_key'"
        message = f"'outputSchema' has no property {key!r}, where dispatch looks for the route{hint}"
        report.error(path, message, "missing-field", key=True)
    for index, route in texts(mapping(properties, key), "enum"):
        _check_route((*path, key, "enum", index), route, routes, report)
