from typing import Any

import pytest
from google.genai import types

from syndicate.models.prices import cost_usd, is_priced
from syndicate.turn.usage import UsageMeter


def tokens(prompt: int | None, output: int | None, **more: Any) -> types.GenerateContentResponseUsageMetadata:
    return types.GenerateContentResponseUsageMetadata(prompt_token_count=prompt, candidates_token_count=output, **more)


def test_what_runs_on_the_own_machine_costs_nothing():
    assert cost_usd("local/smollm2", tokens(1000, 1000)) == 0
    assert cost_usd("ollama/qwen3:8b", tokens(None, None)) == 0


def test_thinking_is_paid_as_output_and_cached_input_is_cheaper():
    plain = cost_usd("claude-haiku-4-5", tokens(1000, 100))
    thinking = cost_usd("claude-haiku-4-5", tokens(1000, 60, thoughts_token_count=40))
    cached = cost_usd("claude-haiku-4-5", tokens(1000, 100, cached_content_token_count=900))
    assert plain is not None
    assert cached is not None
    assert plain == thinking
    assert 0 < cached < plain


@pytest.mark.parametrize("model_id", ["gpt-99-unheard-of", "scripted", "nonsense"])
def test_a_price_nobody_knows_is_unknown(model_id: str):
    assert cost_usd(model_id, tokens(10, 10)) is None
    assert not is_priced(model_id)


def test_one_reply_without_a_price_makes_the_turns_cost_unknown():
    meter = UsageMeter()
    meter.add("local/smollm2", tokens(10, 5))
    assert meter.total(1).cost_usd == 0
    meter.add("gpt-5", tokens(1000, 100))
    known = meter.total(2).cost_usd
    assert known is not None
    assert known > 0
    meter.add("gpt-5", None)
    total = meter.total(3)
    assert (total.cost_usd, total.input, total.output) == (None, 1010, 105)
