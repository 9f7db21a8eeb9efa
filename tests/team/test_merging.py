"""Hits of the team stand where their names and scores put them; what is here keeps its order."""

from __future__ import annotations

import pytest

from hyperloci.model.search import Hit, HitSource, Placement
from hyperloci.store.team.shared_values import SharedPayload, SharedState, TeamHit, TeamMemory
from hyperloci.team.merging import has_exact_name, merge_hits


def make_hit(id: str, score: float, placed: Placement | None = None) -> Hit:
    return Hit(
        id=id,
        type="fact",
        subtype=None,
        content=id,
        score=score,
        confidence=1.0,
        tier="longterm",
        scope="p",
        created_at="",
        valid_from="",
        valid_until=None,
        source=HitSource(kind="user"),
        placed=placed,
    )


def make_team_hit(content: str, title: str = "") -> TeamHit:
    payload = SharedPayload(
        state=SharedState.LIVE,
        type="fact",
        subtype="insight",
        title=title,
        content=content,
        agent=None,
        confidence=0.9,
        event_time=1,
        valid_from=1,
        valid_until=None,
    )
    return TeamHit(
        memory=TeamMemory(id="t", project="p", revision=1, author="ada", payload=payload), cosine=None, matched=()
    )


def merge(here: list[Hit], named: list[Hit], others: list[Hit], limit: int = 5) -> list[str]:
    return [hit.id for hit in merge_hits(here, named, others, limit)]


def test_the_rest_is_merged_by_score_and_equals_here_stand_first() -> None:
    here = [make_hit("a", 0.9), make_hit("b", 0.5)]
    assert merge(here, [], [make_hit("x", 0.9), make_hit("y", 0.6)]) == ["a", "x", "y", "b"]


def test_what_leads_here_stays_before_what_scores_more_there() -> None:
    here = [make_hit("told", 0.3), make_hit("defined", 0.5, Placement.NAMED), make_hit("b", 0.4)]
    assert merge(here, [], [make_hit("x", 0.9)]) == ["told", "defined", "x", "b"]


def test_what_the_team_has_of_the_name_leads_before_what_only_scores_more() -> None:
    here = [make_hit("defined", 0.5, Placement.NAMED), make_hit("b", 0.8)]
    found = merge_hits(here, [make_hit("x", 0.4)], [make_hit("y", 0.9)], 5)
    assert [hit.id for hit in found] == ["defined", "x", "y", "b"]
    assert found[1].placed is Placement.NAMED


def test_half_of_the_places_are_left_for_what_the_team_has_of_the_name() -> None:
    here = [make_hit(f"h{number}", 0.9, Placement.NAMED) for number in range(4)]
    assert merge(here, [make_hit(f"x{number}", 0.5) for number in range(4)], [], 4) == ["h0", "h1", "x0", "x1"]


def test_no_hit_there_comes_between_what_is_here_in_an_order_of_its_own() -> None:
    here = [make_hit("newer", 0.4, Placement.NEWER), make_hit("older", 0.8), make_hit("b", 0.3)]
    assert merge(here, [], [make_hit("x", 0.6)]) == ["newer", "older", "x", "b"]


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("parse_tags", "Use `parse_tags` for headers, it knows quotes."),
        ("parse_tags()", "`lib.parse_tags()` splits at commas"),
        ("`retry`", "Never `retry` a payment"),
        ("Client.fetch", "net::Client::fetch opens a socket"),
        ("deploy/run.sh", "Deploys go by ops/deploy/run.sh on Tuesdays"),
        ("where is parse_tags defined?", "parse_tags is in the lexer"),
    ],
)
def test_a_name_that_is_asked_for_is_found_in_a_memory(query: str, content: str) -> None:
    assert has_exact_name(query, "search", make_team_hit(content))


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("parse_tags", "parse_tag_list knows quotes"),
        ("deploys", "Deploys go out on Tuesdays"),
        ("add quotes to what parse_tags gives", "parse_tags is in the lexer"),
        ("deploy/run.sh", "redeploy/run.sh"),
    ],
)
def test_words_and_other_names_are_no_exact_name(query: str, content: str) -> None:
    assert not has_exact_name(query, "search", make_team_hit(content))


def test_a_title_is_a_name_whatever_its_case_and_spaces() -> None:
    assert has_exact_name("release  Train?", "search", make_team_hit("Tuesdays", title="Release train"))


def test_a_question_for_a_reason_asks_for_the_name_in_it() -> None:
    hit = make_team_hit("parse_tags is slow since regexes backtrack")
    assert has_exact_name("why is parse_tags slow", "why", hit)
