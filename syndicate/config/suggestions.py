"""`did you mean …?`: the one way a near miss is answered."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

_MOST = 200  # words compared: a hostile file could declare thousands


def closest(written: str, known: Iterable[str]) -> str | None:
    """The known word nearest to what was written, case and underscores aside; None when none is near."""
    plain = {_plain(word): word for word in islice(known, _MOST)}
    exact = plain.get(_plain(written))
    if exact is not None:
        return exact
    near = difflib.get_close_matches(_plain(written[:200]), plain, n=1, cutoff=0.6)
    return plain[near[0]] if near else None


def did_you_mean(written: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing when no known word is near."""
    word = closest(written, known)
    return f"; did you mean {word!r}?" if word is not None else ""


def _plain(word: str) -> str:
    return word.casefold().replace("_", "").replace("-", "").replace(" ", "")
