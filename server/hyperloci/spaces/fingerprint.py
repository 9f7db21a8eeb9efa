"""Making fingerprints: what every space sees of a memory, as the bytes the store keeps (E.01)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hyperloci.model.node import Node
    from hyperloci.spaces.encoder import Encoder


def semantic_view(title: str, content: str) -> str:
    """Return what E1 sees of a memory: its place in words, then its text.

    Headings in front of the body are worth 9 to 14 points of recall (docs/benchmarks.md, "Breadcrumbs").
    """
    return f"{title}\n{content}" if title else content


def fingerprints(nodes: Sequence[Node], encoder: Encoder) -> list[dict[str, bytes]]:
    """Return the bytes by space of each memory, in their order; a space that is left out is absent.

    Equal texts go through the model once.
    """
    texts = [semantic_view(node.title, node.content) for node in nodes]
    unique = list(dict.fromkeys(texts))
    vectors = dict(zip(unique, encoder.encode(unique), strict=True))
    return [{"e1": np.ascontiguousarray(vectors[text], np.float32).tobytes()} for text in texts]
