"""What the doctor finds: which model would answer, which tools are dropped, what one more step would change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import get_args

import pytest
from pydantic import SecretStr

from syndicate.config import load
from syndicate.graph.checks import default_checks
from syndicate.graph.doctor import SEARCHES, AgentReport, ProviderReport, Report, examine
from syndicate.graph.unlocks import START_OLLAMA
from syndicate.models import registry
from syndicate.models.registry import Provider, register_provider
from syndicate.models.server_tools import ServerToolKind
from syndicate.settings import Settings
from tests.conftest import Write
from tests.models.conftest import Answer, StandIn, stand_in

__all__ = ["stand_in"]

KEY = "sesame-open-4711"
TEAM = """\
    syndicate_name: Team
    orchestrator:
      name: Lead
      models: [ollama/qwen3:8b, gemini-3.7-flash]
      instruction: Lead.
      tools: [web_search]
    subagents:
      - {name: Reader, description: reads, model: local/smollm2, instruction: Read.}
      - {name: Heir, description: inherits, instruction: Inherit.}
    """


@pytest.fixture
def bare(settings: Settings) -> Settings:
    """No key, and nobody where Ollama would be."""
    return settings.model_copy(update={"ollama_base_url": "http://127.0.0.1:9"})


@pytest.fixture
def ollama(settings: Settings, stand_in: StandIn) -> Settings:
    """A daemon that has pulled one model."""
    stand_in.on("/api/tags", Answer.json({"models": [{"name": "qwen3:8b"}]}))
    return settings.model_copy(update={"ollama_base_url": stand_in.url})


def with_keys(settings: Settings, *names: str) -> Settings:
    return settings.model_copy(update={f"{name}_api_key": SecretStr(KEY) for name in names})


async def examined(write: Write, text: str, settings: Settings) -> Report:
    return await examine(load(write("team.yaml", text), settings=settings, checks=default_checks(settings)), settings)


def agent(report: Report, name: str) -> AgentReport:
    return next(found for found in report.agents if found.name == name)


def provider(report: Report, identity: str) -> ProviderReport:
    return next(found for found in report.providers if found.id == identity)


def dropped(report: Report, name: str) -> dict[str, str]:
    return {tool.name: tool.why for tool in agent(report, name).tools if not tool.kept}


async def test_an_agent_without_a_model_says_why_of_each(write: Write, bare: Settings) -> None:
    lead = agent(await examined(write, TEAM, bare), "Lead")
    assert (lead.answers, lead.runs) == (None, False)
    assert [(model.id, model.provider, model.available) for model in lead.models] == [
        ("ollama/qwen3:8b", "ollama", False),
        ("gemini-3.7-flash", "gemini", False),
    ]
    assert "127.0.0.1:9" in lead.models[0].reason
    assert lead.models[1].reason == "GOOGLE_GENAI_API_KEY is not set"
    assert lead.location.line == 3


async def test_the_first_model_that_is_available_would_answer(write: Write, bare: Settings, ollama: Settings) -> None:
    by_key = await examined(write, TEAM, with_keys(bare, "google_genai"))
    assert agent(by_key, "Lead").answers == "gemini-3.7-flash"
    assert agent(await examined(write, TEAM, with_keys(ollama, "google_genai")), "Lead").answers == "ollama/qwen3:8b"


async def test_a_subagent_has_its_own_model_or_the_orchestrator_s(write: Write, bare: Settings) -> None:
    report = await examined(write, TEAM, with_keys(bare, "google_genai"))
    assert [(found.name, found.depth, found.answers) for found in report.agents] == [
        ("Lead", 0, "gemini-3.7-flash"),
        ("Reader", 1, "local/smollm2"),
        ("Heir", 1, "gemini-3.7-flash"),
    ]
    assert report.runs


async def test_a_nested_file_s_agents_are_listed_once(write: Write, bare: Settings) -> None:
    inner = "syndicate_name: In\norchestrator: {name: Inner, model: local/smollm2, instruction: i}\n"
    write("inner.yaml", inner + "subagents: [{name: Leaf, description: d, instruction: i}]\n")
    nests = "".join(f"  - {{name: {name}, description: d, yaml_reference: inner.yaml}}\n" for name in ("One", "Two"))
    outer = "syndicate_name: Out\norchestrator: {name: Outer, model: local/smollm2, instruction: i}\nsubagents:\n"
    report = await examined(write, outer + nests, bare)
    assert [(found.name, found.depth) for found in report.agents] == [("Outer", 0), ("Inner", 1), ("Leaf", 2)]


async def test_a_search_is_kept_where_the_provider_has_it(write: Write, bare: Settings, ollama: Settings) -> None:
    assert dropped(await examined(write, TEAM, with_keys(bare, "google_genai")), "Lead") == {}
    assert dropped(await examined(write, TEAM, ollama), "Lead") == {"web_search": "ollama has none of its own"}


async def test_a_collections_search_needs_collections(write: Write, bare: Settings) -> None:
    text = TEAM.replace("ollama/qwen3:8b, gemini-3.7-flash", "grok-4").replace("[web_search]", "[collections_search]")
    on = with_keys(bare, "xai")
    assert "XAI_COLLECTION_IDS" in dropped(await examined(write, text, on), "Lead")["collections_search"]
    named = on.model_copy(update={"xai_collection_ids": "col_1"})
    assert dropped(await examined(write, text, named), "Lead") == {}


async def test_settings_that_xai_cannot_follow_are_noted(write: Write, bare: Settings) -> None:
    report = await examined(write, TEAM, bare.model_copy(update={"xai_x_search_from_date": "May"}))
    (note,) = provider(report, "xai").notes
    assert "XAI_X_SEARCH_FROM_DATE" in note


def test_the_searches_are_those_an_adapter_may_be_asked_for() -> None:
    assert set(get_args(ServerToolKind)) == SEARCHES


async def test_tools_that_are_unknown_or_come_later_are_dropped(write: Write, bare: Settings) -> None:
    report = await examined(write, TEAM.replace("[web_search]", "[web_serch, web_extract]"), bare)
    assert dropped(report, "Lead") == {
        "web_serch": "unknown; did you mean 'web_search'?",
        "web_extract": "comes with a later version",
    }


async def test_a_model_that_calls_no_tools_cannot_call_its_team(write: Write, bare: Settings) -> None:
    report = await examined(write, TEAM.replace("[ollama/qwen3:8b, gemini-3.7-flash]", "[local/smollm2]"), bare)
    assert dropped(report, "Lead") == dict.fromkeys(("web_search", "Reader", "Heir"), "local/smollm2 calls no tools")
    assert agent(report, "Lead").runs


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("guards: [citations]\n", "'guards'"),
        ("memory_system: long-term\n", "'memory_system'"),
        ("budget: {max_tokens: 5}\n", "'budget'"),
    ],
)
async def test_what_this_version_cannot_run_stops_an_agent(line: str, names: str, write: Write, bare: Settings) -> None:
    text = "syndicate_name: Later\norchestrator: {name: Lead, model: local/smollm2, instruction: i}\n" + line
    report = await examined(write, text, bare)
    assert [names in blocked for blocked in agent(report, "Lead").blocked] == [True]
    assert not report.runs
    assert report.unlocks == ()


async def test_a_key_is_there_or_not_and_never_shown(write: Write, bare: Settings) -> None:
    report = await examined(write, TEAM, with_keys(bare, "google_genai"))
    gemini, anthropic = provider(report, "gemini"), provider(report, "anthropic")
    assert (gemini.key, gemini.key_set, gemini.ready) == ("GOOGLE_GENAI_API_KEY", True, True)
    assert (anthropic.key, anthropic.key_set, anthropic.ready) == ("ANTHROPIC_API_KEY", False, False)
    assert KEY not in repr(report) + str(asdict(report))


async def test_sample_text_is_no_key(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_API_KEY", "your_key_here")
    settings = Settings.read({"ollama_base_url": "http://127.0.0.1:9"}, env_file=None)
    report = await examined(write, TEAM, settings)
    assert provider(report, "gemini").key_set is False
    assert report.unlocks[0].steps == ("GOOGLE_GENAI_API_KEY",)


async def test_a_daemon_is_up_with_its_models_or_not(write: Write, bare: Settings, ollama: Settings) -> None:
    up = provider(await examined(write, TEAM, ollama), "ollama")
    down = provider(await examined(write, TEAM, bare), "ollama")
    assert (up.ready, up.daemon_up, up.pulled, up.needs) == (True, True, ("qwen3:8b",), "")
    assert (down.ready, down.daemon_up, down.pulled, down.needs) == (False, False, (), START_OLLAMA)


async def test_what_one_step_would_unlock_comes_best_first(write: Write, bare: Settings) -> None:
    report = await examined(write, TEAM, bare)
    assert [(unlock.steps, unlock.runs) for unlock in report.unlocks[:2]] == [
        (("GOOGLE_GENAI_API_KEY",), ("Lead", "Heir")),
        ((START_OLLAMA,), ("Lead", "Heir")),
    ]


async def test_a_model_that_is_not_pulled_is_a_step(write: Write, ollama: Settings) -> None:
    report = await examined(write, TEAM.replace("qwen3:8b, gemini-3.7-flash", "gemma3:4b"), ollama)
    assert report.unlocks[0].steps == ("run `syndicate models pull ollama/gemma3:4b`",)


async def test_nothing_would_be_unlocked_where_all_runs(write: Write, bare: Settings) -> None:
    report = await examined(write, TEAM, with_keys(bare, "google_genai"))
    assert report.unlocks == ()


@pytest.fixture
def needy() -> Iterator[str]:
    """A provider that wants a key and a package, neither of which is there."""
    register_provider(
        Provider(
            id="needy",
            prefixes="needy-*",
            pattern=re.compile(r"needy-\S+"),
            adapter="no.such:Adapter",
            key="XAI_API_KEY",
            extra="needy",
            package="no_such_package_here",
        )
    )
    yield "needy-1"
    registry._PROVIDERS.pop("needy")


async def test_a_key_and_an_extra_that_are_both_missing_are_told_together(
    write: Write, bare: Settings, needy: str
) -> None:
    text = f"syndicate_name: N\norchestrator: {{name: Lead, model: {needy}, instruction: i}}\n"
    report = await examined(write, text, bare)
    row = provider(report, "needy")
    assert (row.key_set, row.installed) == (False, False)
    assert report.unlocks[0].steps == ("XAI_API_KEY", "pip install 'syndicate-agents[needy]'")
    assert row.needs == "set XAI_API_KEY, pip install 'syndicate-agents[needy]'"
    with_key = await examined(write, text, with_keys(bare, "xai"))
    assert with_key.unlocks[0].steps == ("pip install 'syndicate-agents[needy]'",)


async def test_a_gateway_stands_in_for_the_keys_that_are_missing(write: Write, bare: Settings) -> None:
    on = bare.model_copy(update={"model_gateway": "openrouter", "model_gateway_api_key": SecretStr(KEY)})
    report = await examined(write, TEAM, with_keys(on, "xai"))
    (_, model) = agent(report, "Lead").models
    assert (model.available, model.via) == (True, "gateway")
    assert dropped(report, "Lead") == {"web_search": "a gateway has none of its own"}
    assert report.gateway.serves == ("gemini", "anthropic", "openai")
    assert (provider(report, "gemini").ready, provider(report, "gemini").via) == (True, "gateway")
    assert provider(report, "xai").via is None


async def test_a_gateway_is_a_way_out_after_the_single_keys(write: Write, bare: Settings) -> None:
    report = await examined(write, TEAM, bare)
    assert report.unlocks[-1].steps == ("MODEL_GATEWAY", "MODEL_GATEWAY_API_KEY")
    half = await examined(write, TEAM, bare.model_copy(update={"model_gateway": "openrouter"}))
    assert {len(unlock.steps) for unlock in half.unlocks} == {1}
    assert ("MODEL_GATEWAY_API_KEY",) in [unlock.steps for unlock in half.unlocks]


async def test_without_a_name_every_syndicate_is_examined(write: Write, bare: Settings) -> None:
    write("mine.yaml", "syndicate_name: Mine\norchestrator: {name: Lead, model: local/smollm2, instruction: i}\n")
    write("broken.yaml", "syndicate_name: Broken\n")
    report = await examine(None, bare)
    running = {found.name: (found.running, found.agents, found.runs) for found in report.syndicates}
    assert running["mine"] == (1, 1, True)
    assert running["council"][2] is False
    assert "broken" not in running
    gemini = next(unlock for unlock in report.unlocks if unlock.steps == ("GOOGLE_GENAI_API_KEY",))
    assert "gemini-*" in gemini.ids
    assert "council" in gemini.runs
    assert report.unlocks[0] == gemini
