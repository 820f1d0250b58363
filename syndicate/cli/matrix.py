"""What each provider's adapter can: the table of `doctor --matrix`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from syndicate.cli.marks import Marks
from syndicate.models.capabilities import FEATURES, MATRIX, Support


def as_object() -> dict[str, dict[str, dict[str, Any]]]:
    """Provider id → feature → whether, and the note."""
    return {
        provider: {feature: {"supported": bool(row[feature]), "note": row[feature].note} for feature in FEATURES}
        for provider, row in MATRIX.items()
    }


def lines(marks: Marks) -> Iterator[str]:
    """The table with a row for each feature, and its notes below."""
    notes = numbered_notes()
    rows = [["", *MATRIX]]
    rows += [[_words(feature), *(cell(row[feature], notes, marks) for row in MATRIX.values())] for feature in FEATURES]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
    if notes:
        yield ""
    width = max((len(marks.note(number)) for number in notes.values()), default=0)
    for note, number in notes.items():
        yield f"{marks.note(number):<{width}} {note}"


def numbered_notes() -> dict[str, int]:
    """Each note once, numbered from 1 in the order in which a reader meets it."""
    notes = (row[feature].note for feature in FEATURES for row in MATRIX.values())
    return {note: number for number, note in enumerate(dict.fromkeys(filter(None, notes)), 1)}


def cell(support: Support, notes: dict[str, int], marks: Marks) -> str:
    """One cell: whether, and the number of its note."""
    return (marks.yes if support else marks.none) + (marks.note(notes[support.note]) if support.note else "")


def _words(feature: str) -> str:
    return feature.replace("_", " ")
