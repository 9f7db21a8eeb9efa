"""One line for people: what is read, and where an error points (D.08, D.11)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.errors import BadRequestError, QuerySyntaxError
from hyperloci.retrieval.query_language import KEYS, Query, parse_query, search_arguments
from tests.support import NOW, examples


def parsed(line: str) -> Query:
    return parse_query(line, project="p", now=NOW)


@pytest.mark.req("D.08", "D.11")
def test_words_and_conditions_are_told_apart() -> None:
    query = parsed("caching in:docs/** section:Design type:decision after:last_week not:contradicted policy")
    assert query == Query(
        text="caching policy",
        content_type="decision",
        after="last_week",
        where={"path": "docs/**", "section": "Design", "contradicted": False},
    )


READ = {
    "in:src/**/*.py lines:10-20": {"path": "src/**/*.py", "lines": [10, 20]},
    "lines:7": {"lines": [7, 7]},
    'section:"Data Flow" level:2': {"section": "Data Flow", "heading_level_max": 2},
    "level:<=3": {"heading_level_max": 3},
    "type:fact,decision": {"types": ["fact", "decision"]},
    "type:constraint": {"subtypes": ["constraint"]},
    "tag:cli tag:api,web": {"domain_tags": ["cli", "api", "web"]},
    "confidence:>=0.5 is:contradicted": {"min_confidence": 0.5, "contradicted": True},
    "confidence:high persona:novice diataxis:tutorial": {
        "confidence_level": "high",
        "persona": "novice",
        "diataxis": "tutorial",
    },
    "module:app.core class:Engine function:start": {
        "module": "app.core",
        "class_name": "Engine",
        "function_name": "start",
    },
    "related:0c6b2a58 relation:calls depth:2": {"related_to": "0c6b2a58", "relation": "calls", "depth": 2},
    "in:/etc/** section:\\x": {"path": "/etc/**", "section": "\\x"},
    'section:"say \\"hi\\""': {"section": 'say "hi"'},
}


@pytest.mark.req("D.01", "D.07", "D.08")
@pytest.mark.parametrize("line", READ)
def test_every_condition_means_what_it_says(line: str) -> None:
    assert parsed(line).where == READ[line]
    assert parsed(line).text == ""


PLAIN = [
    "why did we drop redis?",
    "std::sort of C:\\files and https://example.com/a?b=c",
    "TypeError: x is not callable",
    "note: it's 10:30",
    "file:/etc/passwd and in::x",
    "a:  b",
]


@pytest.mark.parametrize("line", PLAIN)
def test_what_only_looks_like_a_condition_is_searched_for(line: str) -> None:
    assert parsed(line) == Query(text=" ".join(line.split()))


def test_quotes_make_words_of_anything() -> None:
    assert parsed('"in:docs sectoin:x" y').text == "in:docs sectoin:x y"


WRONG = {
    "cache sectoin:Design": (7, "did you mean section:"),
    "cache in:": (7, "has no value"),
    "a in: b": (3, "has no value"),
    "x after:soon": (3, "after:soon is not a time"),
    "x type:gossip": (3, "'gossip' is unknown"),
    "x type:episodic": (3, "type:episode"),
    "type:code,docs": (1, "'code,docs' can't be asked for together: by commas go node types (entity, "),
    "type:fact,preference": (1, "can't be asked for together"),
    "type:code,gossip": (1, "'code,gossip' is unknown"),
    "type:,": (1, "',' is unknown"),
    "x tier:hot": (3, "a stage of a conversation's chunks"),
    "x not:true": (3, "contradicted"),
    "lines:20-10": (1, "lines:20-10 is not a range: give the first line and the last"),
    "lines:x": (1, "not a range"),
    "depth:2": (1, "related:ID"),
    "in:a x in:b": (8, "given twice"),
    'x "abc': (3, "not closed"),
    'x in:"abc': (3, "not closed"),
    'x in:""': (3, "no value"),
    "related:abcd depth:many": (14, "not a whole number"),
    "confidence:>=1.2.3": (1, "not a number"),
    "confidence:>=7": (1, "confidence:>=7 must be a number from 0 to 1"),
    "x confidence:maybe": (3, "confidence: has 'maybe'"),
    "level:9": (1, "level:9 must be a number from 1 to 6"),
    "scope:moon": (1, "scope:moon is unknown"),
    '"a relation:" relation:calls': (15, "needs a memory to start from"),
    '"depth: what" depth:2': (15, "needs a memory to start from"),
}


@pytest.mark.req("D.08")
@pytest.mark.parametrize("line", WRONG)
def test_an_error_says_what_is_wrong_and_at_which_column(line: str) -> None:
    column, words = WRONG[line]
    with pytest.raises(QuerySyntaxError) as caught:
        parsed(line)
    message, shown, caret = str(caught.value).split("\n")
    assert caught.value.column == column
    assert words in message
    assert shown == "  " + line
    assert caret == " " * (column + 1) + "^"


def test_a_long_line_is_refused_and_an_error_in_one_shows_only_its_place() -> None:
    with pytest.raises(BadRequestError, match="10001"):
        parsed("x" * 10_001)
    with pytest.raises(QuerySyntaxError) as caught:
        parsed("word " * 100 + "sectoin:x")
    shown = str(caught.value).split("\n")
    assert len(shown[1]) < 140
    assert shown[1][len(shown[2]) - 1 :] == "sectoin:x"


def test_what_the_line_says_goes_before_options() -> None:
    query = parsed("x after:today limit:3 in:docs/**")
    given = search_arguments(query, limit=5, after="last_year", before="today", path="src/**")
    assert given == {"after": "today", "before": "today", "limit": 3, "where": {"path": "docs/**"}}


@pytest.mark.parametrize("condition", ["type:any", "type:learning", "type:fact,decision", "type:commit,constraint"])
def test_a_kind_that_the_line_says_goes_before_that_of_the_options(condition: str) -> None:
    given = search_arguments(parsed(f"x {condition}"), limit=5, content_type="code")
    assert given == {"limit": 5} | search_arguments(parsed(f"x {condition}"), limit=5)


@settings(max_examples=examples(100))
@given(st.lists(st.one_of(st.sampled_from([*KEYS, ":", '"', "\\", " ", "in:a", "x"]), st.text(max_size=4)), max_size=8))
def test_any_line_is_read_or_refused_in_words(pieces: list[str]) -> None:
    line = "".join(pieces)
    try:
        assert isinstance(parsed(line), Query)
    except QuerySyntaxError as error:
        assert 1 <= error.column <= len(line) + 1
