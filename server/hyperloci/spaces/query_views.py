"""Query views: which words of a question are compared with which column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperloci.spaces import causal, code_view, entity_names, goal, references
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True)
class QueryViews:
    """A question's views.

    Attributes:
        dense: text by column of the fingerprints table, E1 and E11 left out; a column that the question does not
            speak to is left out too.
        entities: canonical names of what it is about.
    """

    dense: Mapping[str, str]
    entities: tuple[str, ...]


def views_of_query(text: str, entities: Sequence[str] = ()) -> QueryViews:
    """Return a question's views.

    A question that gives an effect (`why ...`) is compared with memories' effects, one that gives a cause (`what
    happens if ...`) with their causes; a statement that has both sides, each with its own (E.05).
    """
    dense: dict[str, str] = {}
    direction = causal.find_asked_side(text)
    if direction is not None:
        dense[f"e5_{direction[0]}"] = direction[1]
    else:
        stated = causal.find_causal_pairs(text)
        if stated:
            dense |= {"e5_cause": stated[0].cause, "e5_effect": stated[0].effect}
    dense["e7"] = code_view.expand_question(text)
    reference = references.find_asked_reference(text)
    if reference is not None:
        dense[reference[0].value] = reference[1]
    dense["e10"] = goal.goal_of_question(text)
    return QueryViews(dense, tuple(entity_names.canonical_names(entities) or entity_names.find_names(text)))
