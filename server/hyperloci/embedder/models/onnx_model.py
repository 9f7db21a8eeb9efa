"""ONNX models: int8 exports of small BERTs on onnxruntime, for E1 (one vector a text) and E12 (one a token).

Onnxruntime is an optional extra (`pip install "hyperloci[models]"`), imported when the first such model is loaded: it
has int8 kernels for CPUs with VNNI, which torch has not. Weights are data; an ONNX graph runs no code of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hyperloci.embedder.batching import plan_batches
from hyperloci.errors import ConfigurationError
from hyperloci.spaces.encoder import MAX_WINDOWS
from hyperloci.system.native_threads import MAX_MODEL_THREADS, count_usable_cores

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

WINDOW_TOKENS: Final = 256
"""Tokens of one window, as the bundled model's: attention costs the square of it, and E12 reads on behind it."""

BATCH_TOKENS: Final = 512
"""Tokens of one call. Larger ones are no faster on a CPU, and texts of unlike length only add padding."""

POOLINGS: Final = ("cls", "mean")

_SMALLEST_NORM: Final = np.float32(1e-12)
_STATES: Final = "last_hidden_state"


class OnnxForward:
    """A BERT of int8 weights and its tokenizer."""

    def __init__(self, session: InferenceSession, tokenizer: Tokenizer, model_id: str) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {node.name for node in session.get_inputs()}
        self.model_id = model_id
        self.width = int(next(node.shape[-1] for node in session.get_outputs() if node.name == _STATES))

    def tokenise_windows(self, texts: Sequence[str], windows: int) -> list[list[list[int]]]:
        """Return per text the token ids of up to so many windows, each between its special tokens."""
        # A lone surrogate cannot be encoded as UTF-8; the tokenizer would refuse the whole batch for it.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        found = self._tokenizer.encode_batch_fast(clean)
        return [[one.ids, *(more.ids for more in one.overflowing[: windows - 1])] for one in found]

    def compute_states(self, token_ids: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
        """Return the last hidden states of each window: `(tokens, width)`.

        What is quantised is scaled by the largest number of a call, so windows of one length share a call and no text
        depends on the padding of another.
        """
        found: list[NDArray[np.float32]] = [np.empty((0, self.width), np.float32)] * len(token_ids)
        for batch in plan_batches([len(ids) for ids in token_ids], BATCH_TOKENS):
            for run in _split_by_length(batch, token_ids):
                for index, states in zip(run, self._run_session([token_ids[index] for index in run]), strict=True):
                    found[index] = states
        return found

    def _run_session(self, token_ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        ids = np.array(token_ids, np.int64)
        fed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        wanted = {name: values for name, values in fed.items() if name in self._inputs}
        return np.asarray(self._session.run([_STATES], wanted)[0], dtype=np.float32)


class OnnxTokenModel:
    """A late-interaction model. Satisfies `spaces.profile_encoder.CalibratedTokenModel`.

    Attributes:
        model_id: of the weights and the calibration.
        score_factor, score_offset: what makes of its score the bundled model's for texts as unlike.
    """

    def __init__(self, forward: OnnxForward, score_factor: float = 1.0, score_offset: float = 0.0) -> None:
        self._forward = forward
        self.model_id = f"{forward.model_id}/{score_factor:g},{score_offset:g}"
        self.score_factor = score_factor
        self.score_offset = score_offset

    def encode_tokens(self, texts: Sequence[str], *, query: bool) -> list[NDArray[np.float32]]:
        """Return per text a matrix with one unit row per token, special ones left out, of up to `MAX_WINDOWS`."""
        windows = self._forward.tokenise_windows(texts, 1 if query else MAX_WINDOWS)
        states = iter(self._forward.compute_states([ids for own in windows for ids in own]))
        return [_normalise_rows(np.concatenate([next(states)[1:-1] for _ in own])) for own in windows]


class OnnxSentenceEncoder:
    """A model of one vector a text. Satisfies `spaces.encoder.Encoder`."""

    max_tokens = WINDOW_TOKENS

    def __init__(self, forward: OnnxForward, pooling: str) -> None:
        if pooling not in POOLINGS:
            raise ConfigurationError(f"pooling={pooling!r} is unknown: use one of {', '.join(POOLINGS)}.")
        self._forward = forward
        self._pooling = pooling
        self.model_id = f"{forward.model_id}/{pooling}"
        self.dimensions = forward.width

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: `(len(texts), dimensions)`, rows in the order given, each of length one."""
        states = self._forward.compute_states([own[0] for own in self._forward.tokenise_windows(texts, 1)])
        pooled = [rows[0] if self._pooling == "cls" else rows.mean(axis=0) for rows in states]
        return _normalise_rows(np.array(pooled, np.float32).reshape(len(texts), self.dimensions))


def load_onnx_forward(folder: Path, name: str) -> OnnxForward:
    """Load the `model.onnx` and `tokenizer.json` of a folder.

    Raises:
        ConfigurationError: onnxruntime is not installed, or the files are no such model.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise ConfigurationError(
            f'model {name!r} runs on onnxruntime, which is not installed: pip install "hyperloci[models]"'
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(count_usable_cores(), MAX_MODEL_THREADS)
    # Its threads would spin after each call: an embedder that waits must cost nothing.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    path = folder / "model.onnx"
    try:
        content = path.read_bytes()
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.enable_truncation(WINDOW_TOKENS)
        tokenizer.no_padding()
        return OnnxForward(session, tokenizer, f"{name}@{hashlib.sha256(content).hexdigest()[:12]}/int8")
    except Exception as error:
        # Whatever a foreign file makes the libraries raise; all of it means that this model can't be used.
        raise ConfigurationError(f"model {name!r} cannot be loaded from {folder}: {error}") from error


def _split_by_length(batch: Sequence[int], token_ids: Sequence[Sequence[int]]) -> list[list[int]]:
    runs: dict[int, list[int]] = {}
    for index in batch:
        runs.setdefault(len(token_ids[index]), []).append(index)
    return list(runs.values())


def _normalise_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, _SMALLEST_NORM), dtype=np.float32)
