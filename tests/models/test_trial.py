"""One prompt to one model: what is measured, and that every way to fail ends in the trial."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from syndicate.models import trial
from syndicate.models.registry import provider_of
from syndicate.models.trial import DEFAULTS, ask
from syndicate.settings import Settings
from tests.models.conftest import Answer, StandIn

CHAT = "/api/chat"


@pytest.fixture
def ollama(settings: Settings, stand_in: StandIn) -> Settings:
    stand_in.on("/api/tags", Answer.json({"models": [{"name": "qwen3:8b"}]}))
    stand_in.on("/api/show", Answer.json({"capabilities": ["completion"]}))
    return settings.model_copy(update={"ollama_base_url": stand_in.url})


def frames(*texts: str, **options: Any) -> Answer:
    said = [{"message": {"role": "assistant", "content": text}, "done": False} for text in texts]
    return Answer.lines(*said, {"message": {"role": "assistant"}, "done": True, "done_reason": "stop"}, **options)


@pytest.mark.parametrize("provider", DEFAULTS)
def test_the_model_that_stands_for_a_provider_is_its_own(provider: str) -> None:
    named = provider_of(DEFAULTS[provider])
    assert named is not None
    assert named.id == provider


async def test_the_first_token_comes_before_the_end(ollama: Settings, stand_in: StandIn) -> None:
    stand_in.on(CHAT, frames("He", "l", "l", "o", pause=0.1))
    found = await ask("ollama/qwen3:8b", "hi", ollama)
    assert (found.answered, found.answer, found.provider) == (True, "Hello", "ollama")
    assert found.first_token is not None
    assert found.seconds - found.first_token > 0.2


async def test_unknown_tokens_are_unknown(ollama: Settings, stand_in: StandIn) -> None:
    stand_in.on(CHAT, frames("Hello"))
    found = await ask("ollama/qwen3:8b", "hi", ollama)
    assert found.usage is None or found.usage.prompt_token_count is None


async def test_an_empty_answer_is_an_error(ollama: Settings, stand_in: StandIn) -> None:
    stand_in.on(CHAT, frames(" "))
    found = await ask("ollama/qwen3:8b", "hi", ollama)
    assert found.error is not None
    assert (found.answered, found.error.message) == (False, "model 'ollama/qwen3:8b': the answer is empty")


async def test_a_model_that_never_ends_is_given_up_and_its_connection_closed(
    ollama: Settings, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "PATIENCE", 0.5)
    stand_in.on(CHAT, frames(*("x" * 200), pause=0.05))
    found = await ask("ollama/qwen3:8b", "hi", ollama)
    assert found.error is not None
    assert found.error.code == "timeout"
    assert await asyncio.to_thread(stand_in.disconnected.wait, 5)


async def test_a_model_that_cannot_be_used_is_not_asked(ollama: Settings, stand_in: StandIn) -> None:
    found = await ask("ollama/gemma3:4b", "hi", ollama)
    assert found.error is not None
    assert "has not pulled" in found.error.message
    assert stand_in.bodies(CHAT) == []
