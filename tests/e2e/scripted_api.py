"""A stand-in for Anthropic's Messages API on the loopback interface: plays given answers, and records what it is asked.

    python scripted_api.py SCRIPT.json RECORD.jsonl -- COMMAND...

It is a program, not a fixture, so that it can sit with the command it serves in a network namespace without a way out.
SCRIPT holds two lists of answers, each a list of content blocks: one of `answers` is given to each request that carries
tools, one of `asides` to each that doesn't. RECORD gets the body of each request, one a line. The command finds the
port in ANTHROPIC_BASE_URL; its exit code is ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = dict[str, Any]

USAGE = {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
SPENT = [{"type": "text", "text": "The script has no answer left."}]
ASIDE = [{"type": "text", "text": "Aside."}]


class Script:
    """Hands out the answers in their order, and keeps the requests."""

    def __init__(self, script: dict[str, list[list[Json]]], record: Path) -> None:
        self._answers = iter(script["answers"])
        self._asides = iter(script["asides"])
        self._record = record
        self._lock = threading.Lock()

    def answer(self, request: Json) -> list[Json]:
        with self._lock:
            with self._record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(request) + "\n")
            # Titles, summaries and runs without tools are not the conversation.
            return next(self._answers, SPENT) if request.get("tools") else next(self._asides, ASIDE)


def message(request: Json, blocks: list[Json]) -> Json:
    """Return a whole message with these blocks."""
    content = [
        {"id": f"toolu_{uuid.uuid4().hex[:24]}", **block} if block["type"] == "tool_use" else block for block in blocks
    ]
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "scripted"),
        "content": content,
        "stop_reason": "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    }


def events(whole: Json) -> Iterator[Json]:
    """Return the events that a message is streamed as."""
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        begun: Json
        if block["type"] == "text":
            begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            begun = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": USAGE["output_tokens"]}}
    yield {"type": "message_stop"}


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        request: Json = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            self._send(200, "application/json", json.dumps({"input_tokens": len(json.dumps(request)) // 4}))
        elif path != "/v1/messages":
            self._send(404, "application/json", "{}")
        else:
            whole = message(request, self.script.answer(request))
            if request.get("stream"):
                stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events(whole))
                self._send(200, "text/event-stream", stream)
            else:
                self._send(200, "application/json", json.dumps(whole))

    def do_HEAD(self) -> None:
        self._send(404, "application/json", "")

    def _send(self, status: int, type: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main(script: str, record: str, separator: str, *command: str) -> int:
    """Serve one command until it ends; return its exit code."""
    assert separator == "--"
    Handler.script = Script(json.loads(Path(script).read_text("utf-8")), Path(record))
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            return subprocess.run(command, env={**os.environ, "ANTHROPIC_BASE_URL": address}, check=False).returncode
        finally:
            server.shutdown()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
