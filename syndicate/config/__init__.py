"""Syndicate files: the format, and the loader that turns a file into typed, checked, bound configuration."""

from syndicate.config.bindings import parse_binding
from syndicate.config.checks import Checks, Finding
from syndicate.config.folders import Available, available, find
from syndicate.config.loaded import LoadedSyndicate
from syndicate.config.loader import load
from syndicate.config.names import adk_name, route_name
from syndicate.config.schema import (
    AgentConfig,
    BudgetConfig,
    DispatchConfig,
    GenerateContentConfig,
    McpServerConfig,
    OrchestratorConfig,
    RouteOverride,
    Scalar,
    SubagentConfig,
    SyndicateConfig,
    ThinkingConfig,
)
from syndicate.config.shipped import shipped_agents
from syndicate.config.variables import CURRENT_DATE_MARK, render_date

__all__ = [
    "CURRENT_DATE_MARK",
    "AgentConfig",
    "Available",
    "BudgetConfig",
    "Checks",
    "DispatchConfig",
    "Finding",
    "GenerateContentConfig",
    "LoadedSyndicate",
    "McpServerConfig",
    "OrchestratorConfig",
    "RouteOverride",
    "Scalar",
    "SubagentConfig",
    "SyndicateConfig",
    "ThinkingConfig",
    "adk_name",
    "available",
    "find",
    "load",
    "parse_binding",
    "render_date",
    "route_name",
    "shipped_agents",
]
