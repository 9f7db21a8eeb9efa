"""Titles of reStructuredText open sections, whatever marks a document chose for its levels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperloci.model.chunk import ChunkKind
from hyperloci.text.chunking.chunker import chunk_file
from hyperloci.text.chunking.restructured_text import MAX_LEVEL, parse_restructured_text

GUIDE = """\
.. _top:

=========
The Guide
=========

Intro words.

Install it
==========

.. code-block:: console

    $ pip install guide
    -------------------

With ``pip``
------------
Behind a title none needs a blank line.

-----

Behind a line that parts.

Use :ref:`it <use>`
===================

Words.
"""


def titles(text: str) -> list[tuple[int, str]]:
    return [(section.level, section.title) for section in parse_restructured_text(text).sections]


def test_titles_are_headings_and_their_marks_are_levels_in_the_order_they_come() -> None:
    assert titles(GUIDE) == [(0, ""), (1, "The Guide"), (2, "Install it"), (3, "With pip"), (2, "Use it")]
    assert titles("A\n~~~~\n\nB\n++++\n\nC\n~~~~\nD\n++++\n") == [(1, "A"), (2, "B"), (1, "C"), (2, "D")]
    deep = "".join(f"Title {mark}\n{mark * 9}\n\n" for mark in "=-~^\"'#*+")
    assert max(level for level, _ in titles(deep)) == MAX_LEVEL


def test_sections_tile_the_text_and_know_what_they_belong_to() -> None:
    sections = parse_restructured_text(GUIDE).sections
    assert "".join(GUIDE[section.char_start : section.char_end] for section in sections) == GUIDE
    assert [section.path for section in sections[1:]] == [
        ("The Guide",),
        ("The Guide", "Install it"),
        ("The Guide", "Install it", "With pip"),
        ("The Guide", "Use it"),
    ]
    assert sections[2].anchor == "install-it" and sections[2].line_start == 9


@pytest.mark.parametrize(
    "text",
    [
        "one line\nof a paragraph\n--------------\n",
        "  indented\n  --------\n",
        "Words.\n\n--------\n\nWords.\n",
        "=====  =====\ncol1   col2\n=====  =====\na      b\n=====  =====\n",
        "+---+---+\n| a | b |\n+---+---+\n",
        "A long title\n---\n",
        ".. note::\n=========\n",
    ],
)
def test_what_only_looks_like_a_title_is_none(text: str) -> None:
    assert not any(level for level, _ in titles(text))


def test_a_file_is_cut_at_its_sections_as_markdown_is() -> None:
    text = "Guide\n=====\n\n" + "Start here. " * 20 + "\n\nInstall it\n----------\n\n" + "Words to read. " * 300
    chunks = chunk_file("docs/guide.rst", text)
    assert {chunk.kind for chunk in chunks} == {ChunkKind.MARKDOWN}
    assert chunks[0].breadcrumb == ("Guide",)
    assert {chunk.breadcrumb for chunk in chunks[1:]} == {("Guide", "Install it")} and len(chunks) > 3
    assert {chunk.position.language for chunk in chunks} == {"restructuredtext"}
    assert all(len(chunk.text) <= 4_000 for chunk in chunks)


@given(st.text(alphabet="ab =-~\n.`*_|+", max_size=120))
def test_sections_of_any_text_tile_it(text: str) -> None:
    sections = parse_restructured_text(text).sections
    assert "".join(text[section.char_start : section.char_end] for section in sections) == text
