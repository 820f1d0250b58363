"""Every shipped syndicate loads, compiles and says in its header what it teaches and how to run it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from syndicate.config import load
from syndicate.graph.checks import default_checks
from syndicate.graph.compiler import compile_syndicate
from syndicate.models.registry import provider_of
from syndicate.settings import Settings

FOLDER = Path(__file__).parents[2] / "config/agents/examples"
EXAMPLES = sorted(FOLDER.glob("*.yaml"))
TIERS = ("keyless", "one provider", "multi-provider")
SETTINGS = Settings.read(env_file=None)

every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def header(path: Path) -> str:
    """The comment a file opens with."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines[: next(i for i, line in enumerate(lines) if not line.startswith("#"))])


def test_the_starter_pack_is_whole() -> None:
    pack = "claude council critic delegation hierarchical model_zoo style_council syndicate tutor"
    assert [path.stem for path in EXAMPLES] == pack.split()


@every_example
def test_it_loads_and_compiles(path: Path) -> None:
    loaded = load(path, settings=SETTINGS, checks=default_checks(SETTINGS))
    compiled = compile_syndicate(loaded, settings=SETTINGS)
    assert len(compiled.agents) >= 1 + len(loaded.config.subagents)


@every_example
def test_it_has_no_warning_but_for_models_this_version_cannot_run(path: Path) -> None:
    problems = load(path, settings=SETTINGS, checks=default_checks(SETTINGS)).problems
    assert {problem.code for problem in problems} <= {"not-in-this-version"}
    if path.stem not in ("claude", "model_zoo"):
        assert not problems


@every_example
def test_its_header_teaches(path: Path) -> None:
    text = header(path)
    assert text.startswith("# yaml-language-server: $schema=../syndicate.schema.json\n#\n")
    assert f"\n# {path.stem}: " in text
    assert "\n# Pattern: " in text
    tier = re.search(r"^# Tier: ([a-z -]+?)(?: \(|$)", text, re.MULTILINE)
    assert tier is not None
    assert tier[1] in TIERS
    assert "\n# Run: syndicate " in text


@every_example
def test_its_tier_is_true(path: Path) -> None:
    agents = compile_syndicate(load(path, settings=SETTINGS), settings=SETTINGS).agents
    choices = [[provider for model in info.models if (provider := provider_of(model))] for info in agents]
    if all(any(provider.key is None for provider in choice) for choice in choices):
        tier = "keyless"
    elif len({provider.id for choice in choices for provider in choice}) == 1:
        tier = "one provider"
    else:
        tier = "multi-provider"
    assert f"# Tier: {tier}" in header(path)


@every_example
def test_the_keys_its_header_names_are_those_it_can_use(path: Path) -> None:
    agents = compile_syndicate(load(path, settings=SETTINGS), settings=SETTINGS).agents
    keys = {provider.key for info in agents for model in info.models if (provider := provider_of(model))}
    assert set(re.findall(r"[A-Z]+(?:_[A-Z]+)*_API_KEY", header(path))) == keys - {None}


@every_example
def test_its_header_says_when_an_adapter_is_missing(path: Path) -> None:
    agents = compile_syndicate(load(path, settings=SETTINGS), settings=SETTINGS).agents
    asked = [[provider for model in info.models if (provider := provider_of(model))] for info in agents]
    missing = any(all(provider.adapter is None for provider in choice) for choice in asked)
    assert missing == ("this version" in header(path).lower())


@every_example
def test_its_commands_can_be_typed(path: Path) -> None:
    from syndicate.cli.app import group

    commands = re.findall(r"^# (?:Run:|See:|    ) (syndicate .+)$", header(path), re.MULTILINE)
    assert commands
    for line in commands:
        _, verb, *args = shlex.split(re.split(r"\. | says | asks | writes ", line)[0])
        whole = group.make_context("syndicate", [], resilient_parsing=True)
        command = group.get_command(whole, verb)
        assert command is not None
        context = command.make_context(verb, args, parent=whole)
        assert path.stem in str(context.params.values())


@every_example
def test_its_prompts_are_short_and_their_lines_fit(path: Path) -> None:
    config = load(path, settings=SETTINGS).config
    for agent in (config.orchestrator, *config.subagents):
        assert len(agent.instruction or "") <= 1200
    assert max(map(len, path.read_text(encoding="utf-8").splitlines())) <= 120
