"""What a search asks for and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Conditions on memories; all that are given must hold (D.07, D.08). Times are milliseconds.

    Attributes:
        scopes: ids of the scopes to look in; empty is every scope.
        types, subtypes, tiers, origins: any of these; without types and subtypes, any but entities.
        after, before: event time at or after, and before.
        as_of: what held at that time, instead of what holds now (B.14).
        min_confidence: stored confidence at least.
        entity: canonical name or alias of an entity the memory mentions.
        path: glob over the path, `**` crosses folders.
        lines: first and last line to overlap with.
        section: a heading on the way to it, without regard to case.
        heading_level_max: heading level at most.
        module: dotted prefix.
        class_name, function_name, url: exactly.
        diataxis, persona, verification, confidence_level, domain_tags, source_types: facets.
        session_id: said in this session.
        contradicted: whether a memory that holds still contradicts it.
    """

    scopes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    subtypes: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    after: int | None = None
    before: int | None = None
    as_of: int | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a memory came from."""

    kind: str
    path: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    section_path: tuple[str, ...] = ()
    symbol: str | None = None
    commit: str | None = None
    session_id: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One memory found. Times are ISO 8601; scores 0..1. `notes` warn (`outdated`, `suspicious`...)."""

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
    source: Source
    notes: tuple[str, ...] = ()
    explain: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The answer of a search. `mode` is hybrid or keyword; `degraded` says why it did without vectors."""

    query: str
    intent: str
    strategy: str
    mode: str
    degraded: str | None
    results: tuple[Hit, ...]
    hints: tuple[str, ...] = ()
    took_ms: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)
