"""Sparse spaces: what memories' terms are, and that the inverted index finds what a full comparison finds."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hyperloci.errors import StoreError
from hyperloci.model.kinds import NodeKey
from hyperloci.store import Store
from hyperloci.store.vectors import sparse
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS
from hyperloci.store.vectors.sparse import STEP
from tests.store.vectors.test_fingerprints import make_nodes
from tests.support import add, examples

Terms = Mapping[str, float]


def put(store: Store, memories: Mapping[NodeKey, Terms] | Mapping[int, Terms], space: str = "e13") -> None:
    with store.transaction():
        store.sparse_index.put_terms(space, {NodeKey(key): terms for key, terms in memories.items()})


def everyone(size: int = 100) -> NDArray[np.bool_]:
    return np.ones(size, np.bool_)


def found(
    store: Store, weights: Terms, *, space: str = "e13", k: int = 10, by_rarity: bool = False
) -> dict[int, float]:
    keys, scores = store.sparse_index.find_best(space, weights, everyone(), k, by_rarity=by_rarity)
    return dict(zip(keys.tolist(), scores.round(3).tolist(), strict=True))


def test_memories_are_ranked_by_the_weight_of_the_terms_they_share(store: Store) -> None:
    one, two, three = make_nodes(store, 3)
    put(store, {one: {"cache": 2.0}, two: {"cache": 1.0, "key": 1.0}, three: {"disk": 3.0}})
    assert found(store, {"cache": 1.0}) == {one: 1.0, two: 0.5}
    assert found(store, {"key": 1.0, "disk": 1.0}) == {three: 0.75, two: 0.25}
    assert found(store, {"nobody": 1.0}) == {}


def test_a_rare_term_counts_more_if_that_is_asked_for(store: Store) -> None:
    nodes = [add(store, f"memory {number}") for number in range(9)]
    put(store, {node.key: {"common": 1.0} for node in nodes[:8]} | {nodes[8].key: {"rare": 1.0}})
    scores = found(store, {"common": 1.0, "rare": 1.0}, by_rarity=True)
    assert next(iter(scores)) == nodes[8].key
    assert scores[nodes[8].key] > 5 * scores[nodes[0].key]


def test_only_what_is_allowed_is_found_and_equal_scores_come_by_key(store: Store) -> None:
    keys = make_nodes(store, 5)
    put(store, {key: {"same": 1.0} for key in reversed(keys)})
    allowed = everyone()
    allowed[keys[1]] = False
    assert store.sparse_index.find_best("e13", {"same": 1.0}, allowed, 3)[0].tolist() == [keys[0], keys[2], keys[3]]
    assert store.sparse_index.find_best("e13", {"same": 1.0}, allowed[: keys[2]], 3)[0].tolist() == [keys[0]]


def test_what_is_put_again_replaces_what_was_there(store: Store) -> None:
    (key,) = make_nodes(store, 1)
    put(store, {key: {"old": 1.0, "both": 1.0}})
    put(store, {key: {"new": 1.0, "both": 2.0}})
    assert store.sparse_index.get_terms("e13", key) == {"both": 2.0, "new": 1.0}
    assert found(store, {"old": 1.0}) == {}
    assert not store.sparse_index.differs_from_terms()


def test_a_term_that_only_a_dropped_memory_had_is_forgotten(store: Store) -> None:
    one, two = make_nodes(store, 2)
    put(store, {one: {"secretword": 1.0, "shared": 1.0}, two: {"shared": 1.0}})
    with store.transaction():
        store.sparse_index.drop_memories([one])
    terms = [row[0] for row in store.connection.execute("SELECT term FROM sparse_terms")]
    assert terms == ["shared"]
    assert found(store, {"shared": 1.0}) == {two: 1.0}
    assert not store.sparse_index.differs_from_terms()


def test_spaces_do_not_see_each_other(store: Store) -> None:
    (key,) = make_nodes(store, 1)
    put(store, {key: {"word": 1.0}})
    put(store, {key: {"other": 1.0}}, space="e6")
    assert found(store, {"other": 1.0}) == {}
    put(store, {key: {}})
    assert found(store, {"other": 1.0}, space="e6") == {key: 1.0}


def test_scores_of_chosen_memories_are_those_of_the_search(store: Store) -> None:
    one, two, three = make_nodes(store, 3)
    put(store, {one: {"a": 1.0, "b": 1.0}, two: {"b": 2.0}})
    weights = {"a": 1.0, "b": 0.5}
    scores = store.sparse_index.score_memories("e13", weights, [three, two, one, 10**9], by_rarity=False)
    ranked = found(store, weights)
    assert scores[1:3].round(3).tolist() == [ranked[two], ranked[one]]
    assert scores[[0, 3]].tolist() == [0.0, 0.0]


def test_weights_are_kept_in_steps_and_what_rounds_to_nothing_is_left_out(store: Store) -> None:
    (key,) = make_nodes(store, 1)
    put(store, {key: {"small": STEP / 3, "odd": 1.23456, "large": 99.0}})
    terms = store.sparse_index.get_terms("e13", key)
    assert set(terms) == {"odd", "large"}
    assert abs(terms["odd"] - 1.23456) <= STEP / 2
    assert terms["large"] == 255 * STEP


def test_memories_of_several_blocks_are_found(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "BLOCK_ROWS", 4)
    keys = make_nodes(store, 11)
    put(store, {key: {"word": key / 8} for key in keys})
    assert list(found(store, {"word": 1.0}, k=3)) == keys[:-4:-1]
    with store.transaction():
        store.sparse_index.rebuild_postings()
    assert list(found(store, {"word": 1.0}, k=3)) == keys[:-4:-1]


def test_the_commonest_terms_are_left_out_when_there_is_too_much_to_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse, "MAX_POSTINGS", 3)
    keys = make_nodes(store, 4)
    put(store, {key: {"common": 1.0} for key in keys} | {keys[0]: {"common": 1.0, "rare": 1.0}})
    assert found(store, {"common": 1.0, "rare": 1.0}) == {keys[0]: 1.0}
    assert len(found(store, {"common": 1.0})) == 4


def test_storing_terms_takes_no_longer_where_many_others_are_known(store: Store) -> None:
    one, two, three = make_nodes(store, 3)
    connection = store.connection

    def steps_of(node: int) -> int:
        steps = [0]

        def count() -> int:
            steps[0] += 1
            return 0

        connection.set_progress_handler(count, 10)
        put(store, {node: {"cache": 1.0, "disk": 1.0}})
        connection.set_progress_handler(None, 0)
        return steps[0]

    before = steps_of(one)
    put(store, {two: {f"word{number}": 1.0 for number in range(5_000)}})

    # To read the 5,000 other terms takes some 5,000 of these ten steps.
    assert steps_of(three) < before + 50


def test_a_failure_in_the_middle_leaves_the_index_as_it_was(store: Store) -> None:
    one, two = make_nodes(store, 2)
    put(store, {one: {"word": 1.0}})
    store.connection.execute(
        "CREATE TEMP TRIGGER fail BEFORE INSERT ON main.sparse_postings BEGIN SELECT RAISE(ABORT, 'injected'); END"
    )
    with pytest.raises(StoreError):
        put(store, {one: {"other": 1.0}, two: {"word": 1.0}})
    store.connection.execute("DROP TRIGGER fail")
    assert found(store, {"word": 1.0, "other": 1.0}) == {one: 1.0}
    assert not store.sparse_index.differs_from_terms()


def test_what_is_deleted_by_cascade_is_noticed_and_swept(store: Store) -> None:
    node, other = add(store, "a"), add(store, "b")
    put(store, {node.key: {"word": 1.0}, other.key: {"word": 1.0}})
    with store.transaction():
        store.connection.execute("DELETE FROM nodes WHERE key = ?", (node.key,))
    assert store.sparse_index.differs_from_terms()
    with store.transaction():
        store.sparse_index.rebuild_postings()
    assert not store.sparse_index.differs_from_terms()
    assert found(store, {"word": 1.0}) == {other.key: 1.0}


words = st.sampled_from(["a", "b", "c", "d e", "ж"])
bags = st.dictionaries(words, st.floats(0.02, 3.9), max_size=5)


@hypothesis_settings(max_examples=examples(50))
@given(rounds=st.lists(st.dictionaries(st.integers(0, 5), bags, max_size=4), max_size=4), query=bags)
def test_the_index_finds_what_a_full_comparison_finds(
    rounds: list[dict[int, dict[str, float]]], query: dict[str, float]
) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memory.db") as store:
        keys = make_nodes(store, 6)
        held: dict[int, dict[str, float]] = {}
        for changes in rounds:
            put(store, {keys[place]: terms for place, terms in changes.items()})
            held |= {keys[place]: terms for place, terms in changes.items()}
        sums = {
            key: sum(query[term] * round(terms[term] / STEP) * STEP for term in terms if term in query)
            for key, terms in held.items()
        }
        expected = sorted((key for key, total in sums.items() if total > 0), key=lambda key: (-sums[key], key))
        ranked, scores = store.sparse_index.find_best("e13", query, everyone(BLOCK_ROWS), 10, by_rarity=False)
        assert set(ranked.tolist()) == set(expected)
        assert all(
            sums[one] >= sums[two] - 1e-4 for one, two in zip(ranked.tolist(), ranked.tolist()[1:], strict=False)
        )
        assert ((scores > 0) & (scores <= 1 + 1e-6)).all()
        assert not store.sparse_index.differs_from_terms()


class Undo(Exception):
    """Thrown to roll back."""


@hypothesis_settings(max_examples=examples(60))
@given(
    changes=st.lists(
        st.tuples(
            st.booleans(),
            st.sampled_from(["put", "drop", "fail"]),
            st.integers(0, 3),
            st.dictionaries(st.sampled_from(["red", "green", "blue"]), st.sampled_from([0.5, 1.0, 2.0]), max_size=3),
        ),
        max_size=12,
    ),
    kept=st.integers(0, 6),
)
def test_a_reader_finds_after_any_change_what_one_finds_who_knew_nothing(
    changes: list[tuple[bool, str, int, dict[str, float]]], kept: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(sparse, "KEPT_POSTINGS", kept)
        with Store.open(Path(folder) / "memory.db") as reader, Store.open(reader.path) as other:
            keys = make_nodes(reader, 4)
            for own, what, place, terms in changes:
                store, key = reader if own else other, NodeKey(keys[place])
                if what == "fail":
                    with pytest.raises(Undo), store.transaction():
                        store.sparse_index.put_terms("e13", {key: terms})
                        found(store, {"red": 1.0, "green": 0.5})
                        raise Undo
                else:
                    with store.transaction():
                        store.sparse_index.put_terms(
                            "e13", {key: terms}
                        ) if what == "put" else store.sparse_index.drop_memories([key])
                with reader.snapshot():
                    seen = found(reader, {"red": 1.0, "green": 0.5}, by_rarity=True)
                with Store.open(reader.path) as fresh:
                    assert seen == found(fresh, {"red": 1.0, "green": 0.5}, by_rarity=True)
                counts = dict(reader.connection.execute("SELECT key, postings FROM sparse_terms").fetchall())
                lengths = "SELECT term_key, sum(length(postings)) / 3 FROM sparse_postings GROUP BY term_key"
                assert counts == dict(reader.connection.execute(lengths).fetchall())
