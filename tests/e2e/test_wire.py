"""Whatever bytes a client writes to stdin, the server answers each request and lives on."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.e2e.conftest import SOON, House

HANDSHAKE = b"".join(
    json.dumps(message).encode() + b"\n"
    for message in (
        {
            "jsonrpc": "2.0",
            "id": "shake",
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    )
)


def asked(request_id: bytes, query: bytes, *more: bytes) -> bytes:
    arguments = b'"query":' + b",".join((query, *more))
    return (
        b'{"jsonrpc":"2.0","id":' + request_id + b',"method":"tools/call",'
        b'"params":{"name":"search_memory","arguments":{' + arguments + b"}}}"
    )


LINES = {
    1: asked(b"1", b'"a cut emoji \\ud83d"'),
    2: asked(b"2", b'"raw \x01 control"'),
    3: asked(b"3", b"[" * 5_000 + b"]" * 5_000),
    4: asked(b"4", b"[" * 1_000_000 + b"]" * 1_000_000),
    5: asked(b"5", b'"x"', b'"limit":' + b"9" * 5_000),
    6: asked(b"6", b'"x"', b'"limit":NaN'),
    7: asked(b"7", b'"x"', b'"limit":1e999'),
    8: asked(b"8", b'"' + b"x" * 30_000_000 + b'"'),
    9: asked(b"9", b'"x"', b'"query":"twice"'),
    10: asked(b"10", b'"\xff\xfe"'),
    11: asked(b"11", b"[" * 150 + b"]" * 150),
    12: asked(b"12", b'"x"', b'"no\\udc00":1'),
    13: b'{"method":"tools/call","params":{"x":"' + b"y" * 9_000_000 + b'"},"jsonrpc":"2.0","id":13}',
    14: b'[{"jsonrpc":"2.0","id":14,"method":"ping"}]',
    15: b'{"jsonrpc":"2.0","id":15,"method":5}',
    16: b'{"jsonrpc":"2.0","id":16,"method":"no/such"}',
    17: b'{"jsonrpc":"2.0","id":17,"method":"ping","params":[1]}',
    18: b'\xef\xbb\xbf{"jsonrpc":"2.0","id":18,"method":"ping"}\r',
    19: b'{"id":19,"method":"ping"}',
    20: b'{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{"name":5,"arguments":{}}}',
    21: b'{"jsonrpc":"2.0","id":21,"method":"tools/call"}',
    22: b'{"jsonrpc":"2.0","id":22,"method":"tools/call","params":{"name":"\\ud83d"}}',
    23: b'{"jsonrpc":"2.0","id":23,"method":"resources/read","params":{"uri":"memory://node/\\ud83d"}}',
    24: b'{"jsonrpc":"2.0","id":24,"method":"prompts/get","params":{"name":"recall","arguments":{"topic":"\\ud83d"}}}',
    25: b'{"jsonrpc":"2.0","id":25,"method":"prompts/get","params":{"name":"nothing"}}',
    26: b'{"jsonrpc":"2.0","id":26,"method":"prompts/get","params":{"name":"recall"}}',
    27: b'{"jsonrpc":"2.0","id":27,"method":"pin',
}

UNNAMED = (
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}',
    b"\x00\x01\xfe\xff\x80",
    b"hello",
    b'"hello"',
    b"[]",
)
"""Lines whose id can't be made out, or can't be one."""

SILENT = (b"", b"  \r", b'{"jsonrpc":"2.0","method":"no/such"}', b'{"jsonrpc":"2.0","id":5,"result":1}')


def answers(house: House, sent: bytes) -> list[dict[str, Any]]:
    done = subprocess.run(
        house.command,
        input=sent,
        env=house.environment,
        cwd=house.project,
        capture_output=True,
        timeout=4 * SOON,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.req("D.09")
def test_every_request_is_answered_by_its_id_and_those_behind_it_too(house: House) -> None:
    lines = [*SILENT, *UNNAMED, *LINES.values()]
    said = answers(house, HANDSHAKE + b"\n".join([*lines[:-1], asked(b"99", b'"last"'), lines[-1]]))
    found = [answer["id"] for answer in said]
    assert sorted(key for key in found if isinstance(key, int)) == [*LINES, 99]
    assert found.count(None) == len(UNNAMED)
    for answer in said:
        if "error" in answer:
            assert answer["error"]["code"] in (-32700, -32600, -32601, -32602)
            assert len(answer["error"]["message"]) > 20
    by_id = {answer["id"]: answer for answer in said}
    assert by_id[1]["result"]["structuredContent"]["query"] == "a cut emoji \ufffd"
    assert not by_id[99]["result"]["isError"]


def test_a_request_before_the_handshake_is_told_to_wait_for_it(house: House) -> None:
    [early, late, *_] = answers(house, asked(b"1", b'"x"') + b"\n" + HANDSHAKE)
    assert (early["id"], early["error"]["code"]) == (1, -32602)
    assert "initialize" in early["error"]["message"]
    assert late["id"] == "shake"


def test_a_memory_that_holds_no_text_of_utf_8_does_not_break_the_answer(house: House) -> None:
    with house.memory() as memory:
        memory.remember_fact("The broken harbour light is green.")
        with memory.store.transaction():
            memory.store.connection.execute(
                "UPDATE nodes SET content = CAST(CAST(content AS BLOB) || x'ff' AS TEXT) WHERE content LIKE '%harbour%'"
            )
    [_, answer] = answers(house, HANDSHAKE + asked(b"1", b'"harbour light"') + b"\n")
    assert answer["id"] == 1
    assert "structuredContent" in answer["result"], answer
    [hit] = answer["result"]["structuredContent"]["results"]
    assert hit["content"].startswith("The broken harbour light is green.")
