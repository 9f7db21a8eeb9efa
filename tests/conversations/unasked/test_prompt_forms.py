"""Forms of prompts: what hardly anything said before bears on."""

from __future__ import annotations

import pytest

from hyperloci.conversations.unasked.activities import read_activities
from hyperloci.conversations.unasked.decisive import profile_prompt
from hyperloci.conversations.unasked.prompt_forms import find_forms
from hyperloci.conversations.unasked.prompt_terms import analyse_terms, read_table


@pytest.mark.parametrize(
    ("prompt", "form"),
    [
        ("thanks, that's great!", "small_talk"),
        ("ok", "small_talk"),
        ("спасибо", "small_talk"),
        ("please show me the last commit", "look"),
        ("can you list the files in src", "look"),
        ("git status", "look"),
        ("Could you show me the first ten rows of that table?", "look"),
        ("zeig mir den Verlauf", "look"),
        ("what does volatile mean", "explain"),
        ("how do I split a pane", "explain"),
        ("что значит volatile", "explain"),
        ("rename that variable to ev", "chore"),
        ("there is a typo in the title", "chore"),
    ],
)
def test_a_form_is_known_by_its_words(prompt: str, form: str) -> None:
    assert form in find_forms(analyse_terms(prompt))


@pytest.mark.parametrize(
    "prompt",
    [
        "add a column to the table",
        "rename the column sent_at in the orders table",
        "what is our retry policy",
        "why did we drop redis",
        "could we use a faster parser?",
        "show a message when the peer is gone",
        "Migration der Tabelle schreiben",
        "fix the tail latency of the invoice endpoint",
        "why does git hang when we release",
        "use git worktrees for the release branches",
        "run it with --check first and show me what it would change, and that goes for every playbook",
        "добавь кнопку на экран",
    ],
)
def test_a_request_for_work_has_none(prompt: str) -> None:
    profile = profile_prompt(prompt)
    assert profile is not None and not profile.is_quiet


@pytest.mark.parametrize("prompt", ["", "?", "release", "thanks", "good morning"])
def test_what_asks_for_nothing_has_no_profile(prompt: str) -> None:
    assert profile_prompt(prompt) is None


def test_every_phrase_of_the_tables_has_words() -> None:
    for table in (read_activities(), read_table("prompt_forms")):
        for words in table.values():
            assert all(analyse_terms(phrase) for phrases in words.values() for phrase in phrases)
