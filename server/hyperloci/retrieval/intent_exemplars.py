"""Intent exemplars: their vectors, stored in the database (B.04).

Maintenance computes them once per model (`maintenance.exemplar_job`), searches read them: 62 texts take a fifth to
two thirds of a second, which no search should wait for.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Final

from hyperloci.retrieval.intent import list_exemplars
from hyperloci.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME: Final = "intents.exemplars"
"""Of the value in the database that holds them: those of one model, the last that they were made for."""


def has_current_vectors(store: Store, model_id: str) -> bool:
    """Tell whether the database has the vectors that a model made of the present exemplars."""
    return _load_key(store, model_id) is not None


def store_vectors(store: Store, model_id: str, vectors: NDArray[np.float32]) -> None:
    """Store the exemplars' vectors, one row each, in a transaction that the caller has begun."""
    packed = base64.b64encode(vectors.astype("<f2").tobytes()).decode("ascii")
    store.meta.set(NAME, f"{_key_prefix(model_id)}\n{packed}")


def load_vectors(store: Store, model_id: str) -> NDArray[np.float32] | None:
    """Return the exemplars' vectors of one model, one row each; None where there are none, or none that fit."""
    import numpy as np

    packed = _load_key(store, model_id)
    if not packed:
        return None
    try:
        flat = np.frombuffer(base64.b64decode(packed), dtype="<f2").astype(np.float32)
        return flat.reshape(len(list_exemplars()), -1)
    except ValueError:  # Damaged; a search goes on without.
        return None


def _load_key(store: Store, model_id: str) -> str | None:
    head, _, packed = (store.meta.get(NAME) or "").rpartition("\n")
    return packed if head == _key_prefix(model_id) else None


def _key_prefix(model_id: str) -> str:
    """Return what tells one model's view of one list of exemplars from all others."""
    return model_id + "\n" + hashlib.sha256("\n".join(text for text, _ in list_exemplars()).encode()).hexdigest()[:16]
