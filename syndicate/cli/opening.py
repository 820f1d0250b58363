"""What `chat` opens: a loaded syndicate and how it is to be run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from syndicate.config.names import adk_name

if TYPE_CHECKING:
    from syndicate import Syndicate
    from syndicate.config import LoadedSyndicate
    from syndicate.config.schema import Scalar
    from syndicate.settings import Settings


@dataclass(frozen=True, slots=True)
class Opening:
    """A syndicate file and the options of the command line. `models` maps agent names to model ids."""

    loaded: LoadedSyndicate
    settings: Settings
    bindings: Mapping[str, Scalar]
    models: Mapping[str, str]
    user: str | None
    session: str | None

    def open(self) -> AbstractAsyncContextManager[Syndicate]:
        """Compile it and open its services. Imports Google ADK."""
        from syndicate import Syndicate

        return Syndicate.open(
            self.loaded.path,
            settings=self.settings,
            bindings=self.bindings,
            models=self.models,
            user_id=self.user,
            timezone=self.settings.syndicate_timezone,
        )

    def first_models(self) -> tuple[str, ...]:
        """The model ids the orchestrator may answer with, in order."""
        agent = self.loaded.config.orchestrator
        for name in (agent.name, adk_name(agent.name), "*"):
            if name in self.models:
                return (self.models[name],)
        return agent.models or ((agent.model,) if agent.model else ())
