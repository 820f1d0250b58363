"""Files are read under limits, as UTF-8, or refused with one line."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from syndicate.config import load
from syndicate.config.limits import MAX_BYTES
from syndicate.config.text import display
from syndicate.errors import ConfigError, UsageError
from syndicate.settings import Settings

Problems = Callable[..., list[str]]


@contextmanager
def an_ordinary_user() -> Iterator[None]:
    """Permissions do not hold root back."""
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if was_root:
            os.seteuid(0)


def refused(path: Path, settings: Settings) -> str:
    with pytest.raises(UsageError) as error:
        load(path, settings=settings)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_byte_order_mark_is_no_text(load_text: Callable, root: Callable[[str], str], problems_of: Problems):
    text = root("mistake: 1\n")
    assert load_text(b"\xef\xbb\xbf" + root("").encode()).config.syndicate_name == "Test"
    assert problems_of(b"\xef\xbb\xbf" + text.encode())[0].startswith("6:1: unknown field")
    assert problems_of(b"\xef\xbb\xbfmistake: 1")[-1].startswith("1:1: unknown field")


def test_the_first_bad_byte_is_shown(problems_of: Problems):
    assert problems_of("a: 1\né: x".encode() + b"\xff\xfe") == [
        "2:5: the file is not UTF-8 text: byte 0xff here; save it as UTF-8"
    ]
    assert problems_of("name: Zoë".encode("latin-1"))[0].startswith("1:9: the file is not UTF-8 text: byte 0xeb")


def test_utf_16_is_named(problems_of: Problems):
    assert problems_of("a: 1".encode("utf-16")) == ["1:1: the file is UTF-16 text; save it as UTF-8"]


def test_binary_is_named(problems_of: Problems):
    assert problems_of(b"\x7fELF\x02\x01\x01\x00\x00\xff") == [
        "1:10: the file is binary, not text: byte 0xff here; save it as UTF-8"
    ]
    assert problems_of(b"a: 1\nb: \x00") == ["2:4: the file is binary, not text: a NUL character here"]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "\ufeff", "null"])
def test_an_empty_file_says_how_one_begins(text: str, problems_of: Problems):
    (problem,) = problems_of(text)
    assert "the file is empty; a syndicate file is a mapping that begins with 'syndicate_name: …'" in problem


@pytest.mark.parametrize("text", ["just words", "- a\n- b\n", "12", "'quoted'"])
def test_a_file_that_is_no_mapping_says_how_one_begins(text: str, problems_of: Problems):
    (problem,) = problems_of(text)
    assert "this is no mapping; a syndicate file is a mapping that begins with" in problem


def test_a_directory(tmp_path: Path, settings: Settings):
    assert refused(tmp_path, settings) == f"{tmp_path} is a directory, not a file"
    assert "is a directory" in refused(Path("."), settings)


def test_something_that_is_no_file(tmp_path: Path, settings: Settings):
    os.mkfifo(tmp_path / "pipe.yaml")
    assert refused(tmp_path / "pipe.yaml", settings).endswith("pipe.yaml is not a regular file")


def test_a_huge_file_is_not_read(tmp_path: Path, settings: Settings):
    path = tmp_path / "huge.yaml"
    with path.open("wb") as stream:
        stream.truncate(50 << 20)
    assert refused(path, settings) == f"{path} is 50.0 MB large; at most 1 MB is read"


def test_a_file_of_just_the_size_is_read(load_text: Callable, root: Callable[[str], str]):
    text = root("#")
    assert load_text(text + "#" * (MAX_BYTES - len(text))).config.syndicate_name == "Test"


def test_no_permission(settings: Settings):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "secret.yaml"
        path.write_text("syndicate_name: x")
        path.chmod(0)
        with an_ordinary_user():
            assert refused(path, settings) == f"{path} may not be read: permission denied"


def test_no_permission_for_the_folder(settings: Settings):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "x.yaml").write_text("syndicate_name: x")
        Path(folder).chmod(0)
        with an_ordinary_user():
            assert "permission denied" in refused(Path(folder) / "x.yaml", settings)
        Path(folder).chmod(0o755)


def test_a_file_that_is_no_directory(tmp_path: Path, settings: Settings):
    (tmp_path / "a.yaml").write_text("x: 1")
    assert "does not exist" in refused(tmp_path / "a.yaml" / "b.yaml", settings)


def test_a_name_too_long_for_the_system(settings: Settings):
    assert "does not exist" in refused(Path("/tmp/" + "x" * 5000), settings)


def test_a_link_to_itself(tmp_path: Path, settings: Settings):
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    assert "loop.yaml" in refused(tmp_path / "loop.yaml", settings)


def test_paths_are_shown_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert display(tmp_path / "sub" / ".." / "a.yaml") == "a.yaml"
    assert display(Path("sub/a.yaml")) == "sub/a.yaml"
    assert display(tmp_path.parent / "a.yaml") == str(tmp_path.parent / "a.yaml")


def test_a_problem_carries_its_source_line(load_text: Callable, root: Callable[[str], str]):
    with pytest.raises(ConfigError) as error:
        load_text(root("max_steps: 0   # é☃\n"))
    (problem,) = error.value.problems
    assert problem.source_line == "max_steps: 0   # é☃"
    assert problem.location.column == 12
