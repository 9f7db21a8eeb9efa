"""Embedder status: what an embedder reports about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any, Self

from hyperloci.system.values import dataclass


class EmbedderState(StrEnum):
    """How far an embedder is."""

    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderStatus:
    """The state of a running embedder.

    Attributes:
        state: whether it can embed.
        error: why it cannot, in words, once it has failed; or why it stays with a slower form of its model.
        pid: its process.
        uptime_seconds: how long it has run.
        rss_bytes: memory it holds, 0 where the platform does not tell.
        model_id, dimensions, max_tokens: of the model in use; empty and 0 while none is loaded.
        backend, device, dtype: what computes it, where, in which precision.
        settled: whether that is how it will go on: no faster form of the model is still loading.
        queries: requests answered.
        queries_waiting: requests not yet answered.
        busy_seconds: how long the request in hand has been in hand; a hung model shows here.
        drained: memories given their fingerprint since the start.
        bulk_batches: batches of bulk work the model has done; it grows while a queue is worked off, however slowly.
        draining: databases that are still being drained.
        faults: databases whose last batch could not be stored, each with the reason.
    """

    state: EmbedderState
    error: str | None = None
    pid: int = 0
    uptime_seconds: float = 0.0
    rss_bytes: int = 0
    model_id: str = ""
    dimensions: int = 0
    max_tokens: int = 0
    backend: str = ""
    device: str = ""
    dtype: str = ""
    settled: bool = False
    queries: int = 0
    queries_waiting: int = 0
    busy_seconds: float = 0.0
    drained: int = 0
    bulk_batches: int = 0
    draining: tuple[str, ...] = ()
    faults: tuple[tuple[str, str], ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether it can embed."""
        return self.state is EmbedderState.READY

    def __str__(self) -> str:
        """One line for `hyperloci embedder status` and `doctor`."""
        if self.state is not EmbedderState.READY:
            return f"{self.state}, pid {self.pid}" + (f": {self.error}" if self.error else "")
        work = f", draining {len(self.draining)} database(s)" if self.draining else ""
        return (
            f"{self.model_id} on {self.device} ({self.backend}, {self.dtype}), pid {self.pid}, up "
            f"{self.uptime_seconds:.0f} s, {self.rss_bytes / 1e6:.0f} MB, {self.queries} queries, "
            f"{self.drained} memories embedded{work}"
        )

    def to_message(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return asdict(self)

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> Self:
        """Read what `to_message` wrote; unknown keys are ignored.

        Raises:
            ValueError, TypeError: a value is of the wrong kind.
        """
        known = {field.name: message[field.name] for field in fields(cls) if field.name in message}
        known["state"] = EmbedderState(known["state"])
        known["draining"] = tuple(str(item) for item in known.get("draining", ()))
        known["faults"] = tuple((str(database), str(reason)) for database, reason in known.get("faults", ()))
        return cls(**known)
