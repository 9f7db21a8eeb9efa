"""Queries go first; bulk work gives way between small batches."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from hyperloci.embedder.priority_lock import BulkEncoder, PriorityLock, require_token_encoder
from hyperloci.errors import BadRequestError
from hyperloci.spaces.encoder import EncodeRequest
from tests.embedder.helpers import DIMENSIONS, ObedientEncoder, SeeingEncoder, stage, wait_for
from tests.support import vector_of


def test_a_query_that_came_later_goes_before_bulk_work_that_waits() -> None:
    gate, order = PriorityLock(), list[str]()

    def enter(lane: str) -> None:
        with gate.hold_for_query() if lane == "query" else gate.hold_for_bulk():
            order.append(lane)

    threads = [threading.Thread(target=enter, args=(lane,)) for lane in ("bulk", "bulk", "query")]
    with gate.hold_for_bulk():
        for thread in threads:
            thread.start()
        wait_for(lambda: gate.has_waiting_query)
    for thread in threads:
        thread.join()
    assert order == ["query", "bulk", "bulk"]


def test_the_gate_opens_again_after_an_error() -> None:
    gate = PriorityLock()
    for lane in (gate.hold_for_query, gate.hold_for_bulk, gate.hold_for_query):
        with pytest.raises(ZeroDivisionError), lane():
            raise ZeroDivisionError
    with gate.hold_for_bulk():
        assert not gate.has_waiting_query


class Recorder(ObedientEncoder):
    """Notes what it is given, and lets a query in at its first batch."""

    def __init__(self, gate: PriorityLock) -> None:
        self.batches: list[list[str]] = []
        self.gate = gate
        self.query = threading.Thread(target=self._query)

    def _query(self) -> None:
        with self.gate.hold_for_query():
            self.batches.append(["the query"])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        if not self.query.ident:
            self.query.start()
            wait_for(lambda: self.gate.has_waiting_query)
        return super().encode(texts)


def test_a_query_waits_for_one_small_batch_of_bulk_work() -> None:
    gate = PriorityLock()
    encoder = Recorder(gate)
    BulkEncoder(stage(encoder, bulk_tokens=20), gate).encode([f"{number} " + "x" * 50 for number in range(4)])
    encoder.query.join()
    assert [len(batch) for batch in encoder.batches] == [1, 1, 1, 1, 1]
    assert encoder.batches[1] == ["the query"]


def test_bulk_vectors_come_back_in_the_callers_order() -> None:
    texts = ["a" * length for length in (3, 90, 1, 400, 50)]
    vectors = BulkEncoder(stage(SeeingEncoder(), bulk_tokens=30), PriorityLock()).encode(texts)
    np.testing.assert_array_equal(vectors, [vector_of(text, DIMENSIONS) for text in texts])


def test_bulk_token_states_come_back_in_the_callers_order() -> None:
    texts = ["one", "one two three four five six seven eight nine ten " * 5, "one two"]
    seen = BulkEncoder(stage(SeeingEncoder(), bulk_tokens=30), PriorityLock()).encode_requests(
        [EncodeRequest(text=text, spaces=("e12",)) for text in texts]
    )
    assert [len(one["e12"]) for one in seen] == [1, 50, 2]


def test_no_texts_give_no_rows() -> None:
    encoder = BulkEncoder(stage(SeeingEncoder()), PriorityLock())
    assert encoder.encode([]).shape == (0, DIMENSIONS)
    assert encoder.encode_requests([]) == []


def test_it_looks_like_the_model_behind_it() -> None:
    encoder = BulkEncoder(stage(ObedientEncoder()), PriorityLock())
    assert (encoder.model_id, encoder.dimensions, encoder.max_tokens) == ("obedient@0/8", DIMENSIONS, 64)


def test_a_model_without_token_states_says_so() -> None:
    with pytest.raises(BadRequestError, match="obedient@0/8 has no token states"):
        require_token_encoder(ObedientEncoder())
