from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.indexing.containment import Address, find_held_chunks
from hyperloci.model.kinds import NodeKey
from tests.support import examples

addresses = st.lists(st.lists(st.sampled_from("abc"), max_size=3).map(tuple), max_size=12)


def numbered(*paths: str) -> list[tuple[NodeKey, Address]]:
    return [(NodeKey(i), tuple(path.split("."))) for i, path in enumerate(paths)]


def test_a_class_holds_its_methods_in_order_and_what_is_nested_in_them_is_theirs() -> None:
    assert find_held_chunks(numbered("A", "A.f", "A.g", "A.g.inner", "h")) == {0: [1, 2], 2: [3]}


def test_of_a_thing_in_several_pieces_the_first_stands_for_all() -> None:
    assert find_held_chunks(numbered("A", "A", "A.f", "A.f")) == {0: [2]}


def test_where_the_one_above_has_no_chunk_the_next_above_holds() -> None:
    assert find_held_chunks(numbered("a", "a.b.c")) == {0: [1]}


@given(addresses)
@settings(max_examples=examples(60))
def test_nothing_is_held_twice_or_by_what_is_not_above_it(found: list[Address]) -> None:
    chunks = [(NodeKey(i), address) for i, address in enumerate(found)]

    held = find_held_chunks(chunks)

    everything = [key for keys in held.values() for key in keys]
    assert len(everything) == len(set(everything))
    for holder, keys in held.items():
        for key in keys:
            above, below = found[holder], found[key]
            assert len(above) < len(below) and below[: len(above)] == above
