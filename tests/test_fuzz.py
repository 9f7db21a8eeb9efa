"""Every parser and every hook, with inputs that nobody would send; `python -m bench fuzz` gives them more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from bench._fuzz import FUZZED, DefectError, attempt, opened
from bench.fuzz import examine
from hyperloci.errors import BadRequestError

EXAMPLES = 100


@pytest.mark.parametrize("name", FUZZED)
def test_no_input_makes_it_crash_hang_or_show_its_inside(name: str) -> None:
    with opened(FUZZED[name]) as target:

        @given(FUZZED[name].inputs)
        @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
        def holds(value: Any) -> None:
            attempt(target, value)

        holds()


def test_a_defect_is_found_and_shown_with_its_input() -> None:
    def target(value: str) -> None:
        if "(" in value:
            raise ZeroDivisionError(value)
        if value:
            raise BadRequestError("refused, which is fine")

    found = examine(FUZZED["query"].inputs, target, 2_000, 0)
    assert "ZeroDivisionError" in found["defect"]


def test_an_error_that_says_nothing_is_a_defect() -> None:
    def target(value: str) -> None:
        raise BadRequestError(" ")

    with pytest.raises(DefectError):
        attempt(target, "")
