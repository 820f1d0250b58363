"""A provider's SDK is imported when an adapter needs it, and not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

SDKS = ("anthropic", "google.genai", "google.adk", "openai", "ollama", "xllamacpp", "huggingface_hub")
KEYS = {
    "google_genai_api_key": "k",
    "anthropic_api_key": "k",
    "openai_api_key": "k",
    "xai_api_key": "k",
}
GATEWAY = {"model_gateway": "openrouter", "model_gateway_api_key": "k"}


def imported_by(code: str) -> set[str]:
    """The SDKs that a process of its own has imported after running the code."""
    report = f"import sys; print(','.join(name for name in {SDKS!r} if name in sys.modules))"
    command = [sys.executable, "-W", "ignore", "-c", f"{code}\n{report}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return set(filter(None, done.stdout.strip().split(",")))


@pytest.mark.parametrize("module", ["registry", "capabilities", "gateway", "local"])
def test_what_tells_of_models_needs_no_sdk(module: str) -> None:
    assert imported_by(f"import syndicate.models.{module}") == set()


def test_asking_who_answers_needs_no_sdk() -> None:
    code = f"""
from syndicate.models import registry
from syndicate.settings import Settings
for values in ({KEYS!r}, {GATEWAY!r}):
    settings = Settings.read(values, env_file=None)
    for model in ("gemini-2.5-flash", "claude-opus-4-5", "gpt-5", "grok-4", "ollama/qwen3", "local/smollm2", "nobody"):
        registry.static_availability(model, settings)
"""
    assert imported_by(code) == set()


@pytest.mark.parametrize(
    ("model_id", "values", "sdk"),
    [
        ("gemini-2.5-flash", KEYS, set[str]()),
        ("claude-opus-4-5", KEYS, {"anthropic"}),
        ("gpt-5", KEYS, {"openai"}),
        ("grok-4", KEYS, {"openai"}),
        ("ollama/qwen3", {}, set[str]()),
        ("ollama/qwen3", {"ollama_base_url": "http://127.0.0.1:11434/v1"}, {"openai"}),
        ("local/smollm2", {}, {"openai"}),
        ("claude-opus-4-5", GATEWAY, {"openai"}),
        ("gemini-2.5-flash", GATEWAY, {"openai"}),
    ],
)
def test_an_adapter_imports_its_own_sdk_alone(model_id: str, values: dict[str, str], sdk: set[str]) -> None:
    """Google ADK and genai's types, which all adapters are made of, go without saying."""
    code = f"""
from syndicate.models import registry
from syndicate.settings import Settings
registry.create({model_id!r}, Settings.read({values!r}, env_file=None))
"""
    assert imported_by(code) - {"google.genai", "google.adk"} == sdk
