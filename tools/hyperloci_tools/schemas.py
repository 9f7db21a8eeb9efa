"""Schemas: the types of tool answers and of object arguments, from which the JSON schemas are made.

Empty fields are left out of an answer, so all but the core ones are optional here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class WhereArg(TypedDict, total=False):
    """All must hold."""

    scope: Literal["project", "global", "all"]
    types: list[Literal["fact", "decision", "experience", "snippet", "entity"]]
    subtypes: list[str]
    tiers: list[str]
    as_of: Annotated[str, Field(description="what held then")]
    min_confidence: float
    path: Annotated[str, Field(description="glob, ** too")]
    lines: Annotated[list[int], Field(description="[first, last]")]
    section: str
    heading_level_max: int
    module: str
    class_name: str
    function_name: str
    url: str
    diataxis: str
    persona: str
    verification: list[str]
    confidence_level: str
    domain_tags: list[str]
    source_types: list[str]
    contradicted: bool
    related_to: Annotated[str, Field(description="id")]
    relation: str
    depth: int
    strategy: str
    first_space: str


class MemberArg(TypedDict):
    """A memory in a relation, and what it does there."""

    id: str
    role: NotRequired[Literal["subject", "object", "participant", "cause", "effect", "context"]]


class SourceOut(TypedDict):
    """Where a memory came from."""

    kind: str
    path: NotRequired[str]
    line_start: NotRequired[int]
    line_end: NotRequired[int]
    section_path: NotRequired[list[str]]
    symbol: NotRequired[str]
    cells: NotRequired[str]
    commit: NotRequired[str]
    session_id: NotRequired[str]
    seq: NotRequired[int]
    author: NotRequired[str]


class HitOut(TypedDict):
    """A memory."""

    id: str
    type: str
    subtype: NotRequired[str]
    content: str
    score: NotRequired[float]
    confidence: float
    tier: str
    scope: str
    created_at: str
    valid_from: str
    valid_until: NotRequired[str]
    source: SourceOut
    notes: NotRequired[list[str]]
    explain: NotRequired[dict[str, Any]]


class SearchOut(TypedDict):
    """What `search_memory` answers."""

    note: NotRequired[str]
    query: str
    intent: str
    strategy: str
    mode: str
    degraded: NotRequired[str]
    by_meaning: NotRequired[dict[str, int]]
    results: list[HitOut]
    hints: NotRequired[list[str]]
    took_ms: float


class SectionOut(TypedDict):
    """A part of an assembled context."""

    title: str
    tokens: int
    ids: list[str]


class ContextOut(TypedDict):
    """What `get_context` answers."""

    markdown: str
    tokens: int
    sections: list[SectionOut]
    sources: list[str]


class ContradictionOut(TypedDict):
    """A memory that disagrees."""

    id: str
    content: str
    kind: str
    nature: NotRequired[str]
    score: float
    reason: str
    sure: NotRequired[bool]
    source: SourceOut


class ContradictionsOut(TypedDict):
    """What `find_contradictions` answers."""

    note: NotRequired[str]
    statement: str
    checked: int
    contradictions: list[ContradictionOut]
    on_subject: NotRequired[list[HitOut]]


class RelatedItemOut(TypedDict):
    """A memory reached over relations; `author` if somebody else told it."""

    id: str
    content: str
    relation: str
    direction: str
    distance: int
    confidence: float
    automatic: bool
    path: NotRequired[str]
    line: NotRequired[int]
    symbol: NotRequired[str]
    author: NotRequired[str]


class RelatedOut(TypedDict):
    """What `find_related` answers; `relations`: all of the start."""

    note: NotRequired[str]
    started: str
    node: HitOut
    related: list[RelatedItemOut]
    relations: list[str]


class FactsOut(TypedDict):
    """What `recall_user_info` answers."""

    note: NotRequired[str]
    facts: list[HitOut]


class LogOut(TypedDict):
    """An event in a memory's life."""

    time: str
    operation: str
    from_tier: NotRequired[str]
    to_tier: NotRequired[str]
    reason: NotRequired[str]


class ExplanationOut(TypedDict):
    """What `explain_fact` answers."""

    note: NotRequired[str]
    node: HitOut
    account: list[str]
    sources: NotRequired[list[HitOut]]
    sources_more: NotRequired[int]
    supersedes: NotRequired[list[HitOut]]
    supersedes_more: NotRequired[int]
    superseded_by: NotRequired[HitOut]
    entities: NotRequired[list[str]]
    log: NotRequired[list[LogOut]]


class AffectedOut(TypedDict):
    """A living memory on the same subject, and the call that replaces it; `author` if somebody else told it."""

    id: str
    content: str
    date: str
    replace_by: str
    author: NotRequired[str]


class RememberedOut(TypedDict):
    """What `remember_fact` answers; `scope` only where it holds in all projects."""

    id: str
    scope: NotRequired[str]
    duplicate_of: NotRequired[str]
    contradictions: NotRequired[list[ContradictionOut]]
    affected: NotRequired[list[AffectedOut]]
    redactions: NotRequired[int]
    supersedes: NotRequired[str]
    flags: NotRequired[list[str]]
    until: NotRequired[str]
    sharing: NotRequired[str]


class DeadEndOut(TypedDict):
    """What `mark_dead_end` answers."""

    id: str
    duplicate_of: NotRequired[str]
    affected: NotRequired[list[AffectedOut]]
    redactions: NotRequired[int]
    flags: NotRequired[list[str]]


class CorrectedOut(TypedDict):
    """What `correct_fact` answers."""

    id: str
    supersedes: str
    contradictions: NotRequired[list[ContradictionOut]]
    affected: NotRequired[list[AffectedOut]]
    redactions: NotRequired[int]
    flags: NotRequired[list[str]]
    until: NotRequired[str]
    sharing: NotRequired[str]


class ConfirmedOut(TypedDict):
    """What `confirm_fact` answers."""

    id: str
    confidence: float


class IdOut(TypedDict):
    """What `relate` answers."""

    id: str


class RestoredOut(TypedDict):
    """What `restore` answers; `ended` where it no longer holds, else `notes` if anything speaks against it.

    `sharing` says that others don't have it back.
    """

    id: str
    content: str
    ended: NotRequired[str]
    notes: NotRequired[list[str]]
    sharing: NotRequired[str]


class ForgottenOut(TypedDict):
    """What `forget` answers; `sharing` says who else forgets it."""

    id: str
    restorable_until: str
    sharing: NotRequired[str]


class ReplErrorOut(TypedDict):
    """Why a program ended early, and in which of its lines."""

    type: str
    message: str
    line: NotRequired[int]


class ReplOut(TypedDict):
    """What `memory_repl` answers."""

    output: NotRequired[str]
    result: Any
    error: NotRequired[ReplErrorOut]
    calls: int
    undone: NotRequired[int]
    names_not_kept: NotRequired[list[str]]


class SkippedOut(TypedDict):
    """A file left out, and why."""

    path: str
    reason: str


class IndexOut(TypedDict):
    """What `index_path` answers."""

    status: Literal["done", "running"]
    files: NotRequired[int]
    chunks: NotRequired[int]
    added: NotRequired[int]
    changed: NotRequired[int]
    moved: NotRequired[int]
    removed: NotRequired[int]
    unchanged_files: NotRequired[int]
    commits: NotRequired[int]
    commits_waiting: NotRequired[int]
    skipped: NotRequired[list[SkippedOut]]
    skipped_more: NotRequired[int]
    set_aside: NotRequired[int]
    seconds: NotRequired[float]
