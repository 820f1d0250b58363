"""Syndicate: a whole agent system in one readable YAML file."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syndicate.errors import (
        ConfigError,
        EmptyAnswerError,
        FeatureUnavailableError,
        Location,
        MissingExtraError,
        ModelError,
        ModelUnavailableError,
        OutputSchemaError,
        Problem,
        RunError,
        SettingsError,
        StepLimitError,
        StorageError,
        SyndicateError,
        TurnStoppedError,
        UsageError,
    )
    from syndicate.models.adk_registry import register_models
    from syndicate.settings import Settings
    from syndicate.tools.registry import register_tool
    from syndicate.turn.events import (
        Answer,
        Confirm,
        Failed,
        GuardNote,
        Routed,
        Status,
        Text,
        Thinking,
        ToolFinished,
        ToolStarted,
        TurnEvent,
        Usage,
    )
    from syndicate.turn.limits import Limits
    from syndicate.turn.runner import run_turn
    from syndicate.turn.services import Services, open_services
    from syndicate.turn.syndicate import Exchange, Syndicate, TurnResult, run_sync

__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(
        (
            "ConfigError",
            "EmptyAnswerError",
            "FeatureUnavailableError",
            "Location",
            "MissingExtraError",
            "ModelError",
            "ModelUnavailableError",
            "OutputSchemaError",
            "Problem",
            "RunError",
            "SettingsError",
            "StepLimitError",
            "StorageError",
            "SyndicateError",
            "TurnStoppedError",
            "UsageError",
        ),
        "errors",
    ),
    "Settings": "settings",
    "register_models": "models.adk_registry",
    "register_tool": "tools.registry",
    **dict.fromkeys(
        (
            "Answer",
            "Confirm",
            "Failed",
            "GuardNote",
            "Routed",
            "Status",
            "Text",
            "Thinking",
            "ToolFinished",
            "ToolStarted",
            "TurnEvent",
            "Usage",
        ),
        "turn.events",
    ),
    "Limits": "turn.limits",
    "run_turn": "turn.runner",
    **dict.fromkeys(("Services", "open_services"), "turn.services"),
    **dict.fromkeys(("Exchange", "Syndicate", "TurnResult", "run_sync"), "turn.syndicate"),
}

__all__ = [
    "Answer",
    "ConfigError",
    "Confirm",
    "EmptyAnswerError",
    "Exchange",
    "Failed",
    "FeatureUnavailableError",
    "GuardNote",
    "Limits",
    "Location",
    "MissingExtraError",
    "ModelError",
    "ModelUnavailableError",
    "OutputSchemaError",
    "Problem",
    "Routed",
    "RunError",
    "Services",
    "Settings",
    "SettingsError",
    "Status",
    "StepLimitError",
    "StorageError",
    "Syndicate",
    "SyndicateError",
    "Text",
    "Thinking",
    "ToolFinished",
    "ToolStarted",
    "TurnEvent",
    "TurnResult",
    "TurnStoppedError",
    "Usage",
    "UsageError",
    "open_services",
    "register_models",
    "register_tool",
    "run_sync",
    "run_turn",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
