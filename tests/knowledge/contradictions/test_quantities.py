"""Values in sentences, and when two of them are the same (D.10)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.knowledge.contradictions import quantities
from hyperloci.knowledge.contradictions.claims import analyse_sentence
from hyperloci.knowledge.contradictions.quantities import are_same_value
from hyperloci.knowledge.contradictions.words import analyse_word
from tests.support import examples


def kinds(sentence: str) -> dict[str, float | str]:
    """Return the values a sentence states, by kind."""
    return {value.kind: value.name or value.size for value in analyse_sentence(sentence).values}


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The timeout is 30 s", {"time": 30.0}),
        ("The timeout is 30s", {"time": 30.0}),
        ("The timeout is 1.5 minutes", {"time": 90.0}),
        ("The timeout is 30,000 ms", {"time": 30.0}),
        ("Uploads are limited to 5 MB", {"size": 5e6}),
        ("Coverage is 80%", {"percent": 80.0}),
        ("Coverage is 80 percent", {"percent": 80.0}),
        ("The quota is 60 calls per minute", {"count of call per time": 1.0}),
        ("The quota is 60 calls/minute", {"count of call per time": 1.0}),
        ("The pool has four threads", {"count of thread": 4.0}),
        ("The number of threads is 4", {"count of thread": 4.0}),
        ("The batch size is 64", {"number": 64.0}),
        ("The batch size is 10.000.000", {"number": 10_000_000.0}),
        ("max_connections = 100", {"number": 100.0}),
        ("The project targets Python 3.11", {"version python": "3.11"}),
        ("The release is on 2026-05-01", {"date": "2026-05-01"}),
        ("The release is on May 1, 2026", {"date": "2026-05-01"}),
        ("The release is on 1 May", {"date": "0000-05-01"}),
        ("It may take a while", {}),
        ("Backups run at 4:30 pm", {"clock": "16:30"}),
        ("Backups run at 12 am", {"clock": "00:00"}),
        ("Deploys happen on Fridays", {"weekday": "friday"}),
        ("We use PostgreSQL", {"database": "PostgreSQL"}),
        ("My editor is VS Code", {"editor": "VS Code"}),
        ("The config lives in /etc/app.conf", {"path": "/etc/app.conf"}),
        ("The database runs on db7.internal", {"host": "db7.internal"}),
        ("The maintainer is Anna", {"name": "anna"}),
        ("Anna is the maintainer", {"name": "anna"}),
        ("Maintainer: Anna", {"name": "anna"}),
        ("The timeout is not 30 s", {}),
    ],
)
def test_values_are_read_in_units_that_compare(sentence: str, expected: dict[str, float | str]) -> None:
    assert kinds(sentence) == pytest.approx(expected)


@pytest.mark.parametrize("sentence", ["Sprint 4 is over", "Issue 41 is fixed", "Port 8080 serves HTTP"])
def test_the_number_of_a_name_is_no_value(sentence: str) -> None:
    read = analyse_sentence(sentence)
    assert read.values == ()
    assert len(read.labels) == 1


@settings(max_examples=examples(80))
@given(st.integers(min_value=1, max_value=10_000_000))
def test_seconds_and_milliseconds_of_one_duration_are_the_same(seconds: int) -> None:
    (a,) = analyse_sentence(f"The timeout is {seconds} s").values
    (b,) = analyse_sentence(f"The timeout is {seconds * 1_000:,} ms").values
    assert are_same_value(a, b)
    assert are_same_value(b, a)


@settings(max_examples=examples(80))
@given(st.integers(min_value=1, max_value=1_000), st.integers(min_value=1, max_value=1_000))
def test_different_numbers_of_a_thing_differ(one: int, other: int) -> None:
    (a,) = analyse_sentence(f"The pool has {one} threads").values
    (b,) = analyse_sentence(f"The pool has {other} threads").values
    assert are_same_value(a, b) == (abs(one - other) <= 0.005 * max(one, other))


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.sampled_from(
            "May 3rd 2024 Monday v1.2 version 30 s GitHub Actions Google Cloud Postgres a/b.py db1.local of is".split()  # noqa: SIM905
        ),
        max_size=8,
    )
)
def test_no_value_begins_where_reading_is_left_out(texts: list[str]) -> None:
    words = [analyse_word(text) for text in texts]
    found = quantities.find_values(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantities, "_may_begin_value", lambda text: True)
        assert quantities.find_values(words) == found
