"""Pyramid of a conversation: chunks of its turns, and the answers made from them (RFC-013, C.01 to C.10)."""

from __future__ import annotations

from enum import StrEnum

from hyperloci.model.kinds import NodeId, NodeKey
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.system.values import dataclass


class ChunkStage(StrEnum):
    """Where a chunk's turns are: as they came, packed in the database, or in the archive."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class ArchivePlace:
    """Where a cold chunk's turns lie: the archive file of a day, and the bytes in it."""

    day: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PyramidChunk:
    """A range of a session's turns.

    Attributes:
        key, id: integer key of the tables; UUID text for callers, the summary's node id too.
        session_key, session_id: the session.
        level, stage: how much it covers, and where its turns are.
        first_seq, last_seq: its first and last turn's sequence number.
        turns, tokens: how many turns it had when it was made, and their tokens (C.02).
        started_at, ended_at: when its first and last turn were said, in milliseconds.
        node_key: the node of its summary; None until it has one.
        summarised_at: when the summary was made.
        key_facts, themes: what was extracted.
        archive: where its turns are archived; None if they aren't (any more).
    """

    key: int
    id: NodeId
    session_key: int
    session_id: str
    level: PyramidLevel
    stage: ChunkStage
    first_seq: int
    last_seq: int
    turns: int
    tokens: int
    started_at: int
    ended_at: int
    node_key: NodeKey | None = None
    summarised_at: int | None = None
    key_facts: tuple[str, ...] = ()
    themes: tuple[str, ...] = ()
    archive: ArchivePlace | None = None


@dataclass(frozen=True, slots=True)
class Digest:
    """Digest of a chunk: its summary, key facts and themes."""

    summary: str
    key_facts: tuple[str, ...] = ()
    themes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandedTurn:
    """A turn as it was said. `whole` is False where only its beginning is left: its archive's time is over."""

    id: NodeId
    seq: int
    role: str
    kind: str
    at: str
    content: str
    tokens: int
    path: str | None = None
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandedChunk:
    """All turns of a chunk, in order; `content` is its summary, '' if it has none yet."""

    id: NodeId
    level: PyramidLevel
    stage: ChunkStage
    session_id: str
    content: str
    key_facts: tuple[str, ...]
    themes: tuple[str, ...]
    turns: tuple[ExpandedTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPart:
    """One piece of a context window: `hot` turns, `warm` turns of a chunk, or a `summary`; `ids` are its sources."""

    kind: str
    text: str
    tokens: int
    ids: tuple[NodeId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWindow:
    """A conversation within a budget (C.06).

    Attributes:
        text, tokens: what to put before a model, and what it costs.
        parts: its pieces, in the order in which they stand.
        raw_tokens: what all turns of the session would cost.
        mode: how warm turns were chosen: `hybrid`, `keyword` or `recency`.
        degraded: what was done without, and why; None if nothing was.
    """

    text: str
    tokens: int
    parts: tuple[WindowPart, ...]
    raw_tokens: int
    mode: str
    degraded: str | None = None
