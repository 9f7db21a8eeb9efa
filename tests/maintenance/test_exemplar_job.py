"""Having the exemplars of intents seen in the background."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from hyperloci.config import Settings
from hyperloci.embedder.client import EmbedderClient
from hyperloci.errors import NotReadyError
from hyperloci.jobs import MaintenanceContext, MaintenanceStoppedError
from hyperloci.maintenance.exemplar_job import embed_exemplars
from hyperloci.maintenance.scheduler import make_maintenance_context
from hyperloci.retrieval.intent import list_exemplars
from hyperloci.retrieval.intent_exemplars import has_current_vectors
from hyperloci.spaces.query import QueryFingerprint
from hyperloci.store import Store
from tests.support import NOW, FakeClock, FakeEncoder


class Embedder(FakeEncoder):
    """Stands in for the client of an embedder."""

    def __init__(self, model_id: str = "fake", *, warm: bool = True, answers: int = 1_000) -> None:
        super().__init__(model_id=model_id)
        self.asked = 0
        self._warm, self._answers = warm, answers

    def is_ready(self) -> bool:
        """Tell whether it is ready."""
        return self._warm

    def embed_query_spaces(self, text: str) -> QueryFingerprint:
        """See a question, as long as it is there."""
        self.asked += 1
        if self.asked > self._answers:
            raise NotReadyError("it went away")
        return super().embed_query_spaces(text)


def context(store: Store, settings: Settings, clock: FakeClock, embedder: Embedder) -> MaintenanceContext:
    with store.transaction():
        store.vectors.use_model("fake", 384, now=NOW)
    return replace(make_maintenance_context(store, settings, clock), client=cast(EmbedderClient, embedder))


@pytest.mark.req("B.04")
def test_they_are_seen_once(store: Store, settings: Settings, clock: FakeClock) -> None:
    embedder = Embedder()
    given = context(store, settings, clock, embedder)

    assert embed_exemplars(given) == 1
    assert has_current_vectors(store, "fake")
    assert embed_exemplars(given) == 0
    assert embedder.asked == len(list_exemplars())


@pytest.mark.req("B.04")
@pytest.mark.parametrize("embedder", [Embedder(warm=False), Embedder("another")])
def test_a_cold_embedder_and_one_with_another_model_are_left_alone(
    store: Store, settings: Settings, clock: FakeClock, embedder: Embedder
) -> None:
    assert embed_exemplars(context(store, settings, clock, embedder)) == 0
    assert embedder.asked <= 1
    assert not has_current_vectors(store, "fake") and not has_current_vectors(store, "another")


@pytest.mark.req("B.04")
def test_before_the_first_fingerprint_nobody_is_asked(store: Store, settings: Settings, clock: FakeClock) -> None:
    embedder = Embedder()

    assert (
        embed_exemplars(
            replace(make_maintenance_context(store, settings, clock), client=cast(EmbedderClient, embedder))
        )
        == 0
    )
    assert embedder.asked == 0


@pytest.mark.req("B.04")
def test_an_embedder_that_goes_away_leaves_nothing_half_done(
    store: Store, settings: Settings, clock: FakeClock
) -> None:
    given = context(store, settings, clock, Embedder(answers=3))

    with pytest.raises(NotReadyError):
        embed_exemplars(given)
    assert not has_current_vectors(store, "fake")


@pytest.mark.req("B.04")
def test_it_stops_between_two_of_them(store: Store, settings: Settings, clock: FakeClock) -> None:
    embedder = Embedder()
    given = replace(context(store, settings, clock, embedder), should_stop=lambda: embedder.asked == 2)

    with pytest.raises(MaintenanceStoppedError):
        embed_exemplars(given)
    assert embedder.asked == 2 and not has_current_vectors(store, "fake")
