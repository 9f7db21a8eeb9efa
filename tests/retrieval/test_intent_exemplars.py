"""The exemplars' vectors, kept with the memory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hyperloci.model.search import SearchFilter
from hyperloci.retrieval.filters import Conditions
from hyperloci.retrieval.intent import Intent, classify_intent, list_exemplars
from hyperloci.retrieval.intent_exemplars import NAME, has_current_vectors, load_vectors, store_vectors
from hyperloci.retrieval.search import Searcher
from hyperloci.store import Store
from tests.support import FakeEncoder, vector_of

EVERYTHING = Conditions(where=SearchFilter())
UNRULED = next(
    text for text, intent in list_exemplars() if intent is Intent.WHO and classify_intent(text) is Intent.GENERAL
)


def seen() -> NDArray[np.float32]:
    return np.stack([vector_of(text) for text, _ in list_exemplars()])


def store_them(store: Store, model_id: str = "fake") -> None:
    with store.transaction():
        store_vectors(store, model_id, seen())


@pytest.mark.req("B.04")
def test_what_was_kept_comes_back_and_only_for_the_model_that_made_it(store: Store) -> None:
    assert not has_current_vectors(store, "fake") and load_vectors(store, "fake") is None

    store_them(store)

    found = load_vectors(store, "fake")
    assert found is not None
    np.testing.assert_allclose(found, seen(), atol=1e-3)
    assert has_current_vectors(store, "fake")
    assert not has_current_vectors(store, "another") and load_vectors(store, "another") is None


@pytest.mark.req("B.04")
def test_vectors_of_other_exemplars_are_made_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store_them(store)
    monkeypatch.setattr(
        "hyperloci.retrieval.intent_exemplars.list_exemplars", lambda: [("Who wrote this?", Intent.WHO)]
    )

    assert not has_current_vectors(store, "fake") and load_vectors(store, "fake") is None


@pytest.mark.req("B.04")
@pytest.mark.parametrize("damage", ["", "fake", "fake\n", "\n\n"])
def test_a_damaged_value_is_none(store: Store, damage: str) -> None:
    with store.transaction():
        store.meta.set(NAME, damage)

    assert load_vectors(store, "fake") is None


@pytest.mark.req("B.04")
def test_vectors_that_can_not_be_read_are_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperloci.retrieval.intent_exemplars._load_key", lambda store, model_id: "AAA=AAA")

    assert load_vectors(store, "fake") is None


@pytest.mark.req("B.04")
def test_a_search_tells_by_them_what_its_rules_can_not(store: Store, encoder: FakeEncoder) -> None:
    searcher = Searcher(store, encoder)
    before = searcher.find(UNRULED, EVERYTHING, limit=5)

    store_them(store)

    assert before.intent is Intent.GENERAL
    assert searcher.find(UNRULED, EVERYTHING, limit=5).intent is Intent.WHO
    assert searcher.find(UNRULED, EVERYTHING, limit=5, quick=True).intent is Intent.GENERAL
    assert Searcher(store, None).find(UNRULED, EVERYTHING, limit=5).intent is Intent.GENERAL
