"""Faults as llmock plays them, and its verdict on how they were met: another program's idea of what providers do wrong.

It speaks no Ollama, and of xAI only the chat completions that our adapter does not use: xAI's adapter meets its
Responses.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from google.adk.models import BaseLlm
from llmock.pytest_plugin import LLMock

from syndicate.errors import ModelError
from syndicate.models.retry import RetryPolicy, retrying
from tests.models.conformance.desks import PROVIDERS
from tests.models.conftest import WEATHER, calls_of, each, request_of, text_of

BASES = {
    "gemini": "/gemini",
    "anthropic": "/anthropic",
    "openai": "",
    "xai": "",
    "local": "",
    "gateway": "",
}
EVERYWHERE = pytest.mark.parametrize("provider", BASES)
AtLLMock = Callable[[str], BaseLlm]


@pytest.fixture
async def at_llmock(llmock: LLMock) -> AsyncIterator[AtLLMock]:
    """The adapter of a provider, asking llmock."""
    opened: list[Any] = []

    def adapter(provider: str) -> BaseLlm:
        opened.append(PROVIDERS[provider].adapter(f"{llmock.url}{BASES[provider]}"))
        return opened[-1]

    yield adapter
    for model in opened:
        await model.aclose()


async def patient(model: BaseLlm, *, attempts: int = 3) -> str:
    """The answer of a model, asked as in a turn."""
    policy = RetryPolicy(attempts=attempts, first=0.01)
    parts = retrying(lambda: model.generate_content_async(request_of(), stream=True), policy)
    return "".join([text_of(response) async for response in parts if response.partial])


@EVERYWHERE
async def test_a_scripted_answer(provider: str, at_llmock: AtLLMock, llmock: LLMock) -> None:
    llmock.reply("Hello there, whoever you are.")
    assert await patient(at_llmock(provider)) == "Hello there, whoever you are."


@EVERYWHERE
async def test_a_rate_limit_is_waited_for(provider: str, at_llmock: AtLLMock, llmock: LLMock) -> None:
    llmock.rate_limit(times=2, retry_after=0.1).reply("Hello.")
    assert await patient(at_llmock(provider)) == "Hello."
    assert len(llmock.requests) == 3
    llmock.assert_resilient()


@EVERYWHERE
async def test_an_outage_is_not_hammered(provider: str, at_llmock: AtLLMock, llmock: LLMock) -> None:
    llmock.outage()
    with pytest.raises(ModelError) as caught:
        await patient(at_llmock(provider))
    assert caught.value.code == "overloaded"
    assert len(llmock.requests) == 3


@EVERYWHERE
@pytest.mark.parametrize("status", [401, 404])
async def test_what_is_final_is_asked_once(provider: str, status: int, at_llmock: AtLLMock, llmock: LLMock) -> None:
    llmock.fail(status)
    with pytest.raises(ModelError) as caught:
        await patient(at_llmock(provider))
    assert caught.value.code == {401: "auth", 404: "unknown-model"}[status]
    assert len(llmock.requests) == 1
    llmock.assert_resilient()


@EVERYWHERE
async def test_a_context_that_is_too_long(provider: str, at_llmock: AtLLMock, llmock: LLMock) -> None:
    llmock.context_overflow()
    with pytest.raises(ModelError) as caught:
        await patient(at_llmock(provider))
    assert caught.value.code == "context-too-long"
    assert len(llmock.requests) == 1


@EVERYWHERE
@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        (LLMock.disconnect, {"stream-cut"}),
        (LLMock.truncate, {"stream-cut"}),
        (LLMock.corrupt, {"malformed", "stream-cut"}),
    ],
)
async def test_a_stream_that_goes_wrong_after_some_text(
    provider: str, fault: Callable[..., Any], codes: set[str], at_llmock: AtLLMock, llmock: LLMock
) -> None:
    llmock.reply("Hello there, whoever you are, and wherever you may be.")
    fault(llmock, after_chunks=5)
    with pytest.raises(ModelError) as caught:
        await patient(at_llmock(provider))
    assert caught.value.code in codes
    assert len(llmock.requests) == 1


@EVERYWHERE
async def test_arguments_that_are_no_json(provider: str, at_llmock: AtLLMock, llmock: LLMock) -> None:
    llmock.call_tool("get_weather", {"city": "Oslo"}, times=2)
    model = at_llmock(provider)
    *_, whole = [response async for response in each(model, request_of(tools=[WEATHER]), stream=True)]
    assert [(call.name, call.args) for call in calls_of(whole)] == [("get_weather", {"city": "Oslo"})]
    if provider == "gemini":
        return  # arguments are an object there, and cannot be malformed by themselves
    llmock.break_tool_call()
    with pytest.raises(ModelError) as caught:
        _ = [response async for response in each(model, request_of(tools=[WEATHER]), stream=True)]
    assert caught.value.code == "malformed"
