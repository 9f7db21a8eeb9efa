"""What a question says of time beside dates: events and order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.queries.question_time import TimeOrder, find_event_bound, read_question_time
from tests.support import NOW, examples


@pytest.mark.parametrize(
    ("query", "side", "event", "about"),
    [
        (
            "which database did we use before we switched to Postgres?",
            "before",
            "we switched to Postgres",
            "to Postgres",
        ),
        ("what broke after we've dropped Redis", "after", "we've dropped Redis", "Redis"),
        ("after migrating to pnpm, why did CI break?", "after", "migrating to pnpm", "to pnpm"),
        ("since the move to Fly.io what changed", "after", "the move to Fly.io", "to Fly.io"),
        (
            "what failed until they rewrote the parser in Rust",
            "before",
            "they rewrote the parser in Rust",
            "the parser in Rust",
        ),
        ("что было до того, как мы перешли на Redis?", "before", "мы перешли на Redis", "на Redis"),
        ("что сломалось после перехода на pnpm", "after", "перехода на pnpm", "на pnpm"),
    ],
)
def test_an_event_bounds_the_time(query: str, side: str, event: str, about: str) -> None:
    found = find_event_bound(query)
    assert found is not None
    assert (found.side, found.event, found.about) == (side, event, about)
    assert found.expression in query and found.expression.endswith(event)


@pytest.mark.parametrize(
    "query",
    [
        "what happens before we commit the transaction",
        "since we only have one server",
        "cleanup before exit",
        "after",
        "what did we do before we stopped",
        "run_after we moved it",
    ],
)
def test_what_tells_of_no_event_bounds_nothing(query: str) -> None:
    assert find_event_bound(query) is None


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("what was the port at first?", TimeOrder.OLDEST),
        ("which queue did we originally use", TimeOrder.OLDEST),
        ("what is the port now", TimeOrder.NEWEST),
        ("which model is currently the default?", TimeOrder.NEWEST),
        ("какой порт сейчас", TimeOrder.NEWEST),
        ("какая база была изначально", TimeOrder.OLDEST),
        ("what calls datetime.now", None),
        ("why does now() return UTC", None),
        ("the first port", None),
    ],
)
def test_words_of_order_ask_for_the_oldest_or_the_newest(query: str, order: TimeOrder | None) -> None:
    assert read_question_time(query, NOW).order is order


@pytest.mark.parametrize(
    "query",
    ["what is planned for next week", "what broke a few days ago", "how many days passed since Monday", "how long ago"],
)
def test_what_is_to_come_or_vague_or_a_length_of_time_bounds_nothing(query: str) -> None:
    assert read_question_time(query, NOW).bounds is None


@settings(max_examples=examples(80))
@given(st.text(max_size=80))
def test_any_text_is_read_without_an_error(query: str) -> None:
    assert read_question_time(f"before we moved {query}", NOW) is not None
