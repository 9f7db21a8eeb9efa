"""What joins memories, as the façade gives it."""

from __future__ import annotations

import pytest

from hyperloci.errors import BadRequestError
from hyperloci.memory import Memory
from hyperloci.queries.relations import MAX_DEPTH, MAX_MEMBERS


@pytest.mark.req("D.02")
@pytest.mark.parametrize("depth", [0, MAX_DEPTH + 1])
def test_every_walk_has_the_same_bounds(memory: Memory, depth: int) -> None:
    id = memory.remember_fact("the gateway listens on 8443").id
    for walk in (memory.find_related, memory.get_subgraph, memory.get_neighbourhood):
        with pytest.raises(BadRequestError, match=f"depth={depth} is outside"):
            walk(id, depth=depth)


@pytest.mark.req("D.02")
def test_a_relation_joins_fifty_memories_at_most(memory: Memory) -> None:
    id = memory.remember_fact("the gateway listens on 8443").id

    with pytest.raises(BadRequestError, match=f"at most {MAX_MEMBERS}"):
        memory.relate("belongs_to", [{"id": id}] * (MAX_MEMBERS + 1))


@pytest.mark.req("D.02")
def test_what_was_joined_is_found_from_either_side(memory: Memory) -> None:
    one = memory.remember_fact("the gateway listens on 8443").id
    other = memory.remember_fact("the firewall lets 8443 through").id
    memory.relate("Belongs To", [{"id": one, "role": "subject"}, {"id": other, "role": "object"}])

    assert [hit.id for hit in memory.find_related(one).related] == [other]
    assert [(hit.id, hit.relation) for hit in memory.find_related(other).related] == [(one, "belongs_to")]
