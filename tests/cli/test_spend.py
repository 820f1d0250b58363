from __future__ import annotations

from syndicate.cli.spend import Spend
from syndicate.turn.events import Usage


def test_turns_add_up() -> None:
    spend = Spend()
    spend.add(Usage(1, 10, 5, 0, 0, 0.25, 1.0))
    spend.add(Usage(2, 1000, 5, 0, 0, 0.25, 2.0))
    lines = "\n".join(spend.lines())
    assert "turns        2, 3.0 s" in lines
    assert "1,010 in, 10 out" in lines
    assert "$0.5000" in lines


def test_what_one_turn_does_not_know_is_unknown_and_not_nothing() -> None:
    spend = Spend()
    spend.add(Usage(1, 10, 5, 0, 0, 0.25, 1.0))
    spend.add(Usage(1, None, 5, None, None, None, 1.0))
    lines = "\n".join(spend.lines())
    assert "unknown in, 10 out" in lines
    assert "cost         unknown" in lines


def test_nothing_spent_is_zero() -> None:
    assert "$0.0000" in "\n".join(Spend().lines())
