from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from syndicate.cli.markdown import THEME, Block, blocks, split

DOCUMENT = """\
First paragraph
on two lines.

1. one

   more of one
2. two

```python
a = 1

b = 2
```

| a | b |
|---|---|
| 1 | 2 |

Last.
"""


def stream(text: str, size: int) -> list[str]:
    done: list[str] = []
    pending = ""
    for start in range(0, len(text), size):
        finished, pending = split(pending + text[start : start + size])
        done += finished
    return done + blocks(pending)


def test_blocks_are_what_a_reader_sees_as_one_thing() -> None:
    starts = [block.strip().split("\n")[0] for block in blocks(DOCUMENT)]
    assert starts == ["First paragraph", "1. one", "```python", "| a | b |", "Last."]


def test_blocks_do_not_depend_on_how_the_text_came() -> None:
    whole = [block.strip() for block in blocks(DOCUMENT)]
    for size in range(1, 40):
        assert [block.strip() for block in stream(DOCUMENT, size) if block.strip()] == whole


def test_a_blank_line_in_code_ends_nothing() -> None:
    assert split("```\na\n\nb\n") == ([], "```\na\n\nb\n")


@given(st.text(alphabet="ab*#`>-1. \n|", max_size=80), st.integers(1, 7))
def test_no_text_is_lost_or_repeated(text: str, size: int) -> None:
    assert "".join(stream(text, size)) == text


def drawn(text: str) -> str:
    out = io.StringIO()
    Console(file=out, theme=THEME, width=60, color_system=None).print(Block(text))
    return out.getvalue()


def test_a_block_has_no_blank_rows_around_it() -> None:
    for block in blocks(DOCUMENT):
        rows = drawn(block).rstrip("\n").split("\n")
        assert rows[0].strip()
        assert rows[-1].strip()


def test_links_are_written_out_and_headings_stand_at_the_left() -> None:
    assert "the docs (https://example.com/x)" in drawn("[the docs](https://example.com/x)")
    assert drawn("# Title").startswith("Title")


def test_nothing_at_all_draws_nothing() -> None:
    assert drawn(" \n ").strip() == ""
