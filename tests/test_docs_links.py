"""Every link between the project's pages leads to a file and a heading that exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
PAGE_IN_SOURCE = re.compile(r"\bdocs/[\w/-]+\.md\b")
TITLE_IN_SOURCE = re.compile(r"\b(docs/(?:benchmarks|why)(?:/[\w-]+)?\.md)[,\s#]+\(?\"([^\"]+)\"")


def _read_prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def _make_anchor(title: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _list_anchors(page: Path) -> list[str]:
    return [_make_anchor(title) for title in HEADING.findall(_read_prose(page))]


def _list_sources() -> list[Path]:
    folders = ("server", "tools", "hooks", "bench", "skills")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    return [path for path in found if path.suffix in (".py", ".toml", ".md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    lost = []
    for link in LINK.findall(_read_prose(page)):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in _list_anchors(target)):
            lost.append(link)
    assert lost == []


@pytest.mark.parametrize("folder", ["benchmarks", "why"])
def test_no_page_of_a_subject_has_two_headings_with_one_anchor(folder: str) -> None:
    for page in (ROOT / "docs" / folder).glob("*.md"):
        assert [anchor for anchor, times in Counter(_list_anchors(page)).items() if times > 1] == [], page.name


def test_every_reason_is_on_the_first_page_of_reasons() -> None:
    listed = set(LINK.findall((ROOT / "docs" / "why.md").read_text(encoding="utf-8")))
    pages = sorted((ROOT / "docs" / "why").glob("*.md"))
    sections = [(page, title) for page in pages for title in SECTION.findall(_read_prose(page))]
    assert sections
    assert [title for page, title in sections if f"why/{page.name}#{_make_anchor(title)}" not in listed] == []


def test_every_page_that_a_comment_names_exists() -> None:
    named = {(path, name) for path in _list_sources() for name in PAGE_IN_SOURCE.findall(path.read_text("utf-8"))}
    pages = {(path, name) for path, name in named if re.match(r"docs/(benchmarks|why)\b", name)}
    assert len(pages) > 40
    assert [(str(path.relative_to(ROOT)), name) for path, name in sorted(pages) if not (ROOT / name).exists()] == []


def test_every_section_that_a_comment_names_stands_on_its_page() -> None:
    named = [
        (path, page, " ".join(title.split()))
        for path in _list_sources()
        for page, title in TITLE_IN_SOURCE.findall(path.read_text("utf-8"))
    ]
    assert len(named) > 30
    lost = []
    for path, page, title in named:
        titles = HEADING.findall(_read_prose(ROOT / page))
        if not any(found.startswith(title.removesuffix(" ...")) for found in titles):
            lost.append((str(path.relative_to(ROOT)), page, title))
    assert lost == []
