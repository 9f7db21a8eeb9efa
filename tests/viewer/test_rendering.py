"""The words in which pages tell times, kinds, places and ids."""

from __future__ import annotations

from hyperloci.model.search import HitSource
from hyperloci.viewer.rendering import cut_excerpt, describe_place, explain_error, make_environment, split_ids


def test_ids_in_a_sentence_lead_to_what_they_name() -> None:
    one, two = "0b8f51c2-7d1e-4a57-9a52-2f5f0c6f1a01", "5c1de0a9-3b70-4f0e-8f0e-6f4d1c9b7e02"
    parts = list(split_ids(f"It was said in session {one} (id {two})."))
    assert parts == [
        ("It was said in ", "", ""),
        ("session 0b8f51c2", "session", one),
        (" (id ", "", ""),
        ("5c1de0a9", "memory", two),
        (").", "", ""),
    ]
    assert list(split_ids("nothing")) == [("nothing", "", "")]


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
