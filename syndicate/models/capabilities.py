"""What models can do, by model id, and what adapters can, by provider. Of rows of ids the first that matches counts."""

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


FEATURES: tuple[str, ...] = (
    "streaming",
    "tools",
    "parallel_tools",
    "structured_output",
    "structured_output_with_tools",
    "thinking",
    "thinking_with_tools",
    "images_in",
    "native_search",
    "prompt_caching",
    "usage_in_streams",
)
"""What is told of each provider, in the order in which it is shown.

`thinking_with_tools`: a reply that thinks and calls tools, continued with what the provider wants back of the thinking.
`prompt_caching`: a prefix that was sent before costs less, and how much of it did is in the usage.
"""


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a provider's adapter does something. `note` says what happens where it does not, or not quite."""

    claimed: bool
    note: str = ""

    def __bool__(self) -> bool:
        return self.claimed


_YES = Support(True)
_SCHEMA_IN_WORDS = "the schema is put in words, and the reply is checked"
_IN_WORDS = f"beside tools {_SCHEMA_IN_WORDS}"
_NO_SEARCH = Support(False, "left out with one warning")


def _all_but(**cells: Support) -> dict[str, Support]:
    return dict.fromkeys(FEATURES, _YES) | cells


MATRIX: dict[str, dict[str, Support]] = {
    "gemini": _all_but(
        structured_output_with_tools=Support(True, f"before Gemini 3 {_IN_WORDS}"),
        native_search=Support(True, "before Gemini 3 only where there are no other tools"),
    ),
    "anthropic": _all_but(
        structured_output=Support(True, f"before Claude 4.5 {_SCHEMA_IN_WORDS}"),
        structured_output_with_tools=Support(True, f"before Claude 4.5, and beside a search, {_SCHEMA_IN_WORDS}"),
    ),
    "openai": _all_but(),
    "xai": _all_but(),
    "ollama": _all_but(
        structured_output_with_tools=Support(True, _IN_WORDS),
        thinking=Support(True, "where the daemon says that the model can think"),
        images_in=Support(True, "as bytes; an address is refused"),
        native_search=_NO_SEARCH,
        prompt_caching=Support(False, "the daemon keeps a prefix by itself but counts none: cached tokens are unknown"),
    ),
    "local": _all_but(
        tools=Support(True, "smollm2 calls none: they are left out"),
        structured_output_with_tools=Support(True, _IN_WORDS),
        images_in=Support(False, "the server refuses them, in its words"),
        native_search=_NO_SEARCH,
    ),
    "gateway": _all_but(
        structured_output_with_tools=Support(True, _IN_WORDS),
        thinking_with_tools=Support(True, "thoughts are not sent back: the model thinks anew after a tool's result"),
        native_search=_NO_SEARCH,
        prompt_caching=Support(False, "only what the gateway caches by itself; no prefix is marked"),
    ),
}
"""Provider id → feature → support: what `doctor --matrix` prints and the conformance tests hold the adapters to."""

_NATIVE_TOOLS: dict[str, frozenset[str]] = {
    "gemini": frozenset({"web_search", "google_search"}),
    "anthropic": frozenset({"web_search"}),
    "openai": frozenset({"web_search"}),
    "xai": frozenset({"web_search", "x_search", "collections_search"}),
}


def supports(provider_id: str, feature: str) -> Support:
    """The cell of the matrix; denied for a provider that is not in it. Raises `KeyError` for an unknown feature."""
    row = MATRIX.get(provider_id)
    if row is None:
        return dict.fromkeys(FEATURES, Support(False, "unknown of this provider"))[feature]
    return row[feature]


def native_tools(provider_id: str) -> frozenset[str]:
    """The kinds of tools that run at the provider itself."""
    return _NATIVE_TOOLS.get(provider_id, frozenset())
