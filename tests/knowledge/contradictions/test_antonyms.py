"""Opposites (D.10)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.knowledge.contradictions import antonyms
from hyperloci.knowledge.contradictions.antonyms import are_opposites, find_opposable, pair_opposites
from tests.support import examples


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("enable", "disable"),
        ("enables", "disabled"),
        ("synchronous", "asynchronous"),
        ("sync", "async"),
        ("always", "never"),
        ("increased", "decreasing"),
        ("allows", "forbids"),
        ("encrypted", "unencrypted"),
        ("blocking", "non-blocking"),
        ("single-threaded", "multi-threaded"),
        ("stateful", "stateless"),
        ("valid", "invalid"),
        ("possible", "impossible"),
    ],
)
def test_opposites_are_known_in_all_their_forms_both_ways(a: str, b: str) -> None:
    assert are_opposites(a, b)
    assert are_opposites(b, a)


@pytest.mark.parametrize(
    ("a", "b"), [("port", "import"), ("form", "inform"), ("unit", "it"), ("enable", "enabled"), ("press", "impress")]
)
def test_words_that_only_look_alike_are_no_opposites(a: str, b: str) -> None:
    assert not are_opposites(a, b)
    assert not are_opposites(b, a)


@settings(max_examples=examples(100))
@given(st.sampled_from(sorted(antonyms._read_opposites())), st.text(max_size=12))
def test_no_word_is_its_own_opposite_and_the_relation_is_symmetric(word: str, other: str) -> None:
    assert not are_opposites(word, word)
    assert are_opposites(word, other.lower()) == are_opposites(other.lower(), word)


WORDS = st.one_of(
    st.sampled_from(sorted(antonyms._read_opposites())),
    st.builds(
        lambda start, root, end: start + root + end,
        st.sampled_from(["", "un", "non-", "non", "de-", "in", "im", "dis", "a", "single-", "multi"]),
        st.sampled_from(["port", "valid", "typed", "state", "thread", "code", "sync", "possible", "form", "x"]),
        st.sampled_from(["", "less", "ful", "ed", "able", "s"]),
    ),
    st.text("abdeilmnstu-", max_size=8),
)


@pytest.mark.req("D.10")
@given(left=st.lists(WORDS, max_size=12), right=st.lists(WORDS, max_size=12))
@settings(max_examples=examples(300))
def test_what_words_tell_of_their_opposites_misses_none_that_comparing_all_finds(
    left: list[str], right: list[str]
) -> None:
    compared = [(i, j) for i, one in enumerate(left) for j, other in enumerate(right) if are_opposites(one, other)]
    assert pair_opposites(find_opposable(left), find_opposable(right)) == compared
