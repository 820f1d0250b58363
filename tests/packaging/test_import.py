"""`import syndicate` is cheap: what is heavy loads where it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "google.adk",
    "google.genai",
    "openai",
    "ollama",
    "xllamacpp",
    "huggingface_hub",
    "rich",
    "prompt_toolkit",
    "pydantic",
)


def modules_after(code: str, folder: Path) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    return set(run.stdout.split())


@pytest.mark.parametrize("code", ["import syndicate", "import syndicate.cli"], ids=["the package", "the command line"])
def test_nothing_heavy_is_imported(code: str, tmp_path: Path) -> None:
    assert not modules_after(code, tmp_path) & set(HEAVY)


def test_help_imports_no_verb(tmp_path: Path) -> None:
    code = (
        "import contextlib, io\nfrom syndicate.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n    main(['--help'])"
    )
    assert not modules_after(code, tmp_path) & {*HEAVY, "syndicate.cli.chat", "syndicate.config", "syndicate.settings"}
