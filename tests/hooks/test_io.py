"""What goes in and out of a hook."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci_hooks.io import get_object, get_text, make_answer, parse_object
from hyperloci_hooks.log import append_to_log
from tests.support import examples


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[1]", b'"text"', b'{"torn": ', b"\xff\xfe\x00", b"[" * 200_000, b"{" * 9, b"NaN"],
    ids=range(9),
)
def test_what_is_no_object_is_an_empty_one(data: bytes) -> None:
    assert parse_object(data) == {}


def test_a_byte_order_mark_and_broken_characters_do_no_harm() -> None:
    assert parse_object(b'\xef\xbb\xbf{"prompt": "caf\xe9"}') == {"prompt": "caf\ufffd"}


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers())))
@settings(max_examples=examples(50))
def test_a_field_of_another_kind_counts_as_missing(payload: dict[str, Any]) -> None:
    assert all(isinstance(get_text(payload, name), str) and get_object(payload, name) == {} for name in payload)


def test_an_answer_holds_only_what_there_is_to_say() -> None:
    assert make_answer("Stop") == {}
    assert make_answer("SessionStart", "notes", "warning") == {
        "systemMessage": "warning",
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "notes"},
    }


def test_a_log_line_is_one_line_in_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "state" / "hyperloci.log"
    append_to_log(str(path), "first\n\n  second\ud800")
    append_to_log(str(path), "third", level="ERROR")
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) == 2
    assert lines[0].endswith(f"{os.getpid()} WARNING hyperloci_hooks: first |   second?")
    assert " ERROR " in lines[1]
    assert os.name != "posix" or path.stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    append_to_log(str(tmp_path / "file" / "hyperloci.log"), "unheard")
    assert (tmp_path / "file").read_text() == ""


def test_half_of_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert get_text(parse_object(b'{"prompt": "a \\ud800 b \\ud83d\\ude00"}'), "prompt") == "a ? b \U0001f600"
