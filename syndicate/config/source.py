"""YAML 1.2 text with positions: composed once by libyaml, then walked once into plain data.

Nothing here knows the format: keys are text, values are what `scalars` makes of them, and every place is found again
by its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from yaml import CSafeLoader, MarkedYAMLError
from yaml.error import Mark
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from syndicate.config import scalars
from syndicate.config.limits import MAX_DEPTH, MAX_NODES, MAX_PROBLEMS
from syndicate.config.syntax import TOO_DEEP, syntax_message
from syndicate.config.text import SourceText
from syndicate.errors import Location, Problem, Severity

KeyPath = tuple[str | int, ...]
"""Where a value is: keys and indexes from the root."""
Entries = dict[str, tuple[ScalarNode, Node]]

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LIBYAML_LINE_ENDS = "\x85\u2028\u2029"  # line ends in YAML 1.1, ordinary characters in 1.2
_SPARE_CHARACTERS = range(0x10FF00, 0x10FFFE)
_COLLECTION_TAGS: dict[type[Node], str] = {SequenceNode: scalars.SEQ, MappingNode: scalars.MAP}


def cut_short(source: SourceText, severity: Severity) -> Problem:
    """What stands at the end of a file in the place of all problems over the limit."""
    place = source.at(len(source.text.rstrip()))
    message = f"more than {MAX_PROBLEMS} {severity}s in this file; only {MAX_PROBLEMS} of them are shown"
    return Problem(place, message, "too-many-problems", severity, source.line(place.line))


class _TooLargeError(MarkedYAMLError):
    """More values or levels than `limits` allows."""


def _too_large(mark: Mark | None, message: str) -> _TooLargeError:
    return _TooLargeError(problem=message, problem_mark=mark)


class _Composer(CSafeLoader):
    """libyaml's composer with the scalars of YAML 1.2, refusing absurd sizes while it reads."""

    _depth = 0
    _nodes = 0

    def descend_resolver(self, current_node: Node | None, current_index: Any) -> None:
        self._depth += 1
        self._nodes += 1
        if self._depth > MAX_DEPTH:
            raise self._too_large(f"nested deeper than {MAX_DEPTH} levels")
        if self._nodes > MAX_NODES:
            raise self._too_large(f"more than {MAX_NODES} values in one file")

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def _too_large(self, message: str) -> _TooLargeError:
        event = self.peek_event()
        return _too_large(event.start_mark if event else None, message)

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if kind is not ScalarNode:
            return _COLLECTION_TAGS[kind]
        return scalars.resolve(value) if implicit[0] else scalars.STR


class Document:
    """One YAML document: its data, what is wrong with it as YAML, and where everything stands.

    `data` is None when the text is empty or no YAML at all; `problems` then says which.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self._entries: dict[int, Entries] = {}
        self._stand_ins: dict[int, str] = {}
        self._visits = 0
        self._root = self._compose()
        self.data: Any = self._read_root()

    def problem(self, place: Location, message: str, code: str, severity: Severity = "error") -> Problem:
        """A problem at a place of this document, with its source line."""
        return Problem(place, message, code, severity, self.source.line(place.line))

    def locate(self, *path: str | int, key: bool = False) -> Location:
        """Where a value, or its key, is written; the nearest parent when the path leads nowhere."""
        node = self._root
        if node is None:
            return Location(self.source.file, 1, 1)
        last_key: Node | None = None
        for part in path:
            found = self._child(node, part)
            if found is None:
                return self._place(node)
            last_key, node = found
        return self._place(last_key if key and last_key is not None else node)

    def written(self, *path: str | int) -> str | None:
        """The text of a scalar before anything was bound into it; None for what is no scalar."""
        node = self._node(path)
        return node.value if isinstance(node, ScalarNode) else None

    def find_in(self, path: KeyPath, text: str) -> Location:
        """Where `text` stands inside the scalar at `path`; the scalar's own place when it is spelled with escapes."""
        node = self._node(path)
        if isinstance(node, ScalarNode):
            index = self.source.text.find(text, node.start_mark.index, node.end_mark.index)
            if index >= 0:
                return self.source.at(index)
        return self.locate(*path)

    def _node(self, path: KeyPath) -> Node | None:
        node = self._root
        for part in path:
            found = self._child(node, part) if node is not None else None
            if found is None:
                return None
            node = found[1]
        return node

    def _child(self, node: Node, part: str | int) -> tuple[Node | None, Node] | None:
        if isinstance(node, MappingNode):
            return self._entries.get(id(node), {}).get(part)  # type: ignore[arg-type]
        if isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
            return None, node.value[part]
        return None

    def _place(self, node: Node) -> Location:
        mark = node.start_mark
        if mark.index >= len(self.source.text):  # nothing is written there: an empty document behind `---`
            return Location(self.source.file, 1, 1)
        return Location(self.source.file, mark.line + 1, mark.column + 1)

    def _report(self, node: Node, message: str, code: str) -> None:
        self._report_mark(node.start_mark, message, code)

    def _report_mark(self, mark: Mark | None, message: str, code: str) -> None:
        place = Location(self.source.file, mark.line + 1, mark.column + 1) if mark else self.locate()
        problem = self.problem(place, message, code)
        if len(self.problems) <= MAX_PROBLEMS and problem not in self.problems:
            self.problems.append(problem if len(self.problems) < MAX_PROBLEMS else cut_short(self.source, "error"))

    def _compose(self) -> Node | None:
        text = self.source.text
        odd = _UNPRINTABLE.search(text)
        if odd:
            message = f"a control character, {odd[0]!r}; remove it, or write it as an escape in double quotes"
            self.problems.append(self.problem(self.source.at(odd.start()), message, "control-character"))
            return None
        loader = _Composer(self._with_stand_ins(text))
        try:
            return loader.get_single_node()
        except _TooLargeError as error:
            self._report_mark(error.problem_mark, str(error.problem), "too-large")
        except MarkedYAMLError as error:
            place, message = syntax_message(error, self.source)
            code = "too-large" if error.problem == TOO_DEEP else "syntax"
            self.problems.append(self.problem(place, message, code))
        return None

    def _with_stand_ins(self, text: str) -> str:
        """Swap what libyaml, unlike YAML 1.2, takes for line ends against characters the text does not use."""
        present = [char for char in _LIBYAML_LINE_ENDS if char in text]
        if not present:
            return text
        spare = (number for number in _SPARE_CHARACTERS if chr(number) not in text)
        self._stand_ins = dict(zip(spare, present, strict=False))
        return text.translate({ord(char): number for number, char in self._stand_ins.items()})

    def _read_root(self) -> Any:
        if self._root is None:
            return None
        try:
            return self._read(self._root, 0)
        except _TooLargeError as error:
            self._report_mark(error.problem_mark, str(error.problem), "too-large")
            return None

    def _visit(self, node: Node, depth: int, values: int) -> None:
        """Count what aliases repeat: a small file can stand for a huge one, or for itself."""
        self._visits += values
        if self._visits > MAX_NODES:
            raise _too_large(node.start_mark, f"aliases repeat this into more than {MAX_NODES} values")
        if depth > MAX_DEPTH:
            raise _too_large(node.start_mark, f"aliases nest deeper than {MAX_DEPTH} levels, or one contains itself")

    def _read(self, node: Node, depth: int) -> Any:
        if isinstance(node, ScalarNode):
            return self._read_scalar(node)
        if node.tag not in (scalars.SEQ, scalars.MAP):
            self._report(node, f"the tag {scalars.short_tag(node.tag)!r} means nothing here; remove it", "bad-scalar")
        self._visit(node, depth, len(node.value) + 1)
        if isinstance(node, SequenceNode):
            return [self._read(item, depth + 1) for item in node.value]
        entries = self._entries.get(id(node))
        if entries is None:
            entries = self._entries[id(node)] = self._read_entries(node, depth)
        return {key: self._read(value, depth + 1) for key, (_, value) in entries.items()}

    def _read_scalar(self, node: ScalarNode) -> Any:
        text = node.value
        if self._stand_ins:
            text = node.value = text.translate(self._stand_ins)
        if node.tag == scalars.STR:
            if "\x00" in text:
                self._report(node, "a NUL character in text; remove it", "control-character")
                return text.replace("\x00", "")
            return text
        try:
            return scalars.read_scalar(scalars.STR if node.tag == scalars.MERGE else node.tag, text)
        except ValueError as error:
            self._report(node, str(error), "bad-scalar")
            return text

    def _read_entries(self, node: Node, depth: int) -> Entries:
        """Entries of a mapping: each key once, its own before those merged in by `<<`."""
        own: Entries = {}
        merge: Entries = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._report_key(node, key_node)
                continue
            entries = merge if key_node.tag == scalars.MERGE else own
            key = self._key_text(key_node)
            if key in entries:
                self._report_twice(entries[key][0], key_node)
            else:
                entries[key] = (key_node, value_node)
        for _, value_node in merge.values():
            for merged in self._merged(value_node, depth):
                own = own | {key: entry for key, entry in merged.items() if key not in own}
        return own

    def _key_text(self, node: ScalarNode) -> str:
        if "\x00" in node.value:
            self._report(node, "a NUL character in a key; remove it", "control-character")
        return node.value.translate(self._stand_ins) if self._stand_ins else node.value

    def _merged(self, value: Node, depth: int) -> Iterator[Entries]:
        """Entries of each mapping under a `<<` key."""
        for part in value.value if isinstance(value, SequenceNode) else [value]:
            if isinstance(part, MappingNode):
                self._visit(part, depth, len(part.value) + 1)
                yield self._read_entries(part, depth + 1)
            else:
                self._report(part, "'<<' merges mappings only: give it an alias of one, or a list of such", "merge")

    def _report_twice(self, first: Node, second: Node) -> None:
        one, other = first.start_mark.line + 1, second.start_mark.line + 1
        lines = f"on lines {one} and {other}" if one != other else f"twice on line {one}"
        self._report(second, f"duplicate key {second.value!r}: written {lines}; keep one", "duplicate-key")

    def _report_key(self, mapping: Node, key: Node) -> None:
        start, end = mapping.start_mark.index, mapping.end_mark.index
        written = self.source.text[start:end]
        if isinstance(key, MappingNode) and re.fullmatch(r"\{\{\s*\w+\s*\}\}", written):
            self._report(mapping, f'{written!r} must stand in quotes: write "{written}"', "unquoted-variable")
        else:
            self._report(key, "a key must be text, not a list or mapping; put it in quotes", "key")
