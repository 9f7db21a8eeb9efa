"""Scores of stored rows: each memory's own, in its place, between nought and one, and none where nothing is stored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.spaces import spelling
from hyperloci.spaces.query import QueryFingerprint
from hyperloci.spaces.space import SPACES
from hyperloci.spaces.space_similarity import CAUSAL_WEIGHTS, cosines_of_column, score_space
from hyperloci.store.vectors import float16, int8
from tests.support import examples, random_rows

DIMENSIONS = 32
SCORED = sorted(space for space, kept in SPACES.items() if kept.columns)
"""The spaces that are scored from stored rows."""

MEMORY, OTHER = random_rows(2, DIMENSIONS)
"""Two texts that mean nothing alike."""


def query(**columns: np.ndarray) -> QueryFingerprint:
    return QueryFingerprint(model_id="m", dense=columns)


@pytest.mark.parametrize("space", SCORED)
def test_of_no_memories_there_are_no_scores(space: str) -> None:
    asked = QueryFingerprint(
        model_id="m",
        dense=dict.fromkeys(SPACES[space].columns, MEMORY),
        bits=spelling.signature_bits("word"),
        tokens=random_rows(2, DIMENSIONS),
    )
    assert score_space(space, asked, []).shape == (0,)


@pytest.mark.parametrize("space", SCORED)
def test_a_question_that_says_nothing_in_a_space_gives_no_memory_a_score(space: str) -> None:
    columns = SPACES[space].columns
    row: list[bytes | None] = [
        float16.pack_half(MEMORY) if column == "e1" else int8.pack_int8(MEMORY) for column in columns
    ]
    if space == "e9":
        row = [spelling.signature_bits("word")]
    assert np.isnan(score_space(space, query(), [row, row])).all()


def test_a_question_of_no_tokens_gives_no_memory_a_score() -> None:
    nothing = QueryFingerprint(model_id="m", tokens=np.empty((0, DIMENSIONS), np.float32))
    assert np.isnan(score_space("e12", nothing, [[b"\x01" * 20]])).all()


@hypothesis_settings(max_examples=examples(50))
@given(places=st.lists(st.sampled_from(["memory", "other", "absent", "of another model"]), max_size=8))
def test_every_score_stands_in_the_place_of_its_memory(places: list[str]) -> None:
    stored = {
        "memory": int8.pack_int8(MEMORY),
        "other": int8.pack_int8(OTHER),
        "absent": None,
        "of another model": int8.pack_int8(MEMORY) * 2,
    }
    found = score_space("e10", query(e10=MEMORY), [[stored[name]] for name in places])
    alone = {name: score_space("e10", query(e10=MEMORY), [[stored[name]]])[0] for name in stored}
    np.testing.assert_array_equal(found, np.array([alone[name] for name in places], np.float32))
    assert np.isnan(alone["absent"]) and np.isnan(alone["of another model"])
    assert alone["memory"] == pytest.approx(1, abs=0.01)


def test_what_means_the_opposite_scores_nought_and_nothing_scores_above_one() -> None:
    rows = [[float16.pack_half(-MEMORY)], [float16.pack_half(MEMORY)]]
    assert score_space("e1", query(e1=MEMORY), rows).tolist() == [0.0, pytest.approx(1, abs=1e-3)]
    assert score_space("e1", query(e1=2 * MEMORY), rows).tolist() == [0.0, 1.0]
    assert cosines_of_column("e1", MEMORY, [float16.pack_half(-MEMORY)])[0] == pytest.approx(-1, abs=1e-3)


@pytest.mark.req("E.05")
@pytest.mark.parametrize("column", sorted(CAUSAL_WEIGHTS))
def test_a_side_of_a_cause_counts_by_its_modifier(column: str) -> None:
    asked = 0.5 * MEMORY
    row = [int8.pack_int8(MEMORY)] * 2
    assert score_space("e5", query(**{column: asked}), [row])[0] == pytest.approx(
        0.5 * CAUSAL_WEIGHTS[column], abs=0.01
    )


@pytest.mark.req("E.05")
def test_a_question_with_both_sides_wants_a_memory_with_both() -> None:
    cause, effect = SPACES["e5"].columns
    asked = query(**{cause: 0.5 * MEMORY, effect: 0.5 * OTHER})
    first, second = int8.pack_int8(MEMORY), int8.pack_int8(OTHER)
    rows: list[list[bytes | None]] = [[first, second], [first, None], [None, None]]
    found = score_space("e5", asked, rows)
    whole = 0.5 * (CAUSAL_WEIGHTS[cause] + CAUSAL_WEIGHTS[effect]) / 2
    assert found[:2].tolist() == pytest.approx([whole, 0.5 * CAUSAL_WEIGHTS[cause] / 2], abs=0.01)
    assert np.isnan(found[2])


# -- how a text is spelt -----------------------------------------------------------------------------------------------


def votes(text: str) -> np.ndarray:
    found = spelling.trigram_signature(text)
    assert found is not None
    return found


@pytest.mark.parametrize("text", ["ab", "The lockfile of the build was rewritten by another process overnight."])
def test_a_bit_is_set_where_more_trigrams_say_so_than_not(text: str) -> None:
    packed = spelling.signature_bits(text)
    assert packed is not None
    set_bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little").astype(bool)
    np.testing.assert_array_equal(set_bits, votes(text) > 0)


def test_a_text_asked_for_by_its_own_words_scores_one_and_one_without_a_letter_in_common_nearly_nought() -> None:
    text = "Postgres connection pools were exhausted while the nightly import ran"
    asked = QueryFingerprint(model_id="m", dense={"e9": votes(text)}, bits=spelling.signature_bits(text))
    rows: list[list[bytes | None]] = [[spelling.signature_bits(text)], [None], [spelling.signature_bits("Bcjk vyz")]]
    same, absent, other = score_space("e9", asked, rows)
    assert same == pytest.approx(1, abs=0.03)
    assert np.isnan(absent) and 0 <= other < 0.15


def test_what_is_spelt_against_it_scores_exactly_nought() -> None:
    packed = spelling.signature_bits("overnight")
    assert packed is not None
    against = bytes(byte ^ 0xFF for byte in packed)
    assert score_space("e9", QueryFingerprint(model_id="m", bits=packed), [[against], [packed]]).tolist() == [0.0, 1.0]


def test_the_first_words_of_a_long_text_say_how_it_is_spelt() -> None:
    words = [f"w{number}" for number in range(spelling.MAX_WORDS + 1)]
    assert len(words) == 257
    assert spelling.signature_bits(" ".join(words)) == spelling.signature_bits(" ".join(words[:256]))
    assert (votes(" ".join(words)) != votes(" ".join(words[:255]))).any()


def test_signs_that_nobody_gave_agree_with_nothing() -> None:
    packed = spelling.signature_bits("word")
    assert packed is not None
    assert spelling.spelling_cosines(np.zeros(spelling.SIGNATURE_BITS, np.float32), [packed]).tolist() == [0.0]
