"""Embedding pace: how fast fingerprints are being made, so that whoever waits can be told how long."""

from __future__ import annotations

from typing import Final

from hyperloci.store.database.meta import Meta

_PACE: Final = "embedding_pace"

PACE_MS: Final = 60_000
"""How long a pace holds, in milliseconds: after that, nobody is at work."""


class EmbeddingPace:
    """The pace at which the nodes of one database are given fingerprints."""

    def __init__(self, meta: Meta) -> None:
        self._meta = meta

    def note_pace(self, nodes: int, seconds: float, *, now: int) -> None:
        """Note how fast fingerprints are being made, as seen over the last batch and those before it."""
        before, last = self._read_pace(), nodes / max(seconds, 0.001)
        smooth = last if before is None or now - before[0] > PACE_MS else 0.8 * before[1] + 0.2 * last
        self._meta.set(_PACE, f"{now} {smooth:.3f}")

    def get_pace(self, *, now: int) -> float | None:
        """Return how many nodes a second are given fingerprints now, None if none has been for a while."""
        known = self._read_pace()
        return known[1] if known is not None and 0 <= now - known[0] <= PACE_MS and known[1] > 0 else None

    def get_last_time(self) -> int | None:
        """Return when fingerprints were last made (Unix ms), None if never."""
        known = self._read_pace()
        return None if known is None else known[0]

    def _read_pace(self) -> tuple[int, float] | None:
        noted = self._meta.get(_PACE)
        if noted is None:
            return None
        at, _, pace = noted.partition(" ")
        return int(at), float(pace)
