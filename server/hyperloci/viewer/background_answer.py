"""Background answers: what takes longer than a page may, asked for beside the pages, and shown as it was last found.

Counting a million memories takes seconds, and so does a look at the confidence of each. A page waits a moment, says
that it is being looked for, and asks again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from hyperloci.errors import HyperlociError
from hyperloci.memory import Memory
from hyperloci.system.values import dataclass
from hyperloci.viewer.page_values import REVIEW_ITEMS, Values
from hyperloci.worker import WorkerHandle
from hyperloci_hooks.outcome_statistics import HookStatistics

FRESH_SECONDS: Final = 20.0
PATIENCE_SECONDS: Final = 0.06
"""How long a page waits: a small memory is looked through by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundValues:
    """What was found, and when, in seconds of `time.monotonic`."""

    values: Values
    at: float


class BackgroundAnswer:
    """The values of one page, found on a worker beside the pages' own when a page asks and the last ones are old."""

    def __init__(self, worker: WorkerHandle, tasks: TaskGroup, find: Callable[[Memory], Values]) -> None:
        self._worker = worker
        self._tasks = tasks
        self._find = find
        self._found: FoundValues | None = None
        self._search: anyio.Event | None = None
        self._fault: str | None = None
        self._changes = 0

    async def get_values(self) -> Values | None:
        """Return what was found last, which may be on its way to be replaced; None before the first time.

        Raises:
            HyperlociError: it could not be found, once for each time.
        """
        if self._found is None or time.monotonic() - self._found.at > FRESH_SECONDS:
            with anyio.move_on_after(PATIENCE_SECONDS):
                await self._begin().wait()
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise HyperlociError(fault)
        return None if self._found is None else self._found.values

    def forget(self) -> None:
        """Look anew for the next page: something was changed."""
        self._found = None
        self._changes += 1

    def _begin(self) -> anyio.Event:
        if self._search is None:
            self._search = anyio.Event()
            self._tasks.start_soon(self._look, self._search)
        return self._search

    async def _look(self, done: anyio.Event) -> None:
        changes = self._changes
        try:
            found = await self._worker.call(self._find)
            # What was changed meanwhile may not be in it.
            self._found = FoundValues(values=found, at=time.monotonic()) if changes == self._changes else None
        except HyperlociError as error:
            self._fault = str(error)
        finally:
            self._search = None
            done.set()


def find_state(memory: Memory) -> dict[str, Any]:
    """Return everything that the page of the project's state shows."""
    return {
        "place": memory.describe_place(),
        "counts": memory.stats(),
        "coverage": memory.get_embedding_coverage(),
        "history": memory.get_history_progress(),
        "set_aside": memory.list_set_aside(),
        "waiting_turns": memory.count_waiting_turns(),
        "projects": memory.list_projects(),
        "hooks": HookStatistics.read_log(memory.settings.installation_paths.spool),
    }


def find_weak(memory: Memory) -> Values:
    """Return the memories of low confidence, the least sure first; those that are settled make room for the next."""
    weak = memory.list_weak_facts(REVIEW_ITEMS)
    return {"memories": [one.hit for one in weak], "days": {one.hit.id: one.days_to_prune for one in weak}}
