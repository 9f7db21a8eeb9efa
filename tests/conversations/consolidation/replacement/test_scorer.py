"""What makes it likely that one statement takes the place of another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.consolidation.findings import FindingKind
from hyperloci.conversations.consolidation.replacement.features import (
    COSINE_SCALE,
    ComparedStatement,
    WordRarity,
    compare_statements,
    estimate_kinds,
)
from hyperloci.conversations.consolidation.replacement.scorer import (
    FAR,
    ReplacementModel,
    load_replacement_scorer,
)
from hyperloci.conversations.consolidation.replacement.surroundings import Surroundings
from hyperloci.conversations.consolidation.replacements import POSSIBLE, SURE
from hyperloci.knowledge.contradictions.forest import Forest, pack_trees
from tests.support import examples

OTHERS = [
    "Invoices go into PostgreSQL, never into SQLite, which locks up under our load.",
    "Tests must not touch the network, CI has none.",
    "One change per commit, never more, reviewers insist.",
]


def score_of(new: str, *living: str, cosines: list[float] | None = None) -> list[float]:
    statement = ComparedStatement(new)
    return load_replacement_scorer().score(statement, [ComparedStatement(text) for text in living], cosines)


CHANGES = [
    ("The deadline of the release is April 20.", "the release deadline moved, it is April 25 now"),
    ("we keep sessions in Redis", "we no longer keep sessions in Redis, they go to Postgres"),
    ("The API never returns more than 100 rows.", "the 100 rows of the API are 500 rows now"),
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_changed_mind_is_told_from_everything_else_that_holds(old: str, new: str) -> None:
    changed, *others = score_of(new, old, *OTHERS)
    assert changed >= SURE
    assert max(others) < POSSIBLE


UNRELATED = [
    "Money is stored as integer cents everywhere, never floats.",
    "Never log customer emails, legal was very clear about that.",
    "My name is Ines and I maintain the billing service.",
]


@pytest.mark.parametrize("new", UNRELATED)
def test_what_is_about_something_else_replaces_nothing(new: str) -> None:
    assert max(score_of(new, *OTHERS)) < POSSIBLE


def test_where_nothing_holds_nothing_is_scored() -> None:
    assert score_of("We no longer use Jenkins.") == []


def test_another_value_in_the_same_unit_is_seen() -> None:
    old, new = ComparedStatement("The export may take 30 s."), ComparedStatement("The export may take 2 s.")
    (row,) = compare_statements(new, [old], WordRarity.of([old, new]))
    assert (row["other number"], row["same number"], row["same unit"]) == (1.0, 0.0, 1.0)


def test_what_shares_most_words_is_ranked_first() -> None:
    living = [ComparedStatement(text) for text in (*OTHERS, "Tests use recorded answers of the network.")]
    new = ComparedStatement("Tests must not touch the network or the clock.")
    rows = compare_statements(new, living, WordRarity.of([*living, new]))
    assert [next(name for name in row if name.startswith("rank=")) for row in rows][1] == "rank=0"


def test_what_is_nearest_in_meaning_is_ranked_first() -> None:
    living = [ComparedStatement(text) for text in OTHERS]
    new = ComparedStatement("The build machine is offline.")
    rows = compare_statements(new, living, WordRarity.of([*living, new]), [0.1, 0.6, 0.2])
    assert [next(name for name in row if name.startswith("near=")) for row in rows] == ["near=2", "near=0", "near=1"]
    assert [row["cosine"] for row in rows] == pytest.approx([COSINE_SCALE * value for value in (0.1, 0.6, 0.2)])


def test_what_is_near_in_meaning_is_likelier_replaced_than_what_is_not() -> None:
    near, far = (
        score_of(
            "uploads are stored on Hetzner from now on", "files go to S3", *OTHERS, cosines=[cosine, 0.1, 0.1, 0.1]
        )
        for cosine in (0.7, 0.05)
    )
    assert near[0] > 2 * far[0]


def test_kinds_tell_whether_a_statement_can_replace_another() -> None:
    old = ComparedStatement("exports run at 6", kinds={FindingKind.DECISION: 1.0})
    decided, explained = (
        ComparedStatement("exports run at 4", kinds={kind: 1.0}) for kind in (FindingKind.DECISION, FindingKind.INSIGHT)
    )
    scores = [load_replacement_scorer().score(new, [old])[0] for new in (decided, explained)]
    assert scores[0] > scores[1]


@given(st.text(max_size=200))
@hypothesis_settings(max_examples=examples(30))
def test_a_statement_is_of_some_kind(text: str) -> None:
    assert sum(estimate_kinds(text).values()) == pytest.approx(1.0)


def test_rare_words_tell_more_than_frequent_ones() -> None:
    rarity = WordRarity.of([ComparedStatement(text) for text in ("the export", "the export again", "the jackdaw")])
    assert rarity.add(frozenset({"jackd"})) > rarity.add(frozenset({"expor"}))


def test_weights_and_trees_have_half_a_say_each() -> None:
    model = ReplacementModel(
        weights={"": -1.0, "same unit": 1.0},
        features=("same unit",),
        start=1.0,
        forest=Forest(pack_trees([[0, 0.5, 0.0, -1.0]])),
        actions={"done gone": 1.0},
    )
    assert model.estimate([{"same unit": 1.0, "never trained": 5.0}, {"same unit": 0.0}]) == [0.5, 0.5]
    assert model.estimate([{"done gone": 1.0}])[0] > 0.7, "what was done is added to what both say"


def test_what_is_far_by_its_weights_asks_no_trees() -> None:
    model = ReplacementModel(
        weights={"": FAR - 1}, features=(), start=20.0, forest=Forest(pack_trees([0.0])), actions={}
    )
    assert model.estimate([{}])[0] < 0.01


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=5), st.floats(-1, 1))
@hypothesis_settings(max_examples=examples(60))
def test_whatever_is_said_each_living_statement_has_a_probability(new: str, living: list[str], cosine: float) -> None:
    for cosines in (None, [cosine] * len(living)):
        scores = score_of(new, *living, cosines=cosines)
        assert len(scores) == len(living)
        assert all(0.0 <= score <= 1.0 for score in scores)
        assert scores == score_of(new, *living, cosines=cosines)


def features_of(new: str, old: str) -> dict[str, float]:
    later, earlier = ComparedStatement(new), ComparedStatement(old)
    (row,) = compare_statements(later, [earlier], WordRarity.of([earlier, later]))
    return row


def test_another_value_beside_the_same_word_is_seen() -> None:
    assert features_of("lines may have 120 characters", "lines end at 88")["other value of word"] == 1.0
    assert features_of("lines end at 88, everywhere", "lines end at 88")["other value of word"] == 0.0


def test_an_old_value_that_is_named_as_past_is_seen() -> None:
    assert "value after c:change" in features_of("make it 60 instead of 15", "sync every 15 minutes")
    assert "value before c:change" in features_of("15 is out", "sync every 15 minutes")


def test_another_day_is_seen_though_no_word_is_shared() -> None:
    row = features_of("the fair begins on 24 March", "we ship on 10 March")
    assert row["other day"] == 1.0
    assert row["told sorts"] > 0.0


def test_another_tool_for_the_same_purpose_is_seen() -> None:
    assert features_of("the keys go to MySQL then", "keys live in Postgres")["other choice"] == 1.0
    assert features_of("Postgres has the keys", "keys live in Postgres")["same choice"] == 1.0


def test_an_ending_beside_what_both_share_is_seen() -> None:
    row = features_of("the change freeze is over, Felix said so", "change freeze until Thursday")
    assert (row["ends near"], row["ends near told"] > 0) == (1.0, True)
    long = "the change freeze is what everybody asks me about today and my holiday is over"
    assert "ends near" not in features_of(long, "change freeze until Thursday")


def test_what_was_said_last_is_meant_by_a_word_that_points_at_it() -> None:
    living = [ComparedStatement(text) for text in (*OTHERS, "three attempts")]
    new = ComparedStatement("make it 6")
    rows = compare_statements(new, living, WordRarity.of([*living, new]))
    assert ["points recent" in row for row in rows] == [False, True, True, True]
    assert rows[-1]["recent=0"] == 1.0 - 1.0 / (len(living) + 1)


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "We decided to use SQLite for the invoices.",
            "We decided to use PostgreSQL for the invoices instead of SQLite.",
        ),
        ("let's write a wrapper, RetryTransport, around it", "the wrapper was a mistake, delete RetryTransport"),
        ("We deploy with Helm.", "Kustomize now, we dropped Helm"),
        ("Use 3 retries for the upload.", "make it 5 retries"),
    ],
)
def test_a_mind_that_changes_in_a_new_project_ends_the_only_statement_there_is(old: str, new: str) -> None:
    (score,) = load_replacement_scorer().score(ComparedStatement(new), [ComparedStatement(old)])
    assert score >= SURE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We use pytest for tests.", "We use ruff for linting."),
        ("The timeout of the worker is 30 seconds.", "The timeout of the gateway is 60 seconds."),
    ],
)
def test_another_thing_in_a_new_project_ends_nothing(old: str, new: str) -> None:
    (score,) = load_replacement_scorer().score(ComparedStatement(new), [ComparedStatement(old)])
    assert score < POSSIBLE


def add_heard(new: str, around: Surroundings, *living: str) -> list[dict[str, float]]:
    later, earlier = ComparedStatement(new), [ComparedStatement(text) for text in living]
    return compare_statements(later, earlier, WordRarity.of([*earlier, later]), around=around)


def test_what_the_assistant_answers_names_what_the_statement_leaves_out() -> None:
    around = Surroundings(answered="The lease of a lock now takes 45 seconds, not 20.")
    meant, *others = add_heard("give it 45", around, "locks have a lease of 20 seconds", *OTHERS)
    assert (meant["answer rank=0"], meant["answer old number"]) == (1.0, 1.0)
    assert meant["answer share"] > 0.5
    assert meant["lead"] > 0.0
    assert not any("answer rank=0" in row or "answer old number" in row for row in others)


def test_what_was_asked_before_names_what_the_statement_leaves_out() -> None:
    around = Surroundings(asked="The lease of the lock ran out again after 20 seconds.")
    meant, *others = add_heard("45 then", around, "locks have a lease of 20 seconds", *OTHERS)
    assert meant["asked rank=0"] == 1.0
    assert not any("asked rank=0" in row for row in others)


def test_what_only_the_statement_itself_names_is_not_heard_around_it() -> None:
    around = Surroundings(answered="The lease is 45 seconds.")
    (row,) = add_heard("a lease of 45 seconds", around, "a lease of 20 seconds")
    assert not {"answer share", "answer old number", "answer rank=0"} & row.keys()


def test_where_nobody_answered_only_the_lead_is_told() -> None:
    rows = add_heard("give it 45", Surroundings(), "locks have a lease of 20 seconds", *OTHERS)
    assert not any(name.startswith(("asked ", "answer ")) for row in rows for name in row)
