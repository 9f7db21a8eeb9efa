"""Which hits bear on a question at all."""

from __future__ import annotations

import pytest

from hyperloci.model.search import Hit, Source
from hyperloci.retrieval.bearing import MIN_MEANING, WORDS_HELP, bearing, shared_terms
from hyperloci.store.analysis import query_terms

QUESTION = "Which port does the edge gateway listen on?"


def hit(content: str, *, cosine: float | None = None, words: float | None = None, symbol: str | None = None) -> Hit:
    spaces = {name: value for name, value in (("e1", cosine), ("e6", words)) if value is not None}
    return Hit(
        id=content, type="fact", subtype="insight", content=content, score=0.1, confidence=1.0, tier="task",
        scope="global", created_at="2027-01-15T08:00:00.000+00:00", valid_from="", valid_until=None,
        source=Source(kind="tool", symbol=symbol), explain={"embedder_scores": {"semantic": spaces}},
    )  # fmt: skip


@pytest.mark.req("B.09")
def test_what_is_known_by_its_meaning_alone_bears_on_a_question() -> None:
    near = hit("TLS traffic comes in at 8443", cosine=MIN_MEANING)
    far = hit("We have lunch at noon", cosine=MIN_MEANING - 0.01)

    assert bearing(QUESTION, [far, near]) == [near]


def test_words_help_a_meaning_but_make_none() -> None:
    helped = hit("The gateway was rewritten", cosine=MIN_MEANING - WORDS_HELP / 2, words=0.5)
    words_only = hit("The port of Hamburg on the edge of town", cosine=0.05, words=0.9)

    assert bearing(QUESTION, [helped, words_only]) == [helped]


def test_without_a_vector_half_of_the_words_are_asked_for() -> None:
    same = hit("The edge gateway listens on TLS", words=0.6)
    one_word = hit("The port of Hamburg", words=0.3)

    assert bearing(QUESTION, [one_word, same]) == [same]


def test_a_memory_that_holds_all_that_was_asked_for_bears_on_it() -> None:
    exact = hit("HYLC-4711 is raised by the old client", cosine=0.1, words=0.4)

    assert bearing("HYLC-4711", [exact]) == [exact]
    assert bearing("HYLC-4712", [exact]) == []


def test_a_question_of_no_words_is_answered_by_meaning_alone() -> None:
    assert bearing("?", [hit("Anything", words=0.9)]) == []
    assert len(bearing("?", [hit("Anything", cosine=0.9)])) == 1


def test_the_place_of_a_memory_counts_among_its_words() -> None:
    assert shared_terms(hit("return 42", symbol="open_gateway"), query_terms("gateway port")) == 1
