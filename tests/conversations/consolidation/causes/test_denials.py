"""What sentences say that it was not, and what they name instead."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.causes.denials import (
    denies,
    find_causes_instead,
    names_cause,
    read_denials,
)
from hyperloci.conversations.consolidation.heuristics import extract_findings
from hyperloci.conversations.consolidation.turn_view import ASSISTANT, USER, TurnView

SYMPTOM = (USER, "uploads fail with a timeout every few minutes")
CLAIM = (ASSISTANT, "The connection pool is exhausted, so requests wait for a free one.")


def find_instead(*turns: tuple[str, str]) -> list[str]:
    """Return the sentences of the last turn that name a cause instead of one that it denies."""
    views = [TurnView(number, who, text) for number, (who, text) in enumerate(turns)]
    return [views[-1].sentences[number].text for number in sorted(find_causes_instead(views, len(views) - 1))]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("ok so not the pool.", {"pool"}),
        ("it isn't the pool at all", {"pool"}),
        ("So the pool was not the cause.", {"pool"}),
        ("the pool wasn't the problem after all", {"pool"}),
        ("it's the resolver, not the pool, that hangs", {"pool"}),
        ("that wasn't it.", set()),
        ("inserts take 2ms, that's not it", set()),
        ("wasn't that either", set()),
    ],
)
def test_a_sentence_denies_what_it_says_nothing_else_of(sentence: str, names: set[str]) -> None:
    [denial] = read_denials(sentence)
    assert denial.names == names


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    "sentence",
    [
        "use json, not plain text",
        "don't close idle sockets",
        "not only that, it also reads the pool",
        "is it not the pool?",
        "if it's not the pool then it's the resolver",
        "the extension isn't there yet",
        "the contract isn't signed yet",
        "use the raw bytes where a name is not found",
        "we're not on node 18, it's node 22",
        "that's not a problem",
    ],
)
def test_other_negations_deny_no_cause(sentence: str) -> None:
    assert read_denials(sentence) == ()


@pytest.mark.req("B.17")
def test_a_denial_is_of_what_a_claim_explains_by_not_of_what_it_explains() -> None:
    [denial] = read_denials("it's not the sensor")
    assert denies(denial, "The sensor needs 750 ms after power-on.")
    assert not denies(denial, "The conversion is not done when we read.")
    assert not denies(denial, "The sensor needs 750 ms after power-on.", "the sensor reads 85 degrees")


@pytest.mark.req("B.17")
def test_a_claim_is_not_denied_by_what_it_denies_itself() -> None:
    [denial] = read_denials("right, it's not the pool")
    assert not denies(denial, "so it's not the pool. it's the resolver")


@pytest.mark.req("B.17")
def test_a_cause_is_named_by_what_it_was_or_comes_from() -> None:
    assert names_cause("it's the resolver, it hangs for 5 seconds")
    assert names_cause("turned out the firmware sends a cold start")
    assert not names_cause("the pool wasn't the cause")
    assert not names_cause("is it the resolver?")


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("told", "named"),
    [
        ("ok so not the pool. it's the resolver, it hangs", "it's the resolver, it hangs"),
        ("that wasn't it. turns out the proxy cuts them", "turns out the proxy cuts them"),
        ("no waits in the log. wasn't that. it's one hot partition", "it's one hot partition"),
        ("so it wasn't the release. it's the flag service", "it's the flag service"),
    ],
)
def test_who_denies_a_claimed_cause_names_the_right_one(told: str, named: str) -> None:
    assert find_instead(SYMPTOM, CLAIM, (USER, told)) == [named]
    assert find_instead(SYMPTOM, CLAIM, (USER, "look again please"), (ASSISTANT, told)) == [named]


@pytest.mark.req("B.17")
def test_without_a_failure_nothing_is_named_instead() -> None:
    calm = (USER, "where does the blue come from"), (ASSISTANT, "The theme sets it.")
    assert find_instead(*calm, (USER, "ok so not the theme. it's the header")) == []


@pytest.mark.req("B.17")
def test_an_assistant_that_answers_no_denies_nothing_it_claimed() -> None:
    asked = (USER, "and the wrong totals, is that the pool too?")
    assert find_instead(SYMPTOM, CLAIM, asked, (ASSISTANT, "No, that's not the pool. It's the rounding.")) == []


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("ok so not the pool. it's the resolver, it hangs", ["insight"]),
        ("wasn't the pool, it was the cdn", ["insight"]),
        ("that's not it. it's late, i'll look tomorrow", []),
    ],
)
def test_what_is_named_instead_is_kept_from_less_on_and_as_a_cause(told: str, kept: list[str]) -> None:
    turns = (SYMPTOM, CLAIM, (USER, told), (ASSISTANT, "I'll set up a local cache."))
    views = [TurnView(number, who, text) for number, (who, text) in enumerate(turns)]
    assert [found.kind for found in extract_findings(views) if found.sources == (2,)] == kept
