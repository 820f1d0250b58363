"""`local/*` models from the outside: whether one can be used, and its server started ahead of time. Imports little."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from syndicate.errors import SyndicateError
from syndicate.models import local_launch, weights
from syndicate.models.registry import Unavailable, static_availability

if TYPE_CHECKING:
    from syndicate.settings import Settings


def start_early(model_id: str, settings: Settings) -> None:
    """Begin to start the server of an embedded model whose weights are there, and return at once.

    Does nothing for any other model and never raises: what is wrong comes to light when the model is called.
    """
    if not model_id.startswith(weights.PREFIX) or static_availability(model_id, settings) is not None:
        return
    path = weights.find(model_id, settings)
    if path is None:
        return
    try:
        local_launch.begin(local_launch.Launch.of(path, settings))
    except (OSError, SyndicateError):
        return


async def availability(model_id: str, settings: Settings) -> Unavailable | None:
    """Whether the weights are there. SmolLM2's are pulled on first use, so they need not be."""
    reference = weights.parse(model_id)
    if reference is None:
        return Unavailable(weights.malformed(model_id) or "", "correct the model id", code="unknown-model")
    if reference is weights.SMOLLM2 or weights.find(model_id, settings) is not None:
        return None
    if reference.path is not None:
        return Unavailable(f"there is no file {str(reference.path)!r} in {str(Path.cwd())!r}", "correct the path")
    return Unavailable("its weights are not on this machine", f"run `syndicate models pull {model_id}`")
