"""Get an embedded model ready before anything slow is imported."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syndicate.cli.opening import Opening
    from syndicate.settings import Settings


def wake(opening: Opening) -> None:
    """When an embedded model is to answer: pull its weights, with a progress bar, and let its server start.

    Raises `ModelUnavailableError` when the weights cannot be had. Returns while the server is still starting.
    """
    model = _first_available(opening.first_models(), opening.settings)
    if model is None or not model.startswith("local/"):
        return
    from syndicate.models.local import start_early
    from syndicate.models.weights import find

    if find(model, opening.settings) is None:
        from syndicate.cli.pulling import pull_weights

        pull_weights(model, opening.settings)
    start_early(model, opening.settings)


def _first_available(models: Sequence[str], settings: Settings) -> str | None:
    """The model that will answer, as `models:` falls through; nobody is asked when no embedded one is named."""
    from syndicate.models.registry import availability

    if not any(model.startswith("local/") for model in models):
        return None

    async def first() -> str | None:
        for model in models:
            if await availability(model, settings) is None:
                return model
        return None

    return asyncio.run(first())
