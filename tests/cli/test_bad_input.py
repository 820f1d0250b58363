"""Whatever is typed wrongly: one line on standard error, an exit code, no traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

READING_VERBS = ("validate", "graph", "show", "chat")


def one_line_of(done: subprocess.CompletedProcess[str], code: int) -> str:
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.fixture
def bad(shell: Any) -> Any:
    """A folder of files that cannot be loaded."""
    (shell.folder / "empty.yaml").touch()
    (shell.folder / "folder.yaml").mkdir()
    (shell.folder / "binary.yaml").write_bytes(bytes(range(256)) * 64)
    (shell.folder / "latin.yaml").write_bytes("syndicate_name: Caf\xe9\n".encode("latin-1"))
    with (shell.folder / "huge.yaml").open("wb") as file:
        file.write(b"syndicate_name: x\n")
        file.truncate(50 << 20)
    return shell


@pytest.mark.parametrize("verb", ["validate", "chat"])
@pytest.mark.parametrize(
    "name", ["missing.yaml", "empty.yaml", "folder.yaml", "binary.yaml", "latin.yaml", "huge.yaml", "no-such-name", ""]
)
def test_a_file_that_cannot_be_loaded_is_one_line(bad: Any, verb: str, name: str) -> None:
    more = ["hello"] if verb == "chat" else []
    line = one_line_of(bad.run(verb, name, *more), 1)
    assert name in line


@pytest.mark.parametrize("verb", READING_VERBS)
def test_every_verb_that_reads_answers_so(bad: Any, verb: str) -> None:
    assert "empty.yaml:1:1: " in one_line_of(bad.run(verb, "empty.yaml", *(["hi"] if verb == "chat" else [])), 1)


def test_an_unknown_name_is_answered_with_the_nearest(shell: Any) -> None:
    assert "'pair'" in one_line_of(shell.run("graph", "pairr"), 1)


@pytest.fixture
def without_power() -> list[str]:
    """What to put before a command so that file permissions hold for it: for root they do not."""
    if os.geteuid() != 0:
        return []
    caps = "-dac_override,-dac_read_search"
    prefix = ["setpriv", f"--bounding-set={caps}", f"--inh-caps={caps}"]
    if shutil.which("setpriv") is None or subprocess.run([*prefix, "true"], check=False).returncode != 0:
        pytest.skip("root cannot give up its power over files here")
    return prefix


Powerless = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def powerless(shell: Any, without_power: list[str]) -> Powerless:
    """Runs `syndicate ARGS…` as somebody for whom file permissions hold."""

    def run(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*without_power, *shell.command(*args)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=shell.folder,
            env=shell.env(**env),
            check=False,
        )

    return run


@pytest.mark.parametrize("verb", READING_VERBS)
def test_a_file_without_permission_is_one_line(shell: Any, powerless: Powerless, verb: str) -> None:
    (shell.agents / "pair.yaml").chmod(0)
    assert "permission" in one_line_of(powerless(verb, "pair", *(["hi"] if verb == "chat" else [])), 1)


@pytest.mark.parametrize("args", [["list"], ["show", "pair"], ["chat", "pair", "hi"], ["models", "list"]])
def test_an_env_file_without_permission_is_one_line(shell: Any, powerless: Powerless, args: list[str]) -> None:
    (shell.folder / ".env").touch(mode=0)
    assert one_line_of(powerless(*args), 1).startswith("error: .env cannot be read: permission denied; ")


def test_a_broken_line_of_env_is_located(shell: Any) -> None:
    (shell.folder / ".env").write_text("\nSYNDICATE_DEFAULT='pair\n")
    assert one_line_of(shell.run("list"), 1).startswith("error: .env:2: not readable as NAME=value; ")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["vlidate", "x"], "did you mean 'validate'"),
        (["validate"], "FILE"),
        (["validate", "--strit", "pair"], "--strict"),
        (["graph", "pair", "--format", "png"], "mermaid"),
        (["graph"], "NAME"),
        (["chat", "pair", "--user", "a/b", "hi"], "'a/b'"),
        (["chat", "pair", "--bind", "nonsense", "hi"], "nonsense"),
        (["chat", "pair", "--model", "Lead", "hi"], "agent=model"),
        (["chat", "pair", ""], "empty"),
        (["chat", "pair"], "standard input"),
        (["chat", "--nonsense"], "--nonsense"),
    ],
)
def test_a_usage_error_is_one_line_and_exit_2(shell: Any, args: list[str], says: str) -> None:
    assert says in one_line_of(shell.run(*args), 2)


def test_a_message_taken_for_a_name_is_said_to_be_no_name(shell: Any) -> None:
    assert "no syndicate is called 'hi'" in one_line_of(shell.run("chat", "hi"), 1)
    assert "no syndicate is called 'piar'; did you mean 'pair'?" in one_line_of(shell.run("chat", "piar"), 1)


def test_an_agent_or_a_model_that_is_not_there_is_one_line(shell: Any) -> None:
    assert "did you mean 'Lead'" in one_line_of(shell.run("chat", "pair", "hi", "--model", "Leed=scripted/lead"), 1)
    assert "no provider" in one_line_of(shell.run("chat", "pair", "hi", "--model", "Lead=nonsense"), 1)


def test_a_setting_that_cannot_be_used_is_one_line(shell: Any) -> None:
    assert "SYNDICATE_LOCAL_CONTEXT" in one_line_of(shell.run("list", SYNDICATE_LOCAL_CONTEXT="many"), 1)


def test_standard_input_that_is_no_text_is_a_usage_error(shell: Any) -> None:
    assert "UTF-8" in one_line_of(shell.run("chat", "pair", stdin=b"\xff\xfe\x00"), 2)


def test_a_bug_is_one_line_that_says_how_to_see_more(shell: Any) -> None:
    shell.replies.write_text("{}")  # a script that the scripted provider of these tests trips over
    line = one_line_of(shell.run("chat", "pair", "hi"), 1)
    assert "bug" in line
    assert "Traceback" in shell.run("--debug", "chat", "pair", "hi").stderr


def through_shell(shell: Any, redirection: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run `syndicate ARGS…` with one of its streams closed or led elsewhere by a real shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *shell.command(*args)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=shell.folder,
        env=shell.env(),
        check=False,
    )


@pytest.mark.parametrize("args", [["list"], ["schema"], ["chat", "pair", "hi"], ["--version"]])
def test_a_standard_output_that_takes_nothing_is_named(shell: Any, args: list[str]) -> None:
    closed = one_line_of(through_shell(shell, ">&-", *args), 1)
    assert closed.startswith("error: standard output is closed; ")
    if os.path.exists("/dev/full"):
        full = one_line_of(through_shell(shell, ">/dev/full", *args), 1)
        assert full == "error: standard output cannot be written: no space left on device\n"


def test_a_closed_standard_error_silences_what_is_not_the_answer(shell: Any) -> None:
    done = through_shell(shell, "2>&-", "chat", "pair", "hi")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello from the lead\n", "")
    assert through_shell(shell, "2>&-", "show", "nowhere").returncode == 1


EMBEDDED = ["chat", "pair", "hi", "--model", "Lead=local/smollm2"]


@pytest.mark.parametrize("args", [EMBEDDED, ["models", "pull"]])
def test_a_data_folder_that_cannot_be_made_names_the_variable(shell: Any, args: list[str]) -> None:
    (shell.folder / "taken").touch()
    for home in ("/dev/null", str(shell.folder / "taken" / "home")):
        line = one_line_of(shell.run(*args, SYNDICATE_HOME=home), 1)
        assert line.startswith(f"error: '{home}")
        assert "cannot be written: not a directory; set SYNDICATE_HOME to a folder that can be written" in line


@pytest.mark.parametrize("args", [EMBEDDED, ["models", "pull"]])
@pytest.mark.parametrize("mode", [0o500, 0])
def test_a_home_without_permission_names_the_variable(
    shell: Any, powerless: Powerless, args: list[str], mode: int
) -> None:
    home = shell.folder / "person"
    home.mkdir(mode=mode)
    line = one_line_of(powerless(*args, SYNDICATE_HOME="", XDG_DATA_HOME="", HOME=str(home)), 1)
    assert line.startswith(f"error: '{home}")
    assert "cannot be written: permission denied; set SYNDICATE_HOME" in line


def test_a_working_directory_that_is_gone_is_no_bug(shell: Any) -> None:
    command = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", command, "sh", *shell.command("show", str(shell.agents / "pair.yaml"))],
        capture_output=True,
        text=True,
        cwd=shell.folder,
        env={**shell.env(), "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done
