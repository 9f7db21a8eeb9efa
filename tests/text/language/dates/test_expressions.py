"""Expressions of a time: which days they mean."""

from __future__ import annotations

import datetime as dt

import pytest

from hyperloci.text.language.dates import DateText

TODAY = dt.date(2027, 1, 15)


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("last January", "2026-01-01", "2026-02-01"),
        ("this January", "2027-01-01", "2027-02-01"),
        ("next January", "2028-01-01", "2028-02-01"),
        ("in February", "2026-02-01", "2026-03-01"),
        ("this February", "2027-02-01", "2027-03-01"),
        ("on Friday", "2027-01-08", "2027-01-09"),
        ("this Friday", "2027-01-15", "2027-01-16"),
        ("over the past two weeks", "2027-01-01", "2027-01-16"),
        ("позапрошлой неделе", "2026-12-28", "2027-01-04"),
        ("в последние выходные", "2027-01-09", "2027-01-11"),
        ("last autumn", "2026-09-01", "2026-12-01"),
        ("this spring", "2027-03-01", "2027-06-01"),
        ("in summer 2025", "2025-06-01", "2025-09-01"),
        ("in the fall of 2025", "2025-09-01", "2025-12-01"),
        ("this winter", "2026-12-01", "2027-03-01"),
        ("last winter", "2025-12-01", "2026-03-01"),
        ("next winter", "2027-12-01", "2028-03-01"),
        ("in winter 2026", "2026-12-01", "2027-03-01"),
        ("in winter 2027", "2026-12-01", "2027-03-01"),
        ("in winter 2028", "2027-12-01", "2028-03-01"),
        ("весной", "2026-03-01", "2026-06-01"),
        ("прошлой осенью", "2026-09-01", "2026-12-01"),
        ("летом 2025 года", "2025-06-01", "2025-09-01"),
        ("on 3rd of March, 2024", "2024-03-03", "2024-03-04"),
        ("5 марта 2024", "2024-03-05", "2024-03-06"),
    ],
)
def test_an_expression_means_days_of_the_calendar(text: str, first: str, end: str) -> None:
    (expression,) = DateText(text).find()
    assert [day.isoformat() for day in expression.days(TODAY)] == [first, end]
