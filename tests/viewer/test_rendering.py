"""The words in which pages tell times, kinds, places and ids."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hyperloci.model.search import Hit, HitSource
from hyperloci.viewer.rendering import (
    cut_excerpt,
    describe_place,
    explain_error,
    join_lines,
    list_warnings,
    make_environment,
    name_outcomes,
    split_code,
    split_sentence,
)


def make_hit(notes: tuple[str, ...]) -> Hit:
    return Hit(
        id="a",
        type="fact",
        subtype="insight",
        content="Staging listens on port 5432.",
        score=0.5,
        confidence=1.0,
        tier="working",
        scope="project",
        created_at="2026-11-20T09:00:00Z",
        valid_from="2026-11-20T09:00:00Z",
        valid_until=None,
        source=HitSource(kind="tool"),
        notes=notes,
    )


ONE, TWO = "0b8f51c2-7d1e-4a57-9a52-2f5f0c6f1a01", "5c1de0a9-3b70-4f0e-8f0e-6f4d1c9b7e02"


def test_a_sentence_is_told_in_words_links_code_and_days() -> None:
    parts = list(split_sentence(f"It was said in session {ONE} (id {TWO}) on 2027-01-10 of `fetch`."))
    assert parts == [
        ("It was said in ", "", ""),
        ("session 0b8f51c2", "session", ONE),
        (" (", "", ""),
        ("5c1de0a9", "memory", TWO),
        (") on ", "", ""),
        ("2027-01-10", "day", ""),
        (" of ", "", ""),
        ("fetch", "code", ""),
        (".", "", ""),
    ]
    assert list(split_sentence("nothing")) == [("nothing", "", "")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("call `fetch` before `parse`", ["fetch", "parse"]),
        ("one ` alone", []),
        ("`over\ntwo lines`", []),
        ("```\nfenced\n```", []),
        ("``with ` in it``", []),
        ("`<script>`", ["<script>"]),
    ],
)
def test_code_in_a_line_is_told_from_its_words(text: str, code: list[str]) -> None:
    parts = list(split_code(text))
    assert [part for part, is_code in parts if is_code] == code
    assert "".join(f"`{part}`" if is_code else part for part, is_code in parts) == text


def test_notes_that_say_the_same_of_several_memories_are_one() -> None:
    notes = (f"contradicted by {ONE}", "suspicious: steers-assistant", f"contradicted by {TWO}", "no longer valid")
    hit = make_hit(notes)
    assert list_warnings(hit) == [f"contradicted by {ONE}, {TWO}", "suspicious: steers-assistant"]
    assert list_warnings(make_hit((*notes, "forgotten"))) == ["suspicious: steers-assistant"]


def test_the_outcomes_of_hooks_are_told_in_words() -> None:
    outcomes = {"began": 8, "ended": 8, "late": 2, "own": 1_006}
    assert name_outcomes(outcomes) == ["1,006 answered without a server", "2 out of time"]
    made = make_environment().from_string("{{ 'close what keeps the CPU busy' | upper_first }}").render()
    assert made == "Close what keeps the CPU busy"


def test_lines_become_one_line() -> None:
    assert join_lines("Dead end: a queue\n\n  Why it failed: it lost orders\n") == (
        "Dead end: a queue · Why it failed: it lost orders"
    )
    assert join_lines("word\n" * 40, 12) == "word · word…"


def test_a_place_is_a_commit_or_a_line_of_a_file_with_its_symbol_or_section() -> None:
    assert describe_place(HitSource(kind="tool")) == ""
    assert describe_place(HitSource(kind="commit", commit="0123456789abcdef")) == "commit 0123456789"
    code = HitSource(kind="code", path="src/a.py", line_start=7, symbol="Client.fetch")
    assert describe_place(code) == "src/a.py:7 · Client.fetch"
    section = HitSource(kind="markdown", path="docs/a.md", section_path=("Guide", "Install"))
    assert describe_place(section) == "docs/a.md · Guide > Install"


def test_an_excerpt_says_that_it_was_cut() -> None:
    assert cut_excerpt("word " * 10, 12) == "word word w…"
    assert cut_excerpt("word", 12) == "word"


def test_every_value_in_a_template_is_escaped() -> None:
    made = make_environment().from_string("{{ value }}").render(value="<b>\"'&")
    assert made == "&lt;b&gt;&#34;&#39;&amp;"


def test_an_error_is_told_without_the_words_of_tools() -> None:
    told = "id='abcd': no memory has this id; search_memory (`hyperloci query`) gives ids."
    assert explain_error(told) == "No memory has this id."
    assert explain_error("There is no such page.") == "There is no such page."


def test_pages_show_times_as_the_users_clock_does(stand_in_zone: Callable[[str], None]) -> None:
    stand_in_zone("PST8")
    page = make_environment().from_string("{{ at | day }}, {{ at | minute }}, {{ at | clock }}")
    assert page.render(at="2026-11-19T07:40:00.000+00:00") == "2026-11-18, 2026-11-18 23:40, 23:40"
