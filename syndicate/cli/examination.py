"""A doctor's report, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from syndicate.cli.loading import shown_path
from syndicate.cli.visible import one_line

if TYPE_CHECKING:
    from syndicate.cli.marks import Marks
    from syndicate.graph.doctor import AgentReport, GatewayReport, ProviderReport, Report, SyndicateReport
    from syndicate.graph.unlocks import Unlock
    from syndicate.settings import Settings

_BOLD, _DIM, _GOOD, _BAD = "bold", "dim", "green", "red"


def lines(report: Report, settings: Settings, marks: Marks) -> Iterator[Text]:
    """Everything there is to say, from what was asked for down to what would help."""
    if report.name is not None:
        yield _title(report)
        yield from _agents(report, marks)
    else:
        yield Text("syndicates", _BOLD)
        yield from _syndicates(report.syndicates, marks)
    yield Text()
    yield Text("providers", _BOLD)
    yield from _providers(report.providers, settings, marks)
    yield Text()
    yield Text.assemble(("gateway   ", _BOLD), _gateway(report.gateway))
    yield Text.assemble(("database  ", _BOLD), report.database)
    if report.unlocks:
        yield Text()
        yield Text("what would run with", _BOLD)
        yield from _unlocks(report.unlocks)


def _title(report: Report) -> Text:
    file = shown_path(Path(report.agents[0].location.file))
    return Text.assemble((one_line(report.title), _BOLD), "  ", (file, _DIM))


def _agents(report: Report, marks: Marks) -> Iterator[Text]:
    width = max(2 * agent.depth + len(one_line(agent.name)) for agent in report.agents)
    for agent in report.agents:
        indent = "  " * agent.depth
        sign = (marks.yes, _GOOD) if agent.runs else (marks.no, _BAD)
        name = f"{one_line(agent.name):<{width - len(indent)}}"
        yield Text.assemble("  ", indent, sign, f" {name}  ", _answering(agent))
        for label, detail in _details(agent):
            yield Text.assemble("    ", indent, (f"{label}: " if label else "", _DIM), (one_line(detail, 400), _DIM))


def _answering(agent: AgentReport) -> str:
    if agent.answers is None:
        only = agent.models[0] if len(agent.models) == 1 else None
        return f"{one_line(only.id)}: {one_line(only.reason, 200)}" if only else "none of its models can be used"
    via = next(model.via for model in agent.models if model.id == agent.answers)
    return one_line(agent.answers) + (f" through the {via}" if via else "")


def _details(agent: AgentReport) -> Iterator[tuple[str, str]]:
    """What is worth a line below an agent: models passed over, tools it has, tools it has not, what stops it."""
    passed = [model for model in agent.models if not model.available]
    if agent.answers is not None or len(agent.models) > 1:
        for model in passed:
            yield model.id, model.reason
    kept = [tool.name for tool in agent.tools if tool.kept and not tool.is_agent]
    if kept:
        yield "tools", ", ".join(kept)
    for tool in agent.tools:
        if not tool.kept:
            yield f"without {tool.name}", tool.why
    if agent.settings_left_out:
        yield "without", ", ".join(agent.settings_left_out)
    for line in agent.blocked:
        yield "", line


def _syndicates(syndicates: Iterable[SyndicateReport], marks: Marks) -> Iterator[Text]:
    rows = sorted(syndicates, key=lambda row: (-row.running / row.agents, row.name))
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        sign = (marks.yes, _GOOD) if row.runs else (marks.no, _BAD) if not row.running else (marks.none, "")
        agents = f"{row.agents} agent{'s' * (row.agents > 1)}"
        count = agents if row.runs else f"{row.running} of {agents}"
        yield Text.assemble("  ", sign, f" {one_line(row.name):<{width}}  ", (count, _DIM))


def _providers(providers: Iterable[ProviderReport], settings: Settings, marks: Marks) -> Iterator[Text]:
    rows = list(providers)
    name, ids = max(len(row.id) for row in rows), max(len(row.ids) for row in rows)
    for row in rows:
        sign = (marks.yes, _GOOD) if row.ready else (marks.none, "")
        state = provider_state(row, settings)
        yield Text.assemble("  ", sign, f" {row.id:<{name}}  ", (f"{row.ids:<{ids}}", _DIM), f"  {state}")
        for note in row.notes:
            yield Text.assemble("    ", (one_line(note, 200), _DIM))


def provider_state(row: ProviderReport, settings: Settings) -> str:
    """Ready and why, or what it needs."""
    if not row.ready:
        return row.needs
    if row.via:
        return f"through {settings.model_gateway}"
    if row.key:
        return f"{row.key} is set"
    if row.daemon:
        return f"{one_line(row.daemon)} answers, {len(row.pulled)} model{'s' * (len(row.pulled) != 1)} pulled"
    return "ready"


def _gateway(gateway: GatewayReport) -> str:
    if gateway.name is None:
        return "MODEL_GATEWAY is not set"
    if not gateway.key_set:
        return f"{gateway.name}: MODEL_GATEWAY_API_KEY is not set"
    serves = ", ".join(gateway.serves) or "no provider, since all have keys of their own"
    return f"{gateway.name}, for {serves}"


def _unlocks(unlocks: Iterable[Unlock]) -> Iterator[Text]:
    for unlock in unlocks:
        ids = (f"  {', '.join(unlock.ids)}" if unlock.ids else "", _DIM)
        yield Text.assemble("  ", " and ".join(unlock.steps), ids)
        if unlock.runs:
            yield Text.assemble("    ", one_line(", ".join(unlock.runs), 400))
