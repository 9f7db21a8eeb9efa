"""Framing, limits and deadlines."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.embedder import protocol
from tests.embedder.helpers import SOON
from tests.support import examples

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    left, right = socket.socketpair()
    with left, right:
        yield left, right


def soon() -> float:
    return protocol.deadline_after(SOON)


HEADERS = st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | st.integers() | st.text(max_size=30))


@settings(max_examples=examples(60))
@given(HEADERS, st.binary(max_size=200))
def test_a_message_arrives_as_it_was_sent(header: dict[str, object], body: bytes) -> None:
    left, right = socket.socketpair()
    with left, right:
        protocol.send_message(left, header, body=body, deadline=soon())
        assert protocol.receive_message(right, deadline=soon()) == (header, bytearray(body))


def test_a_body_larger_than_the_socket_buffers_arrives_whole(pair: Pair) -> None:
    body = bytes(range(256)) * 16_384
    sender = threading.Thread(target=lambda: protocol.send_message(pair[0], {}, body=body, deadline=soon()))
    sender.start()
    assert protocol.receive_message(pair[1], deadline=soon()) == ({}, bytearray(body))
    sender.join()


def test_lone_surrogates_survive_the_wire(pair: Pair) -> None:
    protocol.send_message(pair[0], {"texts": ["\ud800 a"]}, deadline=soon())
    assert protocol.receive_message(pair[1], deadline=soon())[0] == {"texts": ["\ud800 a"]}


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", "Expected a message", id="another protocol"),
        pytest.param(struct.pack(">4sII", b"HLE\x00", 2, 0) + b"{}", "Expected a message", id="another version"),
        pytest.param(struct.pack(">4sII", b"HLE\x01", 1 << 31, 0), "too large to accept", id="a header without end"),
        pytest.param(struct.pack(">4sII", b"HLE\x01", 2, 1 << 31), "too large to accept", id="a body without end"),
        pytest.param(struct.pack(">4sII", b"HLE\x01", 2, 0) + b"{]", "not JSON", id="no JSON"),
        pytest.param(struct.pack(">4sII", b"HLE\x01", 2, 0) + b"\xff\xff", "not JSON", id="no text"),
        pytest.param(struct.pack(">4sII", b"HLE\x01", 2, 0) + b"[]", "must be a JSON object", id="no object"),
        pytest.param(struct.pack(">4sII", b"HLE\x01", 9_999, 0) + b"[" * 9_999, "not JSON", id="deeply nested"),
    ],
)
def test_what_is_no_message_is_refused_with_the_reason(pair: Pair, sent: bytes, complaint: str) -> None:
    pair[0].sendall(sent)
    with pytest.raises(protocol.ProtocolError, match=complaint):
        protocol.receive_message(pair[1], deadline=soon())


def test_a_message_cut_short_is_a_lost_connection(pair: Pair) -> None:
    pair[0].sendall(struct.pack(">4sII", b"HLE\x01", 100, 0) + b"{")
    pair[0].close()
    with pytest.raises(protocol.ConnectionLostError):
        protocol.receive_message(pair[1], deadline=soon())


def test_a_silent_other_end_is_given_up_at_the_deadline(pair: Pair) -> None:
    pair[0].sendall(b"HLE")
    with pytest.raises(protocol.DeadlineError):
        protocol.receive_message(pair[1], deadline=protocol.deadline_after(0.05))


def test_an_other_end_that_reads_nothing_is_given_up_at_the_deadline(pair: Pair) -> None:
    with pytest.raises(protocol.DeadlineError):
        protocol.send_message(pair[0], {}, body=bytes(8 << 20), deadline=protocol.deadline_after(0.05))


def test_a_deadline_that_has_passed_is_not_waited_for(pair: Pair) -> None:
    with pytest.raises(protocol.DeadlineError):
        protocol.send_message(pair[0], {}, deadline=protocol.deadline_after(-1))


def test_a_closed_other_end_is_a_lost_connection_to_the_sender_too(pair: Pair) -> None:
    pair[1].close()
    with pytest.raises(protocol.ConnectionLostError):
        protocol.send_message(pair[0], {}, body=bytes(8 << 20), deadline=soon())


def test_a_message_over_the_limit_is_not_even_begun(pair: Pair) -> None:
    with pytest.raises(protocol.ProtocolError, match="too large to send"):
        protocol.send_message(pair[0], {"text": "x" * protocol.MAX_HEADER_BYTES}, deadline=soon())
    protocol.send_message(pair[0], {"next": 1}, deadline=soon())
    assert protocol.receive_message(pair[1], deadline=soon())[0] == {"next": 1}


def test_the_limits_leave_room_for_what_a_client_sends_at_once() -> None:
    from hyperloci.embedder.client import _CHARS_PER_REQUEST

    worst = json.dumps("\U0001f600")  # Two escapes of six bytes for one character.
    assert _CHARS_PER_REQUEST * (len(worst) - 2) < protocol.MAX_HEADER_BYTES
