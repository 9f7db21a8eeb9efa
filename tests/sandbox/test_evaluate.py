"""The language of programs: what works in it, and every way out of it that has worked elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.sandbox.evaluate import CallFailed, ProgramOutcome, evaluate_program, to_plain
from hyperloci.sandbox.guards import METHODS
from hyperloci.sandbox.limits import ProgramLimits
from hyperloci.sandbox.program_names import NO_NAMES
from tests.sandbox.escapes import DYNAMIC, STATIC
from tests.support import examples

SECRET = "canary-5c1f"

LIMITS = ProgramLimits(output_chars=200, result_chars=500)


def memory_query(query: str, limit: int = 10, *, hidden: str = SECRET) -> list[str]:
    if limit > 50:
        raise CallFailed("BadRequestError", f"limit={limit}")
    return [query] * limit


def run(code: str) -> ProgramOutcome:
    return evaluate_program(code, {"memory_query": memory_query}, LIMITS)


def result_of(code: str) -> Any:
    outcome = run(code)
    assert outcome.error is None, outcome.error
    return outcome.result


@pytest.mark.req("SPEC-02.32")
@pytest.mark.parametrize(("code", "reason"), STATIC)
def test_a_known_escape_is_refused_before_anything_runs(code: str, reason: str) -> None:
    outcome = run(f"print('ran')\n{code}" if "does not parse" not in reason else code)
    assert outcome.error is not None
    assert outcome.error.type == "Refused"
    assert reason in outcome.error.message
    assert outcome.output == ""
    assert SECRET not in str(outcome)


@pytest.mark.req("SPEC-02.32")
@pytest.mark.parametrize(("code", "reason"), DYNAMIC)
def test_a_known_escape_is_refused_as_it_runs(code: str, reason: str) -> None:
    outcome = run(code)
    assert outcome.error is not None
    assert outcome.error.type in {"AttributeError", "NameError", "TypeError"}
    assert reason in outcome.error.message
    assert outcome.error.line is not None
    assert SECRET not in str(outcome)


def test_the_escapes_are_many() -> None:
    assert len({code for code, _ in (*STATIC, *DYNAMIC)}) >= 120


def test_no_listed_method_names_attributes_in_text_or_leads_to_another_kind_of_object() -> None:
    listed = {f"{kind.__name__}.{name}" for kind, names in METHODS.items() for name in names}
    assert not listed & {"str.format", "str.format_map", "str.encode", "str.maketrans", "str.translate"}
    assert not any(name.startswith("_") for names in METHODS.values() for name in names)
    assert all(hasattr(kind, name) for kind, names in METHODS.items() for name in names)


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("1 + 1", 2),
        ("x = 3\nx *= 2\nx", 6),
        ("d = {}\nfor w in 'a b a'.split():\n    d[w] = d.get(w, 0)\n    d[w] += 1\nd", {"a": 2, "b": 1}),
        ("x = [1, 2, 3]\nx[1:] += [4]\nx", [1, 2, 3, 4]),
        ("def f(*a, **k):\n    return len(a), k\nf(*[1, 2], **{'x': 1})", [2, {"x": 1}]),
        ("sorted(['b', 'A'], key=str.lower)", ["A", "b"]),
        ("{('a', 'b'): 1, ('a', 'c'): 2}", {'["a", "b"]': 1, '["a", "c"]': 2}),
        ("{('é',): 1}", {'["é"]': 1}),
        ("{None: 1, 1.5: 2, True: 3}", {"null": 1, "1.5": 2, "true": 3}),
        ("{1: 'number', '1': 'text'}", [[1, "number"], ["1", "text"]]),
        ("{len: 1, min: 2}", [["<builtin_function_or_method>", 1], ["<builtin_function_or_method>", 2]]),
        ("sorted([{'s': 1}, {'s': 2}], key=lambda d: -d['s'])", [{"s": 2}, {"s": 1}]),
        ("a, (b, *c) = 1, (2, 3, 4)\n[a, b, c]", [1, 2, [3, 4]]),
        ("{k: v for k, v in zip('ab', range(2))}", {"a": 0, "b": 1}),
        ("def g():\n    yield from (1, 2)\nlist(g())", [1, 2]),
        ("n = 0\nwhile True:\n    n += 1\n    if n > 3:\n        break\nn", 4),
        ("try:\n    1/0\nexcept:\n    r = 'caught'\nr", "caught"),
        ("try:\n    memory_query('x', 99)\nexcept Exception as e:\n    r = str(e)\nr", "limit=99"),
        ("f'{3.14159:.2f} {1!r:>5} \\N{BULLET}'", "3.14     1 •"),
        ("(lambda x: x if x else None)(0)", None),
        ("x = 1\nif (y := x + 1) > 1:\n    y\ny", 2),
        ("del_me = {'a': 1}\ndel del_me['a']\ndel_me", {}),
        ("total = 0\ndef add(n):\n    global total\n    total += n\nadd(2)\ntotal", 2),
        ("x = 1", None),
        ("# only words", None),
    ],
)
def test_what_a_program_needs_works(code: str, result: object) -> None:
    assert result_of(code) == result


def test_what_functions_print_is_one_output() -> None:
    outcome = run("def f():\n    print('in', 1, sep='-')\nprint('a', end=' ')\nf()\nprint(print is not None)")
    assert replace(outcome, names=NO_NAMES) == ProgramOutcome("a in-1\nTrue\n", None, None)


@pytest.mark.parametrize(
    ("code", "kind", "line"),
    [
        ("x = 1\n\nx / 0", "ZeroDivisionError", 3),
        ("def f():\n    return {}['a']\n\nf()", "KeyError", 2),
        ("x = 1\nimport os", "Refused", 2),
        ("x = (\n", "Refused", 1),
        ("\nmemory_query('x', limit=51)", "BadRequestError", 2),
        ("raise ValueError('mine')", "ValueError", 1),
        ("assert False, 'no'", "AssertionError", 1),
    ],
)
def test_an_error_names_its_line(code: str, kind: str, line: int) -> None:
    error = run(code).error
    assert error is not None
    assert (error.type, error.line) == (kind, line)


def test_what_was_printed_before_an_error_is_told() -> None:
    outcome = run("print('before')\n1/0")
    assert outcome.output == "before\n"
    assert outcome.error is not None


def test_a_flood_of_output_ends_the_program_and_no_handler_stops_that() -> None:
    outcome = run("n = 0\nwhile True:\n    n += 1\n    try:\n        print('x' * 99)\n    except:\n        pass")
    assert len(outcome.output) == LIMITS.output_chars
    assert outcome.error is not None
    assert outcome.error.type == "Stopped"
    assert "200 characters" in outcome.error.message
    assert outcome.error.line == 5


def test_a_result_too_large_is_an_error_that_says_how_large() -> None:
    outcome = run("'x' * 1000")
    assert outcome.result is None
    assert outcome.error is not None
    assert "1,002 characters" in outcome.error.message


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("{(1, 2): {3}, None: b'x', 2: print}", {"[1, 2]": [3], "null": "<bytes>", "2": "<method>"}),
        ("x = []\nx.append(x)\nlen(x)", 1),
        ("2 ** 53 + 1", "9007199254740993"),
        ("1 << 100_000", "<a whole number of 100,001 bits>"),
        ("[float('inf'), 1.5]", ["inf", 1.5]),
        ("'\\ud800'", "?"),
        ("range(3)", [0, 1, 2]),
        ("{'a': 1}.items()", [["a", 1]]),
        ("lambda: 0", "<function>"),
    ],
)
def test_every_value_has_a_json_form(code: str, result: object) -> None:
    assert result_of(code) == result


def test_a_list_in_itself_has_an_end() -> None:
    assert json.dumps(result_of("x = []\nx.append(x)\nx")).count("[") == 20


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.none(), inner) | st.tuples(inner),
    max_leaves=20,
)


@given(values)
@settings(max_examples=examples(100))
def test_plain_gives_strict_json_that_can_be_written(value: object) -> None:
    json.dumps(to_plain(value), allow_nan=False, ensure_ascii=False).encode("utf-8")


@given(st.text(max_size=300))
@settings(max_examples=examples(200))
def test_any_text_is_a_program_or_refused(code: str) -> None:
    outcome = run(code)
    assert outcome.error is None or outcome.error.message


@pytest.mark.req("W10")
@pytest.mark.parametrize("error", ["ValueError", "ValueError('')", "ValueError(' \\n ')", "Exception", "StopIteration"])
def test_an_exception_without_a_message_is_told_with_its_kind_and_line(error: str) -> None:
    outcome = run(f"print(1)\nraise {error}")
    assert outcome.output == "1\n"
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.message, outcome.error.line) == (
        error.partition("(")[0],
        "it was raised without a message",
        2,
    )


def test_a_failed_assertion_and_an_empty_iterator_say_so() -> None:
    for code, kind in (("assert 1 == 2", "AssertionError"), ("next(iter([]))", "StopIteration")):
        error = run(code).error
        assert error is not None
        assert (error.type, error.line) == (kind, 1)
        assert error.message


@pytest.mark.parametrize("argument", ["10 ** 5000", "deep"])
def test_a_message_that_can_not_be_shown_ends_nothing_but_the_program(argument: str) -> None:
    error = run(f"deep = []\nfor _ in range(90_000):\n    deep = [deep]\nraise KeyError({argument})").error
    assert error is not None
    assert (error.type, error.line) == ("KeyError", 4)
    assert "can't be shown" in error.message
