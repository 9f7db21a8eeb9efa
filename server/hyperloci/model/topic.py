"""Topics and timelines: clusters of memories, and their order in time (E.09, E.10)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from hyperloci.model.kinds import NodeKey
from hyperloci.model.search import Hit
from hyperloci.system.values import dataclass

TOPIC_WEIGHTS: Final[Mapping[str, float]] = {
    "e1": 1.0,
    "e2": 0.0,
    "e3": 0.0,
    "e4": 0.0,
    "e5": 1.0,
    "e6": 1.0,
    "e7": 1.0,
    "e8": 0.5,
    "e9": 0.5,
    "e10": 1.0,
    "e11": 0.5,
    "e12": 1.0,
    "e13": 1.0,
}
"""What each space's agreement counts (E.09): semantic 1, relational and structural 0.5, temporal nothing, ever."""

MAX_AGREEMENT: Final = sum(TOPIC_WEIGHTS.values())
"""8.5: all spaces agree on every member."""

AGREEMENT_NEEDED: Final = 2.5
"""Less is not a topic: three semantic spaces, or two and a relational one (E.09)."""


class TopicPhase(StrEnum):
    """Where a topic is in its life (E.09)."""

    EMERGING = "emerging"
    STABLE = "stable"
    DECLINING = "declining"
    MERGING = "merging"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A stored topic. Times are milliseconds.

    Attributes:
        key, id: integer key of the tables; text for callers, the same from run to run.
        scope: the project's id, or `global`.
        name, terms: its most telling words; the name is empty until the next run where a member was purged.
        phase: as the latest run left it; `topics.phase.phase_of` gives the present one.
        agreement: sum of weight x strength over the spaces, 2.5 to 8.5.
        strengths: by space, share of the members that the space alone would put here, 0..1.
        churn: share of members that the latest run changed, 0..1.
        recalled, recalled_before: share of members recalled lately, at the latest run and the one before.
        created_at: of the first run that found it; `run_at`: of the latest; `settled_at`: since when it has changed
            little.
        merged_into: id of the topic that took its members, where one did.
        member_count: living members.
    """

    key: int
    id: str
    scope: str
    name: str
    terms: tuple[str, ...]
    phase: TopicPhase
    agreement: float
    strengths: Mapping[str, float]
    churn: float
    recalled: float
    recalled_before: float
    created_at: int
    run_at: int
    settled_at: int
    merged_into: str | None
    member_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicHit:
    """A topic as callers see it. Confidence is `weighted_agreement` / 8.5; times are ISO 8601."""

    id: str
    name: str
    scope: str
    phase: str
    confidence: float
    weighted_agreement: float
    dominant_spaces: tuple[str, ...]
    strengths: Mapping[str, float]
    terms: tuple[str, ...]
    member_count: int
    created_at: str
    merged_into: str | None
    examples: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicList:
    """The topics of a project. `detected_at` is the latest run, None before the first; `waiting` says what is new."""

    topics: tuple[TopicHit, ...]
    total: int
    detected_at: str | None
    memories: int
    waiting: str | None = None


class EventPlace(NamedTuple):
    """Where an event stands among all: pages of events begin before one."""

    event_time: int
    key: NodeKey


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMoment:
    """Where a memory stands in time: when it happened, and its place in its session."""

    key: NodeKey
    event_time: int
    session_key: int | None
    seq: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    """One memory in a timeline: when it happened (ISO 8601), and whether before or after the one asked about."""

    at: str
    relation: str
    memory: Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Memories in the order they happened (E.10); `start` says what was taken for the words asked around."""

    anchor: str | None
    session_id: str | None
    direction: str
    events: tuple[TimelineEvent, ...]
    start: str = ""
