"""Files to load: a correct one, with a few lines more at the root, on the orchestrator or as a subagent."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from syndicate.config import LoadedSyndicate, load
from syndicate.errors import ConfigError
from syndicate.settings import Settings

BASE = """\
syndicate_name: Test
orchestrator:
  name: Lead
  model: local/smollm2
  instruction: Help.
"""
SUBAGENT = """\
subagents:
  - name: Helper
    description: Helps.
"""

Text = Callable[[str], str]


@pytest.fixture
def root() -> Text:
    """A correct file with more root keys, which begin on line 6."""
    return lambda keys: BASE + textwrap.dedent(keys)


@pytest.fixture
def agent() -> Text:
    """A correct file with more keys on the orchestrator, which begin on line 6, in column 3."""
    return lambda keys: BASE + textwrap.indent(textwrap.dedent(keys), "  ")


@pytest.fixture
def subagent() -> Text:
    """A file with a subagent that has a name and a description, and more keys from line 9, column 5."""
    return lambda keys: BASE + SUBAGENT + textwrap.indent(textwrap.dedent(keys), "    ")


@pytest.fixture
def load_text(tmp_path: Path, settings: Settings) -> Callable[..., LoadedSyndicate]:
    """Load a file of this text."""

    def loaded(text: str | bytes, **options: Any) -> LoadedSyndicate:
        path = tmp_path / "test.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load(path, settings=settings, **options)

    return loaded


@pytest.fixture
def problems_of(load_text: Callable[..., LoadedSyndicate]) -> Callable[..., list[str]]:
    """What is wrong with a file of this text: `line:column: message` of each problem, warnings marked."""

    def problems(text: str | bytes, **options: Any) -> list[str]:
        try:
            found = load_text(text, **options).problems
        except ConfigError as error:
            found = error.problems
        return [str(problem).removeprefix(f"{problem.location.file}:") for problem in found]

    return problems
