"""Names of topics from what their members say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.topics.naming import KEPT_TERMS, choose_name, find_naming_words, find_telling_terms
from tests.support import examples


@pytest.mark.req("E.09")
def test_a_topic_is_named_by_what_sets_it_apart() -> None:
    redis = ["the redis cache expires keys", "redis cache warms up", "we tune the redis cache"]
    pdf = ["the invoice is a pdf", "a pdf invoice is mailed", "we render the pdf invoice"]
    first, second = find_telling_terms([redis, pdf])
    assert set(first[:2]) == {"redis", "cache"}
    assert set(second[:2]) == {"invoice", "pdf"}


def test_a_text_that_repeats_a_word_names_nothing_alone() -> None:
    texts = ["redis redis redis redis", "queue and worker", "worker of a queue", "the queue's worker"]
    assert find_telling_terms([texts])[0][:2] == ("queue", "worker")


def test_forms_of_a_word_are_one_and_the_usual_one_is_shown() -> None:
    texts = ["migrations run", "run migrations", "migration run"]
    assert find_telling_terms([texts])[0][:2] == ("migrations", "run")


def test_a_name_stays_while_its_words_still_tell() -> None:
    words = ("worker", "queue", "retry", "redis", "cache")
    assert choose_name(words, "redis, cache") == "redis, cache"
    assert choose_name(words, "invoice, pdf") == "worker, queue, retry"
    assert choose_name(words) == "worker, queue, retry"


def test_identifiers_and_versions_stay_whole() -> None:
    assert set(find_naming_words("asp.net and mod_rewrite in C++ use node.js.").values()) == {
        "asp.net",
        "mod_rewrite",
        "c++",
        "node.js",
    }


@settings(max_examples=examples(60))
@given(st.lists(st.lists(st.text(max_size=60), min_size=1, max_size=5), min_size=1, max_size=4))
def test_whatever_texts_say_each_class_gets_its_terms(classes: list[list[str]]) -> None:
    found = find_telling_terms(classes)
    assert len(found) == len(classes)
    assert all(len(words) <= KEPT_TERMS and len(set(words)) == len(words) for words in found)
