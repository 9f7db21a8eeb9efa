"""What joins memories, as the façade gives it."""

from __future__ import annotations

from typing import Any

import pytest

from hyperloci.errors import BadRequestError
from hyperloci.memory import Memory
from hyperloci.queries.relations import MAX_DEPTH, MAX_MEMBERS
from tests.support import NOW
from tests.working_tree import WorkingTree

FILLER = "".join(f"    note_{number} = 'so many words that a chunk is full'\n" for number in range(90))
LONG = (
    f"def begin():\n    return 1\n\n\ndef long():\n{FILLER}    first = begin()\n{FILLER}    return finish(first)\n"
    "\n\ndef finish(value):\n    return close(value)\n\n\ndef close(value):\n    return value\n\n\n"
    "def use():\n    return long()\n"
)


@pytest.fixture
def cut(memory: Memory, tree: WorkingTree) -> Memory:
    """A memory of a function that is cut into pieces and calls from two of them."""
    tree.write("long.py", LONG)
    tree.write("main.py", "import long\n\n\ndef main():\n    return long.use()\n")
    memory.index_path()
    return memory


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
def test_a_relation_that_is_told_again_is_stored_once(memory: Memory) -> None:
    one, two = (memory.remember_fact(text).id for text in ("the cache is cold", "the page is slow"))
    members = [{"id": one, "role": "cause"}, {"id": two, "role": "effect"}]
    told = memory.relate("causes", members, evidence="measured")
    assert memory.relate("causes", list(reversed(members)), evidence="measured") == told
    assert memory.relate("causes", members, evidence="measured again") != told
    assert memory.relate("causes", [{"id": two, "role": "cause"}, {"id": one, "role": "effect"}]) != told


@pytest.mark.req("D.02")
def test_a_memory_is_not_related_to_itself(memory: Memory) -> None:
    one = memory.remember_fact("the cache is cold").id
    with pytest.raises(BadRequestError, match="all one memory"):
        memory.relate("causes", [{"id": one, "role": "cause"}, {"id": one, "role": "effect"}])


@pytest.mark.req("B.15")
def test_what_is_only_said_to_supersede_a_memory_that_holds_did_not_replace_it(memory: Memory) -> None:
    old, new = (memory.remember_fact(text).id for text in ("the otter pool opens at nine", "the heron tower is high"))
    with pytest.raises(BadRequestError, match=f'remember_fact.*replaces="{old}"'):
        memory.relate("supersedes", [{"id": new, "role": "subject"}, {"id": old, "role": "object"}])
    # As databases have it from when that was let through.
    one, other = (memory.store.nodes.get_node(id) for id in (new, old))
    assert one is not None and other is not None
    with memory.store.transaction():
        memory.store.edges.link_nodes("supersedes", one.key, [other.key], now=NOW)
    history = memory.explain_fact(old)
    assert history.superseded_by is None
    assert not any("replaced" in sentence or "not been valid" in sentence for sentence in history.account)
    assert memory.explain_fact(new).supersedes == ()


@pytest.mark.req("D.02")
def test_what_was_joined_is_found_from_either_side(memory: Memory) -> None:
    one = memory.remember_fact("the gateway listens on 8443").id
    other = memory.remember_fact("the firewall lets 8443 through").id
    memory.relate("Belongs To", [{"id": one, "role": "subject"}, {"id": other, "role": "object"}])

    assert [hit.id for hit in memory.find_related(one).related] == [other]
    assert [(hit.id, hit.relation) for hit in memory.find_related(other).related] == [(one, "belongs_to")]


@pytest.mark.req("D.02", "D.11")
@pytest.mark.parametrize("written", ["depends_on", "Depends on", " DEPENDS_ON ", "Any"])
def test_a_drawing_has_the_relations_of_a_label_however_it_is_written(memory: Memory, written: str) -> None:
    one = memory.remember_fact("the gateway listens on 8443").id
    other = memory.remember_fact("the firewall lets 8443 through").id
    memory.relate("depends_on", [{"id": one, "role": "subject"}, {"id": other, "role": "object"}])

    drawn = memory.get_subgraph(one, relationship=written)
    assert [node.id for node in drawn.nodes] == [one, other]
    assert [edge.label for edge in drawn.edges] == ["depends_on"]


@pytest.mark.req("D.02", "B.10")
def test_what_mentions_an_entity_is_related_to_it(memory: Memory) -> None:
    kept = memory.remember_fact("Sessions are kept in Redis", entities=["Redis"]).id
    gone = memory.remember_fact("Redis evicts at night", entities=["Redis"]).id
    memory.forget(gone)

    answer = memory.find_related("Redis")

    assert [(hit.id, hit.relation, hit.direction) for hit in answer.related] == [(kept, "mentions", "in")]
    assert answer.relations == ("mentions in 1",)
    assert [hit.id for hit in memory.find_related("Redis", relationship="mentions", direction="in").related] == [kept]
    assert not memory.find_related("Redis", relationship="causes").related
    assert not memory.find_related("Redis", direction="out").related


@pytest.mark.req("D.02", "B.10")
def test_a_thing_that_the_project_and_the_global_memory_know_is_one(memory: Memory) -> None:
    here = memory.remember_fact("Sessions are kept in Redis", entities=["Redis"]).id
    often = [memory.remember_fact(f"Redis rule {one} holds", entities=["Redis"], scope="global").id for one in "ab"]
    reason = memory.remember_fact("Two hosts must share the logins").id
    for hit in memory.store.nodes.query_nodes("entity"):
        memory.relate("supports", [{"id": reason, "role": "subject"}, {"id": hit.id, "role": "object"}])

    answer = memory.find_related("Redis")

    assert {hit.id for hit in answer.related} == {here, *often, reason} and "mentions in 3" in answer.relations
    assert {node.id for node in memory.get_subgraph("Redis", depth=1).nodes} == {answer.node.id, here, *often, reason}


@pytest.mark.req("D.02")
def test_mentions_fill_what_the_other_relations_leave(memory: Memory) -> None:
    first = memory.remember_fact("Sessions are kept in Redis", entities=["Redis"]).id
    memory.remember_fact("Redis runs on two hosts", entities=["Redis"])
    entity = memory.find_related("Redis").node.id
    memory.relate("supports", [{"id": first, "role": "subject"}, {"id": entity, "role": "object"}])

    (only,) = memory.find_related("Redis", limit=1).related

    assert (only.id, only.relation) == (first, "supports")
    assert [hit.relation for hit in memory.find_related("Redis").related] == ["supports", "mentions"]


@pytest.mark.req("D.02", "B.10")
def test_a_walk_goes_on_from_what_mentions_an_entity(memory: Memory) -> None:
    kept = memory.remember_fact("Sessions are kept in Redis", entities=["Redis"]).id
    reason = memory.remember_fact("Two hosts must share the logins").id
    memory.relate("supports", [{"id": reason, "role": "subject"}, {"id": kept, "role": "object"}])

    related = memory.find_related("Redis", depth=2).related
    drawn = memory.get_subgraph("Redis", depth=2)

    assert [(hit.id, hit.relation, hit.distance) for hit in related] == [(kept, "mentions", 1), (reason, "supports", 2)]
    assert [node.id for node in drawn.nodes[1:]] == [kept, reason]
    assert sorted(edge.label for edge in drawn.edges) == ["mentions", "supports"]
    assert len(memory.get_subgraph("Redis", depth=1).nodes) == 2
    assert len(memory.get_subgraph("Redis", direction="out").nodes) == 1


def test_of_many_mentions_only_those_shown_are_read(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        memory.remember_fact(f"Redis number {number} is kept", entities=["Redis"])
    read: list[int] = []
    get_by_keys = memory.store.nodes.get_by_keys

    def count(keys: Any) -> Any:
        found = get_by_keys(keys)
        read.extend(node.key for node in found.values() if "is kept" in node.content)
        return found

    monkeypatch.setattr(memory.store.nodes, "get_by_keys", count)
    answer = memory.find_related("Redis", limit=2)

    assert answer.relations == ("mentions in 5",)
    assert [hit.content for hit in answer.related] == ["Redis number 4 is kept", "Redis number 3 is kept"]
    assert len(read) == 2


@pytest.mark.req("D.02")
@pytest.mark.parametrize(("label", "meant"), [("causal", "causes"), ("Temporal", "follows"), ("entity", "mentions")])
def test_a_relation_is_not_stored_under_a_name_that_only_the_documents_have(
    memory: Memory, label: str, meant: str
) -> None:
    one, other = memory.remember_fact("the gateway listens on 8443").id, memory.remember_fact("it rains").id

    with pytest.raises(BadRequestError, match=f"the relation {meant}"):
        memory.relate(label, [{"id": one}, {"id": other}])

    assert memory.create_edge("relation", label, [{"id": one}, {"id": other}])


@pytest.mark.req("SPEC-02.25")
@pytest.mark.parametrize("member", [{"node_id": "abcd"}, ("abcd", "subject")])
def test_a_member_without_an_id_is_refused_with_what_it_takes(memory: Memory, member: Any) -> None:
    with pytest.raises(BadRequestError, match=r"members\[0\].* must be an object with id"):
        memory.create_edge("relation", "supports", [member])


@pytest.mark.req("D.02", "D.06")
def test_dependencies_are_those_of_all_pieces_of_a_function(cut: Memory) -> None:
    answer = cut.get_dependencies("use", relationship="calls")

    assert [(node.place.split()[0], node.distance) for node in answer.dependencies] == [
        ("long", 1), ("begin", 2), ("finish", 2), ("close", 3),
    ]  # fmt: skip


@pytest.mark.req("D.02", "D.06")
def test_a_path_leads_through_the_pieces_of_a_function_as_one(cut: Memory) -> None:
    path = cut.path_between("use", "close", relationship="calls", direction="out")

    assert path is not None
    assert [node.place.split()[0] for node in path.nodes] == ["use", "long", "finish", "close"]
    shown = {node.id for node in path.nodes}
    assert all({id for id, _ in edge.members} <= shown and len(edge.members) == 2 for edge in path.edges)


@pytest.mark.req("D.02", "D.06")
def test_a_walk_begins_and_ends_at_a_whole_file(cut: Memory) -> None:
    path = cut.path_between("main.py", "long.py", relationship="calls", direction="out")
    near = cut.get_neighbourhood("long.py", depth=1, relationship="calls")

    assert path is not None and [node.distance for node in path.nodes] == [0, 1]
    assert {node.place.split()[0] for node in near[1:]} == {"main"}


@pytest.mark.req("D.02")
def test_no_walk_steps_on_what_is_withheld(memory: Memory) -> None:
    one, between, other = (memory.remember_fact(text).id for text in ("alpha listens", "beta relays", "gamma answers"))
    for first, second in ((one, between), (between, other)):
        memory.relate("depends_on", [{"id": first, "role": "subject"}, {"id": second, "role": "object"}])
    assert memory.path_between(one, other, relationship="depends_on") is not None

    memory.withhold(between)

    assert memory.path_between(one, other, relationship="depends_on") is None
    assert not memory.get_dependencies(one).dependencies
