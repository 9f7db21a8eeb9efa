"""Whether a change leaves a part of what it changes, and which sentences it leaves."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.remainders import find_remainders
from hyperloci.conversations.consolidation.replacement.features import read_statement
from hyperloci.conversations.consolidation.replacement.parts import names_some_items, read_part_features, score_part
from hyperloci.conversations.consolidation.replacement.surroundings import NOTHING_HEARD

LIST = "retries: keep 5, backoff 200 ms, jitter always on, and 429s do not count as a retry"
WHOLE = "the release is on 4 May"


def test_what_changes_one_of_many_rules_is_likelier_a_part_than_a_new_day() -> None:
    part = score_part(read_statement("make it 3 retries, the rest stays"), read_statement(LIST), NOTHING_HEARD)
    whole = score_part(read_statement("it is on 1 June now"), read_statement(WHOLE), NOTHING_HEARD)
    assert part > 0.5 > whole


@pytest.mark.parametrize(
    ("old", "new", "some"),
    [
        ("we use Redis, Celery and Flower", "RabbitMQ instead of Redis", True),
        ("The report goes to Ann, Bob, and Cem.", "Bob has left, Dora gets it", True),
        ("we use Redis, Celery and Flower", "Redis, Celery and Flower are gone, it is all Temporal now", False),
        ("we use Redis, Celery and Flower", "it is all Temporal now", False),
        ("Ask Ann, Bob and Cem. Cem is in Rome.", "Bob has left", False),
        ("we use Redis", "RabbitMQ instead of Redis", False),
        ("retries are off, since the gateway retries by itself, and slowly", "the gateway stopped retrying", False),
    ],
)
def test_who_names_one_thing_of_a_list_leaves_the_others(old: str, new: str, some: bool) -> None:
    assert names_some_items(read_statement(new), read_statement(old)) is some


def test_clauses_that_the_newer_says_nothing_of_are_counted() -> None:
    features = read_part_features(read_statement("make it 3 retries"), read_statement(LIST), NOTHING_HEARD)
    assert features["clauses"] > features["untouched"] > 0


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        (
            "terraform 1.9, state in s3, eu-central-1. never apply from laptop, only via the pipeline",
            "we move state from s3 to terraform cloud",
            ["never apply from laptop, only via the pipeline"],
        ),
        ("The watchdog. 4 s", "join blocks up to 9 s. watchdog 16 s", []),
        ("The API is versioned by date.", "The API is versioned by number now.", []),
    ],
)
def test_only_sentences_that_say_something_alone_are_left(old: str, new: str, left: list[str]) -> None:
    assert find_remainders(read_statement(new), old, NOTHING_HEARD) == left
