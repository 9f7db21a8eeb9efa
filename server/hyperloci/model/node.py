"""Node: a stored memory, one vertex of the hypergraph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, NamedTuple

from hyperloci.clock import MS_PER_DAY
from hyperloci.errors import BadRequestError
from hyperloci.model.author import Visibility
from hyperloci.model.kinds import GLOBAL_SCOPE, SUBTYPES, NodeId, NodeKey, NodeType, Origin, Tier
from hyperloci.model.position import Position
from hyperloci.system.values import dataclass

MAX_CONTENT_CHARS = 20_000
"""Longest text that one remembered fact may have (tools contract)."""

MAX_REASON_CHARS = 2_000
"""A reason is a sentence or two; what is longer is a memory of its own."""

MAX_NAME_CHARS = 200
"""The longest name of a thing: a person, a path, a qualified symbol. What is longer is a statement about one."""

RESTORE_DAYS: Final = 30
"""How long a forgotten memory can be restored (E.16)."""

TOLD: Final = "told"
"""The name in a memory's metadata of that somebody told it on purpose, in the words that were extracted before."""

ONE_OCCASION_MS: Final = 600_000
"""Facts told within ten minutes belong to one occasion, as turns to a session: each helps to find the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A stored memory (SPEC-02.06 to .08, B.14). Times are milliseconds since the epoch.

    Attributes:
        key, id: integer key of the tables; UUID text for callers.
        type, subtype, content: what it is and says.
        title: where it stands, in words (headings, module and symbol); indexed and embedded with the content.
        tier: where it is in its life.
        confidence: at `last_accessed`; the present value is derived (B.11).
        decay_rate: lambda of the decay formula; 0 protects from decay.
        provenance: in words, where it came from.
        origin: the channel it came through; decides its trust.
        scope: `global` or a project's id.
        session_id, seq: the session it was said in and its place there.
        event_time: when it happened; `created_at`: when it was stored; `valid_from`/`valid_until`: when it holds.
        deleted_at: when it was forgotten; restorable for 30 days (E.16).
        seen_count: how often the same content was stored (E.03).
        metadata: anything else, JSON.
        author: the person whose words it is, as Git writes people (`model.author`); None: not known.
        agent: the assistant through which it came (`claude-code`, `codex`); None: the person wrote it.
        visibility: who may have it.
    """

    key: NodeKey
    id: NodeId
    type: NodeType
    subtype: str | None
    title: str
    content: str
    tier: Tier
    confidence: float
    decay_rate: float
    provenance: str | None
    origin: Origin
    scope: str
    session_id: str | None
    seq: int | None
    event_time: int
    created_at: int
    updated_at: int
    last_accessed: int
    access_count: int
    valid_from: int
    valid_until: int | None
    deleted_at: int | None
    seen_count: int
    metadata: Mapping[str, Any]
    author: str | None = None
    agent: str | None = None
    visibility: Visibility = Visibility.PRIVATE

    @property
    def holds(self) -> bool:
        """Whether it is neither forgotten nor ended; an end that is ahead counts as one."""
        return self.deleted_at is None and self.valid_until is None

    def is_restorable(self, now: int) -> bool:
        """Tell whether it is forgotten, and not for so long that it is gone for good."""
        return self.deleted_at is not None and now - self.deleted_at <= RESTORE_DAYS * MS_PER_DAY

    @property
    def was_told(self) -> bool:
        """Whether it was told on purpose after it had been extracted."""
        return TOLD in self.metadata


def last_day_of(node: Node) -> str | None:
    """Return the day after which a memory is past by its own words, as ISO 8601; None for one without such a day.

    It is the day until which it holds, or a deadline's last.
    """
    day = node.metadata.get("until") or node.metadata.get("due")
    return None if day is None else str(day)[:10]


class SearchCandidate(NamedTuple):
    """The fields of `Node` that ranking needs, under the same names. A search reads hundreds of them."""

    key: NodeKey
    type: str
    subtype: str | None
    content: str
    origin: str
    session_id: str | None
    seq: int | None
    event_time: int
    metadata: Mapping[str, Any]
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNode:
    """A memory about to be stored. What is None is filled in by the store, author and agent from its signature."""

    type: NodeType
    content: str
    subtype: str | None = None
    tier: Tier = Tier.TASK
    confidence: float = 0.5
    decay_rate: float | None = None
    provenance: str | None = None
    origin: Origin = Origin.TOOL
    scope: str = GLOBAL_SCOPE
    session_id: str | None = None
    seq: int | None = None
    event_time: int | None = None
    valid_from: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    extra_terms: str = ""
    position: Position | None = None
    author: str | None = None
    agent: str | None = None
    visibility: Visibility = Visibility.PRIVATE
    id: NodeId | None = None

    def __post_init__(self) -> None:
        if not self.content.strip():
            raise BadRequestError("content is empty: give the text to remember.")
        if not 0.0 <= self.confidence <= 1.0:
            raise BadRequestError(f"confidence={self.confidence} is outside 0..1.")
        if self.subtype is not None and self.subtype not in SUBTYPES[self.type]:
            allowed = ", ".join(sorted(SUBTYPES[self.type]))
            raise BadRequestError(
                f"subtype={self.subtype!r} does not belong to type {self.type}: use one of {allowed}."
            )
