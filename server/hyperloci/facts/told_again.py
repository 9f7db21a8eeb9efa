"""Told again: what changes of a known statement when somebody tells it on purpose, in the same words."""

from __future__ import annotations

from typing import Any, Final

from hyperloci.facts.categories import CATEGORIES, UNSPECIFIC
from hyperloci.facts.told_days import renew_days
from hyperloci.model.kinds import NodeType, Origin
from hyperloci.model.node import TOLD, NewNode, Node

_KINDS: Final = frozenset(CATEGORIES.values())


def renew_known(known: Node, new: NewNode) -> dict[str, Any]:
    """Return the fields that change: its kind and days, and what was only extracted is told on purpose from now on.

    Raises:
        BadRequestError: a deadline is told in the words of a memory of another kind, or the other way round.
    """
    changes, metadata = _renew_kind(known, new), renew_days(known, new)
    if known.origin is Origin.EXTRACTION and not known.was_told:
        # The turns that it was found in bound no longer how far it is believed.
        metadata = {name: value for name, value in (metadata or known.metadata).items() if name != "trust"}
        metadata[TOLD] = True
        changes["confidence"] = max(known.confidence, new.confidence)
    if metadata is not None:
        changes["metadata"] = metadata
    is_told_now = "confidence" in changes or "subtype" in changes
    if is_told_now and changes.get("type", known.type) is NodeType.DECISION:
        # As of a decision that is told in words of its own.
        changes["decay_rate"] = 0.0
    return changes


def _renew_kind(known: Node, new: NewNode) -> dict[str, Any]:
    """Return the type and subtype of a statement that is told as another kind than it was kept as."""
    is_another = new.subtype not in (UNSPECIFIC, known.subtype)
    if not is_another or not {(known.type, known.subtype), (new.type, new.subtype)} <= _KINDS:
        return {}
    return {"type": new.type, "subtype": new.subtype}
