"""Presentation: turns stored nodes into hits, with ISO 8601 times, source, present confidence and warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hyperloci.clock import to_iso
from hyperloci.knowledge.exceptions import describe_exceptions
from hyperloci.knowledge.graph.anchors import describe_code_changes
from hyperloci.knowledge.reverts import describe_reverts, find_reverting
from hyperloci.knowledge.successors import describe_possible_successors, find_possible_successors, select_told
from hyperloci.model.decay import decay_factor
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node, last_day_of
from hyperloci.model.pyramid_levels import GIVES_TURNS
from hyperloci.model.pyramid_levels import SUBTYPES as CHUNKS
from hyperloci.model.search import Hit
from hyperloci.model.sources import make_hit_source
from hyperloci.retrieval.order.newer_first import find_steps
from hyperloci.store import Store
from hyperloci.text.language.relative_dates import RelativeDate

PAST: Final = "said before; what was made of it was replaced since"
PARTLY_PAST: Final = "said before; some of what was made of it was replaced since"

WITHHELD: Final = "withheld: the user wants no session to be shown it"
"""The note of a withheld memory, for who names its id."""


def present_hits(
    store: Store,
    nodes: Sequence[Node],
    *,
    now: int,
    scores: Mapping[NodeKey, float] | None = None,
    explanations: Mapping[NodeKey, Mapping[str, Any]] | None = None,
    project: str,
) -> list[Hit]:
    """Return a Hit for each node, in their order, as a project is shown them."""
    keys = [node.key for node in nodes]
    positions = store.positions.get_positions(keys)
    commits = store.files.get_commits(keys)
    stale = describe_code_changes(store, keys)
    times = store.turns.get_spoken_times(keys)
    doubts = describe_doubts(store, keys, project=project)
    past = _describe_past_turns(store, keys)
    withheld = store.withheld.select_withheld(keys)
    asker = store.nodes.signature.asker
    return [
        Hit(
            id=node.id,
            type=node.type,
            subtype=node.subtype,
            content=node.content,
            score=round((scores or {}).get(node.key, 0.0), 4),
            confidence=round(current_confidence(node, now), 4),
            tier=node.tier,
            scope=node.scope,
            created_at=to_iso(node.created_at),
            valid_from=to_iso(node.valid_from),
            valid_until=None if node.valid_until is None else to_iso(node.valid_until),
            source=make_hit_source(node, positions.get(node.key), commits.get(node.key), asker=asker),
            notes=(
                *_collect_notes(node, stale.get(node.key), is_withheld=node.key in withheld),
                *past.get(node.key, ()),
                *(doubts.get(node.key, ()) if node.valid_until is None else ()),
                *(str(RelativeDate(*time)) for time in times.get(node.key, ())),
            ),
            explain=(explanations or {}).get(node.key),
        )
        for node in nodes
    ]


def _describe_past_turns(store: Store, keys: Sequence[NodeKey]) -> dict[NodeKey, tuple[str, ...]]:
    """Return for each turn of which something that was made was replaced since, a note that says so.

    Its words stay as they were said, and may be nearer to a question than what holds now.
    """
    outdated = store.edges.select_outdated_turns(keys)
    spent = store.edges.select_spent_turns(outdated) if outdated else frozenset[NodeKey]()
    return {key: (PAST if key in spent else PARTLY_PAST,) for key in outdated}


def describe_doubts(
    store: Store, keys: Sequence[NodeKey], *, project: str, chars: int | None = None
) -> dict[NodeKey, tuple[str, ...]]:
    """Return for each memory that one which holds contradicts, or may have replaced, a note that names it.

    So it is of what a project decided otherwise, and of commits that were reverted. Of ids the first `chars` characters
    are named.
    """
    steps = find_steps(store, keys, "contradicts", "both")
    spent = store.edges.select_spent_turns({step.target for step in steps})
    notes: dict[NodeKey, tuple[str, ...]] = {}
    for step, other in select_told(store, steps, project):
        if other.holds and other.key not in spent:
            notes[step.source] = (*notes.get(step.source, ()), f"contradicted by {other.id[:chars]}")
    for key, ids in find_possible_successors(store, keys, project).items():
        notes[key] = (*notes.get(key, ()), describe_possible_successors(ids, chars=chars))
    for key, reverting in find_reverting(store, keys).items():
        notes[key] = (*notes.get(key, ()), describe_reverts(reverting, chars=chars))
    for key, note in describe_exceptions(store, keys, (project,), chars=chars).items():
        notes[key] = (*notes.get(key, ()), note)
    return {key: tuple(dict.fromkeys(found)) for key, found in notes.items()}


def current_confidence(node: Node, now: int) -> float:
    """Return a node's confidence as it stands after its decay since the last access (B.11)."""
    return node.confidence * decay_factor(node.decay_rate, now - node.last_accessed)


def _collect_notes(node: Node, stale: str | None, *, is_withheld: bool) -> tuple[str, ...]:
    notes = []
    if stale:
        notes.append(f"outdated: {stale}")
    if node.subtype in CHUNKS.values():
        notes.append(f"summary of {node.metadata.get('turns')} turns; {GIVES_TURNS}")
    if node.deleted_at is not None:
        notes.append("forgotten")
    if node.valid_until is not None:
        notes.append("no longer valid")
    elif (day := last_day_of(node)) is not None:
        # The words may say it from another day: `next Friday`.
        notes.append(f"last day {day}")
    if is_withheld:
        notes.append(WITHHELD)
    flags = node.metadata.get("flags")
    if isinstance(flags, list) and flags:
        notes.append(f"suspicious: {', '.join(map(str, flags))}")
    return tuple(notes)
