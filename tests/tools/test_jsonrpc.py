"""Reading a client's lines: whatever they are, each is a message, a refusal in words, or nothing by the protocol."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from hyperloci_tools import jsonrpc
from hyperloci_tools.jsonrpc import RefusedLine, id_in, make_encodable, read_messages
from hyperloci_tools.stdio import LineReader, make_writable

ANY_TEXT = st.text(st.characters(codec=None, categories=None))
"""With halves of surrogate pairs, control characters, and all else that a Python string holds."""

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)

IDS = st.integers() | st.text(st.characters(codec="utf-8"), max_size=20)


def one(line: bytes) -> Any:
    [said] = read_messages(line)
    return said


def request(**changes: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {}} | changes).encode()


@pytest.mark.req("W4")
@given(st.binary())
def test_any_bytes_are_read_or_refused(line: bytes) -> None:
    for said in read_messages(line):
        assert not isinstance(said, RefusedLine) or json.loads(said.to_error().model_dump_json())["error"]["message"]


@given(ANY_JSON)
def test_any_json_is_read_or_refused(value: Any) -> None:
    for said in read_messages(json.dumps(value).encode()):
        assert not isinstance(said, RefusedLine) or said.to_error().model_dump_json()


@pytest.mark.req("W4")
@given(IDS, ANY_JSON, ANY_JSON, ANY_JSON)
def test_whatever_has_an_id_is_answered_by_it(request_id: Any, method: Any, params: Any, version: Any) -> None:
    line = json.dumps({"params": params, "method": method, "jsonrpc": version, "id": request_id}).encode()
    said = one(line)
    assert isinstance(said, JSONRPCRequest | RefusedLine)
    assert said.id == request_id


@given(IDS, ANY_TEXT)
def test_any_text_reaches_a_tool_whole_but_for_halves_of_surrogate_pairs(request_id: Any, text: str) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "m", "params": {"text": text}}).encode()
    said = one(line)
    assert isinstance(said, JSONRPCRequest)
    assert said.params == {"text": make_encodable(text)}


@given(IDS, st.binary(max_size=30), st.data())
def test_the_id_is_found_in_a_line_that_is_damaged_behind_it(
    request_id: Any, damage: bytes, data: st.DataObject
) -> None:
    head = json.dumps({"jsonrpc": "2.0", "id": request_id})[:-1].encode()
    tail = b', "method": "tools/call", "params": {"id": 3, "name": "a"}}'
    at = data.draw(st.integers(2, len(tail)))
    assert id_in(head + tail[:at] + damage.replace(b'"id"', b"")) == request_id


@pytest.mark.parametrize(
    ("line", "known", "code", "words"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\x01"}}', 1, -32700, "control character"),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + b"[" * 5_000 + b"]" * 5_000 + b"}", 1, -32700, "nested"),
        (b'{"params":' + b'{"a":[' * 9_000 + b"]}" * 9_000 + b',"id":"x"}', "x", -32700, "nested"),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":' + b"9" * 5_000 + b"}}", 1, -32700, "4,300 digits"),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}', 1, -32700, "NaN"),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":-Infinity}}', 1, -32700, "Infinity"),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\xff"}}', 1, -32700, "UTF-8"),
        (b'{"jsonrpc":"2.0","id":1,"method":"to', 1, -32700, "in the middle"),
        (b"\x00\x01\xfe\xff", None, -32700, "not a JSON-RPC message"),
        (b"hello", None, -32700, "one JSON object per line"),
        (b'"hello"', None, -32600, "not a string"),
        (request(id=1.5), None, -32600, "id must be a whole number"),
        (request(id=None), None, -32600, "not null"),
        (request(id=True), None, -32600, "id must be"),
        (request(id=[1]), None, -32600, "id must be"),
        (request(id="\ud83d"), None, -32600, "whole characters"),
        (request(method=5), 7, -32600, "method must be a string"),
        (request(params=[1]), 7, -32602, "params must be an object"),
        (request(params="x"), 7, -32602, "params must be an object"),
        (request(jsonrpc="1.0"), 7, -32600, '"jsonrpc": "2.0"'),
        (b"[]", None, -32600, "one message per line"),
    ],
)
def test_what_is_no_message_is_refused_with_its_id_and_what_to_change(
    line: bytes, known: Any, code: int, words: str
) -> None:
    said = one(line)
    assert isinstance(said, RefusedLine)
    assert (said.id, said.code) == (known, code)
    assert words in said.message


@pytest.mark.parametrize("line", [b"", b"\n", b"  \r\n", b"\xef\xbb\xbf\n"])
def test_a_blank_line_asks_for_nothing(line: bytes) -> None:
    assert list(read_messages(line)) == []


@pytest.mark.parametrize("line", [b'{"jsonrpc":"2.0","id":1,"result":5}', b'{"id":[],"error":{}}'])
def test_a_broken_response_is_not_answered(line: bytes) -> None:
    assert list(read_messages(line)) == []


def test_messages_are_read_as_what_they_are() -> None:
    assert isinstance(one(b"\xef\xbb\xbf" + request() + b"\r\n"), JSONRPCRequest)
    assert isinstance(one(b'{"jsonrpc":"2.0","method":"m"}'), JSONRPCNotification)
    assert isinstance(one(b'{"jsonrpc":"2.0","id":1,"result":{}}'), JSONRPCResponse)
    assert isinstance(one(b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}'), JSONRPCError)
    assert one(request(params=None)).params is None


def refused_ids(line: bytes) -> list[int | str | None]:
    return [said.id for said in read_messages(line) if isinstance(said, RefusedLine)]


def test_each_request_of_an_array_is_refused_by_its_own_id() -> None:
    many = [{"jsonrpc": "2.0", "id": key, "method": "ping"} for key in ("a", 2)]
    assert refused_ids(json.dumps(many).encode()) == ["a", 2]
    assert refused_ids(json.dumps([*many, 5]).encode()) == ["a", 2, None]
    assert len(list(read_messages(json.dumps(many * 1_000).encode()))) == jsonrpc.MAX_BATCH + 1


@pytest.mark.req("W4")
@pytest.mark.parametrize(
    "shape", ['{{"jsonrpc":"2.0","id":{id},"params":"{fill}"}}', '{{"params":"{fill}","id":{id}}}']
)
@pytest.mark.parametrize("request_id", ["41", '"forty"'])
def test_a_line_that_is_too_long_is_refused_by_its_id_and_the_next_is_read(
    shape: str, request_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonrpc, "MAX_LINE_BYTES", 1_000)
    monkeypatch.setattr(jsonrpc, "SEEN_BYTES", 100)
    long = shape.format(id=request_id, fill="x" * 10_007).encode()
    lines = LineReader(io.BytesIO(long + b"\n" + request() + b"\n" + long))
    for known in (json.loads(request_id), 7, json.loads(request_id)):
        [said] = lines.read_line() or ()
        assert isinstance(said, JSONRPCRequest | RefusedLine) and said.id == known
        assert isinstance(said, JSONRPCRequest) or "8 MiB" not in said.message
    assert lines.read_line() is None


@pytest.mark.parametrize(("ending", "known"), [(b'1}}, "id": 5}', 5), (b"1", None)])
def test_of_a_line_with_tokens_without_end_the_id_is_looked_for_at_the_end(
    ending: bytes, known: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonrpc, "MAX_TOKENS", 50)
    assert id_in(b'{"a":' * 100 + ending) == known


@given(ANY_JSON)
def test_any_answer_can_be_written(value: Any) -> None:
    written = make_writable(JSONRPCResponse(jsonrpc="2.0", id=1, result={"value": value}))
    assert isinstance(written, JSONRPCResponse)
    assert "value" in json.loads(written.model_dump_json(by_alias=True, exclude_unset=True))["result"]


def test_an_answer_that_is_nested_without_end_is_cut() -> None:
    value: Any = []
    for _ in range(5_000):
        value = [value]
    written = make_writable(JSONRPCResponse(jsonrpc="2.0", id=1, result={"value": value, "bytes": {b"\xff", "\ud83d"}}))
    assert "…" in written.model_dump_json()


def test_an_answer_is_written_as_it_is_where_it_can_be() -> None:
    message = JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "😀"})
    assert make_writable(message) is message
