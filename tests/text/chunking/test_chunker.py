from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.model.chunk import ChunkKind
from hyperloci.text.chunking.chunker import chunk_file
from hyperloci.text.chunking.file_kinds import MAX_CONFIG_BYTES, FileKind, file_kind_of
from hyperloci.text.chunking.lines import MAX_CHUNK_CHARS, LineIndex, is_blank, line_windows
from hyperloci.text.chunking.prose import OVERLAP_WORDS, WHOLE_WORDS, Atom, count_words, pack_atoms, windows_of_text
from tests.support import examples

SENTENCE = "A plain sentence of eight words stands here. "


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("README.md", FileKind.MARKDOWN),
        ("docs/page.MDX", FileKind.MARKDOWN),
        ("src/a.py", FileKind.CODE),
        ("Gemfile", FileKind.CODE),
        ("style.css", FileKind.PLAIN_CODE),
        ("a.ex", FileKind.PLAIN_CODE),
        ("docs/index.rst", FileKind.RESTRUCTURED_TEXT),
        ("CHANGELOG", FileKind.PROSE),
        ("notes.txt", FileKind.PROSE),
        ("requirements.txt", FileKind.CONFIG),
        ("pyproject.toml", FileKind.CONFIG),
        ("Dockerfile", FileKind.CONFIG),
        (".env.example", FileKind.CONFIG),
        ("data.csv", None),
        ("LICENSE", None),
        ("photo.jpeg", None),
        ("", None),
    ],
)
def test_a_files_kind_is_in_its_name(path: str, kind: FileKind | None) -> None:
    assert file_kind_of(path) is kind


@pytest.mark.req("D.05", "D.06")
def test_each_kind_goes_to_its_chunker() -> None:
    assert chunk_file("a.md", "# Title\n")[0].kind is ChunkKind.MARKDOWN
    (code,) = chunk_file("a.py", "def f():\n    return 1\n")
    assert (code.kind, code.position.symbol) == (ChunkKind.CODE, "f")
    (css,) = chunk_file("web/a.css", "a { b: c }\n")
    assert (css.kind, css.position.language, css.position.symbol) == (ChunkKind.CODE, "css", None)
    (script,) = chunk_file("bin/run", "#!/bin/sh\nf() { ls; }\n")
    assert script.position.language == "bash"
    (toml,) = chunk_file("conf/app.toml", "[a]\nb = 1\n")
    assert (toml.kind, toml.breadcrumb, toml.code) == (ChunkKind.TEXT, ("app.toml", "a"), None)
    assert chunk_file("a.csv", "a,b\n") == []


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("docs/a.rst", "\n=========\nThe Title\n=========\n\nWords.\n", "The Title"),
        ("docs/a.rst", "Title\n-----\n\nWords.\n", "Title"),
        ("docs/a.adoc", "= The Title\n\nWords.\n", "The Title"),
        ("docs/a.txt", "Words.\n\nMore.\n", "a"),
        ("docs/a.txt", "=====\n=====\n=====\n", "a"),
    ],
)
def test_prose_is_named_by_its_title_or_its_file(path: str, text: str, name: str) -> None:
    (chunk,) = chunk_file(path, text)
    assert chunk.breadcrumb == (name,)


@pytest.mark.req("E.04")
def test_prose_is_cut_at_paragraphs_with_overlap() -> None:
    text = "\n\n".join((SENTENCE * 12).strip() for _ in range(10)) + "\n"
    chunks = chunk_file("notes.txt", text)
    assert len(chunks) > 3
    assert all(chunk.text.startswith("A plain") and chunk.text.rstrip().endswith("here.") for chunk in chunks)
    assert all(len(chunk.text.split()) <= WHOLE_WORDS for chunk in chunks)


def test_configuration_is_cut_in_windows_and_only_if_it_is_small() -> None:
    text = "".join(f"[section{n}]\nkey = {n}\nother = 'some value'\n\n" for n in range(200))
    chunks = chunk_file("a.ini", text)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(chunk.text.startswith("[section") for chunk in chunks)
    assert chunk_file("a.json", " " * MAX_CONFIG_BYTES + "{}") == []


@pytest.mark.parametrize("path", ["a.md", "a.py", "a.css", "a.txt", "a.toml", "a"])
@pytest.mark.parametrize("text", ["", "\n \t\n", "\ufeff\r\n"])
def test_a_blank_file_has_no_chunks(path: str, text: str) -> None:
    assert chunk_file(path, text) == []


def test_lines_are_counted_as_git_counts_them() -> None:
    index = LineIndex.from_text("a\r\nb\rc\n\nd\u2028e")
    assert index.starts == (0, 3, 7, 8)
    assert [index.line_at(offset) for offset in (0, 2, 3, 6, 7, 8, 10)] == [1, 1, 2, 2, 3, 4, 4]
    assert index.lines_of(0, 7) == (1, 2)
    assert LineIndex.from_text("").starts == (0,)


def test_windows_of_lines_end_at_blank_lines_if_they_can() -> None:
    text = "a\n" * 40 + "\n" + "b\n" * 100
    assert line_windows(text, 0, len(text), 100)[0] == (0, 81)
    assert line_windows("x" * 250, 0, 250, 100) == [(0, 100), (100, 200), (200, 250)]
    assert line_windows("word " * 30, 0, 150, 100)[0] == (0, 100)


def test_cjk_characters_count_as_words() -> None:
    assert count_words("汉字 and かな", 0, 10) == 5


def test_no_overlap_reaches_into_a_solid_atom() -> None:
    text = "a " * 60 + "b " * 190 + "c " * 100
    atoms = [
        Atom(start=0, end=120, words=60),
        Atom(start=120, end=500, words=190, solid=True),
        Atom(start=500, end=700, words=100),
    ]
    assert pack_atoms(text, atoms) == [(0, 120), (20, 500), (500, 700)]
    assert pack_atoms(text, []) == []


_TEXTS = st.lists(
    st.sampled_from(
        [SENTENCE, SENTENCE * 30, "\n", "\n\n", "word ", "x" * 5_000, "字" * 700, " " * 4_100, "\r\n", "- a\n"]
    ),
    max_size=25,
).map("".join)


@pytest.mark.req("E.04")
@settings(max_examples=examples(100))
@given(_TEXTS)
def test_windows_of_prose_cover_the_text_with_small_overlaps(text: str) -> None:
    covered = 0
    for start, end in windows_of_text(text):
        assert start <= covered < end
        assert end - start <= MAX_CHUNK_CHARS
        assert count_words(text, start, covered) <= OVERLAP_WORDS
        covered = end
    assert covered == len(text)


@settings(max_examples=examples(100))
@given(st.text(max_size=300), st.sampled_from(["a.md", "a.py", "a.tsx", "a.css", "a.rst", "a.yaml", "a", "b.sql"]))
def test_every_character_of_any_text_is_in_a_chunk(text: str, path: str) -> None:
    covered = 0
    for chunk in chunk_file(path, text):
        start, end = chunk.position.char_start, chunk.position.char_end
        assert start is not None
        assert end is not None
        assert is_blank(text[covered:start])
        assert chunk.text == text[start:end]
        covered = end
    assert is_blank(text[covered:]) or file_kind_of(path, text) is None
