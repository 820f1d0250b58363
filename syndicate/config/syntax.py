"""libyaml's complaints in our words: what is wrong at which place, and what to do."""

from __future__ import annotations

import re

from yaml import MarkedYAMLError
from yaml.error import Mark

from syndicate.config.limits import MAX_DEPTH
from syndicate.config.text import SourceText
from syndicate.errors import Location

_UNQUOTED_VARIABLE = re.compile(r"(?:^|[\s:\[,-])(\{\{\s*\w+\s*\}\})")
TOO_DEEP = "exceeded maximum nesting depth"
"""libyaml's own limit, reached before ours when brackets are opened without anything between them."""
_KEY = re.compile(r"""(?:^[\s?-]*|[\[{,]\s*)("[^"]*"|'[^']*'|(?:(?!:\ )[^\[\]{},])*)$""")
"""The key at the end of a line that is cut off at its ':'."""
_LONGEST_KEY = 1024
"""Characters between a key's beginning and its ':', by the rules of YAML."""
_QUOTE = "put the text in quotes"
_MESSAGES = {
    "mapping values are not allowed in this context": f"':' is not allowed here; {_QUOTE}, or correct the indentation",
    "did not find expected key": f"a key is expected here; correct the indentation, or {_QUOTE}",
    "did not find expected '-' indicator": "a '- ' is expected here; correct the indentation",
    "did not find expected node content": "a value, or a closing bracket, is expected here",
    "found unknown escape character": "unknown escape in double quotes; double the backslash, or use single quotes",
    "found invalid Unicode character escape code": "this escape names no character; correct it",
    "block sequence entries are not allowed in this context": f"'-' is not allowed here; {_QUOTE}, or indent the list",
    "but found another document": "a second document begins here; keep one in a file",
    TOO_DEEP: f"nested deeper than {MAX_DEPTH} levels",
    "found incompatible YAML document": "only YAML 1.1 and 1.2 are read; remove the %YAML line",
}
_NO_COLON = "could not find expected ':'"
_AT_CONTEXT = {
    _NO_COLON: "a ':' is missing after this key",
    "found unexpected end of stream": "this quote is never closed",
    "found unexpected document indicator": "this quote is never closed",
    "did not find expected ',' or ']'": "this '[' is not closed: ',' or ']' is missing",
    "did not find expected ',' or '}'": "this '{' is not closed: ',' or '}' is missing",
}


def syntax_message(error: MarkedYAMLError, source: SourceText) -> tuple[Location, str]:
    """Where a syntax error is best shown, and its message."""
    problem = (error.problem or "").strip()
    place = _place(error.problem_mark or error.context_mark, source)
    context = _place(error.context_mark or error.problem_mark, source)
    line = source.line(place.line)
    if variable := _UNQUOTED_VARIABLE.search(line):
        written = variable[1]
        return Location(source.file, place.line, variable.start(1) + 1), _unquoted(written)
    if (key := _long_key(place, context, problem, line)) is not None:
        return key
    if problem in _AT_CONTEXT:
        return context, _AT_CONTEXT[problem]
    if problem == "found character that cannot start any token":
        return place, _bad_start(line[place.column - 1 : place.column])
    if problem == "found undefined alias":
        name = re.match(r"\*[^\s,\]}]+", line[place.column - 1 :])
        return place, f"alias {name[0] if name else '*'!r} names no anchor; define it above with '&'"
    if problem == "second occurrence":
        return place, f"this anchor is defined on line {context.line} already; rename one"
    return place, _MESSAGES.get(problem) or _plain(error)


def _long_key(place: Location, context: Location, problem: str, line: str) -> tuple[Location, str] | None:
    """Where a key begins that is too far from its ':', and that it is; None when the error is another one."""
    column = place.column
    if line[column - 1 : column] != ":":
        return None
    if problem == _NO_COLON and context.line == place.line:
        start = context.column
    else:
        key = _KEY.search(line[: column - 1])
        start = key.start(1) + 1 if key else column
    if column - start <= _LONGEST_KEY:
        return None
    message = f"this key has {column - start:,} characters and may have {_LONGEST_KEY:,}; shorten it"
    return Location(place.file, place.line, start), message


def _unquoted(written: str) -> str:
    return f"{written!r} must stand in quotes, with all of its value"


def _bad_start(char: str) -> str:
    if char == "\t":
        return "a tab indents here; indent with spaces"
    return f"text cannot begin with {char!r}; put it in quotes"


def _place(mark: Mark | None, source: SourceText) -> Location:
    """A mark's place; what is missing at the end of the text is shown behind its last character."""
    end = source.at(len(source.text.rstrip()))
    if mark is None or (mark.line + 1, mark.column + 1) > (end.line, end.column):
        return end
    return Location(source.file, mark.line + 1, mark.column + 1)


def _plain(error: MarkedYAMLError) -> str:
    return "not readable as YAML: " + ", ".join(part for part in (error.context, error.problem) if part)
