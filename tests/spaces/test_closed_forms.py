"""Spaces without a model: spelling, time, token signs, terms; and bytes for floats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hyperloci.clock import MS_PER_DAY
from hyperloci.spaces import spelling, temporal, term_expansion, token_vectors
from hyperloci.spaces.temporal import RhythmMoment
from hyperloci.store.vectors import int8
from tests.support import examples, packing_error

Matrix = NDArray[np.float32]
MONDAY_NINE = 1_767_603_600_000
"""2026-01-05 09:00 UTC."""
HOUR = MS_PER_DAY // 24


def unit_rows(count: int, dimensions: int, seed: int) -> Matrix:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


# -- E9 ---------------------------------------------------------------------------------------------------------------


def alike(one: str, other: str) -> float:
    first, second = spelling.signature_bits(one), spelling.signature_bits(other)
    assert first is not None and second is not None
    return float(spelling.spelling_cosines(spelling.spelling_signs([first])[0], [second])[0])


@pytest.mark.req("E.01")
@pytest.mark.parametrize(
    ("text", "mistyped", "other"),
    [
        ("the lockfile of the build", "the lokcfile of teh biuld", "the owner of the server"),
        ("PostgreSQL connection pool", "Postgre conection pools", "memory of an old service"),
        ("обновление драйвера базы", "обнвление драйвера безы", "проверка старого сервера"),
    ],
)
def test_a_mistyped_text_is_spelt_more_alike_than_another(text: str, mistyped: str, other: str) -> None:
    assert alike(text, mistyped) > 0.25 > alike(text, other) + 0.1


def test_the_order_of_words_and_their_case_do_not_matter() -> None:
    assert spelling.signature_bits("Cache the Key") == spelling.signature_bits("key cache cache")


def test_a_text_without_letters_has_no_spelling() -> None:
    assert spelling.signature_bits(" ?! ") is None
    assert spelling.signature_bits("") is None


def test_spelling_is_128_bytes_and_the_same_everywhere() -> None:
    found = spelling.signature_bits("hyperloci")
    assert found is not None and len(found) == 128
    assert found[:8].hex() == "370a3910bf24e690"


# -- E2, E3 -----------------------------------------------------------------------------------------------------------


@hypothesis_settings(max_examples=examples(50))
@given(st.lists(st.integers(0, 4 * 365 * MS_PER_DAY), min_size=2, max_size=20, unique=True))
def test_the_fresher_the_higher(ages: list[int]) -> None:
    now = 2_000_000_000_000
    scores = temporal.score_recency(np.array([now - age for age in sorted(ages)]), now)
    assert (np.diff(scores) <= 0).all() and ((scores >= 0) & (scores <= 1)).all()
    assert temporal.score_recency(np.array([now, now + 5]), now).tolist() == [1.0, 1.0]


def test_a_time_of_day_is_nearest_to_itself_whatever_the_day() -> None:
    times = np.array([MONDAY_NINE, MONDAY_NINE + 4 * MS_PER_DAY + HOUR, MONDAY_NINE + 12 * HOUR])
    scores = temporal.score_rhythm(times, RhythmMoment(hour=9))
    assert scores[0] == pytest.approx(1) and 0.5 < scores[1] < 1 and scores[2] == 0
    assert (
        temporal.score_rhythm(times - 3 * HOUR, RhythmMoment(hour=9), utc_offset_ms=3 * HOUR).tolist()
        == scores.tolist()
    )


def test_a_day_of_the_week_is_nearest_to_itself() -> None:
    times = np.array([MONDAY_NINE + day * MS_PER_DAY for day in range(7)])
    for day in range(7):
        scores = temporal.score_rhythm(times, RhythmMoment(weekday=day))
        assert scores.argmax() == day and scores[day] == pytest.approx(1)
    assert np.isnan(temporal.score_rhythm(times, RhythmMoment())).all()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("what did we do on Friday evening?", RhythmMoment(19.5, 4)),
        ("the bug from monday", RhythmMoment(None, 0)),
        ("errors at 3:30 pm", RhythmMoment(15.5, None)),
        ("what breaks at night", RhythmMoment(23.5, None)),
        ("что было в понедельник утром", RhythmMoment(9.0, 0)),
        ("what do we do on Mondays", RhythmMoment(None, 0)),
        ("по пятницам вечером", RhythmMoment(19.5, 4)),
        ("встреча в 15:30", RhythmMoment(15.5, None)),
        ("was machen wir am Freitag abends", RhythmMoment(19.5, 4)),
        ("qu'est-ce qui casse le lundi matin", RhythmMoment(9.0, 0)),
        ("the main tarde", None),
        ("retry at 3 of 5 places", None),
        ("how do I deploy?", None),
    ],
)
def test_a_question_names_a_time(text: str, moment: RhythmMoment | None) -> None:
    assert temporal.moment_of(text) == moment


# -- E12 --------------------------------------------------------------------------------------------------------------


@pytest.mark.req("E.12")
def test_a_long_text_keeps_ninety_six_spans_and_a_short_one_its_tokens() -> None:
    assert [len(token_vectors.pack_token_vectors(unit_rows(count, 384, 1)) or b"") for count in (1, 96, 97, 1_016)] == [
        24,
        2304,
        2304,
        2304,
    ]
    assert token_vectors.pack_token_vectors(np.empty((0, 384), np.float32)) is None
    assert token_vectors.query_token_vectors(np.empty((0, 384), np.float32)) is None


def test_signs_rank_texts_as_floats_do() -> None:
    texts = [unit_rows(40, 384, seed) for seed in range(30)]
    asked = texts[7][10:20] + 0.5 * unit_rows(10, 384, 99)
    query = token_vectors.query_token_vectors((asked / np.linalg.norm(asked, axis=1, keepdims=True)).astype(np.float32))
    assert query is not None
    scores = token_vectors.score_max_sim(query, [token_vectors.pack_token_vectors(text) or b"" for text in texts])
    assert scores.argmax() == 7 and scores[7] > 2 * np.sort(scores)[-2]
    assert ((scores >= 0) & (scores <= 1)).all()


def test_pooling_parts_where_neighbours_are_least_alike() -> None:
    one, two = unit_rows(2, 8, 3)
    rows = np.stack([one, one, two, two, two])
    np.testing.assert_allclose(token_vectors.pool_rows(rows, 2), np.stack([one, two]), atol=1e-6)


# -- E13 --------------------------------------------------------------------------------------------------------------


def test_a_memory_keeps_its_own_terms_and_a_question_brings_others() -> None:
    held = term_expansion.weigh_terms("Delete the parse_config cache. The cache is stale.")
    assert held["cach"] > held["stale"] > 0 and "the" not in held
    assert {"parse_config", "pars", "config", "delet"} <= held.keys()
    asked = term_expansion.expand_query("remove the cache of k8s")
    assert asked["remov"] == 1.0 and 0 < asked["delet"] < 1 and 0 < asked["kubernet"] < 1


def test_a_longer_text_keeps_its_heaviest_terms() -> None:
    held = term_expansion.weigh_terms(" ".join(f"word{number}x " * (1 + number % 3) for number in range(300)))
    assert len(held) == term_expansion.MAX_TERMS


class OneNeighbour:
    def nearest_words(self, word: str, count: int) -> list[tuple[str, float]]:
        return [("failure", 0.4)][:count] if word == "error" else []


def test_neighbours_count_by_their_cosine() -> None:
    asked = term_expansion.expand_query("zebra error", OneNeighbour())
    assert asked["failur"] == term_expansion.SYNONYM_WEIGHT  # The thesaurus knows it too, and is surer.
    assert term_expansion.expand_query("zebra", OneNeighbour()) == {"zebra": 1.0}


# -- bytes for floats -------------------------------------------------------------------------------------------------


@pytest.mark.req("E.12")
@hypothesis_settings(max_examples=examples(100))
@given(st.integers(0, 10_000), st.integers(1, 400))
def test_a_cosine_with_packed_bytes_is_off_by_no_more_than_its_bound(seed: int, dimensions: int) -> None:
    stored, query = unit_rows(2, dimensions, seed)
    exact = float(stored @ query)
    packed = int8.pack_int8(stored)
    assert len(packed) == dimensions
    assert abs(float(int8.unpack_int8([packed], dimensions)[0] @ query) - exact) <= packing_error(stored) + 1e-6


def test_packing_what_was_packed_changes_nothing_and_zeros_stay() -> None:
    packed = int8.pack_int8(unit_rows(1, 384, 5)[0])
    assert int8.pack_int8(int8.unpack_int8([packed], 384)[0]) == packed
    assert not int8.unpack_int8([int8.pack_int8(np.zeros(4, np.float32))], 4).any()
