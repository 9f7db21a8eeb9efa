"""Every parser and every hook, with inputs that nobody would send; `python -m bench fuzz` gives them more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench import _fuzz
from bench._fuzz import EXTENSIONS, FUZZED, RUN_CHARS, RUNS, DefectError, open_target, try_input
from bench._fuzz_mutants import MAX_SIZE, make_mutants
from bench._fuzz_pumps import pump_input
from bench._pump import Attack, generic_attacks
from bench.fuzz import MUTANTS, PUMPED, examine
from hyperloci.errors import BadRequestError
from tests.support import examples

EXAMPLES = 100

TRIED = tuple(generic_attacks())


@pytest.mark.parametrize("name", FUZZED)
def test_no_input_makes_it_crash_hang_or_show_its_inside(name: str) -> None:
    with open_target(FUZZED[name]) as target:

        @given(FUZZED[name].inputs)
        @settings(max_examples=examples(EXAMPLES), suppress_health_check=list(HealthCheck))
        def holds(value: Any) -> None:
            try_input(target, value)

        holds()


@pytest.mark.parametrize("name", ["markdown", "boundary", "views", "query", "ctf", "graph"])
def test_the_same_thousands_of_times_in_a_row_is_no_reason_to_hang(name: str) -> None:
    with open_target(FUZZED[name]) as target:
        for piece in RUNS:
            try_input(target, f"The x. {piece * (RUN_CHARS // len(piece))} y")


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_the_same_thousands_of_times_in_a_row_is_no_reason_to_hang_in_code(extension: str) -> None:
    with open_target(FUZZED["code"]) as target:
        for piece in RUNS:
            try_input(target, (f"a{extension}", f"/* {piece * (RUN_CHARS // len(piece))} x */\n"))


def test_a_defect_is_found_and_shown_with_its_input() -> None:
    def target(value: str) -> None:
        if "(" in value:
            raise ZeroDivisionError(value)
        if value:
            raise BadRequestError("refused, which is fine")

    found = examine(FUZZED["query"].inputs, target, 2_000, 0, TRIED)
    assert "ZeroDivisionError" in found["defect"]
    assert "given: " in found["defect"]


def test_a_defect_that_only_a_changed_input_has_is_found() -> None:
    def target(value: list[int]) -> None:
        if value != [1, 2, 3]:
            raise ZeroDivisionError(value)

    found = examine(st.just([1, 2, 3]), target, 10, 0, TRIED)
    assert "ZeroDivisionError" in found["defect"]


def test_a_target_gets_as_many_inputs_as_it_was_promised() -> None:
    taken: list[str] = []
    found = examine(st.text(), taken.append, 95, 0, TRIED)
    assert found == {**found, "inputs": len(taken), "defect": None}
    assert 95 <= len(taken) <= 95 + MUTANTS + PUMPED


@pytest.mark.parametrize(
    "value",
    [
        "# A heading\n\ntext",
        b'{"type": "user", "n": [1, 2.5, null]}\nnot json\n',
        b"",
        ("a.py", "def f(x):\n    return x\n"),
        ("Stop", b'{"session_id": "s1"}'),
        {"fact": "It is so.", "tags": ["a", "b"], "limit": 3},
        {},
        [],
    ],
)
def test_mutants_are_other_inputs_of_the_same_kind_and_the_same_each_time(value: Any) -> None:
    for number in range(50):
        made = list(make_mutants(value, number, 20))
        assert repr(made) == repr(list(make_mutants(value, number, 20)))
        for one in made:
            assert type(one) is type(value)
            assert not isinstance(value, tuple) or (one[0] == value[0] and type(one[1]) is type(value[1]))
            assert not isinstance(one, str | bytes) or len(one) <= MAX_SIZE
    assert sum(any(one != value for one in make_mutants(value, number, 20)) for number in range(50)) == 50


@pytest.mark.req("W1")
@pytest.mark.parametrize(
    "value",
    [
        "# A heading",
        b'{"type": "user", "n": [1, null]}\nnot json\n',
        b"",
        ("a.py", "x = 1\n"),
        {"fact": "So."},
        {},
        [1],
    ],
)
def test_a_pumped_string_gets_into_an_input_of_any_kind(value: Any) -> None:
    attack = Attack("<", "ab", ">")
    for number in range(30):
        made = pump_input(value, number, [attack])
        assert made == pump_input(value, number, [attack])
        assert type(made) is type(value)
        assert not isinstance(value, tuple) or made[0] == value[0]
        assert "<abab" in (made.decode() if isinstance(made, bytes) else repr(made))


@pytest.mark.req("W1")
@pytest.mark.parametrize("name", ["markdown", "boundary", "read", "views", "query", "ctf"])
def test_no_pumped_string_makes_a_reader_of_text_hang(name: str) -> None:
    with open_target(FUZZED[name]) as target:
        for attack in generic_attacks():
            for length in (40, 2_000):
                try_input(target, attack.text(length))


def test_what_never_ends_is_a_defect_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fuzz, "HANG_SECONDS", 0.1)

    def target(value: str) -> None:
        while True:
            pass

    with pytest.raises(DefectError, match="processor time"):
        try_input(target, "")


def test_an_error_that_says_nothing_is_a_defect() -> None:
    def target(value: str) -> None:
        raise BadRequestError(" ")

    with pytest.raises(DefectError):
        try_input(target, "")
