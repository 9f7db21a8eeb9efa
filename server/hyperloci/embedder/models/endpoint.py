"""Endpoint: a remote model that answers like OpenAI's `/v1/embeddings`.

`model = "http://localhost:11434/v1/embeddings#nomic-embed-text"`: the address, and the model's name as its fragment,
which is no part of what is requested. Made for servers of one's own (Ollama, llama.cpp, vLLM, TEI): no key is sent.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, Final
from urllib.parse import urldefrag, urlsplit

import numpy as np
from numpy.typing import NDArray

from hyperloci.embedder.batching import estimate_tokens, plan_batches
from hyperloci.errors import ConfigurationError, EmbedderError

_SECONDS: Final = 30.0
"""A server that loads its model on the first request takes a while."""

_MAX_ANSWER_BYTES: Final = 64 << 20
_MAX_TOKENS: Final = 8_192
"""What endpoints commonly accept of one text; they cut or refuse the rest themselves."""

_BATCH_TOKENS: Final = 16_384

_REFUSALS: Final = frozenset({400, 413, 422, 500})
"""What servers answer where a text is too long for them, or where there are too many."""

_SHORT_TEXT: Final = "dimensions"


class RefusedTextError(EmbedderError, ValueError):
    """The endpoint refuses these texts; by themselves, or in fewer, some of them may be taken."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Keeps memory text from being sent on to an address that nobody configured."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        raise EmbedderError(
            f"The endpoint {req.full_url} redirects to {newurl}; use that address as `model` if you trust it."
        )


class EndpointEncoder:
    """A remote model. Satisfies `Encoder`. Its dimensions are learnt from one short request at the start.

    Raises:
        ConfigurationError: the address is not of the form `http(s)://host/path#model`.
        EmbedderError: the endpoint does not answer, or not as it should.
    """

    max_tokens = _MAX_TOKENS

    def __init__(self, address: str) -> None:
        self._url, self._model = urldefrag(address)
        if urlsplit(self._url).scheme not in {"http", "https"} or not urlsplit(self._url).netloc or not self._model:
            raise ConfigurationError(
                f"model={address!r} is not an endpoint: use http(s)://host/v1/embeddings#model-name."
            )
        self._opener = urllib.request.build_opener(_NoRedirects())
        self.dimensions = int(self._request_embeddings([_SHORT_TEXT]).shape[1])
        self.model_id = f"{self._model}@{urlsplit(self._url).netloc}/{self.dimensions}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: `(len(texts), dimensions)`, rows in the order given, each of length one.

        Raises:
            RefusedTextError: it refuses these texts.
            EmbedderError: it does not answer, or not as it should.
        """
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for batch in plan_batches([estimate_tokens(text, self.max_tokens) for text in texts], _BATCH_TOKENS):
            answer = self._request_batch([texts[index] for index in batch])
            if answer.shape[1] != self.dimensions:
                raise EmbedderError(f"{self._url} answered with {answer.shape[1]} dimensions, not {self.dimensions}.")
            vectors[batch] = answer
        return vectors

    def _request_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            return self._request_embeddings(texts)
        except RefusedTextError as refusal:
            # A server that has lost its model says the same, and then it is not for these texts.
            try:
                self._request_embeddings([_SHORT_TEXT])
            except RefusedTextError:
                raise EmbedderError(str(refusal)) from None
            raise

    def _request_embeddings(self, texts: Sequence[str]) -> NDArray[np.float32]:
        body = json.dumps({"model": self._model, "input": list(texts), "encoding_format": "float"}).encode("ascii")
        request = urllib.request.Request(self._url, body, {"Content-Type": "application/json"})
        try:
            with self._opener.open(request, timeout=_SECONDS) as response:
                answer = response.read(_MAX_ANSWER_BYTES + 1)
            if len(answer) > _MAX_ANSWER_BYTES:
                raise EmbedderError(f"{self._url} answered with more than {_MAX_ANSWER_BYTES:,} bytes.")
            return _read_unit_rows(json.loads(answer), len(texts))
        except urllib.error.HTTPError as error:
            with error:
                kind = RefusedTextError if error.code in _REFUSALS else EmbedderError
                raise kind(f"{self._url} answered {error.code} {error.reason}") from None
        except (OSError, HTTPException) as error:
            raise EmbedderError(f"{self._url} cannot be reached: {error}") from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise EmbedderError(f"{self._url} did not answer like /v1/embeddings: {error}") from error


def _read_unit_rows(answer: Any, count: int) -> NDArray[np.float32]:
    """Read an answer into rows of length one, in the order of the texts.

    Raises:
        ValueError, TypeError, KeyError: it is not of the documented form.
    """
    items = sorted(answer["data"], key=lambda item: int(item["index"]))
    if [item["index"] for item in items] != list(range(count)):
        raise ValueError(f"{len(items)} embeddings were returned for {count} texts")
    rows = np.array([item["embedding"] for item in items], dtype=np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True) if rows.ndim == 2 else np.zeros(1)
    if not rows.size or not np.isfinite(rows).all() or not (norms > 0).all():
        raise ValueError("an embedding is empty, ragged, zero or not finite")
    return np.asarray(rows / norms, dtype=np.float32)
