"""The judge of pairs: whether a new statement and an old one can both hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperloci.knowledge.contradictions.pair_features import find_clashing_figures, measure_pair
from hyperloci.knowledge.contradictions.pair_judge import (
    CONTRADICTION_GATE,
    explain_contradiction,
    is_change,
    score_contradiction,
)

PAIRS = Path(__file__).parents[3] / "bench/data/statement_pairs.jsonl"


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("The upload timeout is 30 s", "The upload timeout is 60 s", True),
        ("We deploy with Helm", "Kustomize now, we dropped Helm", True),
        ("Retries are done in RetryTransport", "RetryTransport is gone", True),
        ("We use MariaDB", "We use MySQL", False),
        ("We keep tokens in a wheel", "We keep tokens in a BTreeSet", False),
        ("The wearable keeps its step count.", "The wearable doesn't keep its step count.", False),
        ("We moved to MySQL", "We moved to Postgres", True),
        ("From now on the docs are built with Sphinx", "From now on the docs are built with MkDocs", True),
    ],
)
def test_what_contradicts_may_tell_of_a_change(old: str, new: str, changes: bool) -> None:
    assert score_contradiction(old, new) >= CONTRADICTION_GATE
    assert is_change(old, new) is changes


def test_words_of_both_statements_are_no_reason_for_a_contradiction() -> None:
    reason = explain_contradiction("We keep tokens in a wheel", "We keep tokens in a BTreeSet")
    assert reason == "both are about 'tokens'; what they say of it differs"
    assert explain_contradiction("We deploy with Helm", "We no longer use Helm").endswith('"no longer"')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We use Redis for sessions", "Should we try Memcached instead?"),
        ("The cache keeps entries for 60 s", "The cache keeps entries for one minute"),
        ("We use PostgreSQL", "We used SQLite before"),
        ("The worker has four threads", "The web process has eight threads"),
    ],
)
def test_what_can_both_hold_is_no_contradiction(old: str, new: str) -> None:
    assert score_contradiction(old, new) < CONTRADICTION_GATE


@pytest.mark.parametrize(
    "statement",
    [
        "The CI key is {}",
        "The admin password for the staging database is {}",
        "The job reads the token {} at its start",
    ],
)
def test_statements_that_differ_in_redacted_secrets_alone_say_the_same(statement: str) -> None:
    old, new = statement.format("[redacted:github-token]"), statement.format("[redacted:openai-key]")
    assert score_contradiction(old, new) < CONTRADICTION_GATE


def test_equal_figures_in_other_units_do_not_clash() -> None:
    assert find_clashing_figures("it waits 60 s", "it waits one minute") is None
    assert find_clashing_figures("it waits 60 s", "it waits 90 s") == ("60 s", "90 s")


def test_every_text_has_all_features() -> None:
    names = measure_pair("We use Git.", "We use Git.").keys()
    for text in ("", "?", "🙂", "never", "a" * 5_000, "1 " * 2_000):
        assert measure_pair(text, "We use Git.").keys() == names
        assert 0 <= score_contradiction(text, text) <= 1


def test_of_pairs_that_were_learned_few_compatible_ones_are_called_contradictions() -> None:
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()][::6]
    calm = [row for row in rows if row["label"] == "compatible"]
    called = [row for row in calm if score_contradiction(row["old"], row["new"]) >= CONTRADICTION_GATE]
    assert len(called) <= 0.08 * len(calm)


def test_two_statements_of_something_or_other_contradict_only_where_the_rules_say_so() -> None:
    assert score_contradiction("A man is riding a horse.", "A woman is riding a horse.") < CONTRADICTION_GATE
    assert score_contradiction("There is a lock file.", "There is a pid file.") < CONTRADICTION_GATE
    assert score_contradiction("A booking can be cancelled.", "A booking can't be cancelled.") >= CONTRADICTION_GATE


def test_what_is_going_on_contradicts_only_where_the_rules_say_so() -> None:
    assert score_contradiction("The man is carefully feeding a mouse", "The man is carefully feeding a snake") <= 0.5
    assert score_contradiction("The man is playing the drums", "The man is not playing the drums") > CONTRADICTION_GATE


@pytest.mark.parametrize(
    ("old", "new", "contradicts"),
    [
        ("Kiln 1 has 12 shelves", "Kiln 2 has 8 shelves", False),
        ("Kiln 1 has 12 shelves", "Kiln 1 has 8 shelves", True),
        ("Oven 3 needs a permit", "Oven 4 needs no permit", False),
        ("We bake in kiln 1", "We bake in kiln 2", True),
    ],
)
def test_numbered_things_of_one_sort_are_not_one_thing(old: str, new: str, contradicts: bool) -> None:
    assert (score_contradiction(old, new) >= CONTRADICTION_GATE) is contradicts
