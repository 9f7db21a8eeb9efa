"""Notes that were kept as Markdown, one statement an item."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.facts.importers.markdown_notes import linked_notes, read_notes
from tests.support import examples

CLAUDE_MD = """# Shop

Guidance for this repository.

## Commands
<!-- kept by hand -->
- `make test` runs everything
- Before a release:
  - bump the version
  - tag it

## Style

Two rules hold everywhere:

1. Four spaces
2. [x] No wildcard imports

```python
import os
```

Money is `Decimal`,
never `float`.

| env | host |
|-----|------|
| prod | a.example |
"""

TOPIC = """---
name: testing-style
description: how tests are written
metadata:
  type: feedback
---

Never mock the database.

**Why:** a mocked test hid a broken migration.
"""


def test_every_item_and_paragraph_is_a_statement_with_its_line_and_headings() -> None:
    memory = read_notes("CLAUDE.md", CLAUDE_MD)
    assert [(fact.line, fact.text) for fact in memory.facts] == [
        (3, "Guidance for this repository."),
        (7, "`make test` runs everything"),
        (8, "Before a release:\n- bump the version\n- tag it"),
        (16, "Two rules hold everywhere: Four spaces"),
        (17, "Two rules hold everywhere: No wildcard imports\n\n```python\nimport os\n```"),
        (23, "Money is `Decimal`,\nnever `float`."),
        (26, "| env | host |\n|-----|------|\n| prod | a.example |"),
    ]
    assert memory.facts[1].section_path == ("Shop", "Commands")
    assert memory.facts[1].title == "CLAUDE.md > Shop > Commands"
    assert {fact.subtype for fact in memory.facts} == {"semantic"}


def test_front_matter_says_what_a_note_is_and_is_called() -> None:
    memory = read_notes("testing.md", TOPIC)
    assert [fact.text for fact in memory.facts] == [
        "Never mock the database.",
        "**Why:** a mocked test hid a broken migration.",
    ]
    assert {(fact.subtype, fact.title) for fact in memory.facts} == {("preference", "testing-style")}


def test_a_lead_without_a_list_and_code_without_a_lead_stand_for_themselves() -> None:
    assert [fact.text for fact in read_notes("a.md", "Remember this:\n\n# Next\n\n```\nx = 1\n```\n").facts] == [
        "Remember this:",
        "```\nx = 1\n```",
    ]
    assert [fact.text for fact in read_notes("a.md", "Run it so:\n\n    make all\n").facts] == [
        "Run it so:\n    make all"
    ]


def test_an_index_leads_to_the_notes_beside_it_and_nowhere_else(tmp_path: Path) -> None:
    index = tmp_path / "MEMORY.md"
    (tmp_path / "user.md").write_text("The user is a botanist.")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "other.md").write_text("not for you")
    os.symlink(tmp_path / "secret" / "other.md", tmp_path / "link.md")
    text = "".join(
        f"- [x]({name}) - a note\n"
        for name in ("user.md", "user.md", "gone.md", "link.md", "secret/other.md", "../up.md", "MEMORY.md")
    )
    assert linked_notes(index, text) == [tmp_path / "user.md"]
    assert linked_notes(tmp_path / "CLAUDE.md", text) == []


@settings(max_examples=examples(100))
@given(
    st.lists(
        st.sampled_from(["# ", "- ", "1. ", "```\n", "> ", "|a|b|\n|-|-|\n", "\n", "<!--", "-->", "---\n", "    "])
        | st.text(max_size=10),
        max_size=20,
    ).map("".join)
)
def test_no_text_breaks_the_reader_and_every_statement_stands_on_its_line(text: str) -> None:
    lines = text.count("\n") + text.count("\r") + 1
    for fact in read_notes("a.md", text).facts:
        assert fact.text.strip()
        assert 1 <= fact.line <= lines
