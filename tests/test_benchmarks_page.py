"""The first page of docs/benchmarks.md: each of its figures stands in the section that it points to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
FIRST = PAGE[PAGE.index("\n## Today's figures") : PAGE.index("\n## Start-up")]
HEADING = re.compile(r"^(##+) (.+)$", re.MULTILINE)
ROW = re.compile(
    r"^\| (?P<what>[^|]+) \| (?P<today>[^|]+) \| (?P<goal>[^|]*)\| \[.+\]\(#(?P<anchor>[^)]+)\) \|$", re.MULTILINE
)
FIGURE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+")


def _make_anchor(title: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _cut_sections() -> dict[str, str]:
    """Return the text of every section by its anchor, with that of the sections in it."""
    found = list(HEADING.finditer(PAGE))
    sections = {}
    for number, heading in enumerate(found):
        level = len(heading[1])
        ends = (other.start() for other in found[number + 1 :] if len(other[1]) <= level)
        sections[_make_anchor(heading[2])] = PAGE[heading.start() : next(ends, len(PAGE))]
    return sections


SECTIONS = _cut_sections()
ROWS = [match.groupdict() for match in ROW.finditer(FIRST)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"][:50])
def test_every_figure_of_today_stands_in_its_section(row: dict[str, str]) -> None:
    section = SECTIONS[row["anchor"]]
    missing = [figure for figure in FIGURE.findall(row["today"]) if figure not in FIGURE.findall(section)]
    assert not missing, f"{row['what']}: {missing}"


def test_every_section_is_on_the_first_page() -> None:
    assert len(ROWS) > 40
    linked = set(re.findall(r"\(#([^)]+)\)", FIRST))
    sections = {_make_anchor(title) for level, title in HEADING.findall(PAGE) if level == "##"}
    assert sections - linked == {_make_anchor("Today's figures")}
    assert linked <= set(SECTIONS)
