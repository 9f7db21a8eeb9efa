"""An embeddings endpoint, played by a scripted server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from hyperloci.config import Settings
from hyperloci.embedder.models.endpoint import EndpointEncoder, RefusedTextError
from hyperloci.embedder.models.profile_models import load_profile_stages
from hyperloci.errors import ConfigurationError, EmbedderError

Answer = Callable[[dict[str, Any]], tuple[int, Any]]


class Endpoint(ThreadingHTTPServer):
    """Answers by a function, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer: Answer = lengths
        self.asked: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/embeddings"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(request)
        status, answer = self.server.answer(request)
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


def item(index: int, *vector: float) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": vector}


def lengths(request: dict[str, Any]) -> tuple[int, Any]:
    """A vector that tells the length of its text, in an order of its own."""
    return 200, {"data": [item(i, float(len(text)), 1.0) for i, text in enumerate(request["input"])][::-1]}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_vectors_come_back_in_order_and_with_length_one(endpoint: Endpoint) -> None:
    encoder = EndpointEncoder(f"{endpoint.address}#nomic-embed-text")
    texts = ["a" * length for length in (3, 900, 1)]
    expected = np.array([[len(text), 1] for text in texts], dtype=np.float32)
    np.testing.assert_allclose(
        encoder.encode(texts), expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6
    )


def test_the_model_is_named_in_the_request_and_in_the_id(endpoint: Endpoint) -> None:
    encoder = EndpointEncoder(f"{endpoint.address}#nomic-embed-text")
    assert endpoint.asked[0]["model"] == "nomic-embed-text"
    assert encoder.model_id == f"nomic-embed-text@127.0.0.1:{endpoint.server_port}/2"
    assert encoder.dimensions == 2


def test_settings_that_name_an_address_lead_to_it(endpoint: Endpoint, settings: Settings) -> None:
    (only,) = load_profile_stages(replace(settings, model=f"{endpoint.address}#m"))
    assert (only.backend, only.encoder.dimensions) == ("endpoint", 2)


@pytest.mark.req("B.20")
def test_a_model_with_other_dimensions_than_the_settings_want_is_refused(
    endpoint: Endpoint, settings: Settings
) -> None:
    wanted = replace(settings, model=f"{endpoint.address}#m", embedding_dimensions=2)
    assert [stage.encoder.dimensions for stage in load_profile_stages(wanted)] == [2]
    with pytest.raises(ConfigurationError, match=r"embedding_dimensions=3, but m@.* has 2: name a model with 3"):
        list(load_profile_stages(replace(wanted, embedding_dimensions=3)))


def test_many_texts_go_in_several_requests(endpoint: Endpoint) -> None:
    encoder = EndpointEncoder(f"{endpoint.address}#m")
    assert encoder.encode(["word " * 10_000] * 5).shape == (5, 2)
    assert len(endpoint.asked) > 2


@pytest.mark.parametrize("address", ["http://host/v1", "ftp://host/v1#m", "http:///v1#m", "host/v1#m", "#m"])
def test_an_address_of_another_form_is_refused_with_the_form(address: str) -> None:
    with pytest.raises(ConfigurationError, match="use http"):
        EndpointEncoder(address)


@pytest.mark.parametrize(
    ("status", "answer", "complaint"),
    [
        (500, {"error": "out of memory"}, "answered 500"),
        (404, b"", "answered 404"),
        (302, b"", "redirects to http://127.0.0.1:1/elsewhere"),
        (200, b"<html>", "did not answer like"),
        (200, [], "did not answer like"),
        (200, {"data": []}, "0 embeddings were returned for 1 texts"),
        (200, {"data": [item(0, 1.0), item(1, 1.0)]}, "2 embeddings were returned for 1 texts"),
        (200, {"data": [item(7, 1.0)]}, "did not answer like"),
        (200, {"data": [item(0)]}, "empty, ragged, zero or not finite"),
        (200, {"data": [item(0, 0.0, 0.0)]}, "empty, ragged, zero or not finite"),
        (200, {"data": [item(0, float("nan"))]}, "empty, ragged, zero or not finite"),
        (200, {"data": [{"index": 0, "embedding": "AAAA"}]}, "did not answer like"),
        (200, {"data": [{"index": 0, "embedding": [[1.0]]}]}, "empty, ragged, zero or not finite"),
        (200, {"data": [{"index": 0}]}, "did not answer like"),
        (200, {"data": 5}, "did not answer like"),
    ],
)
def test_an_answer_of_another_form_is_an_error_that_says_so(
    endpoint: Endpoint, status: int, answer: Any, complaint: str
) -> None:
    endpoint.answer = lambda request: (status, answer)
    with pytest.raises(EmbedderError, match=complaint):
        EndpointEncoder(f"{endpoint.address}#m")


def test_vectors_that_change_their_length_are_an_error(endpoint: Endpoint) -> None:
    encoder = EndpointEncoder(f"{endpoint.address}#m")
    endpoint.answer = lambda request: (200, {"data": [item(0, 1.0, 2.0, 3.0)]})
    with pytest.raises(EmbedderError, match="answered with 3 dimensions, not 2"):
        encoder.encode(["a"])


@pytest.mark.req("B.03")
@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_texts_that_are_refused_are_told_from_a_server_that_refuses_all(endpoint: Endpoint, status: int) -> None:
    encoder = EndpointEncoder(f"{endpoint.address}#m")
    endpoint.answer = lambda request: lengths(request) if len("".join(request["input"])) < 100 else (status, b"")
    assert encoder.encode(["a"]).shape == (1, 2)
    with pytest.raises(RefusedTextError, match=f"answered {status}") as refused:
        encoder.encode(["a" * 60, "b" * 60])
    # The queue then takes them one at a time.
    assert isinstance(refused.value, ValueError)
    endpoint.answer = lambda request: (status, b"")
    with pytest.raises(EmbedderError, match=f"answered {status}") as failed:
        encoder.encode(["a"])
    assert not isinstance(failed.value, ValueError)


def test_nobody_there_is_an_error(endpoint: Endpoint) -> None:
    endpoint.server_close()
    with pytest.raises(EmbedderError, match="cannot be reached"):
        EndpointEncoder(f"{endpoint.address}#m")
