"""The bar of a download."""

from __future__ import annotations

import io
import sys

import pytest

from syndicate.cli.pulling import PullBar, progress


class Terminal(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


def test_the_bar_fills_up() -> None:
    assert progress(0, 90_000_000).endswith("0 of 90 MB")
    assert progress(90_000_000, 90_000_000).endswith("90 of 90 MB")
    assert len(progress(30_000_000, 90_000_000).split("  ")[0]) == 24


def test_without_an_end_there_are_megabytes_alone() -> None:
    assert progress(5_000_000, None) == "5 MB"


def test_a_terminal_sees_one_line_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    with PullBar("pulling local/smollm2") as bar:
        bar(1_000_000, 2_000_000)
        bar(2_000_000, 2_000_000)
    shown = out.getvalue()
    assert "\n" not in shown
    assert "2 of 2 MB" in shown
    assert not shown.rpartition("\r")[2]


def test_nothing_is_drawn_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    with PullBar("pulling") as bar:
        bar(1, 2)
    assert out.getvalue() == ""
