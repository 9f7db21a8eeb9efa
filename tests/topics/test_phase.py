"""The phases of a topic's life."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hyperloci.model.topic import Topic, TopicPhase
from hyperloci.topics.phase import NEW_MS, SETTLED_MS, phase_of
from tests.support import NOW

TOPIC = Topic(
    key=1,
    id="t",
    scope="global",
    name="redis, cache",
    terms=("redis", "cache"),
    phase=TopicPhase.EMERGING,
    agreement=3.0,
    strengths={"e1": 1.0},
    churn=0.0,
    recalled=0.0,
    recalled_before=0.0,
    created_at=NOW,
    run_at=NOW,
    settled_at=NOW,
    merged_into=None,
    member_count=5,
)


@pytest.mark.req("E.09")
@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (0, TopicPhase.EMERGING),
        (NEW_MS, TopicPhase.EMERGING),
        (SETTLED_MS - 1, TopicPhase.EMERGING),
        (SETTLED_MS, TopicPhase.STABLE),
    ],
)
def test_what_hardly_changes_for_a_day_is_stable(age: int, expected: TopicPhase) -> None:
    assert phase_of(TOPIC, NOW + age) is expected


@pytest.mark.req("E.09")
def test_what_changes_much_is_emerging_again_however_old() -> None:
    assert phase_of(replace(TOPIC, phase=TopicPhase.STABLE, churn=0.31), NOW + 10 * SETTLED_MS) is TopicPhase.EMERGING


@pytest.mark.req("E.09")
def test_what_breaks_up_and_is_recalled_less_declines() -> None:
    breaking = replace(TOPIC, phase=TopicPhase.STABLE, churn=0.51, recalled=0.1, recalled_before=0.4)
    assert phase_of(breaking, NOW + SETTLED_MS) is TopicPhase.DECLINING
    assert phase_of(replace(breaking, recalled=0.4), NOW + SETTLED_MS) is TopicPhase.EMERGING


@pytest.mark.req("E.09")
def test_what_was_absorbed_is_merging() -> None:
    assert phase_of(replace(TOPIC, merged_into="other"), NOW + 10 * SETTLED_MS) is TopicPhase.MERGING


def test_between_the_thresholds_a_phase_stays() -> None:
    assert phase_of(replace(TOPIC, phase=TopicPhase.STABLE, churn=0.2), NOW + SETTLED_MS) is TopicPhase.STABLE
