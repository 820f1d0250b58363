"""Which parameters a model gets, by its family, and which settings have no effect."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from syndicate.models.openai_client import Address
from syndicate.models.openai_parameters import effort_of, without
from syndicate.models.openai_responses import OpenAIResponsesLlm
from syndicate.models.server_tools import ServerTool
from tests.models.conftest import StandIn, ask, request_of
from tests.models.responses_wire import PATH, message, whole
from tests.models.test_openai_responses import bodies, model_at


def adapter(model_id: str) -> OpenAIResponsesLlm:
    return OpenAIResponsesLlm.at(Address("http://127.0.0.1:9/v1", "key"), model_id)


@pytest.mark.parametrize(
    ("model_id", "thinking", "effort"),
    [
        ("gpt-5.2", {}, None),
        ("gpt-5.2", {"thinking_level": "HIGH"}, "high"),
        ("gpt-5.2", {"thinking_level": "MINIMAL"}, "low"),
        ("gpt-5.2", {"thinking_budget": 0}, "none"),
        ("gpt-5.2", {"thinking_budget": -1}, None),
        ("gpt-5.2", {"thinking_budget": 1000}, "low"),
        ("gpt-5.2", {"thinking_budget": 8000}, "medium"),
        ("gpt-5.2", {"thinking_budget": 32000}, "high"),
        ("gpt-5.2", {"thinking_level": "LOW", "thinking_budget": 32000}, "low"),
        ("gpt-5.2", {"thinking_level": "THINKING_LEVEL_UNSPECIFIED", "thinking_budget": 1}, "low"),
        ("gpt-5-mini", {"thinking_level": "MINIMAL"}, "minimal"),
        ("gpt-5", {"thinking_budget": 0}, "minimal"),
        ("o3", {"thinking_level": "MINIMAL"}, "low"),
        ("o4-mini", {"thinking_budget": 0}, "low"),
        ("grok-4", {"thinking_budget": 0}, "low"),
    ],
)
def test_how_hard_to_think(model_id: str, thinking: dict[str, Any], effort: str | None) -> None:
    config = types.ThinkingConfig(**thinking) if thinking else None
    assert effort_of(request_of(thinking_config=config), model_id) == effort


@pytest.mark.parametrize(
    ("model_id", "present", "absent"),
    [
        ("gpt-4.1", {"temperature", "top_p"}, {"reasoning", "include"}),
        ("chatgpt-4o-latest", {"temperature", "top_p"}, {"reasoning", "include"}),
        ("gpt-5-chat-latest", {"temperature", "top_p"}, {"reasoning", "include"}),
        ("gpt-5.2-chat-latest", {"temperature", "top_p"}, {"reasoning", "include"}),
        ("gpt-5.2", {"temperature", "top_p", "reasoning", "include"}, set[str]()),
        ("gpt-5-mini", {"reasoning", "include"}, {"temperature", "top_p"}),
        ("o3", {"reasoning", "include"}, {"temperature", "top_p"}),
    ],
)
async def test_what_a_family_is_known_to_refuse_is_not_sent(
    model_id: str, present: set[str], absent: set[str], stand_in: StandIn
) -> None:
    stand_in.on(PATH, whole(message("ok")))
    thinking = types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW)
    await ask(model_at(stand_in, model_id), request_of(temperature=0.5, top_p=0.5, thinking_config=thinking))
    (body,) = bodies(stand_in)
    assert present <= set(body)
    assert not absent & set(body)


async def test_the_least_thinking_that_may_search(stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message("ok")))
    thinking = types.ThinkingConfig(thinking_level=types.ThinkingLevel.MINIMAL)
    await ask(model_at(stand_in, "gpt-5"), request_of(thinking_config=thinking, tools=[ServerTool(kind="web_search")]))
    assert bodies(stand_in)[0]["reasoning"]["effort"] == "low"


def test_settings_without_an_equivalent_are_told() -> None:
    everything = request_of(
        top_k=7,
        seed=0,
        presence_penalty=0.0,
        frequency_penalty=0.2,
        stop_sequences=["END"],
        candidate_count=2,
        safety_settings=[types.SafetySetting()],
        response_mime_type="text/x.enum",
        temperature=0.5,
        top_p=0.5,
        max_output_tokens=99,
        thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW, thinking_budget=9),
    )
    numbers = ("topK", "seed", "presencePenalty", "frequencyPenalty", "stopSequences", "candidateCount")
    always = (*numbers, "safetySettings", "responseMimeType")
    assert adapter("gpt-5.2").dropped_settings(everything) == always
    assert adapter("o3").dropped_settings(everything) == (*always, "temperature", "topP")
    assert adapter("gpt-4.1").dropped_settings(everything) == (*always, "thinkingLevel", "thinkingBudget")


def test_nothing_is_told_of_settings_that_are_not_made() -> None:
    plain = request_of(
        candidate_count=1,
        stop_sequences=[],
        safety_settings=[],
        thinking_config=types.ThinkingConfig(thinking_budget=0),
    )
    assert adapter("gpt-4.1").dropped_settings(plain) == ()


@pytest.mark.parametrize(
    ("paths", "left"),
    [
        ([], {"a": {"b": 1, "c": 2}, "d": 3}),
        (["a.b"], {"a": {"c": 2}, "d": 3}),
        (["a.b", "a.c"], {"d": 3}),
        (["a", "d"], {}),
        (["x", "a.x", "d.x"], {"a": {"b": 1, "c": 2}, "d": 3}),
    ],
)
def test_paths_are_taken_out_of_a_copy(paths: list[str], left: dict[str, Any]) -> None:
    body = {"a": {"b": 1, "c": 2}, "d": 3}
    assert without(body, paths) == left
    assert body == {"a": {"b": 1, "c": 2}, "d": 3}
