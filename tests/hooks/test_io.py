"""What goes in and out of a hook."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci_hooks.io import Outlet, answer_of, object_of, parse, read_input, text_of
from hyperloci_hooks.log import log
from tests.support import examples


def piped(data: bytes) -> int:
    """Return a descriptor to read `data` from."""
    reader, writer = os.pipe()

    def write() -> None:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(data)

    threading.Thread(target=write).start()
    return reader


@pytest.mark.parametrize("data", [b"", b"{}", b"x" * 200_000])
def test_input_is_read_to_its_end(data: bytes) -> None:
    reader = piped(data)
    assert read_input(reader) == data
    os.close(reader)


def test_input_over_the_limit_is_read_and_dropped() -> None:
    reader = piped(b"x" * 200_000)
    assert read_input(reader, limit=100_000) == b""
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[1]", b'"text"', b'{"torn": ', b"\xff\xfe\x00", b"[" * 200_000, b"{" * 9, b"NaN"],
    ids=range(9),
)
def test_what_is_no_object_is_an_empty_one(data: bytes) -> None:
    assert parse(data) == {}


def test_a_byte_order_mark_and_broken_characters_do_no_harm() -> None:
    assert parse(b'\xef\xbb\xbf{"prompt": "caf\xe9"}') == {"prompt": "caf\ufffd"}


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers())))
@settings(max_examples=examples(50))
def test_a_field_of_another_kind_counts_as_missing(payload: dict[str, Any]) -> None:
    assert all(isinstance(text_of(payload, name), str) and object_of(payload, name) == {} for name in payload)


def test_an_answer_holds_only_what_there_is_to_say() -> None:
    assert answer_of("Stop") == {}
    assert answer_of("SessionStart", "notes", "warning") == {
        "systemMessage": "warning",
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "notes"},
    }


def test_only_the_first_answer_is_written_and_in_ascii() -> None:
    reader, writer = os.pipe()
    outlet = Outlet(writer)
    assert outlet.answer({"text": "žluť \ud800"}) is True
    assert outlet.answer({"text": "late"}) is False
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        written = pipe.read()
    assert written.isascii() and json.loads(written) == {"text": "žluť \ud800"}


def test_who_comes_second_goes_on_only_when_the_first_answer_is_written() -> None:
    reader, writer = os.pipe()
    outlet = Outlet(writer)
    os.set_blocking(reader, False)
    filler = b"x" * 65_536
    assert os.write(writer, filler) == len(filler)
    first = threading.Thread(target=outlet.answer, args=({"first": True},))
    first.start()
    second = threading.Thread(target=outlet.answer, args=({},))
    second.start()
    assert second.is_alive() and first.is_alive()
    assert os.read(reader, len(filler)) == filler
    first.join()
    second.join()
    assert json.loads(os.read(reader, 100)) == {"first": True}
    os.close(reader)
    os.close(writer)


def test_an_answer_that_nobody_reads_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert Outlet(writer).answer({}) is False
    os.close(writer)


def test_a_log_line_is_one_line_in_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "state" / "hyperloci.log"
    log(path, "first\n\n  second\ud800")
    log(path, "third", level="ERROR")
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) == 2
    assert lines[0].endswith(f"{os.getpid()} WARNING hyperloci_hooks: first |   second?")
    assert " ERROR " in lines[1]
    assert os.name != "posix" or path.stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log(tmp_path / "file" / "hyperloci.log", "unheard")
    assert (tmp_path / "file").read_text() == ""


def test_half_of_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert text_of(parse(b'{"prompt": "a \\ud800 b \\ud83d\\ude00"}'), "prompt") == "a ? b \U0001f600"
