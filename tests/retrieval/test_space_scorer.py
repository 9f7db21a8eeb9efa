"""What a question speaks to."""

from __future__ import annotations

import numpy as np
import pytest

from hyperloci.retrieval.space_scorer import SpaceScorer
from hyperloci.store import Store
from tests.support import NOW


def speaks_of_the_present(store: Store, query: str) -> bool:
    return "e2" in SpaceScorer(store, query, None, np.ones(1, np.bool_), now=NOW).applicable_spaces()


@pytest.mark.req("E.01")
@pytest.mark.parametrize(
    "query",
    [
        "What is the latest schema?",
        "Which port does the gateway use now?",
        "what do we now deploy with",
        "where does she live now, and since when",
        "the settings as of now",
        "the way we deploy now",
        "who is on call at the moment?",
        "what am I working on at this moment",
        "today's default branch",
        "which database is used at present",
        "what do people use nowadays",
        "Какой порт у шлюза теперь?",
        "кто дежурит на данный момент",
    ],
)
def test_a_question_about_the_present_wants_the_newest(store: Store, query: str) -> None:
    assert speaks_of_the_present(store, query)


@pytest.mark.req("E.01")
@pytest.mark.parametrize(
    "query",
    [
        "what do we know about the gateway?",
        "Do you know",
        "how does it deploy now that the gateway is gone?",
        "what fails now and then",
        "requests now carry an id",
        "parameters are now keyword-only",
        "what was said at the moment of the crash?",
        "where were we at the moment when it failed",
        "who was present at the meeting",
        "snowfall in the valley",
        "what was deployed today",
    ],
)
def test_what_only_looks_like_the_present_does_not(store: Store, query: str) -> None:
    assert not speaks_of_the_present(store, query)
