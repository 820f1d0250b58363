"""Texts of a file as a model reads them: literal, but for the date, which is that of the turn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from syndicate.config.variables import CURRENT_DATE_MARK, render_date
from syndicate.graph.scope import CURRENT


def format_date(moment: datetime) -> str:
    """A date as `{{current_date}}` shows it: `November 30, 2026`."""
    return f"{moment:%B} {moment.day}, {moment.year}"


@dataclass(frozen=True, slots=True)
class DatedText:
    """A text that may hold `{{current_date}}`."""

    text: str

    def render(self) -> str:
        """The text, with the date of the running turn (outside a turn, of the machine)."""
        if CURRENT_DATE_MARK not in self.text:
            return self.text
        scope = CURRENT.get()
        return render_date(self.text, scope.current_date if scope else format_date(datetime.now().astimezone()))
