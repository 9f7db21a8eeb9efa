"""The phases of a topic's life, by the thresholds of E.09's source."""

from __future__ import annotations

from typing import Final

from hyperloci.clock import MS_PER_DAY
from hyperloci.model.topic import Topic, TopicPhase

NEW_MS: Final = 3_600_000
"""Younger than an hour is emerging."""

UNSETTLED_CHURN: Final = 0.3
"""Of a topic's members changed: it is (again) emerging."""

SETTLED_CHURN: Final = 0.1
SETTLED_MS: Final = MS_PER_DAY
"""Churn below this for 24 hours is stable."""

BREAKING_UP_CHURN: Final = 0.5
"""Churn above this with fewer recalls than before is declining."""

RECALLED_MS: Final = 7 * MS_PER_DAY
"""Recalled lately: within a week, so that a weekend is no decline."""


def phase_of(topic: Topic, now: int) -> TopicPhase:
    """Return the phase that a stored topic is in now; some pass by time alone."""
    if topic.merged_into is not None:
        return TopicPhase.MERGING
    return next_phase(
        topic.phase,
        age_ms=now - topic.created_at,
        settled_ms=now - topic.settled_at,
        churn=topic.churn,
        fewer_recalls=topic.recalled < topic.recalled_before,
    )


def next_phase(before: TopicPhase, *, age_ms: int, settled_ms: int, churn: float, fewer_recalls: bool) -> TopicPhase:
    """Return the phase that follows from age, churn and recalls; between the thresholds, the one before stays."""
    if churn > BREAKING_UP_CHURN and fewer_recalls:
        return TopicPhase.DECLINING
    if age_ms < NEW_MS or churn > UNSETTLED_CHURN:
        return TopicPhase.EMERGING
    if settled_ms >= SETTLED_MS and churn < SETTLED_CHURN:
        return TopicPhase.STABLE
    return TopicPhase.EMERGING if before is TopicPhase.MERGING else before
