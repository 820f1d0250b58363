"""What is generated from the code is committed as it would be generated now."""

from __future__ import annotations

import re

import pytest

from scripts import docs
from syndicate.settings import Settings

EXAMPLE = docs.ROOT / ".env.example"


@pytest.mark.parametrize("page", docs.PAGES)
def test_a_page_equals_what_would_be_generated(page: str) -> None:
    text = (docs.ROOT / page).read_text(encoding="utf-8")
    assert text == docs.regenerate(text), "run `make docs`"


def test_every_generator_is_used() -> None:
    pages = "".join((docs.ROOT / page).read_text(encoding="utf-8") for page in docs.PAGES)
    assert {match["name"] for match in docs.REGION.finditer(pages)} == set(docs.REGIONS)


def test_env_example_names_every_variable_and_gives_no_value() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert text == docs.env_example(), "run `make docs`"
    lines = re.findall(r"^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$", text, re.MULTILINE)
    assert dict(lines) == {name: "" for name, _ in docs.settings_variables()}


def test_env_example_copied_as_it_is_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, _ in docs.settings_variables():
        monkeypatch.delenv(name, raising=False)
    assert Settings.read(env_file=EXAMPLE) == Settings.read(env_file=None)


def test_each_setting_has_a_description() -> None:
    assert not [name for name, field in docs.settings_variables() if not field.description]
