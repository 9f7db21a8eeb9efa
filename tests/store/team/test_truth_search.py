"""What the team's database is asked for by the words of a question."""

from __future__ import annotations

from hyperloci.store.team.truth_search import TELLING_TERMS, WORD_LEVELS, list_word_queries


def test_all_telling_terms_are_asked_for_first_and_then_the_least_sets_that_weigh_enough() -> None:
    queries = list_word_queries({"the": 0.1, "kamal": 3.0, "deploy": 2.0})
    assert queries[0] == "('kamal' & 'deploy' & 'the')"
    assert queries[1] == "('kamal' & 'deploy')"
    assert queries[2] == "('kamal')"
    assert queries[-1] == "('kamal') | ('deploy')"


def test_no_set_that_is_asked_for_has_a_term_it_could_do_without() -> None:
    weights = {f"term{number}": 1.0 + number for number in range(TELLING_TERMS)}
    for query in list_word_queries(weights):
        sets = [set(part.strip("()").split(" & ")) for part in query.split(" | ")]
        assert not [(one, other) for one in sets for other in sets if one < other]


def test_a_question_of_many_words_is_asked_by_the_most_telling() -> None:
    weights = {f"term{number:02}": float(number) for number in range(40)}
    queries = list_word_queries(weights)
    assert len(queries) <= len(WORD_LEVELS)
    assert "term39" in queries[0] and "term33" not in " ".join(queries)


def test_terms_that_tell_nothing_are_asked_for_one_by_one() -> None:
    assert list_word_queries({"a": 0.0, "b": 0.0}) == ["'a' | 'b'"]
    assert list_word_queries({}) == []


def test_whatever_is_in_a_term_is_quoted() -> None:
    assert list_word_queries({"it's\\": 1.0}) == ["('it''s\\\\')"]
