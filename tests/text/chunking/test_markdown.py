from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.model.chunk import ChunkKind, TextChunk
from hyperloci.text.chunking.lines import MAX_CHUNK_CHARS, is_blank
from hyperloci.text.chunking.markdown import (
    Section,
    SectionType,
    chunk_markdown,
    infer_section_type,
    parse_sections,
)
from hyperloci.text.chunking.prose import MIN_CHUNK_CHARS, OVERLAP_WORDS, WHOLE_WORDS, count_words
from hyperloci.text.chunking.sections import slugify
from tests.support import examples

FILLER = "This sentence is here so that its section is long enough to be a chunk of its own, and no more than that. "


def titles(text: str) -> list[tuple[str, int]]:
    return [(section.title, section.level) for section in parse_sections(text)]


def chunk_with(chunks: list[TextChunk], words: str) -> TextChunk:
    return next(chunk for chunk in chunks if words in chunk.text)


def span(chunk: TextChunk) -> tuple[int, int]:
    assert chunk.position.char_start is not None
    assert chunk.position.char_end is not None
    return chunk.position.char_start, chunk.position.char_end


def assert_lawful(text: str, chunks: list[TextChunk]) -> None:
    """The laws of D.05: exact slices, in order, covering every character that is not white space, right lines."""
    covered = 0
    previous = -1
    for chunk in chunks:
        start, end = span(chunk)
        assert chunk.text == text[start:end]
        assert not is_blank(chunk.text)
        assert 0 < end - start <= MAX_CHUNK_CHARS
        assert start > previous
        assert is_blank(text[covered:start])
        assert end > covered
        assert count_words(text, start, covered) <= OVERLAP_WORDS
        assert chunk.position.line_start == text.count("\n", 0, start) + 1
        assert chunk.position.line_end == text.count("\n", 0, end - 1) + 1
        previous, covered = start, end
    assert is_blank(text[covered:])


# Sections


@pytest.mark.req("D.04")
def test_atx_and_setext_headings_make_a_tree() -> None:
    sections = parse_sections("Title\n=====\n\nlead\n\nPart\n----\ntext\n\n### Deep ###\n\n# Second\n")
    assert [(s.title, s.level, s.parent) for s in sections] == [
        ("Title", 1, None),
        ("Part", 2, 0),
        ("Deep", 3, 1),
        ("Second", 1, None),
    ]
    assert [s.path for s in sections] == [("Title",), ("Title", "Part"), ("Title", "Part", "Deep"), ("Second",)]


@pytest.mark.req("D.05")
@pytest.mark.parametrize(
    "text",
    [
        "# Real\n\n```sh\n# not a heading\n```\n",
        "# Real\n\n~~~\n# not a heading\n~~~\n",
        "# Real\n\n    # not a heading\n",
        "# Real\n\n<!--\n# not a heading\n-->\n",
        "# Real\n\n<pre>\n# not a heading\n</pre>\n",
        "# Real\n\n\\# not a heading\n\n#not one either\n\n####### nor seven\n",
        "# Real\n\n> # in a quote\n\n- # in a list\n",
        "# Real\n\n````\n```\n# not a heading\n```\n````\n",
        "# Real\n\n```\n# an open fence runs to the end\n",
    ],
    ids=["fence", "tildes", "indented", "comment", "html", "escaped", "nested", "longer fence", "open fence"],
)
def test_a_number_sign_is_a_heading_only_where_commonmark_says_so(text: str) -> None:
    assert titles(text) == [("Real", 1)]


@pytest.mark.req("D.05")
def test_text_before_the_first_heading_is_a_section_of_its_own() -> None:
    sections = parse_sections("Preamble.\n\n# One\n")
    assert [(s.title, s.level, s.path) for s in sections] == [("", 0, ()), ("One", 1, ("One",))]
    assert sections[1].parent is None


def test_a_level_may_be_skipped() -> None:
    sections = parse_sections("# A\n### B\n## C\n#### D\n")
    assert [s.parent for s in sections] == [None, 0, 0, 2]


def test_anchors_are_githubs() -> None:
    text = (
        "# Hello, *World*!\n## Usage\n## Usage\n## `code` & more\n## Привет, мир\n## a_b-c d\n> ## Usage\n\n## Usage\n"
    )
    assert [s.anchor for s in parse_sections(text)] == [
        "hello-world",
        "usage",
        "usage-1",
        "code--more",
        "привет-мир",
        "a_b-c-d",
        "usage-3",
    ]
    assert slugify("What's new?") == "whats-new"


def test_titles_lose_their_markup() -> None:
    assert titles("# **Bold** `code` [link](x.md) ![image](y.png) &amp; <b>html</b>\n") == [
        ("Bold code link & html", 1)
    ]


@pytest.mark.req("D.04")
@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Installation", SectionType.INSTALLATION),
        ("How to install it", SectionType.INSTALLATION),
        ("API examples", SectionType.EXAMPLES),
        ("API reference", SectionType.API),
        ("Command reference", SectionType.REFERENCE),
        ("Frequently asked questions", SectionType.FAQ),
        ("Known issues", SectionType.LIMITATIONS),
        ("What's new in 2.0", SectionType.CHANGELOG),
        ("Getting started", SectionType.QUICKSTART),
        ("Tutorial: a first server", SectionType.TUTORIAL),
        ("How to write a plugin", SectionType.HOWTO),
        ("Why another one?", SectionType.EXPLANATION),
        ("Introduction", SectionType.INTRODUCTION),
        ("Overview", SectionType.OVERVIEW),
        ("Configuration", SectionType.CONFIGURATION),
        ("Troubleshooting", SectionType.TROUBLESHOOTING),
        ("Установка", SectionType.INSTALLATION),
        ("Capital of France", SectionType.UNKNOWN),
        ("Classical music", SectionType.UNKNOWN),
        ("Functions", SectionType.API),
        ("Use cases are synchronous functions of one connection", SectionType.UNKNOWN),
        ("Installing it on a machine without any network", SectionType.INSTALLATION),
    ],
)
def test_a_sections_type_is_inferred_from_its_title(title: str, expected: SectionType) -> None:
    assert infer_section_type(title) is expected


@pytest.mark.req("D.04")
def test_a_title_that_says_nothing_takes_its_ancestors_type() -> None:
    sections = parse_sections("# Project\n## Installation\n### Linux\n## Misc\n")
    assert [s.type.value for s in sections] == ["unknown", "installation", "installation", "unknown"]


@pytest.mark.parametrize("text", ["---\ntitle: A page\nx: # y\n---\n# One\n", "+++\ntitle = 'A page'\n+++\n# One\n"])
def test_front_matter_is_no_heading_and_gives_the_title(text: str) -> None:
    chunks = chunk_markdown("docs/page.md", text)
    assert [s.title for s in parse_sections(text)] == ["", "One"]
    assert chunks[0].breadcrumb[0] == "A page"
    assert_lawful(text, chunks)


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert titles("---\n\nText\n\n---\n\n# One\n") == [("", 0), ("One", 1)]


def test_a_byte_order_mark_and_crlf_hide_nothing() -> None:
    text = "\ufeff# One\r\n\r\n" + FILLER + "\r\n\r\n## Two\r\n\r\n```\r\n# no\r\n```\r\n" + FILLER
    chunks = chunk_markdown("a.md", text)
    assert titles(text) == [("One", 1), ("Two", 2)]
    assert [chunk.position.section_path for chunk in chunks] == [("One",), ("One", "Two")]
    assert_lawful(text, chunks)


def test_lone_carriage_returns_end_lines_for_the_parser() -> None:
    text = "# One\r\rbody\r\r## Two\r"
    assert titles(text) == [("One", 1), ("Two", 2)]
    assert_lawful(text, chunk_markdown("a.md", text))


def test_a_setext_paragraph_gives_a_short_title() -> None:
    (section,) = parse_sections("word " * 400 + "\n===\n")
    assert section.level == 1
    assert len(section.title) == 200


# Chunks


@pytest.mark.req("D.05", "D.01")
def test_one_chunk_a_section_with_its_place() -> None:
    text = f"# Guide\n\n{FILLER}\n\n## Setup\n\n{FILLER}\n"
    first, second = chunk_markdown("docs/guide.md", text)
    assert first.kind is ChunkKind.MARKDOWN
    assert (first.breadcrumb, second.breadcrumb) == (("Guide",), ("Guide", "Setup"))
    position = second.position
    assert (position.path, position.section_path, position.heading_level) == ("docs/guide.md", ("Guide", "Setup"), 2)
    assert (position.anchor, position.line_start, position.line_end) == ("setup", 5, 7)
    assert (second.section_type, position.language) == ("installation", "markdown")
    assert_lawful(text, [first, second])


def test_the_breadcrumb_begins_with_the_file_when_there_is_no_one_title() -> None:
    text = f"# One\n\n{FILLER}\n\n# Two\n\n{FILLER}\n"
    assert [chunk.breadcrumb for chunk in chunk_markdown("docs/notes.md", text)] == [("notes", "One"), ("notes", "Two")]


def test_a_heading_alone_goes_with_what_follows_it() -> None:
    text = f"# Title\n\n## Part\n\n{FILLER}\n"
    (chunk,) = chunk_markdown("a.md", text)
    assert chunk.position.section_path == ("Title", "Part")
    assert chunk.text == text


def test_small_siblings_share_a_chunk_under_their_parent() -> None:
    text = f"# Options\n\n{FILLER}\n\n## -v\n\nVerbose.\n\n## -q\n\nQuiet.\n\n## Long\n\n{FILLER}\n"
    chunks = chunk_markdown("a.md", text)
    assert [chunk.position.section_path for chunk in chunks] == [("Options",), ("Options", "Long")]
    text = f"# Options\n\n{FILLER}\n\n" + "".join(
        f"## -{flag}\n\nA short word on it, and another.\n\n" for flag in "abc"
    )
    small = chunk_markdown("a.md", text)[1]
    assert small.position.section_path == ("Options",)
    assert small.position.anchor == "-a"
    assert "## -c" in small.text


def test_a_chunk_names_every_heading_it_covers() -> None:
    text = f"# Guide\n\n{FILLER}\n\n## Notes\n\n### Limitations\n\nNone.\n\n### FAQ\n\nAsk.\n\n### Caveats\n\n"
    text += f"They are few, but they are there, and they matter to some.\n\n## Long\n\n{FILLER}\n"
    chunks = chunk_markdown("a.md", text)
    assert [(chunk.position.section_path, chunk.position.headings) for chunk in chunks] == [
        (("Guide",), ()),
        (("Guide", "Notes"), ("Limitations", "FAQ", "Caveats")),
        (("Guide", "Long"), ()),
    ]


@pytest.mark.parametrize("line", ["source: https://example.org/a", 'url: "https://example.org/a"'])
def test_a_saved_page_knows_its_address(line: str) -> None:
    [chunk] = chunk_markdown("clip.md", f"---\ntitle: Clip\n{line}\n---\nThe text says https://other.org/b.\n")
    assert chunk.position.url == "https://example.org/a"
    assert chunk_markdown("clip.md", f"---\ntitle: Clip\n---\n{line}\n")[0].position.url is None


def test_a_small_last_section_goes_with_what_stands_before_it() -> None:
    text = f"# A\n\n## B\n\n{FILLER}\n\n### C\n\ntiny\n\n# D\n\n{FILLER}\n"
    chunks = chunk_markdown("a.md", text)
    assert [chunk.position.section_path for chunk in chunks] == [("A", "B"), ("D",)]
    assert "tiny" in chunks[0].text


def test_sections_of_size_are_never_joined() -> None:
    text = f"# A\n\n{FILLER}\n\n## B\n\n{FILLER}\n\n## C\n\n{FILLER}\n"
    assert len(chunk_markdown("a.md", text)) == 3


@pytest.mark.req("D.05", "E.04")
def test_a_long_section_is_cut_at_paragraphs_with_fifty_words_of_overlap() -> None:
    paragraphs = [" ".join(f"w{p}x{n}" for n in range(99)) + f" end{p}." for p in range(8)]
    text = "# Long\n\n" + "\n\n".join(paragraphs) + "\n"
    chunks = chunk_markdown("a.md", text)
    assert_lawful(text, chunks)
    assert len(chunks) > 3
    for before, after in pairwise(chunks):
        overlap = text[span(after)[0] : span(before)[1]]
        assert 15 <= len(overlap.split()) <= OVERLAP_WORDS
        assert before.text.rstrip().endswith(".")
    assert all(len(chunk.text.split()) <= WHOLE_WORDS for chunk in chunks)


def test_an_overlap_begins_at_a_sentence() -> None:
    text = "# Long\n\n" + "\n\n".join("One two three four five six seven eight nine ten. " * 9 for _ in range(4))
    chunks = chunk_markdown("a.md", text)
    assert len(chunks) > 1
    assert all(chunk.text.startswith("One") for chunk in chunks[1:])


@pytest.mark.req("D.05")
def test_a_fence_is_never_cut() -> None:
    fence = "```python\n" + "value = compute(1, 2, 3)\n" * 100 + "```"
    text = f"# A\n\n{FILLER * 8}\n\n{fence}\n\n{FILLER * 8}\n"
    chunks = chunk_markdown("a.md", text)
    assert_lawful(text, chunks)
    assert sum(fence in chunk.text for chunk in chunks) == 1
    assert all(chunk.text.count("```") in {0, 2} for chunk in chunks)


@pytest.mark.req("D.05")
def test_a_fence_in_a_long_list_is_never_cut() -> None:
    items = "".join(f"- item {n}: {FILLER}{FILLER}\n\n  ```\n  code {n}\n\n  more\n  ```\n\n" for n in range(12))
    chunks = chunk_markdown("a.md", "# A\n\n" + items)
    assert_lawful("# A\n\n" + items, chunks)
    assert len(chunks) > 2
    assert all(chunk.text.count("```") % 2 == 0 for chunk in chunks)


@pytest.mark.req("D.05")
def test_a_code_block_over_the_limit_is_split_at_lines_and_keeps_every_character() -> None:
    lines = "".join(f"line {n} of a very long listing that nobody reads\n" for n in range(300))
    text = f"# A\n\n## Listing\n\n```\n{lines}```\n\nafter\n"
    chunks = chunk_markdown("a.md", text)
    assert_lawful(text, chunks)
    assert chunks[0].text.startswith("# A\n\n## Listing\n\n```\n")
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(chunk.text.endswith("\n") for chunk in chunks)


def test_one_huge_line_is_cut_and_nothing_is_lost() -> None:
    for text in ("x" * 10_001, "слово " * 5_000, "字" * 9_000, "# T\n\n" + "a," * 9_000):
        chunks = chunk_markdown("a.md", text)
        assert_lawful(text, chunks)
        assert len(chunks) > 1


def test_a_table_is_kept_whole() -> None:
    table = "| a | b |\n|---|---|\n" + "| some words here | and some more there |\n" * 40
    text = f"# A\n\n{FILLER * 10}\n\n{table}\n{FILLER * 10}"
    assert any(table in chunk.text for chunk in chunk_markdown("a.md", text))


def test_tabs_nested_lists_and_no_last_newline_are_covered() -> None:
    text = "# A\n\n- one\n\t- two\n\t\t- three " + FILLER * 30 + "\n\t\t\tcode\n\n1. x\n   1. y\n      > quote\n\nend"
    chunks = chunk_markdown("a.md", text)
    assert_lawful(text, chunks)
    assert chunks[-1].text.endswith("end")


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n", "\ufeff", "\ufeff\n"])
def test_a_blank_file_has_no_chunks(text: str) -> None:
    assert chunk_markdown("a.md", text) == []


def test_a_tiny_file_is_one_chunk() -> None:
    (chunk,) = chunk_markdown("a.md", "# Hi\n\nthere\n")
    assert chunk.position.section_path == ("Hi",)


# Links


def test_links_are_given_as_written() -> None:
    text = (
        '# A\n\n[inline](docs/Мой%20файл.md "t"), [ref][r], [r], <https://auto.example/x>, ![img](no.png),\n'
        "`[code](no.md)` and https://bare.example/a_b(c).\n\n"
        "| [cell](cell.md) |\n|---|\n| x |\n\n[[nested] text](n.md#part)\n\n[r]: ./ref.md 'T'\n"
    )
    (chunk,) = chunk_markdown("a.md", text)
    assert chunk.links == (
        "docs/Мой%20файл.md",
        "./ref.md",
        "https://auto.example/x",
        "https://bare.example/a_b(c)",
        "cell.md",
        "n.md#part",
    )


def test_a_link_belongs_to_the_chunk_that_holds_it() -> None:
    paragraphs = [f"{FILLER}[link {n}](page{n}.md) {FILLER}{FILLER}" for n in range(12)]
    for chunk in chunk_markdown("a.md", "# A\n\n" + "\n\n".join(paragraphs)):
        assert set(chunk.links) == set(re.findall(r"page\d+\.md", chunk.text))


# Laws

_BLOCKS = st.sampled_from(
    [
        "# One",
        "## Two",
        "### Two",
        "Setext\n===",
        "Setext two\n---",
        "```\n# code\n\n```",
        "~~~py\nx = 1\n" + "y = 2\n" * 40 + "~~~",
        "```\n" + "long line of code\n" * 260 + "```",
        "- a\n- b\n\n  para\n    - c",
        "1. " + FILLER * 12,
        "> quote\n> # q",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "<!-- # x -->",
        "<div>\n\n# h\n\n</div>",
        "[a]: b.md",
        "See [a], [b](c.md) and <http://d.e>.",
        FILLER,
        FILLER * 9,
        "слова по-русски, много слов. " * 30,
        "汉字" * 300,
        "x" * 4_500,
        "\t\ttabbed",
        "---",
        "",
        "\f",
        "&nbsp;",
    ]
)
_DOCUMENTS = st.tuples(
    st.lists(_BLOCKS, max_size=14),
    st.sampled_from(["\n", "\n\n", "\r\n", "\r\n\r\n", "\n\n\n"]),
    st.sampled_from(["", "\ufeff", "---\na: b\n---\n", "\n\n"]),
).map(lambda parts: parts[2] + parts[1].join(parts[0]))


@pytest.mark.req("D.05", "E.04")
@settings(max_examples=examples(100))
@given(_DOCUMENTS)
def test_chunks_cover_any_document_exactly_but_for_the_overlaps(text: str) -> None:
    chunks = chunk_markdown("a.md", text)
    assert_lawful(text, chunks)
    for chunk, following in pairwise(chunks):
        # A small chunk stands alone only where its neighbour has no room for it.
        if len(chunk.text.strip()) < MIN_CHUNK_CHARS and span(following)[0] >= span(chunk)[1]:
            assert span(following)[1] - span(chunk)[0] > MAX_CHUNK_CHARS


@settings(max_examples=examples(100))
@given(st.text(alphabet=st.sampled_from("#-=`~>|*_[]()<>!\\ \t\n\r\ufeff\x00\u2028aБ字😀1."), max_size=300))
def test_no_text_breaks_the_laws(text: str) -> None:
    assert_lawful(text, chunk_markdown("a.md", text))


@pytest.mark.req("D.04")
@settings(max_examples=examples(100))
@given(_DOCUMENTS)
def test_sections_tile_the_document_and_form_a_tree(text: str) -> None:
    sections = parse_sections(text)
    assert "".join(text[s.char_start : s.char_end] for s in sections) == text
    for number, section in enumerate(sections):
        _assert_tree(sections, number, section)


def _assert_tree(sections: list[Section], number: int, section: Section) -> None:
    inner = [other for other in sections if section.char_start < other.char_start < section.subtree_end]
    assert all(other.level > section.level for other in inner)
    if section.parent is not None:
        parent = sections[section.parent]
        assert section.parent < number
        assert parent.level < section.level
        assert section.subtree_end <= parent.subtree_end
        assert section.path[: len(parent.path)] == parent.path
