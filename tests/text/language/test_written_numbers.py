"""Written numbers: what digits mean, however they are grouped and their fractions marked."""

from __future__ import annotations

import re

import pytest

from hyperloci.text.language.written_numbers import NUMBER, is_grouped_by_points, may_group_by_point, read_number


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("21,5", 21.5),
        ("21.5", 21.5),
        ("0,125", 0.125),
        ("1500", 1500.0),
        ("1,500", 1500.0),
        ("1 500", 1500.0),
        ("1\u202f500", 1500.0),
        ("1\u00a0500,25", 1500.25),
        ("1'500", 1500.0),
        ("1 500.25", 1500.25),
        ("1.500,25", 1500.25),
        ("1,500.25", 1500.25),
        ("1.500", 1.5),
        ("1 234 567", 1_234_567.0),
        ("150 000", 150_000.0),
        ("3,14159", 3.14159),
        ("10.000.000", 10_000_000.0),
        ("1.234.567.890", 1_234_567_890.0),
    ],
)
def test_a_number_means_the_same_however_it_is_written(written: str, meant: float) -> None:
    assert re.fullmatch(NUMBER, written)
    assert read_number(written) == pytest.approx(meant)


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    "text", ["1,2,3", "2024 500", "200 4041", "10,5-7", "012 345", "404 500", "120 180", "1.2.3", "10.0.1", "3.100.0"]
)
def test_a_list_of_numbers_is_not_read_as_one(text: str) -> None:
    assert not re.fullmatch(NUMBER, text)


@pytest.mark.req("D.10")
def test_points_group_digits_by_three_and_else_part_a_version_or_an_address() -> None:
    assert all(map(is_grouped_by_points, ("10.000.000", "1.000.000.000", "9.999.999")))
    assert not any(
        map(is_grouped_by_points, ("1.2.3", "10.0.1", "1.500", "0.100.200", "192.168.100.200", "v1.000.000"))
    )


@pytest.mark.req("D.10")
def test_only_a_point_before_three_digits_may_group_them() -> None:
    assert all(map(may_group_by_point, ("1.500", "1.500ms", "$1.500")))
    assert not any(map(may_group_by_point, ("1.50", "1.5000", "0.125", "1,500", "3.11.4")))


@pytest.mark.parametrize("text", ["rgb(0,128,255)", "buckets 0,100,500", "0,5,10", "runs on 192.168.100.200."])
def test_what_a_pattern_takes_for_a_number_can_be_read(text: str) -> None:
    assert all(read_number(match[0]) >= 0.0 for match in re.finditer(NUMBER, text))
