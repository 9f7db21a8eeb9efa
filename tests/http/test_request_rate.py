"""How often a key may ask: exactly so often in any minute, and no key is kept for longer than that."""

from __future__ import annotations

import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.http import request_rate
from hyperloci.http.request_rate import MAX_KEYS, WINDOW_SECONDS, RequestRate
from tests.support import examples


class Seconds:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 40)), max_size=60))
def test_in_no_minute_more_pass_than_agreed_and_none_is_refused_that_fits(calls: list[tuple[str, float]]) -> None:
    seconds, passed = Seconds(), dict[str, list[float]](a=[], b=[])
    rate = RequestRate(3, seconds)
    for key, pause in calls:
        seconds.now += pause
        recent = [at for at in passed[key] if at > seconds.now - WINDOW_SECONDS]
        fits = len(recent) < 3
        assert rate.allows(key) == fits
        assert rate.count(key) == fits
        passed[key] += [seconds.now] * fits


def test_keys_that_nobody_asks_for_any_more_are_forgotten() -> None:
    seconds = Seconds()
    rate = RequestRate(3, seconds)
    for number in range(MAX_KEYS + 50):
        rate.count(f"stranger {number}")
    assert len(rate._times) == MAX_KEYS
    seconds.now += WINDOW_SECONDS
    assert rate.allows("stranger 60")
    rate.count("somebody")
    assert list(rate._times) == ["somebody"]


def test_counting_starts_no_thread() -> None:
    before = threading.active_count()
    rate = request_rate.RequestRate(1)
    assert [rate.count("a"), rate.count("a"), rate.count("b")] == [True, False, True]
    assert threading.active_count() == before
