"""Times of day."""

from __future__ import annotations

import pytest

from hyperloci.text.language.dates import clock_minutes


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("3:30 pm", 930), ("3pm", 900), ("12:05am", 5), ("17:05", 1_025), ("3", None), ("3:3", None), ("noon", None)],
)
def test_a_time_of_day_is_minutes_since_midnight(text: str, minutes: int | None) -> None:
    assert clock_minutes(text) == minutes
