"""Waiting for a queue: as long as there is a sign of an embedder, and no longer."""

from __future__ import annotations

import pytest

from hyperloci.embedder.status import EmbedderState, EmbedderStatus
from hyperloci.embedder.waiting import FAULT_SECONDS, GONE_SECONDS, QUIET_SECONDS, DrainProgress
from hyperloci.errors import EmbedderError

HOUR = 3_600.0


def status(batches: int) -> EmbedderStatus:
    return EmbedderStatus(state=EmbedderState.READY, bulk_batches=batches)


@pytest.mark.req("B.03", "W14")
def test_an_embedder_that_answers_is_waited_for_however_slow_it_is() -> None:
    headway = DrainProgress(32, 0.0)
    headway.record_progress(32, status(1), 1.0)

    for step in range(1, 10):
        words = headway.record_progress(32, status(1), step * HOUR)

    assert "nothing done for 540 min" in words


def test_an_embedder_too_busy_to_answer_is_waited_for_while_its_process_is_there() -> None:
    headway = DrainProgress(32, 0.0)

    for step in range(1, 10):
        headway.record_progress(32, None, step * HOUR, alive=True)


def test_a_queue_that_gets_shorter_is_a_sign_too() -> None:
    headway = DrainProgress(32, 0.0)

    for step in range(1, 10):
        headway.record_progress(32 - step, None, step * (GONE_SECONDS - 1))


def test_without_any_sign_of_an_embedder_waiting_ends() -> None:
    headway = DrainProgress(32, 0.0)
    headway.record_progress(31, status(1), 1.0)
    headway.record_progress(31, None, GONE_SECONDS)
    with pytest.raises(EmbedderError, match="No embedder is running"):
        headway.record_progress(31, None, GONE_SECONDS + 2)


def test_a_model_that_can_not_be_loaded_is_not_waited_for() -> None:
    with pytest.raises(EmbedderError, match="can't embed: no such device"):
        DrainProgress(32, 0.0).record_progress(
            32, EmbedderStatus(state=EmbedderState.FAILED, error="no such device"), 0.2, alive=True
        )


def test_one_that_can_store_nothing_is_not_waited_for_though_it_computes() -> None:
    headway = DrainProgress(32, 0.0)
    headway.record_progress(32, status(1), FAULT_SECONDS, fault="No room left")
    headway.record_progress(31, status(2), 2 * FAULT_SECONDS, fault="No room left")
    headway.record_progress(31, status(3), 3 * FAULT_SECONDS, fault="No room left")
    with pytest.raises(EmbedderError, match="can't store vectors: No room left"):
        headway.record_progress(31, status(4), 3 * FAULT_SECONDS + 1, fault="No room left")


@pytest.mark.req("W14")
def test_it_is_told_how_fast_it_goes_and_how_long_it_takes() -> None:
    headway = DrainProgress(1_000, 0.0)

    assert headway.record_progress(1_000, None, 5.0, alive=True) == "embedding: starting"
    headway.record_progress(900, status(4), 10.0)
    assert headway.record_progress(800, status(8), 20.0) == "embedding, 10.0 a second, 80 s left"
    told = headway.record_progress(600, status(9), 120.0)
    assert told == "embedding, 2.0 a second, 5 min left", "as fast as of late, not as at first"
    assert "nothing done" in headway.record_progress(600, status(9), 121.0 + QUIET_SECONDS)
