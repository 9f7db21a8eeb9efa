"""The seam between the embedder and the store: whatever turns queued memories into fingerprints."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, cast

from hyperloci.spaces.encoder import Encoder

logger = logging.getLogger(__name__)

DRAIN: Final = "hyperloci.embedder.drain:drain"
"""Where the drainer of the real store lives; imported by the embedder process alone, when it starts."""


class Drainer(Protocol):
    """Embeds one small batch of what waits in a database's queue."""

    def __call__(self, database: Path, encoder: Encoder, should_yield: Callable[[], bool]) -> int:
        """Take, embed and store a batch, in one transaction; return how many memories were done, 0 if none waits.

        Called again until it returns 0, on one thread, always the same. `encoder.encode` already lets queries in
        between; `should_yield` turns true when a query waits or the process is about to stop, so that work between
        two calls of the encoder can be cut short. What it raises is logged, and the database is left alone until
        the next kick.
        """
        ...


def nothing_to_drain(database: Path, encoder: Encoder, should_yield: Callable[[], bool]) -> int:
    """Find no work: the drainer of an installation without a store."""
    return 0


def load_drainer(dotted: str = DRAIN) -> Drainer:
    """Import a drainer by `module:function`; one that does not exist drains nothing, and the log says so."""
    module, _, function = dotted.partition(":")
    try:
        return cast(Drainer, getattr(import_module(module), function))
    except (ImportError, AttributeError) as error:
        logger.error("no drainer: %s cannot be imported (%s); memories wait without vectors", dotted, error)
        return nothing_to_drain
