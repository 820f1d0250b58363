"""Settings: which keys count, and what is said about an environment or a `.env` that cannot be used."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from syndicate.errors import SettingsError
from syndicate.settings import Settings, is_placeholder, without_password


@pytest.mark.parametrize(
    "value",
    [
        "",
        "  ",
        "your_key_here",
        "your-api-key",
        "YOUR_OPENAI_API_KEY",
        "your-google-gemini-key-here",
        "my-api-key",
        "the key",
        "api_key",
        "key-here",
        "insert-key-here",
        "put_your_key_here",
        "replace-with-your-api-key",
        "add_me",
        "changeme",
        "change-me",
        "<key>",
        "[your key]",
        "xxx",
        "XXXXXXXX",
        "...",
        "…",
        "sk-...",
        "sk-ant-...",
        "sk-xxxxxxxx",
        "AIza...",
        "todo",
        "None",
    ],
)
def test_sample_text_is_no_key(value: str) -> None:
    assert is_placeholder(value)
    assert Settings.read({"openai_api_key": value}, env_file=None).openai_api_key is None


@pytest.mark.parametrize(
    "value",
    [
        "my-team-token",
        "the-key-of-lab",
        "add_me_42",
        "change-9f3kd02",
        "put-12",
        "replace_team_7",
        "sk-proj-Ab12xxxCd34",
        "sk-ant-api03-xyz",
        "AIzaSyB-12_xx",
        "mykeyring-2",
        "secret-garden",
    ],
)
def test_what_only_begins_like_sample_text_is_a_key(value: str) -> None:
    key = Settings.read({"openai_api_key": value}, env_file=None).openai_api_key
    assert key is not None
    assert key.get_secret_value() == value


def test_a_hostile_value_is_judged_at_once() -> None:
    started = time.process_time()
    assert not is_placeholder("your" + "_-a" * 5_000 + "!")
    assert time.process_time() - started < 1


@pytest.mark.parametrize("name", ["GOOGLE_GENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"])
@pytest.mark.parametrize("value", ["kéy-4711", "ab cd-4711", "ab\x7f-4711", "“ab-4711”"])
def test_a_key_that_no_header_can_hold_is_refused_by_name_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as refused:
        Settings.read(env_file=None)
    assert str(refused.value).startswith(f"{name}: a key has no spaces")
    assert "4711" not in str(refused.value)


def test_white_space_around_a_key_is_not_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XAI_API_KEY", " xai-4711\n")
    key = Settings.read(env_file=None).xai_api_key
    assert key is not None
    assert key.get_secret_value() == "xai-4711"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("SYNDICATE_DEFAULT='x\n", 1),
        ('\n# names\nSYNDICATE_DEFAULT=a\n\n  \nOPENAI_API_KEY="sk-4711\nXAI_API_KEY=b\n', 6),
        ("SYNDICATE_DEFAULT=a\nOPENAI_API_KEY sk-4711\n", 2),
        ("SYNDICATE_DEFAULT='a' b\n", 1),
    ],
)
def test_a_line_of_env_that_cannot_be_read_is_named_and_not_shown(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / ".env"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        Settings.read(env_file=path)
    assert str(refused.value).startswith(f"{path}:{line}: not readable as NAME=value; ")
    assert "4711" not in str(refused.value)


def test_what_env_files_hold_is_read(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text(
        "\ufeff# mine\nexport SYNDICATE_DEFAULT='a b'  # the default\nOPENAI_API_KEY\nXAI_API_KEY=\nOTHER=x\n",
        encoding="utf-8",
    )
    settings = Settings.read(env_file=path)
    assert settings.syndicate_default == "a b"
    assert (settings.openai_api_key, settings.xai_api_key) == (None, None)


def test_a_pipe_called_env_is_one_line_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".env")
    with pytest.raises(SettingsError, match="is not a regular file"):
        Settings.read(env_file=tmp_path / ".env")


def test_a_folder_called_env_is_somebody_elses(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    assert Settings.read(env_file=tmp_path / ".env").syndicate_default == "tutor"


def test_an_env_file_that_is_no_text_says_so(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"SYNDICATE_DEFAULT=\xff\n")
    with pytest.raises(SettingsError, match="is not UTF-8 text; save it as UTF-8"):
        Settings.read(env_file=tmp_path / ".env")


def test_a_password_in_an_address_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://bob:hunter2@127.0.0.1:9/v1")
    monkeypatch.setenv("DATABASE_URL", "postgresql://bob:hunter2@127.0.0.1:9/db")
    settings = Settings.read(env_file=None)
    assert settings.ollama_base_url == "http://bob:hunter2@127.0.0.1:9/v1"
    assert "hunter2" not in repr(settings) + str(settings)
    assert without_password("http://127.0.0.1/a@b") == "http://127.0.0.1/a@b"
