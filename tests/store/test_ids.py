"""Ids and their beginnings: which memory or relation is meant, and what is said where none or several are."""

from __future__ import annotations

import pytest

from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.ids import (
    MIN_PREFIX,
    edge_ids,
    find_node,
    node_ids,
    resolve_id,
    session_ids,
    shorten_id,
    topic_ids,
)
from tests.support import NOW, add

SHARED = "8443beef"


def called(store: Store, node: Node, id: str) -> Node:
    """Give a memory another id."""
    with store.transaction():
        store.connection.execute("UPDATE nodes SET id = ? WHERE key = ?", (id, node.key))
    found = store.nodes.get_by_key(node.key)
    assert found is not None
    return found


def joined(store: Store, *nodes: Node) -> str:
    """Join memories and return the id of the relation."""
    with store.transaction():
        return store.edges.link_nodes("relates_to", nodes[0].key, [node.key for node in nodes[1:]], now=NOW).id


def test_a_memory_is_found_by_its_id_and_by_four_characters_of_it(store: Store) -> None:
    node = called(store, add(store), "c3a6beef-0000-4000-8000-000000000000")

    for said in (node.id, node.id[:MIN_PREFIX], shorten_id(node.id)):
        assert resolve_id(node_ids(store.nodes), said) == find_node(store.nodes, said) == node
    with pytest.raises(NotFoundError, match="id='c3a': no memory has this id; give at least 4 characters of an id; "):
        resolve_id(node_ids(store.nodes), node.id[: MIN_PREFIX - 1])


@pytest.mark.parametrize("said", ["8443", "cafe"])
def test_a_port_or_a_word_that_an_id_begins_with_names_a_memory_only_where_an_id_is_asked_for(
    store: Store, said: str
) -> None:
    node = called(store, add(store), f"{said}beef-0000-4000-8000-000000000000")

    assert find_node(store.nodes, said) is None
    assert resolve_id(node_ids(store.nodes), said) == node


def test_an_id_is_shown_by_its_beginning_and_that_of_another_program_whole() -> None:
    assert shorten_id("c3a6beef-0000-4000-8000-000000000000") == "c3a6beef"
    assert shorten_id("nightly-import-2026") == "nightly-import-2026"


def test_a_session_is_found_by_the_beginning_of_its_id_in_its_project(store: Store) -> None:
    with store.transaction():
        for scope in ("us", "them"):
            store.sessions.note_seen(f"5e55{scope}-0000", store.scopes.ensure_scope(scope, now=NOW), now=NOW)

    assert resolve_id(session_ids(store.sessions, scope="us"), "5e55").id == "5e55us-0000"
    with pytest.raises(BadRequestError, match="several ids: 5e55them-0000, 5e55us-0000"):
        resolve_id(session_ids(store.sessions), "5e55")
    with pytest.raises(NotFoundError, match="no session has this id; `hyperloci sessions` lists them"):
        resolve_id(session_ids(store.sessions, scope="us"), "5e55them")


def test_a_topic_is_found_by_the_beginning_of_its_id_in_its_project(store: Store) -> None:
    ids = {}
    for scope in ("us", "them"):
        node = add(store, f"a fact of {scope}", scope=scope)
        with store.transaction():
            scope_key = store.scopes.ensure_scope(scope, now=NOW)
            ids[scope] = f"70b1c{scope}"
            store.connection.execute(
                "INSERT INTO topics(id, scope_key, name, agreement, created_at, run_at, settled_at, phase)"
                " VALUES (?, ?, '', 1, ?, ?, ?, 'emerging')",
                (ids[scope], scope_key, NOW, NOW, NOW),
            )
        assert node.scope == scope

    assert resolve_id(topic_ids(store.topics, scopes=("us", "global")), "70b1").id == ids["us"]
    with pytest.raises(NotFoundError, match="no topic has this id"):
        resolve_id(topic_ids(store.topics, scopes=("us", "global")), "70b1ct")


def test_a_beginning_that_several_ids_share_is_refused_with_all_of_them(store: Store) -> None:
    ids = [f"{SHARED}-000{number}-4000-8000-000000000000" for number in (1, 2)]
    for id in ids:
        called(store, add(store, id), id)

    with pytest.raises(
        BadRequestError,
        match=rf"replaces='{SHARED}' matches several ids: {ids[0]}, {ids[1]}. Give more characters of the id",
    ):
        resolve_id(node_ids(store.nodes), SHARED, "replaces")
    assert resolve_id(node_ids(store.nodes), ids[1][:13]).id == ids[1]


def test_a_missing_memory_is_named_with_the_argument_it_was_given_as(store: Store) -> None:
    with pytest.raises(NotFoundError, match=r"^id='0{8}': no memory has this id; search_memory"):
        resolve_id(node_ids(store.nodes), "00000000")
    with pytest.raises(NotFoundError, match=r"^where.related_to='0{8}': no memory has this id; "):
        resolve_id(node_ids(store.nodes), "00000000", "where.related_to")


def test_the_beginning_of_an_id_names_nothing_of_another_project(store: Store) -> None:
    theirs = add(store, "theirs", scope="them"), add(store, "theirs too", scope="them")
    edge = joined(store, *theirs)

    assert find_node(store.nodes, theirs[0].id[:8], scopes=["us"]) is None
    assert find_node(store.nodes, theirs[0].id, scopes=["us"]) == theirs[0]
    assert resolve_id(edge_ids(store.edges, scopes=["us", "them"]), edge[:8]).id == edge
    with pytest.raises(NotFoundError, match="no relation has this id"):
        resolve_id(edge_ids(store.edges, scopes=["us"]), edge[:8])


def test_a_relation_is_found_by_its_id_and_by_four_characters_of_it(store: Store) -> None:
    edge = joined(store, add(store, "one"), add(store, "two"))

    assert resolve_id(edge_ids(store.edges), edge).id == resolve_id(edge_ids(store.edges), edge[:MIN_PREFIX]).id == edge
    with pytest.raises(NotFoundError, match=r"no relation has this id; .*`hyperloci graph` shows their ids"):
        resolve_id(edge_ids(store.edges), edge[: MIN_PREFIX - 1])
