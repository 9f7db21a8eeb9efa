"""Waiting for a queue: patient with an embedder that works, however slowly, and not with one that doesn't."""

from __future__ import annotations

import pytest

from hyperloci.embedder.status import EmbedderStatus, State
from hyperloci.embedder.waiting import LOADING_SECONDS, STALL_SECONDS, Headway
from hyperloci.errors import EmbedderError


def status(batches: int) -> EmbedderStatus:
    return EmbedderStatus(state=State.READY, bulk_batches=batches)


@pytest.mark.req("B.03")
def test_an_embedder_that_goes_on_seeing_batches_is_waited_for_though_the_queue_stays_as_long() -> None:
    headway = Headway(32, 0.0)
    for step in range(1, 10):
        headway.check(32, status(step), step * (STALL_SECONDS - 1))
    with pytest.raises(EmbedderError, match="no headway for 60 seconds"):
        headway.check(32, status(9), 9 * (STALL_SECONDS - 1) + STALL_SECONDS + 1)


def test_a_queue_that_gets_shorter_is_waited_for_though_the_embedder_does_not_answer() -> None:
    headway = Headway(32, 0.0)
    headway.check(32, status(1), 1.0)
    for step in range(1, 10):
        headway.check(32 - step, None, step * (STALL_SECONDS - 1))
    with pytest.raises(EmbedderError, match="no headway"):
        headway.check(23, None, 9 * (STALL_SECONDS - 1) + STALL_SECONDS + 1)


def test_a_model_may_take_its_time_to_load_but_not_forever() -> None:
    headway = Headway(32, 0.0)
    headway.check(32, None, STALL_SECONDS + 1)
    headway.check(32, EmbedderStatus(state=State.LOADING), LOADING_SECONDS - 1)
    with pytest.raises(EmbedderError, match="no headway for 180 seconds"):
        headway.check(32, status(0), LOADING_SECONDS + 1)


def test_a_model_that_can_not_be_loaded_is_not_waited_for() -> None:
    with pytest.raises(EmbedderError, match="can't embed: no such device"):
        Headway(32, 0.0).check(32, EmbedderStatus(state=State.FAILED, error="no such device"), 0.2)
