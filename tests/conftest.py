"""What tests of several rooms share: settings without keys, and syndicates written into a temporary folder."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from syndicate.settings import Settings
from tests.storage.embedding import sweep

Write = Callable[..., Path]
Open = Callable[..., AbstractAsyncContextManager[Any]]

VARIABLES = {
    alias
    for field in Settings.model_fields.values()
    for alias in getattr(field.validation_alias, "choices", [])
    if isinstance(alias, str)
} | {name.upper() for name in Settings.model_fields}


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Live tests run one after another in one process: each of their models takes every core it finds."""
    for item in items:
        if item.get_closest_marker("live"):
            item.add_marker(pytest.mark.xdist_group("live"))


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no setting of the machine reaches a test."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def _embedded_databases_end_with_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Root's are not below the tests' folder; they go all the same."""
    yield
    sweep(tmp_path_factory.getbasetemp())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a data folder and an agents folder of the test's own."""
    values = {"syndicate_home": tmp_path / "home", "syndicate_agents_dir": tmp_path, "syndicate_timezone": "UTC"}
    return Settings.read(values, env_file=None)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the test's folder, its text dedented; returns its path."""

    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def open_syndicate(write: Write, settings: Settings) -> Open:
    """Open a syndicate given as YAML text, sessions in memory; `model` answers for all agents, `models` for some."""
    from google.adk.sessions import InMemorySessionService

    from syndicate import Services, Syndicate

    services = Services(InMemorySessionService())

    def opened(text: str, model: Any = None, **options: Any) -> AbstractAsyncContextManager[Syndicate]:
        models = {**({"*": model} if model is not None else {}), **options.pop("models", {})}
        options = {"services": services, **options}
        return Syndicate.open(write("test.yaml", text), settings=settings, models=models, **options)

    return opened
