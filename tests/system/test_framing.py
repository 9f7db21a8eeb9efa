"""Frames: whole on arrival however they are cut on the way, and refused by their prefix alone."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.system.framing import FrameError, Framing, pack_frame, write_all
from tests.support import examples

MARK = b"TST\x01"
FRAMES = Framing(MARK, max_header=100, max_body=200)


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.binary(max_size=100), st.binary(max_size=200)), max_size=4), st.integers(1, 50))
def test_frames_are_taken_out_of_a_buffer_as_they_were_packed(frames: list[tuple[bytes, bytes]], piece: int) -> None:
    sent = b"".join(FRAMES.pack(header, body) for header, body in frames)
    buffer, taken = bytearray(), []
    for start in range(0, len(sent), piece):
        buffer += sent[start : start + piece]
        while (frame := FRAMES.take(buffer)) is not None:
            taken.append(frame)
    assert taken == frames
    assert not buffer


def test_frames_are_read_off_a_stream_one_by_one() -> None:
    stream = io.BytesIO(FRAMES.pack_json({"half": "\ud800"}, b"body") + FRAMES.pack(b"", b"next"))
    assert FRAMES.read_json(stream.read) == ({"half": "\ud800"}, bytearray(b"body"))
    assert FRAMES.read(stream.read) == (bytearray(), bytearray(b"next"))
    with pytest.raises(EOFError):
        FRAMES.read(stream.read)


def test_a_stream_that_ends_within_a_frame_is_at_its_end() -> None:
    with pytest.raises(EOFError):
        FRAMES.read(io.BytesIO(FRAMES.pack(b"header", b"body")[:-1]).read)


@pytest.mark.parametrize(
    ("prefix", "complaint"),
    [
        (b"GET / HTTP/1", "Expected a message that begins with"),
        (b"TST\x02" + bytes(8), "Expected a message that begins with"),
        (MARK + b"\0\0\0\x65\0\0\0\0", "too large to accept"),
        (MARK + b"\0\0\0\0\xff\xff\xff\xff", "too large to accept"),
    ],
)
def test_a_prefix_that_cannot_be_right_is_refused_before_the_rest_has_come(prefix: bytes, complaint: str) -> None:
    with pytest.raises(FrameError, match=complaint):
        FRAMES.take(bytearray(prefix))
    with pytest.raises(FrameError, match=complaint):
        FRAMES.read(io.BytesIO(prefix).read)


@pytest.mark.parametrize(("header", "body"), [(b"x" * 101, b""), (b"", b"x" * 201)])
def test_a_frame_over_its_limits_is_not_packed(header: bytes, body: bytes) -> None:
    with pytest.raises(FrameError, match="too large to send: its header may have 100, its body 200"):
        FRAMES.pack(header, body)
    assert pack_frame(MARK, header, body).endswith(header + body)


@pytest.mark.parametrize("header", [b"{]", b"\xff\xff", b"[]", b""])
def test_a_header_that_is_no_json_object_is_refused(header: bytes) -> None:
    with pytest.raises(FrameError, match=r"not JSON|must be a JSON object"):
        FRAMES.read_json(io.BytesIO(FRAMES.pack(header)).read)


def test_what_is_written_piecemeal_is_written_whole() -> None:
    written = bytearray()

    def write(data: memoryview) -> int:
        written.extend(data[:3])
        return len(data[:3])

    write_all(write, bytes(range(100)))
    assert written == bytes(range(100))
