"""Bearing: how much a memory bears on a request, where neither words nor meaning say so.

"Get the bump in" means nothing that "dependency updates are squashed" means, and still is decided by it. A map of low
rank, learned from requests and the statements that decide them (`data/bearing.json`, made by `python -m bench
train_bearing`), moves a request's vector to where such statements stand; a memory's product with it is the bearing.
Only vectors of the bundled model can be moved.
"""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.spaces.chance_cosine import sees_meaning_by
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAP_FILE: Final = Path(__file__).parent / "data" / "bearing.json"


@dataclass(frozen=True, slots=True)
class BearingMap:
    """A map of vectors.

    Attributes:
        model: id of the model whose vectors it moves.
        requests: (dimensions, rank), what is looked at in a request.
        memories: (dimensions, rank), where in the space that points to.
    """

    model: str
    requests: NDArray[np.float32]
    memories: NDArray[np.float32]

    def move(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vector whose products with memories' are their bearings on a request."""
        return self.memories @ (vector @ self.requests)


def move_request(model_id: str, vector: NDArray[np.float32]) -> NDArray[np.float32] | None:
    """Return a request's vector, moved to where what decides it stands; None for a model that was not learned from.

    Args:
        model_id: of the model that made the vector.
        vector: the request's unit vector in E1.
    """
    learned = read_map()
    return learned.move(vector) if sees_meaning_by(model_id, learned.model) else None


@functools.cache
def read_map() -> BearingMap:
    """Return the learned map."""
    stored = json.loads(MAP_FILE.read_text(encoding="utf-8"))
    return BearingMap(stored["model"], *(_unpack(stored[name], stored["rank"]) for name in ("requests", "memories")))


def pack_map(learned: BearingMap) -> str:
    """Return a map as it is stored: a byte a number, each matrix with the size of one step."""
    import numpy as np

    def pack(matrix: NDArray[np.float32]) -> dict[str, Any]:
        step = float(np.abs(matrix).max()) / 127
        return {"step": step, "bytes": base64.b64encode(np.rint(matrix / step).astype(np.int8).tobytes()).decode()}

    stored: dict[str, Any] = {"model": learned.model, "rank": learned.requests.shape[1]}
    return json.dumps(stored | {"requests": pack(learned.requests), "memories": pack(learned.memories)})


def _unpack(stored: Mapping[str, Any], rank: int) -> NDArray[np.float32]:
    import numpy as np

    numbers = np.frombuffer(base64.b64decode(stored["bytes"]), np.int8).reshape(-1, rank)
    return np.asarray(numbers * stored["step"], np.float32)
