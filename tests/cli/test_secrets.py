"""A key is read, sent to its provider, and seen nowhere else: no output, log, error or `repr` has it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from google.adk.sessions import InMemorySessionService

from syndicate import Services, Syndicate
from syndicate.errors import RunError
from syndicate.graph.doctor import examine
from syndicate.models.registry import create
from syndicate.models.trial import ask
from syndicate.settings import Settings
from tests.models.conftest import Answer, Received, StandIn, stand_in

__all__ = ["stand_in"]

KEY = "sesame-open-4711"
KEYS = (
    "GOOGLE_GENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "XAI_API_KEY",
    "OLLAMA_API_KEY",
    "MODEL_GATEWAY_API_KEY",
)
ASKED = {
    "gemini-3.7-flash": "/v1beta/models/gemini-3.7-flash:streamGenerateContent",
    "claude-haiku-4-5": "/v1/messages",
    "gpt-5-mini": "/v1/responses",
    "grok-4-fast": "/v1/responses",
    "ollama/qwen3:8b": "/api/chat",
}
VERBS = (
    ("doctor",),
    ("doctor", "pair"),
    ("doctor", "--json"),
    ("doctor", "pair", "--json", "--check"),
    ("doctor", "--matrix"),
    ("models",),
    ("models", "list", "--json"),
    ("models", "pull", "gemini-3.7-flash"),
    ("models", "pull", "ollama/qwen3:8b"),
    ("list",),
    ("list", "--json"),
    ("show", "pair", "--json"),
    ("validate", "pair"),
    ("graph", "pair"),
    ("schema",),
    ("chat", "pair", "hi", "--json"),
    ("chat", "nowhere", "hi"),
    ("no-such-verb",),
)


def refusing(status: int) -> Answer:
    """A provider that repeats the key it was given, as some do."""
    return Answer.json(
        {"error": {"message": f"wrong key {KEY}", "type": "auth", "status": "NO", "code": status}}, status
    )


@pytest.fixture
def loose_tongued(stand_in: StandIn) -> StandIn:
    """Every provider, and each tells what it was sent."""
    for path in {*ASKED.values(), "/chat/completions", "/api/pull"}:
        stand_in.on(path, refusing(401))
    stand_in.on("/api/tags", Answer.json({"models": [{"name": "qwen3:8b"}]}))
    return stand_in


def variables(server: StandIn) -> dict[str, str]:
    """Every key, and addresses of the server for every provider."""
    addresses = {
        "GOOGLE_GEMINI_BASE_URL": server.url,
        "ANTHROPIC_BASE_URL": server.url,
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "XAI_BASE_URL": f"{server.url}/v1",
        "OLLAMA_BASE_URL": server.url,
        "MODEL_GATEWAY_BASE_URL": server.url,
    }
    return {**dict.fromkeys(KEYS, KEY), **addresses, "SYNDICATE_MODEL_ATTEMPTS": "1"}


def settings_of(server: StandIn, **more: Any) -> Settings:
    values = {name.lower(): value for name, value in variables(server).items()}
    return Settings.read({**values, **more}, env_file=None)


@pytest.mark.parametrize("args", VERBS, ids=" ".join)
def test_no_verb_shows_a_key(args: tuple[str, ...], shell: Any, loose_tongued: StandIn) -> None:
    done = shell.run("--debug", *args, **variables(loose_tongued))
    assert done.stdout + done.stderr
    assert KEY not in done.stdout + done.stderr


def test_a_key_of_dot_env_is_not_shown_either(shell: Any) -> None:
    (shell.folder / ".env").write_text(f"GOOGLE_GENAI_API_KEY={KEY}\n")
    done = shell.run("doctor", "--json")
    assert '"key_set": true' in done.stdout
    assert KEY not in done.stdout + done.stderr


@pytest.mark.parametrize("model_id", ASKED)
def test_a_refusal_that_repeats_the_key_is_shown_without_it(model_id: str, shell: Any, loose_tongued: StandIn) -> None:
    for args in (("chat", "pair", "hi", "--model", f"Lead={model_id}"), ("models", "try", "hi", "--model", model_id)):
        done = shell.run("--debug", *args, **variables(loose_tongued))
        assert done.returncode == 1
        assert "wrong key" in done.stdout + done.stderr
        assert KEY not in done.stdout + done.stderr


def test_nor_by_a_gateway(shell: Any, loose_tongued: StandIn) -> None:
    env = variables(loose_tongued) | {"ANTHROPIC_API_KEY": "", "MODEL_GATEWAY": "openrouter"}
    done = shell.run("--debug", "models", "try", "hi", "--model", "claude-haiku-4-5", **env)
    assert "wrong key" in done.stdout
    assert KEY not in done.stdout + done.stderr


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Everything that any library logs."""
    with caplog.at_level(logging.DEBUG):
        yield caplog


@pytest.mark.parametrize("model_id", ASKED)
async def test_no_error_log_or_repr_has_it(
    model_id: str, loose_tongued: StandIn, logged: pytest.LogCaptureFixture
) -> None:
    settings = settings_of(loose_tongued)
    trial = await ask(model_id, "hi", settings)
    assert isinstance(trial.error, RunError)
    sent = [request for request in loose_tongued.received if request.path == ASKED[model_id]]
    assert any(KEY in value for request in sent for value in _headers(request))
    adapter = create(model_id, settings)
    shown = (trial, trial.error, trial.error.args, vars(trial.error), adapter, adapter.model_dump(), settings)
    assert KEY not in " ".join(map(repr, shown))
    assert KEY not in " ".join(map(str, shown))
    assert KEY not in logged.text


async def test_no_repr_of_an_open_syndicate_has_it(loose_tongued: StandIn, tmp_path: Any) -> None:
    settings = settings_of(loose_tongued, syndicate_home=tmp_path)
    services = Services(InMemorySessionService())
    async with Syndicate.open("model_zoo", settings=settings, services=services) as syndicate:
        with pytest.raises(RunError) as caught:
            await syndicate.run("hi")
        parts = (
            syndicate,
            vars(syndicate),
            vars(syndicate.compiled),
            syndicate.compiled.root,
            vars(syndicate.services),
        )
        assert KEY not in " ".join(map(repr, (*parts, *syndicate.compiled.models.values(), caught.value)))
    assert KEY not in repr(await examine(syndicate.compiled.loaded, settings))
    assert KEY not in repr(settings) + str(settings) + str(settings.model_dump())


def _headers(request: Received) -> tuple[str, ...]:
    return tuple(request.headers.values())
