"""What a question wants to know."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hyperloci.retrieval.intent import (
    COMPLEX,
    SIMPLE,
    Intent,
    IntentClassifier,
    classify_intent,
    estimate_effort,
    list_exemplars,
)
from tests.support import vector_of


@pytest.mark.req("B.04")
@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("why did we drop redis", Intent.WHY),
        ("what caused the outage", Intent.WHY),
        ("почему мы выбрали postgres", Intent.WHY),
        ("warum haben wir postgres genommen", Intent.WHY),
        ("when was the release", Intent.WHEN),
        ("seit wann gibt es das Release", Intent.WHEN),
        ("когда был релиз", Intent.WHEN),
        ("who reviewed the parser", Intent.WHO),
        ("кто чинил парсер", Intent.WHO),
        ("wer hat den Parser gebaut", Intent.WHO),
        ("the WER of the second model", Intent.GENERAL),
        ("what is the retry policy", Intent.WHAT),
        ("was bedeutet die Spalte tier", Intent.WHAT),
        ("расскажи про кэш", Intent.WHAT),
        ("retry policy", Intent.GENERAL),
    ],
)
def test_intents_in_english_russian_and_german(query: str, intent: Intent) -> None:
    assert classify_intent(query) is intent


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
    assert estimate_effort(query) is level


def test_the_two_levels_are_those_of_the_document() -> None:
    assert (SIMPLE.depth, SIMPLE.limit, SIMPLE.tokens) == (2, 5, 1_000)
    assert (COMPLEX.depth, COMPLEX.limit, COMPLEX.tokens) == (4, 20, 3_000)


UNRULED = next(
    text for text, intent in list_exemplars() if intent is Intent.WHO and classify_intent(text) is Intent.GENERAL
)
"""An exemplar that no rule tells."""


def _vectors() -> NDArray[np.float32]:
    return np.stack([vector_of(text) for text, _ in list_exemplars()])


@pytest.mark.req("B.04")
def test_where_no_rule_speaks_the_nearest_exemplar_decides() -> None:
    asked: list[str] = []

    def known(model_id: str) -> NDArray[np.float32]:
        asked.append(model_id)
        return _vectors()

    classifier = IntentClassifier(known)
    unlike = "the retry policy of uploads"

    assert classifier.classify_with_vector(UNRULED, "fake", vector_of(UNRULED)) is Intent.WHO
    assert classifier.classify_with_vector(unlike, "fake", vector_of(unlike)) is Intent.GENERAL
    assert classifier.classify_with_vector("why did it fail", "fake", vector_of(UNRULED)) is Intent.WHY
    assert asked == ["fake"]


@pytest.mark.req("B.04")
def test_exemplars_that_nobody_has_seen_leave_it_to_the_rules_and_are_looked_for_again() -> None:
    answers = [None, _vectors()]
    classifier = IntentClassifier(lambda _: answers.pop(0))

    assert classifier.classify_with_vector(UNRULED, "fake", vector_of(UNRULED)) is Intent.GENERAL
    assert classifier.classify_with_vector(UNRULED, "fake", vector_of(UNRULED)) is Intent.WHO


@pytest.mark.req("B.04")
@pytest.mark.parametrize("query", ["cache directory", "слой кэша и его настройки"])
def test_a_topic_and_another_script_are_left_to_the_rules(query: str) -> None:
    classifier = IntentClassifier(lambda _: _vectors())

    assert classifier.classify_with_vector(query, "fake", vector_of(UNRULED)) is Intent.GENERAL


@pytest.mark.req("B.04")
def test_vectors_of_another_length_decide_nothing() -> None:
    classifier = IntentClassifier(lambda _: _vectors())

    assert classifier.classify_with_vector(UNRULED, "fake", vector_of(UNRULED, 8)) is Intent.GENERAL


@pytest.mark.req("B.04")
def test_there_are_exemplars_of_every_intent_and_each_rule_agrees_with_them() -> None:
    assert {intent for _, intent in list_exemplars()} == set(Intent)
    assert [text for text, intent in list_exemplars() if classify_intent(text) not in (intent, Intent.GENERAL)] == []
