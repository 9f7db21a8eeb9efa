"""Which hits are relevant to a question or a prompt at all, and what of them is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.model.search import Hit, HitSource
from hyperloci.retrieval.relevance import (
    PROMPT_FLOOR,
    QUESTION_FLOOR,
    QueryTerms,
    count_shared_terms,
    find_excerpt,
    query_from_prompt,
    select_for_question,
    select_relevant,
    sort_terms,
)
from hyperloci.store.keywords.analysis import analyse_query
from tests.support import examples

QUESTION = "Which port does the edge gateway listen on?"


def hit(content: str, *, cosine: float | None = None, words: float | None = None, symbol: str | None = None) -> Hit:
    spaces = {name: value for name, value in (("e1", cosine), ("e6", words)) if value is not None}
    return Hit(
        id=content, type="fact", subtype="insight", content=content, score=0.1, confidence=1.0, tier="task",
        scope="global", created_at="2027-01-15T08:00:00.000+00:00", valid_from="", valid_until=None,
        source=HitSource(kind="tool", symbol=symbol), explain={"embedder_scores": {"semantic": spaces}},
    )  # fmt: skip


@pytest.mark.req("B.09")
def test_what_is_known_by_its_meaning_alone_bears_on_a_question() -> None:
    near = hit("TLS traffic comes in at 8443", cosine=QUESTION_FLOOR.min_meaning)
    far = hit("We have lunch at noon", cosine=QUESTION_FLOOR.min_meaning - 0.01)

    assert select_relevant(QUESTION, [far, near], QUESTION_FLOOR) == [near]


def test_words_help_a_meaning_but_make_none() -> None:
    meaning = QUESTION_FLOOR.min_meaning - QUESTION_FLOOR.words_help / 2
    helped = hit("The gateway was rewritten", cosine=meaning, words=0.5)
    words_only = hit("The port of Hamburg on the edge of town", cosine=0.05, words=0.9)

    assert select_relevant(QUESTION, [helped, words_only], QUESTION_FLOOR) == [helped]


def test_without_a_vector_half_of_the_words_are_asked_for() -> None:
    same = hit("The edge gateway listens on TLS", words=0.6)
    one_word = hit("The port of Hamburg", words=0.3)

    assert select_relevant(QUESTION, [one_word, same], QUESTION_FLOOR) == [same]


def test_a_memory_that_holds_all_that_was_asked_for_bears_on_it() -> None:
    exact = hit("HYLC-4711 is raised by the old client", cosine=0.1, words=0.4)

    assert select_relevant("HYLC-4711", [exact], QUESTION_FLOOR) == [exact]
    assert select_relevant("HYLC-4712", [exact], QUESTION_FLOOR) == []


def test_a_question_of_no_words_is_answered_by_meaning_alone() -> None:
    assert select_relevant("?", [hit("Anything", words=0.9)], QUESTION_FLOOR) == []
    assert len(select_relevant("?", [hit("Anything", cosine=0.9)], QUESTION_FLOOR)) == 1


def test_the_place_of_a_memory_counts_among_its_words() -> None:
    assert count_shared_terms(hit("return 42", symbol="open_gateway"), analyse_query("gateway port")) == 1


def test_a_prompt_asks_for_more_meaning_than_a_question() -> None:
    near, fair = hit("near", cosine=PROMPT_FLOOR.min_meaning), hit("fair", cosine=QUESTION_FLOOR.min_meaning, words=0.9)

    assert select_relevant(QUESTION, [fair, near], QUESTION_FLOOR) == [fair, near]
    assert select_relevant(QUESTION, [fair, near], PROMPT_FLOOR) == [near]


def test_a_prompt_is_not_answered_by_what_merely_holds_its_two_words() -> None:
    both = hit("We fix the typo tomorrow", cosine=0.1)

    assert select_relevant("fix the typo", [both], QUESTION_FLOOR) == [both]
    assert select_relevant("fix the typo", [both], PROMPT_FLOOR) == []


def test_for_a_prompt_what_has_no_vector_must_share_most_words_whatever_the_others_have() -> None:
    same = hit("The edge gateway listens on TLS port 8443")
    some = hit("The gateway is written in Go and has a port of its tests")
    far = hit("The edge gateway listens on a TLS port, too", cosine=0.3)

    assert select_relevant("Which TLS port does the edge gateway listen on?", [some, same, far], PROMPT_FLOOR) == [same]


@pytest.mark.parametrize("length", [78, 79, 80])
def test_what_fits_is_excerpted_whole(length: int) -> None:
    text = "The port. " * 8
    assert find_excerpt(text[:length].strip(), "port", 80) == text[:length].strip()


@given(st.text(st.sampled_from("ab .\n"), max_size=400), st.integers(10, 200))
@settings(max_examples=examples(100))
def test_an_excerpt_is_a_piece_of_the_text_within_its_limit(text: str, limit: int) -> None:
    piece = find_excerpt(text, "aa bb ab", limit)
    assert len(piece) <= limit and piece.strip("…") in text


@pytest.mark.parametrize("prompt", ["thanks", "run the tests", "fix the typo", "yes, do it", "continue", "ok", "👍"])
def test_everyday_prompts_are_not_searched_for(prompt: str) -> None:
    assert query_from_prompt(prompt) is None


def test_a_question_is_searched_for_by_its_beginning() -> None:
    assert query_from_prompt("Which port does the gateway listen on?") == "Which port does the gateway listen on?"
    assert len(query_from_prompt("gateway port configuration " + "x" * 5_000) or "") == 1_000


def never(term: str) -> float:
    return 0.0


@pytest.mark.parametrize(
    "query", ["hello", "thanks a lot!", "what is the weather?", "who are you?", "2 + 2?", "привет"]
)
def test_small_talk_has_no_subject_and_no_answer(query: str) -> None:
    assert sort_terms(query, never) == QueryTerms(frozenset(), frozenset())
    assert select_for_question(query, [hit(query, words=1.0)], never) == []


def test_a_request_that_any_program_gets_finds_what_was_told_and_no_code() -> None:
    told = hit("Run the tests against the staging broker", words=0.8)
    code = replace(told, id="code", type="snippet", subtype="code", source=HitSource(kind="code", symbol="run_tests"))
    assert select_for_question("run the tests", [code, told], never) == [told]


def test_a_section_of_that_name_answers_a_request_too() -> None:
    section = HitSource(kind="markdown", section_path=("Running the tests",))
    text = replace(hit("make check does it"), type="snippet", subtype="markdown", source=section)
    assert select_for_question("run the tests", [text], never) == [text]


def test_one_word_of_a_subject_is_enough_where_it_names_the_place() -> None:
    inside = replace(hit("the multipart of it", words=0.5), type="snippet", subtype="code")
    named = replace(inside, id="named", source=HitSource(kind="code", symbol="MultipartStream"))
    assert select_for_question("multipart?", [inside, named], never) == [named]


def test_a_word_that_many_memories_hold_is_a_subject_whatever_it_is() -> None:
    assert sort_terms("what is the weather?", lambda term: 0.2).subject == {"weather"}
