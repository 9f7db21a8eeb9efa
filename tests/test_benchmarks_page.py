"""The first page of benchmarks: each of its figures stands in the section that it points to, and no section is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
FIRST = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted((DOCS / "benchmarks").glob("*.md"))}
HEADING = re.compile(r"^(##+) (.+)$", re.MULTILINE)
LINK = re.compile(r"\(benchmarks/([\w-]+)\.md(?:#([^)]+))?\)")
ROW = re.compile(
    r"^\| (?P<what>[^|]+) \| (?P<today>[^|]+) \| (?P<goal>[^|]*)\| "
    r"\[.+\]\(benchmarks/(?P<page>[\w-]+)\.md#(?P<anchor>[^)]+)\) \|$",
    re.MULTILINE,
)
FIGURE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+")
HISTORY = "history"


def _make_anchor(title: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _cut_sections(text: str) -> dict[str, str]:
    """Return the text of every section of a page by its anchor, with that of the sections in it."""
    found = list(HEADING.finditer(text))
    sections = {}
    for number, heading in enumerate(found):
        level = len(heading[1])
        ends = (other.start() for other in found[number + 1 :] if len(other[1]) <= level)
        sections[_make_anchor(heading[2])] = text[heading.start() : next(ends, len(text))]
    return sections


SECTIONS = {(page, anchor): text for page, whole in PAGES.items() for anchor, text in _cut_sections(whole).items()}
ROWS = [match.groupdict() for match in ROW.finditer(FIRST)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"][:50])
def test_every_figure_of_today_stands_in_its_section(row: dict[str, str]) -> None:
    section = SECTIONS[row["page"], row["anchor"]]
    missing = [figure for figure in FIGURE.findall(row["today"]) if figure not in FIGURE.findall(section)]
    assert not missing, f"{row['what']}: {missing}"


def test_every_row_of_the_table_is_read() -> None:
    table = FIRST[FIRST.index("\n## Today's figures") :]
    rows = [line for line in table.splitlines() if line.startswith("| ") and "](benchmarks/" in line]
    assert len(ROWS) == len(rows) > 40


def test_every_section_is_on_the_first_page_or_is_history() -> None:
    linked = {(page, anchor) for page, anchor in LINK.findall(FIRST) if anchor}
    sections = {
        (page, _make_anchor(title))
        for page, text in PAGES.items()
        for level, title in HEADING.findall(text)
        if level == "##"
    }
    assert {place for place in sections - linked if not place[1].startswith(HISTORY)} == set()
    assert linked <= set(SECTIONS)


def test_every_page_is_named_on_the_first_page() -> None:
    assert {page for page, anchor in LINK.findall(FIRST) if not anchor} == set(PAGES)


def test_every_section_is_in_the_contents_of_its_page() -> None:
    for page, text in PAGES.items():
        contents = set(re.findall(r"^ *- \[.+\]\(#([^)]+)\)$", text[: text.index("\n## ")], re.MULTILINE))
        sections = {_make_anchor(title) for level, title in HEADING.findall(text) if level in ("##", "###")}
        assert contents == sections, page


def test_every_page_says_how_its_figures_are_made() -> None:
    assert [page for page, text in PAGES.items() if "`" not in text or "](../benchmarks.md)" not in text] == []
