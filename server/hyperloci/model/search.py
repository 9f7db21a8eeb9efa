"""Search: its filters, hits and answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any, Final

from hyperloci.model.node import Node
from hyperloci.system.values import dataclass

MAX_USER_FACTS: Final = 50
"""Of what is known about the user, as much of each kind as a model reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """Conditions on memories; all that are given must hold (D.07, D.08). Times are milliseconds.

    Attributes:
        scopes: ids of the scopes to look in; empty is every scope.
        types, subtypes, tiers, origins: any of these; without types and subtypes, any but entities.
        after, before: event time at or after, and before.
        as_of: what held at that time, instead of what holds now (B.14).
        ended: also what was said or decided and no longer holds.
        min_confidence: stored confidence at least.
        entity: canonical name or alias of an entity the memory mentions.
        path: glob over the path, `**` crosses folders.
        lines: first and last line to overlap with.
        section: part of a heading on the way to it, or of one that it covers, without regard to case.
        heading_level_max: heading level at most.
        module: dotted prefix.
        class_name, function_name: exactly; a function may be behind its class (`Client.send`).
        url: part of the address of the page that it is from.
        diataxis, persona, verification, confidence_level, domain_tags, source_types: facets.
        session_id: said in this session.
        contradicted: whether a memory that holds still contradicts it.
        left_out: what a search does not find: forgotten, no longer valid or withheld; `as_of` says nothing then.
    """

    scopes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    subtypes: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    after: int | None = None
    before: int | None = None
    as_of: int | None = None
    ended: bool = False
    min_confidence: float | None = None
    entity: str | None = None
    path: str | None = None
    lines: tuple[int, int] | None = None
    section: str | None = None
    heading_level_max: int | None = None
    module: str | None = None
    class_name: str | None = None
    function_name: str | None = None
    url: str | None = None
    diataxis: str | None = None
    persona: str | None = None
    verification: tuple[str, ...] = ()
    confidence_level: str | None = None
    domain_tags: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    session_id: str | None = None
    contradicted: bool | None = None
    left_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HitSource:
    """Where a memory came from.

    `author` is somebody else's, a teammate's as claimed; of one's own there is none. `cells` says which of a notebook
    (`cell 7`).
    """

    kind: str
    path: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    section_path: tuple[str, ...] = ()
    symbol: str | None = None
    cells: str | None = None
    commit: str | None = None
    session_id: str | None = None
    seq: int | None = None
    author: str | None = None
    agent: str | None = None
    shared: bool = False


class Placement(StrEnum):
    """Why a hit stands before hits that score more; the words are for people."""

    NAMED = "asked for"
    NEWER = "newer"
    LATER = "said later"
    SAID = "by its turn"
    TIME = "by time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One memory found. Times are ISO 8601; scores 0..1. `notes` warn (`outdated`, `suspicious`...).

    Hits come in the order of their scores, but for those that say where else they are `placed`.
    """

    id: str
    type: str
    subtype: str | None
    content: str
    score: float
    confidence: float
    tier: str
    scope: str
    created_at: str
    valid_from: str
    valid_until: str | None
    source: HitSource
    notes: tuple[str, ...] = ()
    placed: Placement | None = None
    explain: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCoverage:
    """How many of the memories that a question may find have vectors now.

    Attributes:
        embedded: memories that have their vectors.
        total: memories that meet the question's conditions.
        waiting: those that still get theirs; the rest can't be embedded.
        seconds_left: estimated time for that, None if unknown.
    """

    embedded: int
    total: int
    waiting: int
    seconds_left: int | None = None

    @property
    def share(self) -> float:
        """Return the share that can be found by meaning, 0..1; 1 of nothing."""
        return self.embedded / self.total if self.total else 1.0

    @property
    def percent(self) -> int:
        """Return the share in percent: 100 only where nothing is missing, 0 only where there is nothing."""
        if self.embedded in (0, self.total):
            return round(100 * self.share)
        return max(1, min(99, round(100 * self.share)))

    def describe_missing(self) -> str | None:
        """Describe what can't be found by meaning yet; None if nothing is waiting."""
        if not self.waiting:
            return None
        left = "" if self.seconds_left is None else f", about {_format_duration(self.seconds_left)}"
        wait = f"{self.waiting:,} of {self.total:,} memories wait for their vectors{left}"
        return f"{self.percent} % by meaning, the rest by words; {wait}" if self.embedded else wait


def _format_duration(seconds: int) -> str:
    if seconds < 90:
        return f"{max(1, seconds)} s"
    return f"{round(seconds / 60)} minutes" if seconds < 5_400 else f"{round(seconds / 3_600)} hours"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The answer of a search.

    `mode` is hybrid, or keyword where no memory could be found by meaning; `degraded` says why, or what part could not;
    `by_meaning` counts it, None if the question itself has no vector.
    """

    query: str
    intent: str
    strategy: str
    mode: str
    degraded: str | None
    results: tuple[Hit, ...]
    hints: tuple[str, ...] = ()
    took_ms: float = 0.0
    by_meaning: VectorCoverage | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


Present = Callable[[Sequence[Node]], list[Hit]]
"""Makes hits of memories, as a session shows them."""
