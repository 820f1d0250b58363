"""Names and paths find files; what is nowhere is answered with suggestions."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from syndicate.config import available, find, load, shipped_agents
from syndicate.errors import UsageError
from syndicate.settings import Settings

Write = Callable[..., Path]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The agents folder is `agents`, the working directory another one."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Settings.read({"syndicate_agents_dir": tmp_path / "agents"}, env_file=None)


def test_a_bare_name_is_found_in_the_agents_folder_then_examples_then_templates(
    write: Write, settings: Settings, tmp_path: Path
):
    write("agents/templates/team.yaml", "")
    assert find("team", settings) == tmp_path / "agents/templates/team.yaml"
    write("agents/examples/team.yaml", "")
    assert find("team", settings) == tmp_path / "agents/examples/team.yaml"
    write("agents/team.yaml", "")
    assert find("team", settings) == tmp_path / "agents/team.yaml"
    assert find("team.yaml", settings) == tmp_path / "agents/team.yaml"


def test_a_bare_name_is_found_among_the_shipped_ones_at_last(settings: Settings):
    assert find("tutor", settings) == shipped_agents() / "examples" / "tutor.yaml"


def test_a_file_of_the_working_directory_is_a_path(write: Write, settings: Settings, tmp_path: Path):
    write("agents/team.yaml", "")
    write("work/team.yaml", "")
    assert find("team.yaml", settings) == Path("team.yaml")
    assert find("team", settings) == tmp_path / "agents/team.yaml"
    assert find("./team.yaml", settings) == Path("team.yaml")
    assert find(tmp_path / "work/team", settings) == tmp_path / "work/team.yaml"


def test_a_directory_does_not_hide_a_name(write: Write, settings: Settings, tmp_path: Path):
    (tmp_path / "work/team").mkdir()
    write("agents/team.yaml", "")
    assert find("team", settings) == tmp_path / "agents/team.yaml"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tutro", "no syndicate is called 'tutro'; did you mean 'tutor'?"),
        ("tutro.yaml", "no syndicate is called 'tutro.yaml'; did you mean 'tutor'?"),
        ("local", "no syndicate is called 'local'; did you mean './local.yaml'?"),
        ("zzzzzz", "no syndicate is called 'zzzzzz'; see `syndicate list`, or give the path of a file"),
        ("./locl.yaml", "locl.yaml does not exist; did you mean 'local.yaml'?"),
        ("nowhere/x.yaml", "nowhere/x.yaml does not exist; see `syndicate list`, or give the path of a file"),
        ("", "a syndicate's name is empty; name one, or give the path of a file"),
    ],
)
def test_what_is_nowhere_is_answered_with_a_suggestion(name: str, message: str, write: Write, settings: Settings):
    write("work/local.yaml", "")
    with pytest.raises(UsageError) as error:
        find(name, settings)
    assert str(error.value) == message


def test_available_lists_each_name_once_where_it_is_found(write: Write, settings: Settings):
    write("agents/mine.yaml", "")
    write("agents/examples/tutor.yaml", "")
    write("agents/examples/notes.txt", "")
    found = {syndicate.name: syndicate.root for syndicate in available(settings)}
    assert found["mine"] == "agents"
    assert found["tutor"] == "examples"
    assert found["council"] == "shipped"
    assert "notes" not in found
    assert all(find(syndicate.name, settings) == syndicate.path for syndicate in available(settings))


def test_an_agents_folder_that_is_missing_or_a_file_lists_the_shipped_ones(write: Write, settings: Settings):
    assert available(settings)
    write("agents", "not a folder")
    assert available(settings)


def test_shipped_files_come_with_the_package():
    assert (shipped_agents() / "syndicate.schema.json").is_file()


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text())
def test_any_other_name_is_refused_in_one_line(settings: Settings, name: str):
    with pytest.raises(UsageError) as error:
        load(name, settings=settings)
    assert "\n" not in str(error.value)
