"""Releases: what tells that a condition has come, and what only speaks of it."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.replacement.releases import (
    MAX_SENTENCES,
    find_release,
    read_condition,
    split_passages,
)

RULE = "nothing gets merged into main until the numpy migration is in"


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("statement", "turn"),
    [
        (RULE, "the numpy migration went in last night, so merge away"),
        (
            "hands off the billing module until the auditors have left",
            "the auditors left yesterday, billing is ours again",
        ),
        ("keine Deploys bis Kim wieder da ist", "Kim ist wieder da, wir können deployen"),
    ],
)
def test_a_turn_that_tells_that_the_condition_has_come_releases_a_rule(statement: str, turn: str) -> None:
    assert find_release(statement, turn) is not None


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    "turn",
    [
        "how far is the numpy migration?",
        "the numpy migration needs another review",
        "can you rebase the numpy migration branch",
        "the tests are green now, thanks",
        "the docs are finished and published",
    ],
)
def test_talk_about_the_condition_or_about_other_things_releases_nothing(turn: str) -> None:
    assert find_release(RULE, turn) is None


def test_what_must_be_done_by_a_day_waits_for_nothing() -> None:
    assert read_condition("der Prototyp muss am 4. Dezember fertig sein, bis dahin muss die Vorladung stehen") is None


def test_the_passage_that_tells_it_is_returned_wherever_it_stands() -> None:
    turn = "morning! coffee first. the numpy migration went in last night. now please run the linter"
    assert find_release(RULE, turn) == "the numpy migration went in last night. now please run the linter"


def test_a_condition_is_what_follows_the_word_that_sets_it() -> None:
    assert read_condition(RULE) == " the numpy migration is in"
    assert read_condition("we deploy on Tuesdays") is None


def test_of_a_long_turn_only_the_first_sentences_are_looked_at() -> None:
    assert len(split_passages("One more thing. " * (MAX_SENTENCES * 3))) == MAX_SENTENCES
