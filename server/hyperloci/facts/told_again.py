"""Told again: what changes of a known statement when somebody tells it on purpose, in the same words."""

from __future__ import annotations

from typing import Any

from hyperloci.facts.told_days import renew_days
from hyperloci.model.kinds import Origin
from hyperloci.model.node import TOLD, NewNode, Node


def renew_known(known: Node, new: NewNode) -> dict[str, Any]:
    """Return the fields that change: its days, and what was only extracted is told on purpose from now on.

    Raises:
        BadRequestError: a deadline is told in the words of a memory of another kind.
    """
    renewed = renew_days(known, new)
    if known.origin is not Origin.EXTRACTION or known.was_told:
        return {} if renewed is None else {"metadata": renewed}
    # The turns that it was found in bound no longer how far it is believed.
    metadata = {name: value for name, value in (renewed or known.metadata).items() if name != "trust"}
    return {"metadata": {**metadata, TOLD: True}, "confidence": max(known.confidence, new.confidence)}
