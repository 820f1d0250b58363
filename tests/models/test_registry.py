"""Which provider answers for an id, and what is said when none can."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from google.adk.models import BaseLlm

from syndicate.errors import ModelUnavailableError
from syndicate.models import registry
from syndicate.models.capabilities import calls_tools, context_window
from syndicate.models.registry import Provider, availability, create, provider_of, unknown_model
from syndicate.settings import Settings

PROVIDERS = {
    "gemini-2.5-flash": "gemini",
    "claude-opus-4-5": "anthropic",
    "gpt-5": "openai",
    "chatgpt-4o-latest": "openai",
    "o3": "openai",
    "o4-mini": "openai",
    "grok-4": "xai",
    "ollama/qwen3:8b": "ollama",
    "local/smollm2": "local",
    "local/~/models/some.gguf": "local",
    "local/org/repo:file.gguf": "local",
}


@pytest.mark.parametrize(("model_id", "provider"), PROVIDERS.items())
def test_the_prefix_decides_the_provider(model_id: str, provider: str) -> None:
    found = provider_of(model_id)
    assert found is not None
    assert found.id == provider
    assert unknown_model(model_id) is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("gemni-2.5-flash", "gemini-2.5-flash"),
        ("Gemini-2.5-flash", "gemini-2.5-flash"),
        ("google/gemini-2.5-flash", "gemini-2.5-flash"),
        ("openai/gpt-5", "gpt-5"),
        ("cluade-opus-4-5", "claude-opus-4-5"),
        ("ollama:qwen3", "ollama/qwen3"),
        ("qwen3:8b", "ollama/qwen3:8b"),
        ("smollm2", "local/smollm2"),
        ("local/SmolLM", "local/smollm2"),
    ],
)
def test_a_mistyped_id_is_answered_with_the_nearest_known_one(written: str, meant: str) -> None:
    message = unknown_model(written)
    assert message is not None
    assert f"did you mean {meant!r}?" in message
    assert "\n" not in message


@pytest.mark.parametrize("model_id", ["", "mistral", "gemini-", "ollama/", "local/", "gpt", "o", "x" * 5000])
def test_an_id_nobody_answers_for_names_the_known_prefixes(model_id: str) -> None:
    message = unknown_model(model_id)
    assert message is not None
    assert "gemini-*" in message
    assert "local/*" in message


async def test_a_missing_key_is_named(settings: Settings) -> None:
    found = await availability("gemini-2.5-flash", settings)
    assert found is not None
    assert found.reason == "GOOGLE_GENAI_API_KEY is not set"


async def test_a_provider_without_an_adapter_says_so(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_PROVIDERS", dict(registry._PROVIDERS))  # type: ignore[attr-defined]
    registry.register_provider(Provider(id="own", prefixes="own-*", pattern=re.compile("own-.+")))
    found = await availability("own-model", settings)
    assert found is not None
    assert found.code == "not-in-this-version"
    with pytest.raises(ModelUnavailableError, match="no adapter for own models; use one of gemini-"):
        create("own-model", settings)


async def test_a_missing_extra_is_the_line_that_installs_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    found = await availability("local/smollm2", settings)
    assert found is not None
    assert found.remediation == "pip install 'syndicate-agents[local]'"


async def test_smollm2_is_available_before_its_weights_are_pulled(settings: Settings) -> None:
    assert await availability("local/smollm2", settings) is None


async def test_weights_that_are_not_there_are_missing(settings: Settings) -> None:
    path = await availability("local/nowhere/model.gguf", settings)
    assert path is not None
    assert "'nowhere/model.gguf'" in path.reason
    repository = await availability("local/org/repo", settings)
    assert repository is not None
    assert repository.remediation == "run `syndicate models pull local/org/repo`"


def test_create_names_the_model_and_the_remedy(settings: Settings) -> None:
    with pytest.raises(ModelUnavailableError) as caught:
        create("gemini-2.5-flash", settings)
    assert caught.value.model == "gemini-2.5-flash"
    assert "set GOOGLE_GENAI_API_KEY" in str(caught.value)


def test_a_provider_of_the_users_own_is_asked_too(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_PROVIDERS", dict(registry._PROVIDERS))  # type: ignore[attr-defined]
    registry.register_provider(
        Provider(id="own", prefixes="own-*", pattern=re.compile("own-.+"), adapter="google.adk.models:Gemini")
    )
    model = create("own-model", settings)
    assert isinstance(model, BaseLlm)
    assert model.model == "own-model"


def test_no_key_shows_in_an_adapter(settings: Settings) -> None:
    values = {**settings.model_dump(), "google_genai_api_key": "sesame-1234"}
    model = create("gemini-2.5-flash", Settings.read(values, env_file=None))
    assert "sesame" not in repr(model) + str(model) + str(model.model_dump())


@pytest.mark.parametrize(
    ("model_id", "window"),
    [("gemini-2.5-pro", 1_048_576), ("claude-x", 200_000), ("gpt-4o", 128_000), ("o3", 200_000), ("grok-4", 256_000)],
)
def test_context_windows_by_id(model_id: str, window: int, settings: Settings) -> None:
    assert context_window(model_id, settings) == window


def test_the_window_of_an_embedded_model_is_that_of_its_slots(settings: Settings) -> None:
    assert context_window("local/smollm2", settings) == settings.syndicate_local_context
    assert context_window("never-heard-of", settings) > 0


def test_smollm2_calls_no_tools() -> None:
    assert not calls_tools("local/smollm2")
    assert calls_tools("local/qwen.gguf")
    assert calls_tools("gemini-2.5-flash")


def test_asking_the_registry_loads_nothing_heavy() -> None:
    code = (
        "import sys, syndicate.models.registry as r, syndicate.models.capabilities, syndicate.models.local;"
        "r.unknown_model('local/smollm2'); r.provider_of('gemini-x');"
        "print([m for m in ('google.adk', 'openai', 'httpx', 'xllamacpp', 'filelock') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
