"""Rows of nodes: how one is read, what may stand in one, and what of it may be changed."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from hyperloci.errors import BadRequestError
from hyperloci.model.author import Visibility
from hyperloci.model.kinds import NodeType, Origin, Tier
from hyperloci.model.node import Node
from hyperloci.store.archive import compressed_turns

SELECT_NODE: Final = (
    f"SELECT n.key, n.id, n.type, n.subtype, n.title, {compressed_turns.WHOLE_TEXT}, n.tier, n.confidence,"
    f" n.decay_rate,"
    " n.provenance, n.origin, s.id, t.id, n.seq, n.event_time, n.created_at, n.updated_at, n.last_accessed,"
    " n.access_count, n.valid_from, n.valid_until, n.deleted_at, n.seen_count, n.metadata, n.author, n.agent,"
    " n.visibility FROM nodes n"
    f" JOIN scopes s ON s.key = n.scope_key LEFT JOIN sessions t ON t.key = n.session_key{compressed_turns.JOIN_PACKED}"
)
"""Columns in the order of `Node`'s fields."""

_TYPES: Final = {str(kind): kind for kind in NodeType}
_TIERS: Final = {str(tier): tier for tier in Tier}
_ORIGINS: Final = {str(origin): origin for origin in Origin}
_VISIBILITIES: Final = {str(visibility): visibility for visibility in Visibility}

_UPDATABLE: Final = frozenset(
    {
        "content",
        "title",
        "type",
        "extra_terms",
        "tier",
        "confidence",
        "decay_rate",
        "provenance",
        "valid_until",
        "last_accessed",
        "access_count",
        "metadata",
        "subtype",
        "event_time",
    }
)


def hash_content(text: str) -> bytes:
    """Return the SHA-256 of a text (E.03)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def node_from_row(row: sqlite3.Row) -> Node:
    """Make a Node of a row of `SELECT_NODE`."""
    # By place, and with what repeats from tables: a search makes hundreds, and names cost twice the time.
    return Node(
        key=row[0],
        id=row[1],
        type=_TYPES[row[2]],
        subtype=row[3],
        title=row[4],
        content=row[5],
        tier=_TIERS[row[6]],
        confidence=row[7],
        decay_rate=row[8],
        provenance=row[9],
        origin=_ORIGINS[row[10]],
        scope=row[11],
        session_id=row[12],
        seq=row[13],
        event_time=row[14],
        created_at=row[15],
        updated_at=row[16],
        last_accessed=row[17],
        access_count=row[18],
        valid_from=row[19],
        valid_until=row[20],
        deleted_at=row[21],
        seen_count=row[22],
        metadata={} if row[23] == "{}" else json.loads(row[23]),
        author=row[24],
        agent=row[25],
        visibility=_VISIBILITIES[row[26]],
    )


def check_changes(changes: Mapping[str, Any]) -> None:
    """Refuse invalid field values with a clear message, before the database does (SPEC-02.10, .17).

    Raises:
        BadRequestError: a field that may not be changed, or a value that it can't have.
    """
    unknown = sorted(set(changes) - _UPDATABLE)
    if unknown:
        raise BadRequestError(f"{', '.join(unknown)} cannot be changed; these can: {', '.join(sorted(_UPDATABLE))}.")
    if "tier" in changes and changes["tier"] not in list(Tier):
        raise BadRequestError(f"tier={changes['tier']!r} is unknown: use one of {', '.join(Tier)}.")
    if "confidence" in changes and not 0.0 <= changes["confidence"] <= 1.0:
        raise BadRequestError(f"confidence={changes['confidence']} is outside 0..1.")
    if "decay_rate" in changes and not 0.0 <= changes["decay_rate"] < math.inf:
        raise BadRequestError(f"decay_rate={changes['decay_rate']} must be 0 or above.")
    if "content" in changes and not changes["content"].strip():
        raise BadRequestError("content is empty: give the text to remember.")


_METADATA: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def encode_metadata(metadata: Mapping[str, Any]) -> str:
    """Return metadata as it is stored.

    Raises:
        BadRequestError: what JSON can't hold.
    """
    try:
        return _METADATA.encode(dict(metadata)) if metadata else "{}"
    except (TypeError, ValueError) as error:
        raise BadRequestError(f"metadata cannot be stored as JSON: {error}.") from error
