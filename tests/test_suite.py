"""The suite itself: two runs of it do the same, whatever else the machine does (W16)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

TESTS = Path(__file__).parent

SETTINGS = ("settings", "hypothesis_settings", "limits")
"""What hypothesis's settings are called here."""


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Yield every call in the suite, with its place."""
    for file in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield f"{file.relative_to(TESTS)}:{node.lineno}", node


@pytest.mark.req("W16")
def test_the_profile_draws_the_same_each_time_and_minds_no_clock() -> None:
    usual = hypothesis_settings.get_profile("same")
    assert usual.derandomize and usual.deadline is None
    assert HealthCheck.too_slow in usual.suppress_health_check
    long = hypothesis_settings.get_profile("long")
    assert not long.derandomize and long.deadline is None and long.max_examples > usual.max_examples


@pytest.mark.req("W16")
def test_no_test_has_a_deadline_or_a_randomness_of_its_own() -> None:
    own = [
        f"{place} {keyword.arg}"
        for place, call in calls()
        if isinstance(call.func, ast.Name) and call.func.id in SETTINGS
        for keyword in call.keywords
        if keyword.arg in ("deadline", "derandomize", "database")
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None)
    ]
    assert own == []


@pytest.mark.req("W16")
def test_whatever_is_random_says_which_randomness_it_is() -> None:
    unseeded = [
        place
        for place, call in calls()
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("Random", "default_rng") and not call.args
    ]
    assert unseeded == []
    shared = [
        place
        for place, call in calls()
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "random"
        and call.func.attr != "Random"
    ]
    assert shared == []
