from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.indexing.chunk_matching import match_file, match_moves
from tests.support import examples


@dataclass(frozen=True)
class Piece:
    content_hash: bytes
    symbol: str | None = None
    title: str = ""


def text(*letters: str) -> list[Piece]:
    return [Piece(letter.encode()) for letter in letters]


def code(**contents: str) -> list[Piece]:
    return [Piece(content.encode(), symbol, symbol) for symbol, content in contents.items()]


pieces = st.lists(
    st.builds(
        Piece,
        st.sampled_from([b"a", b"b", b"c", b"d"]),
        st.sampled_from([None, "f", "g", "A.f"]),
        st.sampled_from(["", "one", "two"]),
    ),
    max_size=9,
)


@pytest.mark.req("D.05", "E.03")
@given(pieces, pieces)
@settings(max_examples=examples(100))
def test_every_chunk_is_used_at_most_once_and_none_is_lost(old: list[Piece], new: list[Piece]) -> None:
    found = match_file(old, new)

    assert sorted([i for i, _ in found.pairs] + list(found.gone)) == list(range(len(old)))
    assert sorted([j for _, j in found.pairs] + list(found.fresh)) == list(range(len(new)))


@pytest.mark.req("E.03")
@given(pieces, pieces)
@settings(max_examples=examples(100))
def test_as_many_equal_texts_are_paired_as_there_are(old: list[Piece], new: list[Piece]) -> None:
    found = match_file(old, new)

    paired = Counter(old[i].content_hash for i, j in found.pairs if old[i].content_hash == new[j].content_hash)
    assert paired == Counter(p.content_hash for p in old) & Counter(p.content_hash for p in new)


@given(pieces)
@settings(max_examples=examples(100))
def test_a_file_that_did_not_change_matches_itself_in_order(chunks: list[Piece]) -> None:
    found = match_file(chunks, chunks)

    assert {(chunks[i], chunks[j]) for i, j in found.pairs} == {(chunk, chunk) for chunk in chunks}
    for alike in set(chunks):
        partners = [j for i, j in found.pairs if chunks[i] == alike]
        assert partners == sorted(partners)
    assert not found.gone and not found.fresh


@given(pieces, st.data())
@settings(max_examples=examples(100))
def test_a_permutation_loses_no_chunk(chunks: list[Piece], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(chunks))

    found = match_file(chunks, shuffled)

    assert not found.gone and not found.fresh
    assert all(chunks[i] == shuffled[j] for i, j in found.pairs)


@given(pieces, pieces)
@settings(max_examples=examples(100))
def test_moves_use_every_chunk_at_most_once(gone: list[Piece], fresh: list[Piece]) -> None:
    pairs = match_moves(gone, fresh, lambda i, j: True)

    assert len({i for i, _ in pairs}) == len(pairs) == len({j for _, j in pairs})
    assert all(
        gone[i].content_hash == fresh[j].content_hash or gone[i].symbol == fresh[j].symbol is not None for i, j in pairs
    )


@pytest.mark.req("D.05")
def test_a_changed_function_is_the_same_function() -> None:
    old = code(f="1", g="2", h="3")
    new = code(f="1", g="changed", h="3")

    assert match_file(old, new).pairs == ((0, 0), (1, 1), (2, 2))


def test_a_new_function_between_two_others_displaces_none() -> None:
    old = code(f="1", h="3")
    new = code(f="1", g="2", h="3 changed")

    found = match_file(old, new)

    assert found.pairs == ((0, 0), (1, 2))
    assert found.fresh == (1,)


def test_equal_texts_are_told_apart_by_their_symbol() -> None:
    old = [Piece(b"pass", "A.f"), Piece(b"pass", "B.f")]
    new = [Piece(b"pass", "B.f"), Piece(b"pass", "A.f")]

    assert match_file(old, new).pairs == ((0, 1), (1, 0))


def test_a_renamed_function_is_another_function() -> None:
    found = match_file(code(f="def f"), code(g="def g"))

    assert found.gone == (0,) and found.fresh == (0,)


def test_a_paragraph_edited_in_its_place_is_the_same_paragraph() -> None:
    found = match_file(text("a", "b", "c"), text("a", "x", "c"))

    assert found.pairs == ((0, 0), (1, 1), (2, 2))


def test_a_paragraph_added_at_one_end_is_not_the_one_that_went_at_the_other() -> None:
    found = match_file(text("a", "b", "c"), text("b", "c", "d"))

    assert found.pairs == ((1, 0), (2, 1))
    assert found.gone == (0,) and found.fresh == (2,)


def test_a_paragraph_under_another_heading_is_another_paragraph() -> None:
    found = match_file([Piece(b"a", None, "setup")], [Piece(b"x", None, "usage")])

    assert not found.pairs


@pytest.mark.req("D.05")
def test_a_function_moved_and_changed_is_followed_only_if_it_is_alike() -> None:
    gone, fresh = code(f="old"), code(f="new")

    assert match_moves(gone, fresh, lambda i, j: True) == ((0, 0),)
    assert match_moves(gone, fresh, lambda i, j: False) == ()


def test_a_name_that_appears_twice_says_nothing_about_a_move() -> None:
    gone = code(main="old")
    fresh = [Piece(b"x", "main"), Piece(b"y", "main")]

    assert match_moves(gone, fresh, lambda i, j: True) == ()
