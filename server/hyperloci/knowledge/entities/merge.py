"""Entity merging: finds, in the background, two names of one entity (B.10).

Names that differ in case and joints only are one from the start; here those are joined whose vectors are all but the
same. A wrong merge mixes up two things everywhere, a missed one costs a second name: so only spoken names of one type
are compared, with the same digits and a word in common; code is never merged. Each merge is logged and can be undone,
and a merge that was undone by hand is not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from hyperloci.knowledge.entities.entity_service import merge
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store, entity_merges
from hyperloci.store.memories.entities import Entity

if TYPE_CHECKING:
    from hyperloci.jobs import MaintenanceContext

SAME_NAME_COSINE: Final = 0.9
"""Cosine from which on two names mean the same (docs/why/knowledge.md)."""

MAX_COMPARED: Final = 2_000
"""Entities of one scope that are compared, the most mentioned: four million pairs, half a second."""

_CODE: Final = re.compile(r"[a-z][A-Z]|[_/(]|\w\.\w|^[A-Z0-9-]{2,7}$")
_DIGITS: Final = re.compile(r"\d+")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")


def merge_alike_entities(context: MaintenanceContext) -> int:
    """Merge entities whose names mean the same; return how many were merged."""
    store, done = context.store, 0
    for scope in context.list_scopes():
        key = store.scopes.find_key(scope)
        if key is None:
            continue
        for one, other, score in alike(store, key):
            subject = f"merge {one.id} {other.id}"
            with store.set_aside.attempt_piece(
                key, SetAsideKind.MEMORY, subject, now=context.clock(), node=one.node_key
            ):
                kept, merged = (store.entities.get_entity(each.node_key) for each in (one, other))
                if kept is not None and merged is not None and _both_live(store, kept, merged):
                    reason = f"the names mean the same (cosine {score:.2f})"
                    merge(store, kept, merged, now=context.clock(), reason=reason, score=score)
                    done += 1
            context.yield_to_others()
    return done


def alike(store: Store, scope_key: int) -> list[tuple[Entity, Entity, float]]:
    """Return the pairs of a scope that are one entity, the more mentioned first in each; surest pairs first."""
    import numpy as np

    from hyperloci.store.vectors import float16

    found = store.entities.list_with_vectors(scope_key, limit=MAX_COMPARED)
    spoken = [(entity, vector) for entity, vector in found if not _CODE.search(entity.canonical_name)]
    if len(spoken) < 2:
        return []
    vectors = float16.unpack_half([vector for _, vector in spoken])
    cosines = np.triu(vectors @ vectors.T, k=1)
    pairs = np.argwhere(cosines >= SAME_NAME_COSINE)
    entities = [entity for entity, _ in spoken]
    return sorted(
        _select_mergeable(store, entities, [(int(i), int(j), float(cosines[i, j])) for i, j in pairs]), key=_pair_order
    )


def _pair_order(pair: tuple[Entity, Entity, float]) -> tuple[float, int, int]:
    return (-pair[2], pair[0].node_key, pair[1].node_key)


def _select_mergeable(
    store: Store, entities: Sequence[Entity], pairs: Sequence[tuple[int, int, float]]
) -> Iterator[tuple[Entity, Entity, float]]:
    for i, j, score in pairs:
        one, other = entities[i], entities[j]
        names = one.canonical_name, other.canonical_name
        same_digits = sorted(_DIGITS.findall(names[0])) == sorted(_DIGITS.findall(names[1]))
        parted = entity_merges.was_merge_undone(store, one.node_key, other.node_key)
        if one.kind == other.kind and same_digits and not parted and _share_a_word(*names):
            yield one, other, score


def _share_a_word(one: str, other: str) -> bool:
    words = ({word.casefold()[:5] for word in _WORD.findall(name)} for name in (one, other))
    return bool(set.intersection(*words))


def _both_live(store: Store, one: Entity, other: Entity) -> bool:
    nodes = store.nodes.get_by_keys([one.node_key, other.node_key])
    return len(nodes) == 2 and all(node.deleted_at is None for node in nodes.values())
