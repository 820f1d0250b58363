"""Files that nest files: found beside each other, inside the roots, without cycles, each once."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from syndicate.config import LoadedSyndicate, load
from syndicate.config.limits import MAX_FILES, MAX_TOTAL_BYTES
from syndicate.errors import ConfigError
from syndicate.settings import Settings

Write = Callable[..., Path]
Open = Callable[..., LoadedSyndicate]


def team(*references: str, instruction: str = "Help.") -> str:
    """A syndicate that nests these files; the first reference stands on line 9, column 21."""
    head = f"syndicate_name: T\norchestrator:\n  name: Lead\n  model: local/smollm2\n  instruction: {instruction}\n"
    if not references:
        return head
    parts = (
        f"  - name: Desk {number}\n    description: Answers.\n    yaml_reference: {reference}\n"
        for number, reference in enumerate(references)
    )
    return head + "subagents:\n" + "".join(parts)


@pytest.fixture
def opened(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Load a file of the test's folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return lambda name="a.yaml", **options: load(Path(name), settings=settings, **options)


def complaints(opened: Open, name: str = "a.yaml", **options: object) -> list[str]:
    with pytest.raises(ConfigError) as error:
        opened(name, **options)
    return [str(problem) for problem in error.value.problems]


def test_a_nested_file_is_found_beside_the_one_that_names_it(write: Write, opened: Open):
    write("a.yaml", team("sub/b.yaml"))
    write("sub/b.yaml", team("../c.yaml"))
    write("c.yaml", team())
    loaded = opened()
    assert [file.name for file in loaded.files()] == ["a", "b", "c"]
    assert loaded.references[0].references[0].path.name == "c.yaml"


def test_it_is_found_from_any_working_directory(
    write: Write, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = write("deep/a.yaml", team("b.yaml"))
    write("deep/b.yaml", team("nowhere.yaml"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with pytest.raises(ConfigError) as error:
        load(os.path.relpath(path), settings=settings)
    assert error.value.file == str(tmp_path / "deep/b.yaml")


def test_it_is_looked_for_in_the_agents_folders_next(write: Write, tmp_path: Path):
    path = write("mine/a.yaml", team("helper", "tutor.yaml"))
    write("agents/examples/helper.yaml", team())
    settings = Settings.read({"syndicate_agents_dir": tmp_path / "agents"}, env_file=None)
    loaded = load(path, settings=settings)
    assert [file.name for file in loaded.files()] == ["a", "helper", "tutor"]


def test_the_suffix_may_be_left_out(write: Write, opened: Open):
    write("a.yaml", team("b"))
    write("b.yaml", team())
    assert opened().references[0].name == "b"


def test_a_file_that_is_missing_is_a_problem_where_it_is_named(write: Write, opened: Open):
    write("a.yaml", team("critics.yaml", "zzz.yaml"))
    write("critic.yaml", team())
    assert complaints(opened) == [
        "a.yaml:9:21: 'critics.yaml' does not exist; did you mean 'critic.yaml'?",
        "a.yaml:12:21: 'zzz.yaml' does not exist; correct the path",
    ]


@pytest.mark.parametrize("reference", ["../outside.yaml", "/etc/hostname", "sub/../../outside.yaml", "link.yaml"])
def test_nothing_outside_the_roots_is_read(reference: str, write: Write, tmp_path: Path):
    path = write("inside/a.yaml", team(reference))
    outside = write("outside.yaml", team())
    (path.parent / "link.yaml").symlink_to(outside)
    settings = Settings.read({"syndicate_agents_dir": tmp_path / "inside"}, env_file=None)
    with pytest.raises(ConfigError) as error:
        load(path, settings=settings)
    assert [problem.code for problem in error.value.problems] == ["outside"]
    assert f"{reference!r} lies outside the folders that may be read" in str(error.value)


def test_what_lies_outside_is_not_even_looked_at(write: Write, tmp_path: Path):
    path = write("inside/a.yaml", team("../not-there.yaml"))
    settings = Settings.read({"syndicate_agents_dir": tmp_path / "inside"}, env_file=None)
    with pytest.raises(ConfigError, match="lies outside"):
        load(path, settings=settings)


def test_a_link_within_the_roots_is_fine(write: Write, opened: Open, tmp_path: Path):
    write("a.yaml", team("link.yaml"))
    (tmp_path / "link.yaml").symlink_to(write("sub/b.yaml", team()))
    assert opened().references[0].path == (tmp_path / "sub/b.yaml").resolve()


def test_a_cycle_is_an_error_that_prints_the_chain(write: Write, opened: Open):
    write("a.yaml", team("b.yaml"))
    write("b.yaml", team("c.yaml"))
    write("c.yaml", team("b.yaml"))
    assert complaints(opened) == ["c.yaml:9:21: cycle: b.yaml → c.yaml → b.yaml; take one of these references out"]
    write("c.yaml", team("a.yaml"))
    assert complaints(opened) == [
        "c.yaml:9:21: cycle: a.yaml → b.yaml → c.yaml → a.yaml; take one of these references out"
    ]


def test_a_file_that_nests_itself_is_a_cycle_by_any_name(write: Write, opened: Open, tmp_path: Path):
    write("a.yaml", team("./a.yaml", "other.yaml"))
    (tmp_path / "other.yaml").symlink_to("a.yaml")
    assert complaints(opened) == [
        "a.yaml:9:21: cycle: a.yaml → a.yaml; take one of these references out",
        "a.yaml:12:21: cycle: a.yaml → a.yaml; take one of these references out",
    ]


def test_a_diamond_is_legal_and_its_file_is_one(write: Write, opened: Open):
    write("a.yaml", team("b.yaml", "c.yaml", "b.yaml"))
    write("b.yaml", team("d.yaml"))
    write("c.yaml", team("d.yaml"))
    write("d.yaml", team())
    loaded = opened()
    assert loaded.references[0].references[0] is loaded.references[1].references[0]
    assert loaded.references[0] is loaded.references[2]
    assert [file.name for file in loaded.files()] == ["a", "b", "c", "d"]


def test_the_problems_of_a_diamond_are_reported_once(write: Write, opened: Open):
    write("a.yaml", team("b.yaml", "c.yaml"))
    write("b.yaml", team("d.yaml"))
    write("c.yaml", team("d.yaml"))
    write("d.yaml", team() + "mistake: 1\n")
    assert complaints(opened) == ["d.yaml:6:1: unknown field 'mistake'; remove it, or begin its name with 'x-'"]


def test_problems_of_all_files_come_in_one_run_root_first(write: Write, opened: Open):
    write("a.yaml", team("c.yaml", "b.yaml") + "mistake: 1\nmax_steps: 0\n")
    write("b.yaml", "syndicate_name: [")
    write("c.yaml", team(instruction="Say {{what}}.") + "memory_system: none\n")
    assert [problem.split(": ")[0] for problem in complaints(opened)] == [
        "a.yaml:13:1",
        "a.yaml:14:12",
        "c.yaml:5:20",
        "c.yaml:6:16",
        "b.yaml:1:18",
    ]


def test_warnings_of_nested_files_are_the_roots(write: Write, opened: Open):
    write("a.yaml", team("b.yaml"))
    write("b.yaml", team(instruction="Say {{what}}."))
    loaded = opened()
    assert [str(problem.location) for problem in loaded.problems] == ["b.yaml:5:20"]
    assert loaded.references[0].problems == ()


def test_each_file_binds_its_own_variables_and_a_binding_reaches_all_that_declare_it(write: Write, opened: Open):
    write("a.yaml", team("b.yaml", "c.yaml", instruction="On {{topic}}") + "variables: {topic: bees}\n")
    write("b.yaml", team(instruction="On {{topic}}") + "variables: {topic: ants}\n")
    write("c.yaml", team(instruction="On {{topic}}"))
    loaded = opened(bindings={"topic": "wasps"})
    assert [file.config.orchestrator.instruction for file in loaded.files()] == ["On wasps", "On wasps", "On {{topic}}"]
    loaded = opened()
    assert [file.config.orchestrator.instruction for file in loaded.files()] == ["On bees", "On ants", "On {{topic}}"]
    write("a.yaml", team("b.yaml"))
    assert opened(bindings={"topic": "wasps"}).references[0].config.orchestrator.instruction == "On wasps"


def test_a_reference_can_be_a_variable(write: Write, opened: Open):
    write("a.yaml", team('"{{desk}}.yaml"') + "variables: {desk: b}\n")
    write("b.yaml", team())
    assert opened().references[0].name == "b"


def test_a_nested_file_that_is_no_text_is_a_problem_in_it(write: Write, opened: Open, tmp_path: Path):
    write("a.yaml", team("b.yaml", "sub"))
    (tmp_path / "b.yaml").write_bytes(b"a: 1\n\xff")
    (tmp_path / "sub").mkdir()
    assert complaints(opened) == [
        "a.yaml:12:21: 'sub' is a directory, not a file",
        "b.yaml:2:1: the file is not UTF-8 text: byte 0xff here; save it as UTF-8",
    ]


def test_too_many_files_are_refused(write: Write, opened: Open):
    write("a.yaml", team(*(f"n{number}.yaml" for number in range(MAX_FILES + 5))))
    for number in range(MAX_FILES + 5):
        write(f"n{number}.yaml", team())
    assert all(f"more than {MAX_FILES} files are nested" in problem for problem in complaints(opened))


def test_a_long_chain_of_files_is_refused(write: Write, opened: Open):
    write("a.yaml", team("n0.yaml"))
    for number in range(MAX_FILES + 5):
        write(f"n{number}.yaml", team(f"n{number + 1}.yaml"))
    assert complaints(opened)[0].endswith(f"more than {MAX_FILES} files are nested; nest fewer")


def test_too_much_text_in_all_is_refused(write: Write, opened: Open):
    names = [f"n{number}.yaml" for number in range((MAX_TOTAL_BYTES >> 20) + 1)]
    write("a.yaml", team(*names))
    for name in names:
        write(name, team() + "#" * 1_000_000)
    assert all("may hold 8 MB together" in problem for problem in complaints(opened))


def test_an_instruction_file_is_read_and_bound(write: Write, opened: Open):
    write("a.yaml", team().replace("instruction: Help.", "instruction_file: prompts/lead.md") + "variables: {n: 3}\n")
    write("prompts/lead.md", "Name {{n}} things, {id}.\n")
    agent = opened(strict=True).config.orchestrator
    assert agent.instruction == "Name 3 things, {id}.\n"
    assert agent.instruction_file == "prompts/lead.md"


def test_an_instruction_file_that_is_one_variable_is_still_text(write: Write, opened: Open):
    write("a.yaml", team().replace("instruction: Help.", "instruction_file: lead.md") + "variables: {n: 3}\n")
    write("lead.md", "{{n}}")
    assert opened().config.orchestrator.instruction == "3"


def test_a_name_that_is_no_variable_is_located_in_the_instruction_file(write: Write, opened: Open):
    write("a.yaml", team().replace("instruction: Help.", "instruction_file: lead.md"))
    write("lead.md", "One\r\n é☃ {{who}}\n")
    (problem,) = opened().problems
    assert str(problem.location) == "lead.md:2:5"
    assert problem.source_line == " é☃ {{who}}"
    write("lead.md", "\n".join(f"{{{{n{n}}}}}" for n in range(300)))
    *shown, last = opened().problems
    assert len(shown) == 200
    assert str(last) == "lead.md:300:9: warning: more than 200 warnings in this file; only 200 of them are shown"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("lead.md", b"", "a.yaml:5:21: 'lead.md' is empty; write the instruction into it"),
        ("lead.md", b"a\nb\x00", "lead.md:2:2: the file is binary, not text: a NUL character here"),
        ("led.md", b"x", "a.yaml:5:21: 'lead.md' does not exist; did you mean 'led.md'?"),
    ],
)
def test_an_instruction_file_that_cannot_be_used(name: str, content: bytes, message: str, write: Write, opened: Open):
    path = write("a.yaml", team().replace("instruction: Help.", "instruction_file: lead.md"))
    (path.parent / name).write_bytes(content)
    assert complaints(opened) == [message]


def test_an_instruction_file_stays_inside_the_roots(write: Write, tmp_path: Path):
    path = write("inside/a.yaml", team().replace("instruction: Help.", "instruction_file: ../secret.md"))
    write("secret.md", "x")
    settings = Settings.read({"syndicate_agents_dir": tmp_path / "inside"}, env_file=None)
    with pytest.raises(ConfigError, match="lies outside"):
        load(path, settings=settings)
