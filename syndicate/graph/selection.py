"""Which of an agent's models answers: the first that is available."""

from __future__ import annotations

import time
from collections.abc import Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING

from syndicate.errors import ModelUnavailableError
from syndicate.models import registry
from syndicate.models.retry import RetryPolicy

if TYPE_CHECKING:
    from google.adk.models import BaseLlm

    from syndicate.graph.agents import AgentInfo
    from syndicate.models.registry import Unavailable
    from syndicate.settings import Settings


REST_SECONDS = 60.0
"""How long a model that is overloaded or broken is passed over when another one can take its place."""


class ModelPool:
    """The adapters of one compiled syndicate: one for each model id, made when it is first used."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.retries = RetryPolicy(attempts=settings.syndicate_model_attempts)
        self._adapters: dict[str, BaseLlm] = {}
        self._resting: dict[str, float] = {}

    async def first_available(self, candidates: Sequence[str | BaseLlm], agent: AgentInfo) -> BaseLlm:
        """The first candidate that can be used now. Raises `ModelUnavailableError` with each one's reason."""
        missing: list[tuple[str, Unavailable]] = []
        for candidate in candidates:
            if not isinstance(candidate, str):
                return candidate
            unavailable = await registry.availability(candidate, self.settings)
            if unavailable is None:
                return self._adapter(candidate)
            missing.append((candidate, unavailable))
        raise _none_available(missing, agent)

    async def deputy(self, candidates: Sequence[str | BaseLlm], agent: AgentInfo, failing: BaseLlm) -> BaseLlm | None:
        """The model that takes over from one that fails, which all agents pass over for `REST_SECONDS`."""
        self._resting[failing.model] = time.monotonic() + REST_SECONDS
        fresh = [candidate for candidate in candidates if not self._rests(candidate)]
        try:
            return await self.first_available(fresh, agent) if fresh else None
        except ModelUnavailableError:
            return None

    def _rests(self, candidate: str | BaseLlm) -> bool:
        model_id = candidate if isinstance(candidate, str) else candidate.model
        return self._resting.get(model_id, 0) > time.monotonic()

    def _adapter(self, model_id: str) -> BaseLlm:
        if model_id not in self._adapters:
            self._adapters[model_id] = registry.create(model_id, self.settings)
        return self._adapters[model_id]

    async def aclose(self) -> None:
        """Close the connections of every adapter."""
        adapters, self._adapters = self._adapters, {}
        for adapter in adapters.values():
            close = getattr(adapter, "aclose", None)
            if close is not None and isawaitable(closing := close()):
                await closing


def _none_available(missing: Sequence[tuple[str, Unavailable]], agent: AgentInfo) -> ModelUnavailableError:
    reasons = "; ".join(f"{model_id}: {unavailable.reason}" for model_id, unavailable in missing)
    fixes = dict.fromkeys(unavailable.remediation for _, unavailable in missing if unavailable.remediation)
    return ModelUnavailableError(
        f"no model can be used ({reasons})" if len(missing) > 1 else f"model cannot be used ({reasons})",
        code=missing[0][1].code if len(missing) == 1 else "",
        remediation=", or ".join(fixes),
        agent=agent.name,
        model=missing[0][0],
        location=agent.location,
    )
