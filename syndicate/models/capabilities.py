"""What models can do, by model id: the rows below are asked in order, the first that matches counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syndicate.settings import Settings


@dataclass(frozen=True, slots=True)
class Capabilities:
    """`context_window` counts tokens of prompt and answer together; None means that settings decide."""

    context_window: int | None
    calls_tools: bool = True


# Windows are those the providers publish for the model families; the last row of a provider is its default.
_TABLE: tuple[tuple[re.Pattern[str], Capabilities], ...] = tuple(
    (re.compile(pattern), capabilities)
    for pattern, capabilities in (
        (r"gemini-1\.5-pro.*", Capabilities(2_097_152)),
        (r"gemini-.*", Capabilities(1_048_576)),
        (r"claude-.*", Capabilities(200_000)),
        (r"gpt-4\.1.*", Capabilities(1_047_576)),
        (r"gpt-5.*", Capabilities(400_000)),
        (r"gpt-3\.5.*", Capabilities(16_385)),
        (r"(?:gpt|chatgpt)-.*", Capabilities(128_000)),
        (r"o\d+.*", Capabilities(200_000)),
        (r"grok-4.*-fast.*|grok-4-1.*", Capabilities(2_000_000)),
        (r"grok-4.*|grok-code.*", Capabilities(256_000)),
        (r"grok-.*", Capabilities(131_072)),
        (r"ollama/.*", Capabilities(32_768)),
        (r"local/smollm2", Capabilities(None, calls_tools=False)),
        (r"local/.*", Capabilities(None)),
    )
)
_UNKNOWN = Capabilities(32_768)


def capabilities_of(model_id: str) -> Capabilities:
    """The row of a model id; a cautious one for an id that no row matches."""
    return next((row for pattern, row in _TABLE if pattern.fullmatch(model_id)), _UNKNOWN)


def context_window(model_id: str, settings: Settings) -> int:
    """Tokens that a prompt and its answer may have together."""
    return capabilities_of(model_id).context_window or settings.syndicate_local_context


def calls_tools(model_id: str) -> bool:
    """Whether the model can call tools at all; where it cannot, adapters leave tools out of the request."""
    return capabilities_of(model_id).calls_tools
