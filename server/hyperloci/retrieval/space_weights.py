"""Space weights: what each perspective makes of reciprocal ranks, and of calibrated scores (E.07, E.14).

Every weight here was chosen with `python -m bench quality` on all development sets, `python -m bench leave_one_out`
and `python -m bench blind_spots`; docs/why/retrieval.md ("What a space counts ...") says what was tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Final

from hyperloci.system.values import dataclass

AUTO: Final = "auto"

RANK_WEIGHTS: Final[Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        "semantic": {"e1": 0.40, "e5": 0.10, "e6": 0.10, "e7": 0.10, "e10": 0.10, "e11": 0.10},
        "code": {"e1": 0.20, "e5": 0.05, "e6": 0.10, "e7": 0.40, "e10": 0.05, "e11": 0.10},
        "causal": {"e1": 0.15, "e5": 0.45, "e6": 0.05, "e7": 0.05, "e10": 0.10, "e11": 0.10},
        "entity": {"e1": 0.20, "e5": 0.05, "e6": 0.10, "e7": 0.05, "e10": 0.10, "e11": 0.40},
        "intent": {"e1": 0.30, "e5": 0.10, "e6": 0.05, "e7": 0.10, "e10": 0.25, "e11": 0.15},
        "graph": {"e1": 0.15, "e5": 0.10, "e6": 0.10, "e7": 0.05, "e8": 0.40, "e10": 0.05, "e11": 0.15},
    }
)
"""E.07: the weights of the Context Graph document, and `graph` beside them; used where ranks are fused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Perspective:
    """What a profile changes in a calibrated score.

    Attributes:
        meaning: share of meaning against words; None lets the kind of content decide.
        views: what the other views of meaning count beside E1, by space; None lets the kind decide.
        bonus: what the spaces count that see a relation, a direction or a time, by space.
    """

    meaning: float | None = None
    views: Mapping[str, float] | None = None
    bonus: Mapping[str, float] = field(default_factory=dict)


BONUS: Final[Mapping[str, float]] = MappingProxyType({"e2": 0.15, "e3": 0.2, "e5": 0.2, "e8": 0.2, "e11": 0.1})
"""What a space adds that the question speaks to: E5 only where it asks for a cause or an effect, E8 for imports,
calls and definitions, E11 where it names something, E2 and E3 where it names a time."""

PERSPECTIVES: Final[Mapping[str, Perspective]] = MappingProxyType(
    {
        AUTO: Perspective(),
        "semantic": Perspective(meaning=0.8, views={"e10": 0.2}),
        "code": Perspective(meaning=0.6, views={"e7": 1.0}),
        "causal": Perspective(meaning=0.6, bonus={"e5": 0.6}),
        "entity": Perspective(meaning=0.3, bonus={"e11": 0.6}),
        "intent": Perspective(meaning=0.7, views={"e10": 1.0}),
        "graph": Perspective(meaning=0.5, bonus={"e8": 0.6}),
    }
)
"""The perspectives of E.14."""
