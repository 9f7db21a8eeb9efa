"""What may have replaced a memory, in one wording wherever it is shown."""

from __future__ import annotations

from hyperloci.knowledge.successors import describe_possible_successors, find_possible_successors
from hyperloci.memory import Memory


def test_all_living_ones_are_named_and_those_that_are_gone_are_not(memory: Memory) -> None:
    old, near, far, gone = (
        memory.store.nodes.get_node(memory.remember_fact(f"webhooks are tried {count} times").id)
        for count in ("three", "five", "eight", "nine")
    )
    assert old and near and far and gone
    for newer in (near, far, gone):
        memory.relate("updates", [{"id": newer.id, "role": "subject"}, {"id": old.id, "role": "object"}])
    memory.relate("updates", [{"id": far.id, "role": "subject"}, {"id": near.id, "role": "object"}])
    memory.forget(gone.id, reason="wrong")
    found = find_possible_successors(memory.store, [old.key, near.key, far.key])
    assert {key: set(ids) for key, ids in found.items()} == {old.key: {near.id, far.id}, near.key: {far.id}}


def test_where_nothing_updates_anything_nothing_is_found(memory: Memory) -> None:
    id = memory.remember_fact("webhooks are signed").id
    node = memory.store.nodes.get_node(id)
    assert node and find_possible_successors(memory.store, [node.key]) == {}


def test_it_is_told_with_ids_or_their_beginnings() -> None:
    assert describe_possible_successors(["abcdef", "ghijkl"], chars=3) == "possibly replaced by abc, ghi"
    assert describe_possible_successors(["abcdef"]) == "possibly replaced by abcdef"
