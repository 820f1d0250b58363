"""One run finds every problem, in order; whatever the bytes, it ends in a syndicate or in errors of ours."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from syndicate.config import LoadedSyndicate, available, load
from syndicate.config.limits import MAX_PROBLEMS
from syndicate.config.schema import SubagentConfig, SyndicateConfig
from syndicate.errors import ConfigError
from syndicate.settings import Settings

Load = Callable[..., LoadedSyndicate]
Problems = Callable[..., list[str]]
Text = Callable[[str], str]

EVERYTHING_WRONG = """\
syndicate_name: Test
variables: {topic: bees}
orchestrator:
  name: 3.5
  modle: gemini
  model: m
  instruction: About {{topik}}.
  tools: search
  generateContentConfig: {temperature: 3}
subagents:
  - name: Helper
    instruction: x
    name: Other
    yaml_reference: nowhere.yaml
dispatch: {default_route: Helpr}
memory_system: forever
"""


def test_every_problem_in_one_run_in_order(problems_of: Problems):
    assert problems_of(EVERYTHING_WRONG) == [
        "4:9: 3.5 is a number where text is wanted; put it in quotes",
        "5:3: unknown field 'modle'; did you mean 'model'?",
        "7:22: warning: '{{topik}}' names no variable and stays as it is; did you mean 'topic'?",
        "8:10: 'search' is text where a list is wanted; write [search]",
        "9:40: 3 is out of range; 'temperature' must be at most 2.0",
        "11:5: subagent 'Helper' has no 'description'; add one: the orchestrator decides by it",
        "13:5: duplicate key 'name': written on lines 11 and 13; keep one",
        "14:5: 'instruction' and 'yaml_reference' exclude each other; keep one",
        "14:21: 'nowhere.yaml' does not exist; correct the path",
        "15:27: 'Helpr' names no subagent; did you mean 'Helper'?",
        "16:16: 'forever' is not one of 'internal-only', 'session-only', 'long-term'",
    ]


def test_the_error_points_at_its_first_error(load_text: Load):
    with pytest.raises(ConfigError) as error:
        load_text(EVERYTHING_WRONG)
    assert (error.value.line, error.value.column, error.value.code) == (4, 9, "wrong-type")
    assert error.value.file.endswith("test.yaml")


def test_what_was_loaded_knows_where_it_is_written(load_text: Load, agent: Text):
    loaded = load_text(agent("tools: [a, b]\ngenerateContentConfig:\n  topP: 0.5\n"))
    assert loaded.name == "test"
    assert str(loaded.locate("orchestrator", "tools", 1)).endswith("test.yaml:6:14")
    assert loaded.locate("orchestrator", "generateContentConfig", "topP", key=True).line == 8
    assert loaded.locate("orchestrator", "description").line == 3
    assert loaded.locate().line == 1


def test_a_path_is_absolute(load_text: Load, root: Text, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    load_text(root(""))
    monkeypatch.chdir(tmp_path)
    assert load("./test.yaml", settings=Settings.read(env_file=None)).path == tmp_path / "test.yaml"


def test_loading_does_not_import_adk_or_a_provider():
    code = (
        "import sys; from syndicate.config import load; from syndicate.settings import Settings;"
        "load('council', settings=Settings.read(env_file=None));"
        "print([name for name in ('google.adk', 'google.genai', 'openai', 'ollama', 'rich') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_the_shipped_files_load_without_a_warning():
    settings = Settings.read(env_file=None)
    for syndicate in available(settings):
        assert load(syndicate.path, settings=settings, strict=True).problems == ()


def test_a_file_full_of_errors_stops_early_and_quickly(problems_of: Problems, root: Text):
    text = root("subagents:\n" + "".join(f"  - {{nme{n}: a, tols{n}: b, x{n}: c}}\n" for n in range(4000)))
    started = time.process_time()
    *shown, last = problems_of(text)
    assert len(shown) == MAX_PROBLEMS
    assert last.endswith("more than 200 errors in this file; only 200 of them are shown")
    text = root(
        "dispatch:\n  default_route: x\n  route_overrides:\n"
        + "".join(f"    - {{route: desk {n}, pattern: x}}\n" for n in range(4000))
        + "subagents:\n"
        + "".join(f"  - {{name: agent {n}, description: d, instruction: '{{{{v{n}}}}}'}}\n" for n in range(4000))
    )
    assert len(problems_of(text)) <= 2 * (MAX_PROBLEMS + 1)
    assert time.process_time() - started < 6


def test_that_there_are_more_problems_is_said_at_the_end(problems_of: Problems, root: Text, agent: Text):
    def errors(count: int) -> list[str]:
        return problems_of(root("".join(f"k{n}: v\n" for n in range(count))))

    def warnings(count: int) -> list[str]:
        return problems_of(agent(f"outputKey: '{' '.join(f'{{{{v{n}}}}}' for n in range(count))}'"))

    for found, noun in ((errors, "errors"), (warnings, "warnings")):
        assert len(found(MAX_PROBLEMS)) == MAX_PROBLEMS
        assert not any("more than" in problem for problem in found(MAX_PROBLEMS))
        *shown, last = found(MAX_PROBLEMS + 1)
        assert len(shown) == MAX_PROBLEMS
        assert last.endswith(f"more than 200 {noun} in this file; only 200 of them are shown")
        assert len(found(5000)) == MAX_PROBLEMS + 1


arbitrary_bytes = st.one_of(st.binary(), st.text(st.characters(codec="utf-8")).map(str.encode))
keys = st.sampled_from(
    [
        *(field.alias or name for name, field in SyndicateConfig.model_fields.items()),
        *(field.alias or name for name, field in SubagentConfig.model_fields.items()),
        "x-y",
        "route",
        "pattern",
        "default_route",
        "route_overrides",
        "url",
        "type",
        "properties",
        "enum",
    ]
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["{{a}}", "user", "tutor", "../x", "/", "(", "a{9}{9}", "https://x", "\x00", "a\x00b", "."]),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6), max_leaves=12
)
likely_files = st.fixed_dictionaries(
    {},
    optional={
        "syndicate_name": scalars,
        "orchestrator": st.dictionaries(keys, values, max_size=8),
        "subagents": st.lists(st.dictionaries(keys, values, max_size=8), max_size=4),
        "dispatch": st.dictionaries(keys, values, max_size=5),
        "variables": st.dictionaries(st.sampled_from(["a", "current_date", "b c"]), values, max_size=3),
        "max_steps": values,
        "guards": values,
        "budget": values,
    },
)


def loads_or_explains(path: Path, settings: Settings) -> None:
    """Nothing but our own errors comes out, and each problem has a place and one line of text."""
    try:
        problems = load(path, settings=settings).problems
    except ConfigError as error:
        problems = error.problems
    for problem in problems:
        assert problem.location.line >= 1
        assert problem.location.column >= 1
        assert problem.message
        assert "\n" not in problem.message


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(arbitrary_bytes)
@example(b"syndicate_name: &a [*a]")
@example(b"\xef\xbb\xbf\xef\xbb\xbf")
@example(b"? : :\n- ")
def test_any_bytes_end_in_errors_of_ours(tmp_path: Path, settings: Settings, data: bytes):
    path = tmp_path / "any.yaml"
    path.write_bytes(data)
    loads_or_explains(path, settings)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(likely_files)
@example({"orchestrator": {"instruction_file": "."}, "subagents": [{"yaml_reference": "any"}, {"yaml_reference": "/"}]})
@example({"guards": "a\nb", "orchestrator": {"tools": "x\u2028y", "models": "z" * 99}})
@example({"variables": {"a": None}, "orchestrator": {"name": "{{a}}", "tools": ["{{a}}"]}})
def test_any_values_under_the_formats_keys_end_in_errors_of_ours(tmp_path: Path, settings: Settings, data: dict):
    path = tmp_path / "any.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    loads_or_explains(path, settings)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(min_size=1).filter(lambda text: "{{" not in text and "\x00" not in text))
def test_any_text_is_a_prompt_and_arrives_as_it_is(tmp_path: Path, settings: Settings, prompt: str):
    path = tmp_path / "any.yaml"
    agent = {"name": "A", "model": "m", "instruction": prompt}
    path.write_text(yaml.safe_dump({"syndicate_name": "T", "orchestrator": agent}, default_style='"'))
    assert load(path, settings=settings).config.orchestrator.instruction == prompt
