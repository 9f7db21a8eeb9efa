"""Accounts of hits."""

from __future__ import annotations

import pytest

from hyperloci.retrieval.explanation import explain_scores, find_blind_spots, group_by_category, suggest_spaces
from hyperloci.retrieval.scoring import Scores


@pytest.mark.req("E.15")
def test_scores_stand_by_category_in_the_order_of_the_spaces() -> None:
    found = group_by_category({"e11": 0.7, "e2": 0.9, "e7": 0.8, "e1": 0.2, "e9": 0.4})

    assert found == {
        "semantic": {"e1": 0.2, "e7": 0.8},
        "temporal": {"e2": 0.9},
        "structural": {"e9": 0.4},
        "relational": {"e11": 0.7},
    }


@pytest.mark.req("E.08")
@pytest.mark.parametrize(
    ("scores", "spots"),
    [
        ({"e1": 0.29, "e7": 0.5}, ["e7"]),
        ({"e1": 0.3, "e7": 0.9}, []),
        ({"e1": 0.1, "e7": 0.49, "e6": 0.8}, ["e6"]),
        ({"e1": 0.1, "e2": 1.0}, []),
        ({"e6": 0.6}, []),
    ],
)
def test_a_blind_spot_is_what_another_space_found_and_meaning_missed(
    scores: dict[str, float], spots: list[str]
) -> None:
    assert [spot["space"] for spot in find_blind_spots(scores)] == spots


@pytest.mark.req("E.08")
@pytest.mark.parametrize(("space", "margin"), [("e7", 0.2), ("e11", 0.2), ("e5", 0.15), ("e8", 0.15), ("e10", 0.15)])
def test_a_hint_names_the_space_that_says_more_by_its_margin(space: str, margin: float) -> None:
    assert len(suggest_spaces({"e1": 0.3, space: 0.3 + margin + 0.01})) == 1
    assert suggest_spaces({"e1": 0.3, space: 0.3 + margin - 0.01}) == []
    assert suggest_spaces({space: 0.9}) == []


@pytest.mark.req("E.08", "E.15")
def test_an_account_has_the_documents_fields() -> None:
    scores = Scores(spaces={"e1": 0.25, "e7": 0.85, "e11": 0.72, "e2": 0.9}, parts={"e1": 0.1, "e7": 0.3}, total=0.2)

    account = explain_scores(scores, ["retry"])

    assert account["dominant_space"] == "e7"
    assert account["e1_score"] == 0.25
    assert (account["parts"], account["factor"]) == ({"e1": 0.1, "e7": 0.3}, 0.5)
    assert account["agreement_count"] == 2
    assert [spot["space"] for spot in account["blind_spots"]] == ["e7", "e11"]
    assert len(account["navigation_hints"]) == 2
    assert account["terms"] == ["retry"]


def test_the_profile_in_use_is_not_recommended() -> None:
    found = {"e1": 0.2, "e7": 0.9, "e11": 0.9}
    assert len(suggest_spaces(found)) == 2
    assert [hint for hint in suggest_spaces(found, "code") if "profile=code" in hint] == []
