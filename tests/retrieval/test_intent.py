"""What a question wants to know."""

from __future__ import annotations

import pytest

from hyperloci.retrieval.intent import COMPLEX, SIMPLE, Intent, classify, effort


@pytest.mark.req("B.04")
@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("why did we drop redis", Intent.WHY),
        ("what caused the outage", Intent.WHY),
        ("почему мы выбрали postgres", Intent.WHY),
        ("when was the release", Intent.WHEN),
        ("когда был релиз", Intent.WHEN),
        ("who reviewed the parser", Intent.WHO),
        ("кто чинил парсер", Intent.WHO),
        ("what is the retry policy", Intent.WHAT),
        ("расскажи про кэш", Intent.WHAT),
        ("retry policy", Intent.GENERAL),
    ],
)
def test_intents_in_english_and_russian(query: str, intent: Intent) -> None:
    assert classify(query) is intent


@pytest.mark.req("B.08")
@pytest.mark.parametrize(
    ("query", "level"),
    [
        ("retry policy", SIMPLE),
        ("compare redis and memcached", COMPLEX),
        ("why did we drop redis? and what came instead?", COMPLEX),
        ("tell me how the deploy pipeline grew from one script into what it is now", COMPLEX),
    ],
)
def test_effort_grows_with_what_is_asked(query: str, level: object) -> None:
    assert effort(query) is level


def test_the_two_levels_are_those_of_the_document() -> None:
    assert (SIMPLE.depth, SIMPLE.limit, SIMPLE.tokens) == (2, 5, 1_000)
    assert (COMPLEX.depth, COMPLEX.limit, COMPLEX.tokens) == (4, 20, 3_000)
