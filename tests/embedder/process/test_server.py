"""The door and its visitors: a real server on a real socket, in this process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hyperloci.cli.diagnostics.diagnosis import Severity
from hyperloci.cli.diagnostics.doctor import _check_embedder
from hyperloci.config import Settings
from hyperloci.embedder import protocol
from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.priority_lock import EncoderStage
from hyperloci.embedder.process.engine import EmbedderEngine
from hyperloci.embedder.process.server import MAX_TEXTS, EmbedderServer
from hyperloci.embedder.query_encoder import QueryEncoder
from hyperloci.embedder.status import EmbedderState
from hyperloci.embedder.transport import (
    LOOPBACK,
    UNIX,
    connect_to_embedder,
    find_embedder_address,
    listen_for_sessions,
)
from hyperloci.errors import BadRequestError, EmbedderError, NotReadyError
from hyperloci.memory import Memory
from hyperloci.spaces.query import fingerprint_query
from tests.embedder.helpers import (
    DIMENSIONS,
    SOON,
    ObedientEncoder,
    SeeingEncoder,
    broken_stages,
    drain_lines,
    hang,
    stage,
    stages,
    wait_for,
)
from tests.support import vector_of


@contextmanager
def serving(
    settings: Settings,
    stages: Callable[[Settings], Iterator[EncoderStage]] = stages,
    *,
    transport: str = UNIX,
    idle_seconds: float = 600,
) -> Iterator[list[str]]:
    """Serve in a thread; the list gets the reason for the end."""
    listener, secret = listen_for_sessions(find_embedder_address(settings, transport))
    engine = EmbedderEngine(lambda: stages(settings), lambda: drain_lines)
    engine.start()
    reasons: list[str] = []
    thread = threading.Thread(
        target=lambda: reasons.append(EmbedderServer(listener, secret, engine, idle_seconds).serve_until_idle()),
        daemon=True,
    )
    thread.start()
    client = EmbedderClient(settings, transport=transport, insistent=True)
    try:
        yield reasons
    finally:
        wait_for(lambda: client.stop_embedder() or not thread.is_alive())
        thread.join(SOON)
        listener.close()
    assert not thread.is_alive()


def ask(settings: Settings, request: dict[str, object]) -> dict[str, object]:
    deadline = protocol.deadline_after(SOON)
    with connect_to_embedder(find_embedder_address(settings), deadline=deadline) as connection:
        protocol.send_message(connection, request, deadline=deadline)
        return protocol.receive_message(connection, deadline=deadline)[0]


@pytest.mark.parametrize("transport", [UNIX, LOOPBACK])
def test_a_client_gets_the_vectors_of_its_texts_in_order(settings: Settings, transport: str) -> None:
    texts = [f"text {number}" for number in range(150)]
    with serving(settings, transport=transport):
        vectors = EmbedderClient(settings, transport=transport).embed(texts)
    np.testing.assert_array_equal(vectors, [vector_of(text, DIMENSIONS) for text in texts])
    assert vectors.dtype == np.float32


def test_a_query_comes_back_with_the_id_of_its_model(settings: Settings) -> None:
    with serving(settings):
        model_id, vector = EmbedderClient(settings).embed_query("what was decided?")
    assert model_id == "obedient@0/8"
    np.testing.assert_array_equal(vector, vector_of("what was decided?", DIMENSIONS))


@pytest.mark.req("E.01")
def test_a_question_is_seen_in_every_space_in_one_round_trip(settings: Settings) -> None:
    question = "why does `parse_config` fail on k8s?"
    with serving(settings):
        client = EmbedderClient(settings)
        seen = client.embed_query_spaces(question)
        named = client.embed_query_spaces(question, entities=["Nomad"])
        queries = client.status()
    wanted = fingerprint_query(question, SeeingEncoder())
    assert (seen.model_id, seen.bits, seen.weigh_terms) == ("obedient@0/8", wanted.bits, True)
    assert seen.dense.keys() == wanted.dense.keys() >= {"e1", "e5_effect", "e7", "e10", "e11"}
    for column, vector in wanted.dense.items():
        np.testing.assert_allclose(seen.dense[column], vector, atol=1e-6)
    assert seen.tokens is not None and wanted.tokens is not None
    np.testing.assert_allclose(seen.tokens, wanted.tokens, atol=1e-6)
    assert seen.terms == pytest.approx(wanted.terms)
    np.testing.assert_allclose(named.dense["e11"], vector_of("Nomad", DIMENSIONS), atol=1e-6)
    assert queries is not None and queries.queries == 2


@pytest.mark.parametrize("text", ["", "?", "\ud800", "a b " * 3_000])
def test_any_question_is_seen(settings: Settings, text: str) -> None:
    with serving(settings):
        assert EmbedderClient(settings).embed_query_spaces(text).dense["e1"].shape == (DIMENSIONS,)


def test_an_answer_that_does_not_fit_is_refused() -> None:
    header, body = protocol.fingerprint_to_message(fingerprint_query("a question", SeeingEncoder()))
    assert protocol.fingerprint_from_message(header, body).dense.keys() == {"e1", "e7", "e9", "e10"}
    for broken in (
        {},
        {**header, "shapes": {"e1": [1, -8]}},
        {**header, "shapes": {"e1": [1, 8]}},
        {**header, "bits": 5},
    ):
        with pytest.raises(protocol.ProtocolError):
            protocol.fingerprint_from_message(broken, body)
    with pytest.raises(protocol.ProtocolError):
        protocol.fingerprint_from_message(header, body[:-4])


def test_token_states_come_back_as_a_matrix_for_each_text(settings: Settings) -> None:
    with serving(settings):
        matrices = EmbedderClient(settings).embed_tokens(["one two", "", "three"])
    assert [matrix.shape for matrix in matrices] == [(2, DIMENSIONS), (0, DIMENSIONS), (1, DIMENSIONS)]
    np.testing.assert_array_equal(matrices[2][0], vector_of("three", DIMENSIONS))


def test_no_texts_need_no_embedder(settings: Settings) -> None:
    assert EmbedderClient(settings).embed([]).shape == (0, 0)
    assert EmbedderClient(settings).embed_tokens([]) == []


@pytest.mark.parametrize("text", ["", "\ud800", "\x00", "日本語 🙂", "a" * 20_000])
def test_any_text_gets_through(settings: Settings, text: str) -> None:
    with serving(settings):
        np.testing.assert_array_equal(EmbedderClient(settings).embed([text])[0], vector_of(text, DIMENSIONS))


def test_texts_of_any_total_size_are_sent_in_parts(settings: Settings) -> None:
    texts = [chr(0x1F600 + number) * 20_000 for number in range(60)]
    with serving(settings):
        assert EmbedderClient(settings).embed(texts, SOON).shape == (60, DIMENSIONS)


def test_many_clients_are_served_at_once(settings: Settings) -> None:
    def one(number: int) -> bool:
        vectors = EmbedderClient(settings).embed([f"text {number}"], SOON)
        return bool((vectors[0] == vector_of(f"text {number}", DIMENSIONS)).all())

    with serving(settings), ThreadPoolExecutor(16) as pool:
        assert all(pool.map(one, range(100)))


def test_a_client_that_expects_another_model_is_told(settings: Settings) -> None:
    with serving(settings):
        client = EmbedderClient(settings)
        assert client.embed(["a"], model_id="obedient@0/8").shape == (1, DIMENSIONS)
        with pytest.raises(EmbedderError, match="runs obedient@0/8; the request needs other@1/8"):
            client.embed(["a"], model_id="other@1/8")


def test_the_status_tells_model_and_work(settings: Settings) -> None:
    with serving(settings):
        client = EmbedderClient(settings)
        client.embed(["a"])
        status = client.status()
    assert status is not None
    assert (status.state, status.model_id, status.dimensions) == (EmbedderState.READY, "obedient@0/8", DIMENSIONS)
    assert (status.queries, status.queries_waiting, status.draining) == (1, 0, ())
    assert status.rss_bytes > 1_000_000
    assert "obedient@0/8 on cpu (fake, float32)" in str(status)


def test_warm_means_ready_to_answer(settings: Settings) -> None:
    blocked = threading.Event()

    def late(settings: Settings) -> Iterator[EncoderStage]:
        blocked.wait()
        yield stage(ObedientEncoder())

    client = EmbedderClient(settings)
    assert not client.is_ready(1)
    with serving(settings, late):
        assert not client.is_ready(1)
        assert str(client.status(SOON)).startswith("loading, pid ")
        # The server gives up long before its client does: the reason arrives from a busy machine, too.
        with pytest.MonkeyPatch.context() as patch, pytest.raises(NotReadyError, match="still loading"):
            patch.setattr("hyperloci.embedder.client._SERVER_SHARE", 0.01)
            client.embed(["a"], SOON)
        blocked.set()
        assert client.wait_until_ready(SOON)
    assert not client.is_ready(1)
    assert not client.wait_until_ready(0.01)


def test_a_failed_model_says_why_through_the_socket(settings: Settings) -> None:
    with serving(settings, broken_stages):
        with pytest.raises(EmbedderError, match="this torch has no such device"):
            EmbedderClient(settings).embed(["a"])
        assert "failed" in str(EmbedderClient(settings).status())
        with pytest.raises(EmbedderError, match="this torch has no such device"):
            QueryEncoder(EmbedderClient(settings), settings, lambda: False).embed_query_spaces("a")
        with Memory.open(settings, settings.state_dir) as memory:
            told = memory.stats()["embedder"]
        assert not told["warm"] and "this torch has no such device" in told["error"]
        [found] = _check_embedder(settings, settings.state_dir, False)
        assert found.level is Severity.WARNING and "this torch has no such device" in found.message


def test_a_model_without_token_states_says_so_through_the_socket(settings: Settings) -> None:
    def plain(settings: Settings) -> Iterator[EncoderStage]:
        yield stage(ObedientEncoder())

    with serving(settings, plain), pytest.raises(BadRequestError, match="no token states"):
        EmbedderClient(settings).embed_tokens(["a"])


def test_a_stuck_model_is_an_error_at_the_deadline_and_others_still_get_a_status(settings: Settings) -> None:
    with serving(settings):
        client = EmbedderClient(settings)
        with pytest.raises(EmbedderError, match=r"busy or stuck|did not answer in time"):
            client.embed(["hang"], 0.3)
        assert hang(client).busy_seconds > 0


def test_a_kick_drains_the_database(settings: Settings) -> None:
    settings.database.write_text("one\ntwo\n")
    client = EmbedderClient(settings)
    assert not client.notify(settings.database)
    with serving(settings):
        wait_for(lambda: client.notify(settings.database))
        wait_for(lambda: (status := client.status()) and status.drained == 2 and not status.draining)


def test_a_database_that_does_not_exist_is_no_work(settings: Settings) -> None:
    with serving(settings):
        assert not EmbedderClient(settings).notify(settings.database)


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        ({}, "op=None is unknown: use embed, see, contradict, pairs, statements, status, drain or stop"),
        ({"op": "eval"}, "op='eval' is unknown"),
        ({"op": "embed", "seconds": 1}, "texts must be a list of strings"),
        ({"op": "embed", "seconds": 1, "texts": "a"}, "texts must be a list of strings"),
        ({"op": "embed", "seconds": 1, "texts": [1]}, "texts must be a list of strings"),
        ({"op": "embed", "seconds": 1, "texts": []}, "0 texts: one request takes 1 to"),
        ({"op": "embed", "seconds": 1, "texts": ["a"] * (MAX_TEXTS + 1)}, f"{MAX_TEXTS + 1} texts"),
        ({"op": "embed", "texts": ["a"]}, "seconds=None must be above 0"),
        ({"op": "embed", "texts": ["a"], "seconds": -1}, "seconds=-1 must be above 0"),
        ({"op": "embed", "texts": ["a"], "seconds": 1e9}, "must be above 0 and at most"),
        ({"op": "drain", "database": "memory.db"}, "absolute path of a database that exists"),
        ({"op": "drain", "database": 7}, "absolute path of a database that exists"),
    ],
)
def test_a_request_that_cannot_be_used_is_answered_with_what_to_change(
    settings: Settings, request_: dict[str, object], complaint: str
) -> None:
    with serving(settings):
        answer = ask(settings, request_)
    assert (answer["ok"], answer["error"]) == (False, "bad_request")
    assert complaint in str(answer["message"])


def test_noise_on_the_socket_harms_nobody_else(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    with serving(settings):
        for noise in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100):
            with connect_to_embedder(
                find_embedder_address(settings), deadline=protocol.deadline_after(SOON)
            ) as connection:
                connection.sendall(noise)
        assert EmbedderClient(settings).embed(["a"]).shape == (1, DIMENSIONS)
    assert "Expected a message" in caplog.text


def test_idle_for_long_enough_is_the_end(settings: Settings) -> None:
    with serving(settings, idle_seconds=0.2) as reasons:
        wait_for(lambda: reasons)
        assert "idle for" in reasons[0]
        assert not EmbedderClient(settings).is_ready(1)


def test_being_asked_how_it_is_does_not_keep_it_from_going_idle(settings: Settings) -> None:
    with serving(settings, idle_seconds=0.2) as reasons:
        wait_for(lambda: EmbedderClient(settings).status() is None or reasons)
        wait_for(lambda: reasons)
    assert "idle for" in reasons[0]


def test_stop_is_the_end(settings: Settings) -> None:
    client = EmbedderClient(settings)
    assert not client.stop_embedder()
    with serving(settings) as reasons:
        wait_for(lambda: client.stop_embedder() or reasons)
        wait_for(lambda: reasons)
        assert reasons == ["told to stop"]


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        ({"ok": True, "shapes": [[1, 4]]}, bytes(8)),
        ({"ok": True, "shapes": [[2, 4]]}, bytes(32)),
        ({"ok": True, "shapes": [[-1, -4]]}, bytes(16)),
        ({"ok": True, "shapes": [[1, 4]]}, bytes(15)),
        ({"ok": True, "shapes": "x"}, b""),
        ({"ok": True}, b""),
        ({"ok": False}, b""),
        ({}, b""),
    ],
)
def test_an_answer_that_does_not_add_up_is_an_error(settings: Settings, answer: dict[str, object], body: bytes) -> None:
    with scripted(settings, answer, body), pytest.raises(EmbedderError):
        EmbedderClient(settings).embed(["a"])


def test_an_embedder_that_goes_away_before_answering_is_an_error(settings: Settings) -> None:
    with scripted(settings, None), pytest.raises(protocol.ConnectionLostError):
        EmbedderClient(settings).embed(["a"])


def test_an_answer_of_nonsense_is_no_status(settings: Settings) -> None:
    for status in ("x", {"state": "sleepy"}, {}, {"state": "ready", "draining": 3}):
        with scripted(settings, {"ok": True, "status": status}):
            assert EmbedderClient(settings).status() is None


@contextmanager
def scripted(settings: Settings, answer: dict[str, object] | None, body: bytes = b"") -> Iterator[None]:
    """Answer one request with whatever is given, or hang up."""
    listener, _ = listen_for_sessions(find_embedder_address(settings))

    def reply() -> None:
        connection, _ = listener.accept()
        with connection:
            protocol.receive_message(connection, deadline=protocol.deadline_after(SOON))
            if answer is not None:
                protocol.send_message(connection, answer, body=body, deadline=protocol.deadline_after(SOON))

    thread = threading.Thread(target=reply)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        listener.close()


def test_a_runtime_folder_that_cannot_be_used_costs_vectors_and_nothing_else(
    settings: Settings, tmp_path: Path
) -> None:
    settings.runtime_dir.symlink_to(tmp_path)
    client = EmbedderClient(settings)
    with pytest.raises(EmbedderError, match="is a link"):
        client.embed(["a"])
    assert (client.is_ready(), client.status(), client.notify(tmp_path), client.stop_embedder()) == (
        False,
        None,
        False,
        False,
    )
    too_deep = EmbedderClient(replace(settings, runtime_dir=tmp_path / ("d" * 100)))
    assert not too_deep.is_ready()


def test_a_socket_that_nobody_accepts_on_is_given_up_at_the_deadline(settings: Settings) -> None:
    listener, _ = listen_for_sessions(find_embedder_address(settings))
    with listener:
        assert not EmbedderClient(settings).is_ready()
        with pytest.raises(protocol.DeadlineError):
            EmbedderClient(settings).embed(["a"], 0.1)
    assert listener.family == socket.AF_UNIX
