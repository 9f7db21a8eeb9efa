"""Sentence-transformers models, from a folder or by their name on the Hugging Face Hub.

Weights are read from safetensors alone: a pickle can run code when it is opened, and a model's own code is never run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperloci.embedder.batching import estimate_tokens, plan_batches
from hyperloci.embedder.models.device import ComputeDevice
from hyperloci.errors import ConfigurationError
from hyperloci.spaces.encoder import Encoder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch.nn import Module

M = TypeVar("M", bound="Module")

_PICKLES: Final = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle")
_NOT_NEEDED: Final = (*_PICKLES, "*.h5", "*.msgpack", "*.onnx", "*.ot", "onnx/*", "openvino/*", "*.gguf", "*.tflite")
"""What a model's page on the Hub may hold besides the weights that are read."""

_BATCH_TOKENS: Final = {"cpu": 2_048, "cuda": 32_768, "mps": 8_192}
"""Padded tokens of one call. A CPU is as fast on small batches; a GPU needs large ones."""

_BLOB_NAME: Final = re.compile(r"[0-9a-f]{64}")
"""The Hub's cache stores large files under their SHA-256."""


class SentenceEncoder:
    """A loaded sentence-transformers model. Satisfies `TokenEncoder`."""

    def __init__(self, model: SentenceTransformer, model_id: str, batch_tokens: int) -> None:
        self._model = model
        self._batch_tokens = batch_tokens
        self.model_id = model_id
        self.dimensions = _read_dimensions(model)
        self.max_tokens = int(model.max_seq_length or _BATCH_TOKENS["cpu"])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: `(len(texts), dimensions)`, rows in the order given, each of length one."""
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for batch in plan_batches([estimate_tokens(text, self.max_tokens) for text in clean], self._batch_tokens):
            vectors[batch] = self._model.encode(
                [clean[index] for index in batch],
                batch_size=len(batch),
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return vectors

    def encode_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Embed every token, special ones too: per text `(tokens, hidden)`, each row of length one."""
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        matrices: list[NDArray[np.float32]] = [np.empty((0, self.dimensions), dtype=np.float32)] * len(texts)
        for batch in plan_batches([estimate_tokens(text, self.max_tokens) for text in clean], self._batch_tokens):
            found = self._model.encode(
                [clean[index] for index in batch],
                batch_size=len(batch),
                output_value="token_embeddings",
                convert_to_numpy=False,
                show_progress_bar=False,
            )
            for index, states in zip(batch, found, strict=True):
                rows = states.float().cpu().numpy()
                norms = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
                matrices[index] = np.asarray(rows / norms, dtype=np.float32)
        return matrices


class PromptedEncoder:
    """A model that needs a prompt in front of a text. Satisfies `spaces.profile_encoder.PromptingEncoder`."""

    def __init__(self, encoder: Encoder, *, query: str, document: str) -> None:
        self._encoder = encoder
        self._query, self._document = query, document
        self.model_id = encoder.model_id
        self.dimensions = encoder.dimensions
        self.max_tokens = encoder.max_tokens

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed memories."""
        return self._encoder.encode([self._document + text for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions."""
        return self._encoder.encode([self._query + text for text in texts])


def load_sentence_encoder(name: str, place: ComputeDevice) -> SentenceEncoder:
    """Load a model from a folder, or by name from the Hub's cache or the Hub itself.

    The network is used only for a name whose files are not in the cache, and never if `HF_HUB_OFFLINE` is set.

    Raises:
        ConfigurationError: there is no such model, it has no safetensors, or it asks to run code of its own.
    """
    folder = find_safe_folder(name)
    from sentence_transformers import SentenceTransformer

    model = open_model(SentenceTransformer, name, folder, place)
    model_id = f"{identify_model(name, folder)}/{_read_dimensions(model)}"
    return SentenceEncoder(model, model_id, _BATCH_TOKENS[place.device.type])


def open_model(kind: Callable[..., M], name: str, folder: Path, place: ComputeDevice, purpose: str = "") -> M:
    """Read a model of sentence-transformers from a folder that is known to be safe, ready to be used.

    Raises:
        ConfigurationError: it can't be used, or not for this `purpose` (" as a sparse model").
    """
    try:
        model = kind(
            str(folder),
            device=str(place.device),
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:
        # Whatever a foreign configuration makes the library raise; all of it means that this model can't be used.
        raise ConfigurationError(f"model={name!r} cannot be loaded from {folder}{purpose}: {error}") from error
    return model.to(place.device, place.dtype).eval()


def find_safe_folder(name: str) -> Path:
    """Return the folder of a model, from the Hub's cache or the Hub if it has to be, once it is known to be safe.

    Raises:
        ConfigurationError: there is no such model, it has no safetensors, or it asks to run code of its own.
    """
    folder = _find_folder(name)
    require_safe_weights(folder)
    return folder


def identify_model(name: str, folder: Path) -> str:
    """Return a model's short name and the fingerprint of all that decides what it sees."""
    return f"{_shorten_name(name)}@{hash_model_files(folder)[:12]}"


def require_safe_weights(folder: Path) -> None:
    """Refuse a model that could only be loaded from a pickle, or through classes that it brings along.

    Raises:
        ConfigurationError: it says which file.
    """
    weights = list(folder.rglob("*.safetensors"))
    for path in (path for pattern in _PICKLES for path in folder.rglob(pattern)):
        if not any(other.parent == path.parent for other in weights):
            raise ConfigurationError(
                f"{path} is a pickle, and opening one can run code. Use a model with safetensors, or convert it with "
                "`SentenceTransformer(...).save_pretrained(folder, safe_serialization=True)`."
            )
    if not weights:
        raise ConfigurationError(f"{folder} holds no *.safetensors: it cannot be loaded safely.")
    for module in _read_modules(folder):
        if not str(module).startswith("sentence_transformers."):
            raise ConfigurationError(
                f"{folder / 'modules.json'} names {module!r}: only modules of sentence_transformers may run."
            )


def hash_model_files(folder: Path) -> str:
    """Hash everything that decides a model's vectors: its weights, configurations and tokenizer."""
    digest = hashlib.sha256()
    for path in sorted(path for kind in ("*.safetensors", "*.json", "*.txt", "*.model") for path in folder.rglob(kind)):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{_hash_file(path)}\n".encode())
    return digest.hexdigest()


def _hash_file(path: Path) -> str:
    stored_as = path.resolve().name
    if path.is_symlink() and _BLOB_NAME.fullmatch(stored_as):
        return stored_as
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_modules(folder: Path) -> list[object]:
    try:
        types = [module["type"] for module in json.loads((folder / "modules.json").read_text(encoding="utf-8"))]
        if not types:
            raise ValueError("it lists no modules")
        return types
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(f"{folder / 'modules.json'} cannot be read: {error}") from error


def _find_folder(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if path.is_absolute() or name.startswith((".", "~")):
        raise ConfigurationError(f"model={name!r}: there is no such folder.")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        with contextlib.suppress(LocalEntryNotFoundError):
            cached = Path(snapshot_download(name, local_files_only=True))
            if any(cached.rglob("*.safetensors")):
                return cached
        return Path(snapshot_download(name, ignore_patterns=list(_NOT_NEEDED)))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise ConfigurationError(
            f"model={name!r} is neither a folder nor in the Hugging Face cache, and could not be fetched: {error}"
        ) from error


def _shorten_name(name: str) -> str:
    path = Path(name).expanduser()
    return path.resolve().name if path.is_dir() else name


def _read_dimensions(model: SentenceTransformer) -> int:
    """Return the length of a vector; the method that tells was renamed in sentence-transformers 5.x."""
    told = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    dimensions = told()
    if dimensions is None:
        raise ConfigurationError("The model does not say how many dimensions its vectors have.")
    return int(dimensions)
