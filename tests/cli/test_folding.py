"""Text in a terminal stands in whole words, and in a pipe as it is."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from hyperloci.cli.folding import FoldingConsole, fold_text
from tests.support import examples


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("one two three four", "one two three\nfour"),
        ("   one two three four", "   one two\n   three four"),
        ("! one two three four", "! one two\n  three four"),
        ("[code]  one two three", "[code]  one\n   two three"),
        ("12. one two three", "12. one two\n    three"),
        ("a /path/longer/than/all b", "a\n/path/longer/than/all\nb"),
        ("short\n\n\tkept  as it is", "short\n\n    kept  as\n    it is"),
        ("日本語 日本語 日本語", "日本語 日本語\n日本語"),
    ],
)
def test_a_line_is_broken_between_words_and_indented_as_it_begins(text: str, folded: str) -> None:
    assert fold_text(Text(text), 13).plain == folded


@given(st.text(st.sampled_from("ab -!.1é日\t\n"), max_size=80), st.integers(6, 30))
@limits(max_examples=examples(200))
def test_folding_loses_no_word_and_only_a_long_word_sticks_out(text: str, width: int) -> None:
    folded = fold_text(Text(text), width).plain
    assert folded.split() == text.split()
    for line in folded.split("\n"):
        assert cell_len(line) <= width or len(line.split()) <= 2


def test_a_style_stays_on_its_words() -> None:
    text = Text.assemble(("error:", "red"), " one two three four")
    folded = fold_text(text, 14)
    assert folded.plain == "error: one two\n       three\n       four"
    assert [(span.start, span.end, span.style) for span in folded.spans] == [(0, 6, "red")]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_pipe_gets_whole_lines_and_a_terminal_what_fits(is_terminal: bool) -> None:
    written = io.StringIO()
    console = FoldingConsole(
        file=written, force_terminal=is_terminal, width=20, color_system=None, soft_wrap=True, legacy_windows=False
    )
    table = Table("name", "said")
    table.add_row("first", "a long sentence that needs several lines")
    console.print("a sentence that needs two lines")
    console.print(table)
    widest = max(map(cell_len, written.getvalue().splitlines()))
    assert widest <= 20 if is_terminal else "a sentence that needs two lines\n" in written.getvalue()
