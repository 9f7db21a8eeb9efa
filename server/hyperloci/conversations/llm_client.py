"""LLM client: asks a language model through an OpenAI-compatible endpoint, bounded in time and size (B.17).

It works with local servers (Ollama, llama.cpp, vLLM, LM Studio) and hosted ones. It sends turns of sessions as they are
stored, so without secrets, and only if the user named an endpoint. Callers check every answer.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from hyperloci.config import Settings
from hyperloci.conversations.chat_model import ChatError, parse_json_answer
from hyperloci.errors import ConfigurationError

MAX_ANSWER_BYTES: Final = 1_000_000
"""A consolidated session takes a few kilobytes; an endless answer is cut off."""

MAX_ANSWER_TOKENS: Final = 4_096

CONNECT_SECONDS: Final = 10.0
"""A running server accepts at once, however long it then takes to answer."""


class ChatClient:
    """A chat endpoint, as a `chat_model.ChatModel`.

    Raises:
        ConfigurationError: no endpoint or model is set, or its address is invalid.
    """

    strategy = "llm"

    def __init__(self, settings: Settings) -> None:
        if not settings.llm_url or not settings.llm_model:
            raise ConfigurationError(
                "consolidation='llm' needs llm_url (such as http://localhost:11434/v1) and llm_model."
            )
        base = settings.llm_url.rstrip("/")
        self._url = urlsplit(base if base.endswith("/chat/completions") else f"{base}/chat/completions")
        if self._url.scheme not in {"http", "https"} or not self._url.hostname or not _has_valid_port(self._url):
            raise ConfigurationError(f"llm_url={settings.llm_url!r} is not a valid address: use http(s)://host/v1.")
        self._model = settings.llm_model
        self._key = settings.llm_api_key
        self._seconds = float(settings.llm_timeout_seconds)

    def ask_for_json(self, system: str, user: str) -> Any:
        """Return the JSON value that the model answers with.

        Raises:
            ChatError: it can't be reached, takes too long, or answers with too much or without JSON.
        """
        asked: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "temperature": 0,
            "max_tokens": MAX_ANSWER_TOKENS,
            "stream": False,
        }
        status, body = self._post_request({**asked, "response_format": {"type": "json_object"}})
        if status == http.client.BAD_REQUEST:
            # Not every server knows the format; the prompt asks for JSON as well.
            status, body = self._post_request(asked)
        if status != http.client.OK:
            raise ChatError(f"{self._endpoint_name} answered {status}: {body[:200].decode('utf-8', 'replace')}")
        return _parse_answer(body, self._endpoint_name)

    @property
    def _endpoint_name(self) -> str:
        return f"{self._url.scheme}://{self._url.netloc}{self._url.path}"

    def _post_request(self, asked: Mapping[str, Any]) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._url.hostname or "", self._url.port, timeout=CONNECT_SECONDS)
        deadline = time.monotonic() + self._seconds
        watch = threading.Timer(self._seconds, _abort_connection, (connection,))
        watch.daemon = True
        watch.start()
        try:
            connection.connect()
            # Once connected, only the timer limits it: it counts all of the time, a socket's time-out only pauses.
            connection.sock.settimeout(max(0.001, deadline - time.monotonic()))
            connection.request("POST", self._url.path or "/", json.dumps(asked).encode("utf-8"), headers)
            response = connection.getresponse()
            body = self._read_response(response)
            if time.monotonic() >= deadline:
                raise TimeoutError("cut off")
            return response.status, body
        except (OSError, http.client.HTTPException, AttributeError, ValueError) as error:
            # AttributeError, ValueError: what http.client raises when the timer closes its socket.
            if time.monotonic() >= deadline:
                raise ChatError(f"{self._endpoint_name} did not answer within {self._seconds:g} seconds.") from error
            raise ChatError(f"The request to {self._endpoint_name} failed: {error or type(error).__name__}") from error
        finally:
            watch.cancel()
            connection.close()

    def _read_response(self, response: http.client.HTTPResponse) -> bytes:
        body = response.read(MAX_ANSWER_BYTES + 1)
        if len(body) > MAX_ANSWER_BYTES:
            raise ChatError(f"{self._endpoint_name} answered with more than {MAX_ANSWER_BYTES:,} bytes.")
        return body


def _has_valid_port(url: SplitResult) -> bool:
    try:
        return url.port is None or url.port > 0
    except ValueError:
        return False


def _abort_connection(connection: http.client.HTTPConnection) -> None:
    """End a request whose time is over: a socket's own time-out restarts with every byte received."""
    sock = connection.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _parse_answer(body: bytes, where: str) -> Any:
    try:
        choice = json.loads(body)["choices"][0]
        content = choice["message"]["content"]
        if choice.get("finish_reason") == "length":
            raise ChatError(f"{where} stopped before the end of its answer (finish_reason length).")
        return parse_json_answer(content)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise ChatError(
            f"{where} did not answer with a chat completion that contains JSON: {type(error).__name__} {error}"
        ) from error
