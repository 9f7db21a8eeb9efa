"""Project state: what is indexed, embedded, waiting and set aside, and how the hooks fare.

Counting a million memories takes longer than a page may, so it is done in the background, and a page shows the last
count with its time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from hyperloci.errors import HyperlociError
from hyperloci.memory import Memory
from hyperloci.worker import WorkerHandle
from hyperloci_hooks.outcome_statistics import HookStatistics

FRESH_SECONDS: Final = 20.0
PATIENCE_SECONDS: Final = 0.05
"""How long a page waits for a count: a small memory is counted by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectState:
    """A count of everything, and when it was made, in seconds of `time.monotonic`."""

    values: Mapping[str, Any]
    counted_at: float


class StateKeeper:
    """Counts in the background, on a worker of its own, when a page asks and the last count is old."""

    def __init__(self, worker: WorkerHandle, tasks: TaskGroup) -> None:
        self._worker = worker
        self._tasks = tasks
        self._state: ProjectState | None = None
        self._counting: anyio.Event | None = None
        self._fault: str | None = None

    async def get_state(self) -> ProjectState | None:
        """Return the last count, which may be on its way to be replaced; None before the first is done.

        Raises:
            HyperlociError: the count failed, once for each time.
        """
        if self._state is None or time.monotonic() - self._state.counted_at > FRESH_SECONDS:
            with anyio.move_on_after(PATIENCE_SECONDS):
                await self._begin().wait()
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise HyperlociError(fault)
        return self._state

    def forget(self) -> None:
        """Count anew for the next page: something was changed."""
        self._state = None

    def _begin(self) -> anyio.Event:
        if self._counting is None:
            self._counting = anyio.Event()
            self._tasks.start_soon(self._count, self._counting)
        return self._counting

    async def _count(self, done: anyio.Event) -> None:
        try:
            self._state = ProjectState(values=await self._worker.call(count_state), counted_at=time.monotonic())
        except HyperlociError as error:
            self._fault = str(error)
        finally:
            self._counting = None
            done.set()


def count_state(memory: Memory) -> dict[str, Any]:
    """Return everything that the page of the project's state shows."""
    hooks = HookStatistics.from_tally(memory.settings.installation_paths.spool)
    return {
        "place": memory.describe_place(),
        "counts": memory.stats(),
        "coverage": memory.get_embedding_coverage(),
        "history": memory.get_history_progress(),
        "set_aside": memory.list_set_aside(),
        "waiting_turns": memory.count_waiting_turns(),
        "projects": memory.list_projects(),
        "hooks": hooks,
        "settings": memory.settings,
    }
