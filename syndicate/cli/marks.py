"""Signs that say yes and no, in what the terminal can show."""

from __future__ import annotations

from dataclasses import dataclass

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Marks:
    """One sign each: it works, it does not, there is none."""

    yes: str
    no: str
    none: str
    raised: bool

    def note(self, number: int) -> str:
        """The number of a note, to stand right behind a sign."""
        return str(number).translate(_SUPERSCRIPT) if self.raised else f"({number})"


def marks(encoding: str | None) -> Marks:
    """The signs for an encoding; plain letters where it has no better ones."""
    if "utf" in (encoding or "").lower():
        return Marks("✓", "✗", "–", raised=True)
    return Marks("+", "x", "-", raised=False)
