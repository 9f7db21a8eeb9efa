"""Stand-ins for the model endpoints of Codex, Gemini CLI and OpenCode on the loopback interface, in one server.

    python scripted_models.py SCRIPT.json RECORD.jsonl -- COMMAND...

SCRIPT is a list of answers, one for each request of the conversation: `{"text": ...}`, or a tool in `call` with its
`arguments`. RECORD gets the body of each such request, one a line. The command finds the address in SCRIPTED_URL, also
where one of its arguments says `@URL@`; its exit code is ours. Each endpoint speaks as little of its protocol as its
client needs: OpenAI's Responses with server-sent events, Gemini's streamGenerateContent, OpenAI's chat completions.
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

SPENT: Json = {"text": "The script has no answer left."}
ASIDE: Json = {"text": "Aside."}


def respond(answer: Json) -> Iterator[Json]:
    """Yield the events of OpenAI's Responses."""
    id = uuid.uuid4().hex
    if "call" in answer:
        namespace, _, tool = str(answer["call"]).rpartition(".")
        item: Json = {
            "type": "function_call",
            "id": f"fc_{id}",
            "call_id": f"call_{id}",
            "name": tool,
            "arguments": json.dumps(answer["arguments"]),
            **({"namespace": namespace} if namespace else {}),
        }
    else:
        content = [{"type": "output_text", "text": answer["text"]}]
        item = {"type": "message", "role": "assistant", "id": f"msg_{id}", "content": content}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield {"type": "response.created", "response": {"id": f"resp_{id}"}}
    yield {"type": "response.output_item.done", "item": item}
    yield {"type": "response.completed", "response": {"id": f"resp_{id}", "usage": usage}}


def generate(answer: Json) -> Json:
    """Return the whole of Gemini's answer as one piece of a stream."""
    part: Json = {"text": answer["text"]} if "text" in answer else {}
    if "call" in answer:
        part = {"functionCall": {"id": uuid.uuid4().hex, "name": answer["call"], "args": answer["arguments"]}}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "scripted",
    }


def complete(answer: Json) -> Iterator[Json]:
    """Yield the pieces of a chat completion."""
    whole: Json = {"id": uuid.uuid4().hex, "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    delta: Json = {"role": "assistant", "content": answer.get("text", "")}
    if "call" in answer:
        function = {"name": answer["call"], "arguments": json.dumps(answer["arguments"])}
        delta["tool_calls"] = [{"index": 0, "id": f"call_{uuid.uuid4().hex}", "type": "function", "function": function}]
    yield {**whole, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if "call" in answer else "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield {**whole, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


class Script:
    """Hands out the answers in their order, and keeps the requests."""

    def __init__(self, answers: list[Json], record: Path) -> None:
        self._answers = iter(answers)
        self._record = record
        self._lock = threading.Lock()

    def answer(self, request: Json) -> Json:
        if not request.get("tools"):
            return ASIDE  # Titles and summaries are not the conversation.
        with self._lock:
            with self._record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(request) + "\n")
            return next(self._answers, SPENT)


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._send(404, "application/json", "{}")

    def do_POST(self) -> None:
        request: Json = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        if self.path.endswith("/responses"):
            events = "".join(
                f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                for event in respond(self.script.answer(request))
            )
            self._send(200, "text/event-stream", events)
        elif "streamGenerateContent" in self.path:
            self._send(200, "text/event-stream", f"data: {json.dumps(generate(self.script.answer(request)))}\r\n\r\n")
        elif "generateContent" in self.path:
            self._send(200, "application/json", json.dumps(generate(self.script.answer(request))))
        elif self.path.endswith("/chat/completions"):
            pieces = "".join(f"data: {json.dumps(piece)}\n\n" for piece in complete(self.script.answer(request)))
            self._send(200, "text/event-stream", f"{pieces}data: [DONE]\n\n")
        else:
            self._send(404, "application/json", "{}")

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
        environ = {**os.environ, "SCRIPTED_URL": address, "GOOGLE_GEMINI_BASE_URL": address}
        environ = {name: value.replace("@URL@", address) for name, value in environ.items()}
        arguments = [word.replace("@URL@", address) for word in command]
        try:
            return subprocess.run(arguments, env=environ, stdin=subprocess.DEVNULL, check=False).returncode
        finally:
            server.shutdown()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
