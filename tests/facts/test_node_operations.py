"""The memory as SPEC-02 names it: nodes and edges."""

from __future__ import annotations

from typing import Any

import pytest

from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.facts.safe_arguments import sanitize_argument
from hyperloci.memory import Memory
from hyperloci.text.sanitize.sanitizer import SanitizedText

CLEAN = "hyperloci.facts.node_operations.sanitize_argument"
SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"


@pytest.mark.req("SPEC-02.20", "SPEC-02.21", "SPEC-02.18")
@pytest.mark.parametrize("kind", ["entity", "fact", "experience", "decision", "snippet"])
def test_a_node_of_each_type_is_created_with_its_content_alone(memory: Memory, kind: str) -> None:
    node = memory.get_node(memory.create_node(kind, "Gateway"))
    assert node is not None
    # What things are called is of no session.
    assert (node.type, node.content, node.tier) == (kind, "Gateway", "longterm" if kind == "entity" else "task")


@pytest.mark.req("SPEC-02.20", "SPEC-02.34")
def test_a_node_has_the_fields_it_is_given_without_secrets(memory: Memory) -> None:
    made = memory.create_node(
        "fact",
        f"The token is {SECRET}.",
        subtype="constraint",
        confidence=0.7,
        tier="longterm",
        metadata={"k": [SECRET]},
    )
    node = memory.get_node(made)
    assert node is not None
    assert (node.subtype, node.confidence, node.tier, node.scope) == ("constraint", 0.7, "longterm", memory.project.id)
    assert SECRET not in node.content + str(node.metadata)


@pytest.mark.req("SPEC-02.36")
@pytest.mark.parametrize(
    ("type", "fields", "message"),
    [
        ("opinion", {}, "type='opinion' is unknown"),
        ("fact", {"subtype": "commit"}, "does not belong"),
        ("fact", {"tier": "hot"}, "tier='hot' is unknown"),
        ("fact", {"confidence": 2}, "outside 0..1"),
        ("fact", {"embedding": b""}, "embedding can't be given"),
    ],
)
def test_a_node_that_can_not_be_is_refused_in_words(
    memory: Memory, type: str, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadRequestError, match=message):
        memory.create_node(type, "Gateway", **fields)


@pytest.mark.req("SPEC-02.22", "SPEC-02.23")
def test_a_node_is_changed_and_deleted_by_its_id(memory: Memory) -> None:
    made = memory.create_node("fact", "The gateway times out after 30 s.")
    assert memory.update_node(made, content=f"The token is {SECRET}.", confidence=0.9)
    node = memory.get_node(made)
    assert node is not None
    assert (node.confidence, SECRET in node.content) == (0.9, False)
    assert [hit.id for hit in memory.search("token").results] == [made]
    with pytest.raises(BadRequestError, match="scope can't be changed; these can: content"):
        memory.update_node(made, scope="global")
    assert memory.delete_node(made)
    assert not memory.delete_node(made)
    assert not memory.update_node(made, confidence=0.1)
    assert memory.restore(made).memory.id == made


@pytest.mark.req("SPEC-02.22", "B.10")
def test_a_node_whose_text_is_changed_names_what_it_says_now(memory: Memory) -> None:
    made = memory.remember_fact("Jobs are kept in PostgreSQL.", entities=["Scheduler"]).id

    assert memory.update_node(made, content="Jobs are kept in Redis.")

    assert names(memory, made) & {"PostgreSQL", "Redis", "Scheduler"} == {"Redis", "Scheduler"}


@pytest.mark.req("SPEC-02.22", "B.10")
@pytest.mark.parametrize(
    ("type", "subtype"), [("decision", "commit"), ("experience", "episode"), ("snippet", "markdown")]
)
def test_what_happened_and_what_files_say_is_about_what_it_was_though_its_text_is_changed(
    memory: Memory, type: str, subtype: str
) -> None:
    # Its text is not all that tells what it is about: a commit has an author, a snippet what the parse said.
    made = memory.create_node(type, "Jobs are kept in PostgreSQL.", subtype=subtype)

    assert memory.update_node(made, content="Jobs are kept in Redis.")

    assert names(memory, made) == {"PostgreSQL"}


@pytest.mark.req("SPEC-02.22", "B.10")
@pytest.mark.parametrize("mine", ["Jobs are kept in PostgreSQL.", "Jobs are kept in Kafka."])
def test_a_text_that_another_process_changed_meanwhile_leaves_no_name_behind(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, mine: str
) -> None:
    made = memory.remember_fact("Jobs are kept in PostgreSQL.").id

    def change_meanwhile(name: str, value: str) -> SanitizedText:
        monkeypatch.setattr(CLEAN, sanitize_argument)
        assert memory.update_node(made, content="Jobs are kept in Redis.")
        return sanitize_argument(name, value)

    monkeypatch.setattr(CLEAN, change_meanwhile)
    assert memory.update_node(made, content=mine)

    assert names(memory, made) == {mine.split()[-1].rstrip(".")}


def names(memory: Memory, id: str) -> set[str]:
    node = memory.get_node(id)
    assert node is not None
    return {entity.canonical_name for entity in memory.store.entities.list_of_node(node.key)}


@pytest.mark.req("SPEC-02.24")
def test_nodes_are_found_by_type_tier_and_confidence(memory: Memory) -> None:
    low = memory.create_node("fact", "One.", confidence=0.2)
    high = memory.create_node("fact", "Two.", confidence=0.9, tier="longterm")
    memory.create_node("decision", "Three.", confidence=0.9)
    assert [node.id for node in memory.query_nodes("fact")] == [high, low]
    assert [node.id for node in memory.query_nodes("fact", None, 0.5, 10)] == [high]
    assert [node.id for node in memory.query_nodes(tier="longterm", limit=1)] == [high]
    with pytest.raises(BadRequestError, match="type='facts' is unknown"):
        memory.query_nodes("facts")


@pytest.mark.req("SPEC-02.25", "SPEC-02.26")
def test_nodes_are_joined_and_found_through_their_edges(memory: Memory) -> None:
    one, two = memory.create_node("fact", "One."), memory.create_node("fact", "Two.")
    edge = memory.create_edge("causation", "broke", [{"id": one, "role": "cause"}, {"id": two, "role": "effect"}])
    stored = memory.store.edges.get_edge(edge)
    assert stored is not None
    assert (stored.type, stored.label) == ("causation", "broke")
    assert [node.id for node in memory.get_related_nodes(one)] == [two]
    assert [node.id for node in memory.get_related_nodes(one, "causation")] == [two]
    assert memory.get_related_nodes(one, "context") == []
    with pytest.raises(NotFoundError):
        memory.get_related_nodes("nothing")
    with pytest.raises(BadRequestError, match="type='causes' is unknown"):
        memory.create_edge("causes", "broke", [{"id": one}, {"id": two}])


def test_a_node_of_another_project_is_out_of_reach(memory: Memory) -> None:
    other = memory.create_node("fact", "One.")
    node = memory.store.nodes.get_node(other)
    assert node is not None
    with memory.store.transaction():
        key = memory.store.scopes.ensure_scope("other", now=0)
        memory.store.connection.execute("UPDATE nodes SET scope_key = ? WHERE key = ?", (key, node.key))
    assert memory.get_node(other) is None
    assert not memory.delete_node(other)
