"""Entities that are one thing under two names, and memories from before there were entities."""

from __future__ import annotations

import numpy as np
import pytest

from hyperloci.config import Settings
from hyperloci.jobs import MaintenanceContext
from hyperloci.knowledge.entities.merge import merge_alike_entities
from hyperloci.knowledge.entities.registry import EntityLinker
from hyperloci.maintenance.annotation_job import NEXT_KEY, annotate_old_memories
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey, Origin
from hyperloci.store import Store, entity_merges
from hyperloci.store.vectors import float16
from tests.support import NOW, add


def known(store: Store, name: str, vector: list[float]) -> NodeKey:
    with store.transaction():
        key = EntityLinker(store).declare_entity(name, GLOBAL_SCOPE, now=NOW)
        assert key is not None
        model = store.vectors.use_model("fake", 4, now=NOW)
        unit = np.array(vector, np.float32) / np.linalg.norm(vector)
        store.vectors.put_fingerprint(key, model, {"e1": float16.pack_half(unit)}, now=NOW)
    return key


def context(store: Store, settings: Settings) -> MaintenanceContext:
    return MaintenanceContext(store=store, settings=settings, clock=lambda: NOW)


def names(store: Store) -> set[str]:
    scope = store.scopes.find_key(GLOBAL_SCOPE)
    assert scope is not None
    return {entity.canonical_name for entity in store.entities.list_most_mentioned([scope], 99)}


@pytest.mark.req("B.10")
def test_names_that_mean_the_same_are_merged_once(store: Store, settings: Settings) -> None:
    known(store, "payment service", [1, 0, 0, 0.1])
    known(store, "service for payments", [1, 0, 0, 0])
    assert merge_alike_entities(context(store, settings)) == 1
    assert names(store) == {"payment service"}
    assert store.entities.find_by_name("service for payments")[0].canonical_name == "payment service"
    assert merge_alike_entities(context(store, settings)) == 0


@pytest.mark.req("B.10")
@pytest.mark.parametrize(
    ("one", "other"),
    [("sprint 4", "sprint 5"), ("test_parse_a", "test_parse_b"), ("alpha team", "omega crew"), ("a/b.py", "a/c.py")],
)
def test_what_only_looks_alike_stays_apart(store: Store, settings: Settings, one: str, other: str) -> None:
    known(store, one, [1, 0, 0, 0])
    known(store, other, [1, 0, 0, 0])
    assert merge_alike_entities(context(store, settings)) == 0


@pytest.mark.req("B.10")
def test_what_was_parted_by_hand_is_not_merged_again(store: Store, settings: Settings) -> None:
    known(store, "payment service", [1, 0, 0, 0.1])
    known(store, "service for payments", [1, 0, 0, 0])
    merge_alike_entities(context(store, settings))
    scope = store.scopes.find_key(GLOBAL_SCOPE)
    assert scope is not None
    (merge,) = entity_merges.list_merges(store, [scope])
    with store.transaction():
        node = store.nodes.get_by_key(merge.merged)
        assert node is not None and store.nodes.restore_node(node.id, now=NOW)
        entity_merges.undo_merge(store, merge, now=NOW)
    assert merge_alike_entities(context(store, settings)) == 0
    assert names(store) == {"payment service", "service for payments"}


@pytest.mark.req("B.10", "D.07")
def test_older_memories_are_annotated_in_the_background_once(store: Store, settings: Settings) -> None:
    facts = [add(store, f"Fact {number}: PostgreSQL holds the orders.", origin=Origin.TOOL) for number in range(3)]
    with store.transaction():
        store.meta.set(NEXT_KEY, "1")
    assert annotate_old_memories(context(store, settings)) >= 3
    assert [entity.mention_count for entity in store.entities.find_by_name("postgres")] == [3]
    assert store.facets.get_facets([facts[0].key])[facts[0].key].source_type == "fact"
    assert store.meta.get(NEXT_KEY) is None
    assert annotate_old_memories(context(store, settings)) == 0
