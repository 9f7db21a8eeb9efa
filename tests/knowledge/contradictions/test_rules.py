"""The rules by which two statements contradict each other (D.10)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.knowledge.contradictions.rules import ContradictionJudge, find_verdict
from hyperloci.model.answers import ContradictionKind
from tests.knowledge.contradictions.data.developer_pairs import FRESH, HELD_OUT, TUNED, Pair
from tests.support import examples

ALL = TUNED + HELD_OUT
STATEMENTS = sorted({text for _, a, b in ALL for text in (a, b)})


def scores(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Return precision and recall of the rules on labelled pairs."""
    judged = [(label is not None, find_verdict(a, b) is not None) for label, a, b in pairs]
    hits = sum(label and found for label, found in judged)
    return hits / max(1, sum(found for _, found in judged)), hits / sum(label for label, _ in judged)


@pytest.mark.req("D.10")
@pytest.mark.parametrize("pairs", [TUNED, HELD_OUT], ids=["tuned", "held out"])
def test_contradictions_of_developers_are_found_and_look_alikes_are_not(pairs: Sequence[Pair]) -> None:
    precision, recall = scores(pairs)
    assert precision >= 0.95
    assert recall >= 0.95


@pytest.mark.req("D.10")
def test_freer_sentences_that_nothing_was_tuned_on_are_judged_nearly_as_well() -> None:
    precision, recall = scores(FRESH)
    assert precision >= 0.9
    assert recall >= 0.8


def test_half_of_the_labelled_pairs_only_look_like_contradictions() -> None:
    assert len(ALL) >= 150
    assert 0.4 <= sum(label is None for label, _, _ in ALL) / len(ALL) <= 0.6


@pytest.mark.req("D.10")
def test_each_verdict_names_the_kind_it_was_labelled_with() -> None:
    wrong = [
        (label, a, b)
        for label, a, b in ALL
        if label is not None and (verdict := find_verdict(a, b)) is not None and verdict.kind.value != label
    ]
    assert wrong == []


@pytest.mark.req("D.10")
def test_statements_of_different_pairs_rarely_disturb_each_other() -> None:
    labelled = {frozenset((a, b)) for _, a, b in ALL}
    alarms = pairs = 0
    for place, a in enumerate(STATEMENTS):
        judging = ContradictionJudge(a)
        for b in STATEMENTS[place + 1 :]:
            if frozenset((a, b)) not in labelled:
                pairs += 1
                alarms += judging.compare_memory(b) is not None
    # Most of them are right: the list holds several statements about, say, one timeout.
    assert alarms / pairs < 0.002


def test_no_statement_contradicts_itself() -> None:
    assert [text for text in STATEMENTS if find_verdict(text, text) is not None] == []


def test_the_order_of_two_statements_does_not_matter() -> None:
    for _, a, b in ALL:
        forth, back = find_verdict(a, b), find_verdict(b, a)
        assert (forth is None) == (back is None), (a, b)
        if forth is not None and back is not None:
            assert forth.kind == back.kind
            assert forth.score == pytest.approx(back.score)


@pytest.mark.req("D.10")
def test_a_value_is_reported_with_both_values_in_words() -> None:
    verdict = find_verdict("timeout is 30 s", "The timeout is 60 s")
    assert verdict is not None
    assert verdict.kind is ContradictionKind.VALUE
    assert verdict.reason == "both are about 'timeout'; one says 30 s, the other 60 s"


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The timeout is 30 s", "The timeout is 30,000 ms"),
        ("The timeout is 90 minutes", "The timeout is 1.5 h"),
        ("The limit is 2 GB", "The limit is 2,048 MB"),
        ("The quota is 60 calls per minute", "The quota is 1 call per second"),
        ("Backups run at 16:30", "Backups run at 4:30 pm"),
        ("The release is on 2026-05-01", "The release is on May 1"),
        ("The project targets Python 3.11", "The project targets Python 3.11.9"),
        ("The database is Postgres", "The database is PostgreSQL"),
        ("El IVA es 21,5 %.", "El IVA es 21.5 %."),
        ("The tax rate is 7,5 percent", "The tax rate is 7.5 percent"),
        ("Le délai est de 1 500 ms.", "Le délai est de 1500 ms."),
        ("Le délai est de 1\u202f500\u202fms.", "Le délai est de 1.500ms."),
        ("The timeout is 1,500 ms", "The timeout is 1.500 ms"),
    ],
)
def test_the_same_value_in_another_form_is_no_contradiction(a: str, b: str) -> None:
    assert find_verdict(a, b) is None


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The quota is 60 calls per minute", "The quota is 60 calls per hour"),
        ("The number of workers is 8", "We run 4 workers"),
        ("El IVA es 21,5 %.", "El IVA es 24,5 %."),
        ("Le délai est de 1 500 ms.", "Le délai est de 1 800 ms."),
        ("CI runs on CircleCI", "CI moved to GitHub Actions"),
        ("The sync job runs every night", "The sync job doesn't run every night"),
        ("Logs are never rotated", "Logs are always rotated"),
        ("The importer handles CSV without headers", "The importer does not handle CSV without headers"),
    ],
)
def test_further_contradictions_are_found(a: str, b: str) -> None:
    assert find_verdict(a, b) is not None


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("I'm not sure how to deploy the service", "We deploy the service with Docker"),
        ("If the token is not set the login fails", "The token is set"),
        ("Can you not use global state?", "The plugin uses global state"),
        ("We use not only Redis but also Postgres", "We use Redis"),
        ("Sprint 4 ends on April 5", "Sprint 5 ends on April 19"),
        ("The parser supports YAML", "The parser supports TOML"),
        ("Don't use tabs; use spaces", "Use spaces instead of tabs"),
    ],
)
def test_doubt_conditions_questions_and_agreement_deny_nothing(a: str, b: str) -> None:
    assert find_verdict(a, b) is None


@pytest.mark.req("D.10")
def test_vectors_that_say_unrelated_silence_the_rules_about_values() -> None:
    assert find_verdict("The timeout is 30 s", "The timeout is 60 s", 0.9) is not None
    assert find_verdict("The timeout is 30 s", "The timeout is 60 s", 0.1) is None


def test_a_long_memory_is_searched_for_the_sentence_that_disagrees() -> None:
    padding = " ".join(f"Paragraph {number} speaks of other matters entirely." for number in range(40))
    verdict = find_verdict("The HTTP timeout is 30 s", f"{padding} The HTTP timeout is 60 s. {padding}")
    assert verdict is not None
    assert verdict.kind is ContradictionKind.VALUE


def test_a_statement_is_likened_to_the_same_thing_in_other_words() -> None:
    judging = ContradictionJudge("We use feature flags for new endpoints")
    assert judging.compute_likeness("Feature flags are used for all new endpoints") == pytest.approx(1.0)
    assert judging.compute_likeness("The cache is shared") == 0.0
    assert ContradictionJudge("It is").compute_likeness("It was") == 0.0


def test_a_warning_does_not_take_up_what_it_warns_of() -> None:
    approach = "Use WebSockets for live updates"
    assert ContradictionJudge("Let's push live updates over WebSockets").score_uptake(approach) >= 0.5
    assert ContradictionJudge("Don't use WebSockets for live updates").score_uptake(approach) == 0.0
    assert ContradictionJudge("WebSockets for live updates failed behind the proxy").score_uptake(approach) == 0.0
    assert ContradictionJudge("The dashboard shows live prices").score_uptake(approach) < 0.5


@settings(max_examples=examples(100))
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_judged(a: str, b: str) -> None:
    verdict = find_verdict(a, b)
    assert verdict is None or (0.0 < verdict.score <= 1.0 and verdict.reason)


WORDS = re.findall(r"\S+", " ".join(STATEMENTS))


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from(WORDS), max_size=25), st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_word_salad_can_be_judged_both_ways(a: list[str], b: list[str]) -> None:
    one, other = " ".join(a), " ".join(b)
    forth, back = find_verdict(one, other), find_verdict(other, one)
    assert (forth is None) == (back is None)
