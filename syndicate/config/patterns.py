"""Whether a route override's pattern can be compiled, and without eating the machine."""

from __future__ import annotations

import re

from syndicate.config.limits import MAX_PATTERN_SIZE

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?[^:)]*:)?|\)|\{(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL)
FLAGS = {"i": "IGNORECASE", "m": "MULTILINE", "s": "DOTALL", "x": "VERBOSE", "u": "UNICODE"}


def pattern_problem(pattern: str, flags: str) -> str | None:
    """Why a pattern is refused, in one line; None when it compiles."""
    if len(pattern) > MAX_PATTERN_SIZE or written_out(pattern) > MAX_PATTERN_SIZE:
        return "this pattern repeats too much; use smaller counts"
    import regex

    value = 0
    for letter in flags:
        value |= int(getattr(regex, FLAGS.get(letter, "UNICODE")))
    try:
        regex.compile(pattern, value)
    except regex.error as error:
        return f"{pattern!r} is no regular expression: {error}"
    except (RecursionError, OverflowError, ValueError, IndexError) as error:
        return f"{pattern!r} is no regular expression: {error}"
    return None


def written_out(pattern: str) -> int:
    """Steps of a pattern once its counted repeats are written out: `(a{10}b){10}` has 110.

    An engine does write them out when it compiles, so nested counts can fill the memory.
    """
    totals, last = [0], [0]
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if text.startswith("("):
            totals.append(0)
            last.append(0)
        elif text == ")" and len(totals) > 1:
            size = totals.pop()
            last.pop()
            last[-1] = size
            totals[-1] += size
        elif token["least"] is not None:
            count = max(1, int(token["least"][:9]))
            totals[-1] += last[-1] * (count - 1)
            last[-1] *= count
        else:
            last[-1] = 1
            totals[-1] += 1
    return sum(totals)
