"""Searches that run at the provider: in the request as a kind, never as a function, and told of where there is none."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest

from syndicate.graph.checks import default_checks
from syndicate.models.server_tools import server_tools
from syndicate.settings import Settings
from syndicate.testing import ScriptedModel
from syndicate.tools import registry
from syndicate.tools.search import left_out, web_search
from tests.conftest import Open

NO_CONTEXT: Any = None  # nothing of the turn is asked for
KINDS = ("web_search", "google_search", "x_search", "collections_search")


def searching(*tools: str) -> str:
    lead = f"{{name: Lead, model: gemini-3.7-flash, instruction: Look it up., tools: [{', '.join(tools)}]}}"
    return f"syndicate_name: Searching\norchestrator: {lead}\n"


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_is_a_tool_of_this_version(kind: str, settings: Settings) -> None:
    assert registry.is_known(kind)
    assert kind not in registry.RESERVED
    assert default_checks(settings).tool(kind) is None


async def test_the_request_carries_each_search_and_no_function(open_syndicate: Open) -> None:
    model = ScriptedModel(["found"])
    async with open_syndicate(searching(*KINDS), model) as syndicate:
        await syndicate.run("what is new?")
    request = model.requests[0]
    assert server_tools(request) == KINDS
    tools: list[Any] = list(request.config.tools or ())
    assert len(tools) == len(KINDS)
    assert not any(tool.function_declarations for tool in tools)


async def test_a_request_that_has_the_search_keeps_it_once() -> None:
    request, tool = LlmRequest(), web_search()
    for _ in range(2):
        await tool.process_llm_request(tool_context=NO_CONTEXT, llm_request=request)
    assert server_tools(request) == ("web_search",)
    assert len(request.config.tools or ()) == 1


async def test_a_search_stands_beside_functions(open_syndicate: Open) -> None:
    team = "subagents: [{name: Aide, description: helps, instruction: Help.}]\n"
    model = ScriptedModel(["found"])
    async with open_syndicate(searching("web_search") + team, model) as syndicate:
        await syndicate.run("what is new?")
    tools: list[Any] = list(model.requests[0].config.tools or ())
    declared = [declaration.name for tool in tools for declaration in tool.function_declarations or ()]
    assert declared == ["Aide"]
    assert server_tools(model.requests[0]) == ("web_search",)


async def test_a_later_call_of_the_turn_carries_it_once_too(open_syndicate: Open) -> None:
    model = ScriptedModel(["first", "second"])
    async with open_syndicate(searching("web_search"), model) as syndicate:
        await syndicate.run("one")
        await syndicate.run("two")
    assert [server_tools(request) for request in model.requests] == [("web_search",)] * 2


@pytest.mark.parametrize("model_id", ["gemini-3.7-flash", "claude-haiku-4-5", "gpt-5-mini", "o3", "grok-4-fast"])
def test_nothing_is_left_out_where_the_provider_searches(model_id: str) -> None:
    assert left_out(("roll", "web_search"), model_id) == ()


def test_a_model_without_a_search_of_its_own_is_told_of_once() -> None:
    line = "ollama/qwen3:8b has no web search of its own: web_search left out"
    assert left_out(("web_search", "web_search"), "ollama/qwen3:8b") == (line,)
    both = left_out(("web_search", "google_search"), "local/model.gguf")
    assert both == ("local/model.gguf has no web search of its own: web_search and google_search left out",)


def test_google_search_is_gemini_s_alone() -> None:
    assert left_out(("google_search",), "gemini-3.7-flash") == ()
    (line,) = left_out(("google_search", "web_search"), "claude-haiku-4-5")
    assert line == "google_search is Gemini's and is left out: claude-haiku-4-5 has web_search"


@pytest.mark.parametrize("model_id", ["gemini-3.7-flash", "gpt-5-mini", "ollama/qwen3:8b", "local/smollm2"])
def test_xai_s_own_searches_do_nothing_elsewhere_and_say_nothing(model_id: str) -> None:
    assert left_out(("x_search", "collections_search"), model_id) == ()


def test_a_model_that_calls_no_tools_has_its_own_line() -> None:
    assert left_out(("web_search",), "local/smollm2") == ()


def test_a_gateway_has_no_search_whatever_the_id_says() -> None:
    (line,) = left_out(("web_search",), "claude-haiku-4-5", provider="gateway")
    assert "claude-haiku-4-5 has no web search" in line


def test_a_name_that_is_nearly_one_is_suggested() -> None:
    assert registry.suggestion("web_serch") == "web_search"
