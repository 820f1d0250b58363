"""`models try`: one prompt to several models at once, shown one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import click
from rich.console import Console

from syndicate.cli.boundary import show_line, show_traceback
from syndicate.cli.visible import json_line, one_line, visible
from syndicate.errors import ModelError, ModelUnavailableError, SyndicateError, UsageError
from syndicate.graph.doctor import examine_providers
from syndicate.models.registry import provider_of, unknown_model
from syndicate.models.trial import DEFAULTS, Trial, ask

if TYPE_CHECKING:
    from syndicate.graph.doctor import ProviderReport
    from syndicate.settings import Settings


def try_out(prompt: str, model_ids: Sequence[str], settings: Settings, *, search: bool, as_json: bool) -> int:
    """Ask each model, or one of each provider that is available. Returns the exit code: 1 when none answered.

    Raises `UsageError` for an id of no provider, `ModelUnavailableError` when there is nobody to ask.
    """
    if not prompt.strip():
        raise click.UsageError("the prompt is empty")
    for model_id in model_ids:
        if problem := unknown_model(model_id):
            raise UsageError(problem)
    asked = list(dict.fromkeys(model_ids)) or _one_of_each(settings)
    broken = {model_id: error for model_id in asked if (error := _without_weights(model_id, settings))}
    view: _View = _JsonView() if as_json else _TextView()

    def trial_of(model_id: str) -> asyncio.Task[Trial]:
        return asyncio.create_task(_trial(model_id, prompt, settings, broken, search=search))

    async def run() -> int:
        answered = False
        trials = {model_id: trial_of(model_id) for model_id in asked}
        for model_id, task in trials.items():
            view.begin(model_id)
            trial = await task
            view.show(trial)
            answered = answered or trial.answered
        return 0 if answered else 1

    return asyncio.run(run())


def _one_of_each(settings: Settings) -> list[str]:
    rows = asyncio.run(examine_providers(settings))
    found = {row.id: model_id for row in rows if row.ready and (model_id := _default(row))}
    left = [row.id for row in rows if row.id not in found]
    if not found:
        raise ModelUnavailableError("no provider is available here", remediation="`syndicate doctor` says what helps")
    if left:
        show_line(f"not available here: {', '.join(left)} (`syndicate doctor` says why)")
    return list(found.values())


def _default(row: ProviderReport) -> str | None:
    """The model that stands for a provider; of a daemon's the first that is not one for embeddings."""
    chat = next((name for name in row.pulled if "embed" not in name), None)
    return f"{row.id}/{chat}" if chat else DEFAULTS.get(row.id)


def _without_weights(model_id: str, settings: Settings) -> SyndicateError | None:
    """Pull what an embedded model needs, with a progress bar; the error when it cannot be had."""
    from syndicate.models.registry import static_availability
    from syndicate.models.weights import PREFIX, find, parse

    reference = parse(model_id) if model_id.startswith(PREFIX) else None
    if reference is None or reference.path is not None or static_availability(model_id, settings) is not None:
        return None
    if find(model_id, settings) is not None:
        return None
    from syndicate.cli.pulling import pull_weights

    try:
        pull_weights(model_id, settings)
    except ModelUnavailableError as error:
        return error
    return None


async def _trial(
    model_id: str, prompt: str, settings: Settings, broken: Mapping[str, SyndicateError], *, search: bool
) -> Trial:
    """One trial; whatever goes wrong in it is in it, so that the others are shown."""
    provider = provider_of(model_id)
    failed = Trial(model_id, provider.id if provider else "", error=broken.get(model_id))
    if failed.error is not None:
        return failed
    try:
        return await ask(model_id, prompt, settings, search=search)
    except Exception as error:
        show_traceback(error)
        words = f"model {model_id!r}: {type(error).__name__}: {error}; this is a bug in syndicate"
        failed.error = ModelError(words, code="bug", model=model_id)
        return failed


class _View(Protocol):
    def begin(self, model_id: str) -> None:
        """A model is waited for."""
        ...

    def show(self, trial: Trial) -> None:
        """It has answered, or failed."""
        ...


class _TextView:
    """A heading, the thinking dimmed, the answer, what it took, and where it was found."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
        self._first = True

    def begin(self, model_id: str) -> None:
        if not self._first:
            self._console.print()
        self._first = False
        self._console.print(one_line(model_id), style="bold")

    def show(self, trial: Trial) -> None:
        if trial.thinking.strip():
            self._console.print(visible(trial.thinking).strip(), style="dim italic")
        if trial.answer.strip():
            self._console.print(visible(trial.answer).strip())
        for source in trial.sources:
            title = one_line(source.title, 60)
            self._console.print(f"{title}  {one_line(source.uri, 400)}".strip(), style="dim")
        if trial.note:
            self._console.print(one_line(trial.note, 200), style="dim")
        if trial.error is not None:
            self._console.print(one_line(str(trial.error), 400), style="red")
        else:
            self._console.print(_meter(trial), style="dim")


class _JsonView:
    """One object a line."""

    def begin(self, model_id: str) -> None:
        pass

    def show(self, trial: Trial) -> None:
        click.echo(json_line(_as_object(trial)))


def _as_object(trial: Trial) -> dict[str, Any]:
    error = trial.error
    return {
        "provider": trial.provider,
        "model": trial.model,
        "answer": trial.answer or None,
        "thinking": trial.thinking or None,
        "usage": _usage(trial),
        "first_token_seconds": _rounded(trial.first_token),
        "seconds": _rounded(trial.seconds),
        "cost_usd": None if trial.cost_usd is None else float(trial.cost_usd),
        "sources": [{"title": source.title, "uri": source.uri} for source in trial.sources],
        "note": trial.note or None,
        "error": error and {"code": error.code, "message": error.message, "remediation": error.remediation},
    }


def _usage(trial: Trial) -> dict[str, int | None]:
    usage = trial.usage
    return {
        "input": usage.prompt_token_count if usage else None,
        "output": usage.candidates_token_count if usage else None,
        "thinking": usage.thoughts_token_count if usage else None,
        "cached": usage.cached_content_token_count if usage else None,
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _meter(trial: Trial) -> str:
    """Tokens, times and cost on one line."""
    counts = _usage(trial)
    tokens = [f"{_count(counts['input'])} in", f"{_count(counts['output'])} out"]
    tokens += [f"{counts['thinking']:,} thinking"] if counts["thinking"] else []
    first = f"first token {trial.first_token:.1f} s, " if trial.first_token is not None else ""
    cost = "cost unknown" if trial.cost_usd is None else f"${trial.cost_usd:.4f}" if trial.cost_usd else "free"
    return f"{', '.join(tokens)} · {first}{trial.seconds:.1f} s in all · {cost}"


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"
