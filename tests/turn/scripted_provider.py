"""A provider whose models are scripts: ids `scripted/<name>`, found through the registry as any provider's are."""

from __future__ import annotations

import re

from syndicate.models.registry import Provider, register_provider
from syndicate.settings import Settings
from syndicate.testing import ScriptedModel

SCRIPTS: dict[str, ScriptedModel] = {}


class Adapter:
    """Stands where an adapter class does."""

    @staticmethod
    def from_settings(model_id: str, settings: Settings) -> ScriptedModel:
        return SCRIPTS[model_id]


def register(**scripts: ScriptedModel) -> None:
    """Make `scripted/<name>` answer by a script."""
    pattern = re.compile(r"scripted/\S+")
    adapter = f"{__name__}:{Adapter.__name__}"
    register_provider(Provider(id="scripted", prefixes="scripted/*", pattern=pattern, adapter=adapter))
    SCRIPTS.update({f"scripted/{name}": model for name, model in scripts.items()})
