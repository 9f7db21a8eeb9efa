"""CTF v1: what goes in comes out, and what is damaged is refused with its line."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.errors import BadRequestError
from hyperloci.model import compact_turn_format
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.text.tokens import count_tokens
from tests.support import examples

EVERYTHING = st.text(st.characters(), max_size=60) | st.text("\\\n\t\r¶-tpr \u2028\x00\ud800", max_size=12)
"""All of Unicode, lone surrogates too; and what the format itself is made of."""

TURNS = st.builds(
    Turn,
    uuid=EVERYTHING,
    role=st.sampled_from(Speaker),
    text=EVERYTHING,
    timestamp_ms=st.none() | st.integers(-(10**13), 10**14),
    kind=st.sampled_from(TurnKind),
    path=st.none() | EVERYTHING,
)


def turn(text: str = "hello", **changes: Any) -> Turn:
    return replace(Turn(uuid="u", role=Speaker.USER, text=text, timestamp_ms=0), **changes)


@given(st.lists(TURNS, max_size=8))
@settings(max_examples=examples(100))
@pytest.mark.req("C.03")
def test_any_turns_come_back_as_they_were(turns: list[Turn]) -> None:
    assert compact_turn_format.decode_turns(compact_turn_format.encode_turns(turns)) == tuple(turns)


@pytest.mark.req("C.03")
def test_every_single_code_point_comes_back() -> None:
    for start in range(0, 0x110000, 0x8000):
        text = "x".join(map(chr, range(start, start + 0x8000)))
        assert compact_turn_format.decode_turns(compact_turn_format.encode_turns([turn(text)]))[0].text == text


@given(st.lists(TURNS, max_size=4), st.data())
@settings(max_examples=examples(50))
def test_only_the_fields_asked_for_are_written(turns: list[Turn], data: st.DataObject) -> None:
    fields = data.draw(st.lists(st.sampled_from(compact_turn_format.FIELDS), min_size=1, unique=True))
    for back, given_ in zip(
        compact_turn_format.decode_turns(compact_turn_format.encode_turns(turns, fields)), turns, strict=True
    ):
        for field in fields:
            name = {"time": "timestamp_ms", "content": "text"}.get(field, field)
            assert getattr(back, name) == getattr(given_, name)


def test_the_format_is_what_the_document_shows() -> None:
    turns = [turn("How?\nSo:\t-"), turn("-", role=Speaker.ASSISTANT, timestamp_ms=1_500, path="a.py")]
    assert compact_turn_format.encode_turns(turns, ("role", "time", "path", "content")) == (
        "#CTF v1 turns=2 fields=role,time,path,content from=1970-01-01T00:00:00.000+00:00\n"
        "user\t0\t-\tHow?¶So:\\t-\n"
        "assistant\t1.5\ta.py\t\\-"
    )


@pytest.mark.req("C.03")
@pytest.mark.parametrize(
    ("damaged", "complaint"),
    [
        ("", "line 1: not a header"),
        ("#CTF v2 turns=0 fields=role", "line 1: not a header of CTF v1"),
        ("#CTF v1 turns=0 fields=role,wisdom", "line 1: fields=role,wisdom"),
        ("#CTF v1 turns=0 fields=role,role", "line 1: fields=role,role"),
        ("#CTF v1 turns=1 fields=time from=noon\n0", "line 1: from='noon' is not a time"),
        ("#CTF v1 turns=2 fields=role\nuser", "line 2: the file ends after 1 of 2 turns"),
        ("#CTF v1 turns=1 fields=role\nuser\nuser", "line 3: the file ends after 2 of 1 turns"),
        ("#CTF v1 turns=2 fields=role,content\nuser\tone\nuser", "line 3: 1 values instead of 2"),
        ("#CTF v1 turns=1 fields=role,content\nuser\ta\tb", "line 2: 3 values instead of 2"),
        ("#CTF v1 turns=1 fields=role\nking", "line 2: 'king'"),
        ("#CTF v1 turns=1 fields=content\na\\q", "line 2: '\\\\q' is not an escape"),
        ("#CTF v1 turns=1 fields=content\na\\", "line 2: '\\\\' is not an escape"),
        ("#CTF v1 turns=1 fields=content\n-", "line 2: content is missing"),
        ("#CTF v1 turns=1 fields=time from=1970-01-01\n1e5", "line 2: time '1e5'"),
        ("#CTF v1 turns=1 fields=time\n5", "line 2: time '5' is not a number of seconds after from="),
    ],
)
def test_a_damaged_file_is_refused_with_the_line(damaged: str, complaint: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        compact_turn_format.decode_turns(damaged)
    assert complaint in str(refused.value)


@given(st.lists(TURNS, min_size=1, max_size=3), st.data())
@settings(max_examples=examples(100))
def test_a_damaged_file_gives_turns_or_a_refusal_and_nothing_else(turns: list[Turn], data: st.DataObject) -> None:
    text = compact_turn_format.encode_turns(turns)
    place = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:place] + data.draw(st.sampled_from(["", "\n", "\t", "\\", "-", "9"])) + text[place + 1 :]
    try:
        decoded = compact_turn_format.decode_turns(damaged)
    except BadRequestError as refused:
        assert str(refused).startswith("line ")
    else:
        assert (
            compact_turn_format.decode_turns(compact_turn_format.encode_turns(decoded, fields_of(damaged))) == decoded
        )


def fields_of(text: str) -> list[str]:
    return text.split("fields=")[1].split("\n")[0].split(" ")[0].split(",")


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(BadRequestError, match="fields=role,wisdom must be some of"):
        compact_turn_format.encode_turns([turn()], ("role", "wisdom"))


@pytest.mark.req("C.04")
def test_short_turns_cost_two_fifths_fewer_tokens_than_as_json() -> None:
    turns = [turn(f"Run the tests again.\nNumber {n} fails.", timestamp_ms=1_800_000_000_000 + n) for n in range(10)]
    as_json = json.dumps(
        [{"role": t.role, "content": t.text, "timestamp": "2027-01-15T08:00:00.000+00:00"} for t in turns]
    )
    assert count_tokens(compact_turn_format.encode_turns(turns, compact_turn_format.TOLD_FIELDS)) <= 0.6 * count_tokens(
        as_json
    )
