"""The server that plays the providers: scripted once, the same in each of their formats."""

from __future__ import annotations

from syndicate.models.openai_compatible import Address, OpenAICompatibleLlm
from tests.models.aimock import Aimock
from tests.models.conftest import ask, request_of, text_of


async def test_a_scripted_reply_streams_and_the_request_is_kept(aimock: Aimock) -> None:
    aimock.reply("Hello there, whoever you are.", match={"userMessage": "hello"})
    model = OpenAICompatibleLlm.at(Address(f"{aimock.url}/v1", "key"), "ollama/m")
    *deltas, whole = await ask(model, request_of("hello"), stream=True)
    assert len(deltas) > 1
    assert text_of(whole) == "Hello there, whoever you are."
    (body,) = aimock.bodies("/chat/completions")
    assert body["messages"] == [{"role": "user", "content": "hello"}]
    assert aimock.received[0].headers["authorization"] == "Bearer key"


async def test_the_next_test_finds_nothing_of_it(aimock: Aimock) -> None:
    assert aimock.received == []
