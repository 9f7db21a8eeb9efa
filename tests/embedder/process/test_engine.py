"""Loading in stages, the two lanes, and what goes wrong in each."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from hyperloci.embedder import protocol
from hyperloci.embedder.priority_lock import EncoderStage
from hyperloci.embedder.process.engine import DrainQueue, EmbedderEngine
from hyperloci.embedder.status import EmbedderState, EmbedderStatus
from hyperloci.errors import BadRequestError, ConfigurationError, EmbedderError, NotReadyError
from hyperloci.spaces.encoder import Encoder
from tests.embedder.helpers import DIMENSIONS, SOON, ObedientEncoder, SeeingEncoder, drain_lines, stage, wait_for
from tests.support import vector_of


def running(stages: Callable[[], Iterator[EncoderStage]], drain: DrainQueue = lambda *_: 0) -> EmbedderEngine:
    engine = EmbedderEngine(stages, lambda: drain)
    engine.start()
    return engine


def one_stage() -> Iterator[EncoderStage]:
    yield stage(SeeingEncoder())


def soon(seconds: float = SOON) -> float:
    return protocol.deadline_after(seconds)


def test_texts_come_back_as_vectors_with_the_models_id() -> None:
    answer = running(one_stage).encode(["a", "b"], tokens=False, deadline=soon())
    assert answer.model_id == "obedient@0/8"
    np.testing.assert_array_equal(answer.matrices[0], [vector_of(text, DIMENSIONS) for text in "ab"])


def test_tokens_come_back_as_a_matrix_for_each_text() -> None:
    answer = running(one_stage).encode(["a b c", "d"], tokens=True, deadline=soon())
    assert [matrix.shape for matrix in answer.matrices] == [(3, DIMENSIONS), (1, DIMENSIONS)]


def test_an_interim_stage_answers_while_the_next_is_being_loaded() -> None:
    load_on = threading.Event()

    def stages() -> Iterator[EncoderStage]:
        yield stage(ObedientEncoder(), interim=True)
        load_on.wait()
        yield stage(SeeingEncoder())

    engine = running(stages)
    assert len(engine.encode(["a"], tokens=False, deadline=soon()).matrices) == 1
    with pytest.raises(BadRequestError, match="no token states"):
        engine.encode(["a"], tokens=True, deadline=soon())
    assert not engine.status().settled
    load_on.set()
    wait_for(lambda: engine.status().settled)
    assert isinstance(engine._stage and engine._stage.encoder, SeeingEncoder)
    assert len(engine.encode(["a"], tokens=True, deadline=soon()).matrices) == 1


def test_a_better_stage_that_fails_leaves_the_one_at_hand() -> None:
    def stages() -> Iterator[EncoderStage]:
        yield stage(SeeingEncoder(), interim=True)
        raise ImportError("libtorch_cpu.so: cannot open shared object file")

    engine = running(stages)
    wait_for(lambda: engine.status().error)
    assert engine.status().state is EmbedderState.READY
    assert "libtorch_cpu.so" in str(engine.status().error)
    assert len(engine.encode(["a"], tokens=False, deadline=soon()).matrices) == 1


def test_a_stage_that_is_another_model_is_not_adopted() -> None:
    class Other(SeeingEncoder):
        model_id = "other@1/8"

    def stages() -> Iterator[EncoderStage]:
        yield stage(SeeingEncoder(), interim=True)
        yield stage(Other())

    engine = running(stages)
    wait_for(lambda: engine.status().error)
    assert engine.status().model_id == "obedient@0/8"


def test_before_a_model_is_loaded_the_caller_is_told_to_try_again() -> None:
    blocked = threading.Event()

    def stages() -> Iterator[EncoderStage]:
        blocked.wait()
        yield stage(SeeingEncoder())

    engine = running(stages)
    assert engine.status().state is EmbedderState.LOADING
    with pytest.raises(NotReadyError, match="still loading"):
        engine.encode(["a"], tokens=False, deadline=soon(0.05))
    assert engine.idle_seconds == 0
    blocked.set()
    assert len(engine.encode(["a"], tokens=False, deadline=soon()).matrices) == 1


def test_a_model_that_cannot_be_loaded_says_why_to_every_caller() -> None:
    def stages() -> Iterator[EncoderStage]:
        raise ConfigurationError("device='cuda': this torch has no such device.")
        yield

    engine = running(stages)
    with pytest.raises(EmbedderError, match="has no such device"):
        engine.encode(["a"], tokens=False, deadline=soon())
    assert (engine.status().state, engine.has_failed) == (EmbedderState.FAILED, True)


def test_a_model_that_breaks_on_one_request_serves_the_next(caplog: pytest.LogCaptureFixture) -> None:
    engine = running(one_stage)
    with pytest.raises(EmbedderError, match="ZeroDivisionError: the model broke"):
        engine.encode(["raise"], tokens=False, deadline=soon())
    assert len(engine.encode(["a"], tokens=False, deadline=soon()).matrices) == 1
    assert engine.status().queries == 2


def test_a_stuck_model_is_given_up_at_the_deadline_and_shows_in_the_status() -> None:
    engine = running(one_stage)
    engine.encode(["a"], tokens=False, deadline=soon())  # It is loaded.

    def is_stuck() -> bool:
        with pytest.raises(TimeoutError):
            engine.encode(["hang"], tokens=False, deadline=soon(0.1))
        return engine.status().busy_seconds > 0

    wait_for(is_stuck)  # A busy machine may begin with a request too late.


def test_what_its_caller_no_longer_waits_for_is_not_computed() -> None:
    released, seen = threading.Event(), list[str]()

    class Slow(ObedientEncoder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            seen.extend(texts)
            if texts == ["first"]:
                released.wait()
            return super().encode(texts)

    def stages() -> Iterator[EncoderStage]:
        yield stage(Slow())

    engine = running(stages)
    first = threading.Thread(target=lambda: engine.encode(["first"], tokens=False, deadline=soon()))
    first.start()
    wait_for(lambda: seen)
    with pytest.raises(TimeoutError):
        engine.encode(["given up"], tokens=False, deadline=soon(0.01))
    released.set()
    engine.encode(["last"], tokens=False, deadline=soon())
    first.join()
    assert seen == ["first", "last"]


def test_a_database_is_drained_until_nothing_is_left(tmp_path: Path) -> None:
    database = tmp_path / "memory.txt"
    database.write_text("one\ntwo\nthree\n")
    engine = running(one_stage, drain_lines)
    engine.notify(database)
    wait_for(lambda: not engine.status().draining)
    assert [line.split()[0] for line in (tmp_path / "memory.done").read_text().splitlines()] == ["one", "two", "three"]
    assert engine.status().drained == 3


def test_databases_take_turns(tmp_path: Path) -> None:
    turns: list[str] = []
    left = {"a": 2, "b": 2}

    def drain(database: Path, encoder: Encoder, should_yield: Callable[[], bool]) -> int:
        turns.append(database.name)
        left[database.name] -= 1
        return max(0, left[database.name] + 1)

    engine = EmbedderEngine(one_stage, lambda: drain)
    engine.notify(tmp_path / "a")
    engine.notify(tmp_path / "b")
    engine.start()
    wait_for(lambda: not engine.status().draining)
    assert turns == ["a", "b", "a", "b", "a", "b"]


def test_a_kick_while_the_last_batch_is_being_looked_for_is_not_lost(tmp_path: Path) -> None:
    looking, go_on, calls = threading.Event(), threading.Event(), list[Path]()

    def drain(database: Path, encoder: Encoder, should_yield: Callable[[], bool]) -> int:
        calls.append(database)
        looking.set()
        go_on.wait()
        return 0

    engine = running(one_stage, drain)
    engine.notify(tmp_path)
    looking.wait()
    engine.notify(tmp_path)
    go_on.set()
    wait_for(lambda: not engine.status().draining)
    assert calls == [tmp_path, tmp_path]


def test_a_database_that_cannot_be_drained_is_left_until_the_next_kick(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def drain(database: Path, encoder: Encoder, should_yield: Callable[[], bool]) -> int:
        if database.name == "broken":
            raise OSError("disk I/O error")
        return drain_lines(database, encoder, should_yield)

    whole = tmp_path / "whole.txt"
    whole.write_text("one\n")
    engine = running(one_stage, drain)
    engine.notify(tmp_path / "broken")
    engine.notify(whole)
    wait_for(lambda: not engine.status().draining)
    assert engine.status().drained == 1
    assert "disk I/O error" in caplog.text
    told = EmbedderStatus.from_message(json.loads(json.dumps(engine.status().to_message())))
    assert told.faults == ((str(tmp_path / "broken"), "disk I/O error"),)


def test_a_drain_learns_that_a_query_waits_and_that_the_end_is_near(tmp_path: Path) -> None:
    holding, seen = threading.Event(), list[bool]()

    def drain(database: Path, encoder: Encoder, should_yield: Callable[[], bool]) -> int:
        seen.append(should_yield())
        holding.set()
        wait_for(should_yield)
        return 0

    engine = running(one_stage, drain)
    engine.notify(tmp_path)
    holding.wait()
    engine.stop()
    wait_for(lambda: not engine.status().draining)
    assert seen == [False]


def test_work_keeps_the_idle_clock_at_zero(tmp_path: Path) -> None:
    go_on = threading.Event()

    def drain(database: Path, encoder: Encoder, should_yield: Callable[[], bool]) -> int:
        go_on.wait()
        return 0

    engine = running(one_stage, drain)
    engine.encode(["a"], tokens=False, deadline=soon())
    engine.notify(tmp_path)
    assert engine.idle_seconds == 0
    go_on.set()
    wait_for(lambda: engine.idle_seconds > 0)
