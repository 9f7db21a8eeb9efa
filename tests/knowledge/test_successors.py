"""What may have replaced a memory, in one wording wherever it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.config import Settings
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
    found = find_possible_successors(memory.store, [old.key, near.key, far.key], memory.project.id)
    assert {key: set(ids) for key, ids in found.items()} == {old.key: {near.id, far.id}, near.key: {far.id}}


def test_where_nothing_updates_anything_nothing_is_found(memory: Memory) -> None:
    id = memory.remember_fact("webhooks are signed").id
    node = memory.store.nodes.get_node(id)
    assert node and find_possible_successors(memory.store, [node.key], memory.project.id) == {}


def test_it_is_told_with_ids_or_their_beginnings() -> None:
    assert describe_possible_successors(["abcdef", "ghijkl"], chars=3) == "possibly replaced by abc, ghi"
    assert describe_possible_successors(["abcdef"]) == "possibly replaced by abcdef"


@pytest.mark.parametrize("label", ["updates", "contradicts"])
def test_what_another_project_says_of_what_holds_in_all_is_noted_there_alone(
    settings: Settings, tmp_path: Path, label: str
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    with Memory.open(settings, tmp_path / "here") as here, Memory.open(settings, tmp_path / "there") as there:
        everywhere = here.remember_fact("Releases are tagged on Mondays", category="preference").id
        secret = there.remember_fact("Releases are tagged on Fridays, says the customer").id
        roles = ("subject", "object") if label == "updates" else ("participant", "participant")
        there.relate(label, [{"id": id, "role": role} for id, role in zip((secret, everywhere), roles, strict=True)])
        assert secret in " ".join(there.get(everywhere).notes)
        assert here.get(everywhere).notes == ()
