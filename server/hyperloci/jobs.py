"""Maintenance jobs: what a job is, and what it is given to work with (`maintenance.job_list` lists them)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from hyperloci.clock import MS_PER_DAY, Clock, from_iso
from hyperloci.config import Settings
from hyperloci.errors import NotReadyError
from hyperloci.model.node import Node
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store
from hyperloci.store.projects.set_aside import Attempt
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from hyperloci.embedder.client import EmbedderClient

ALWAYS: Final = 0
"""`every_ms` of a job that checks for work each time: the check must cost almost nothing when there is none."""

HOURLY: Final = 3_600_000
DAILY: Final = MS_PER_DAY
WEEKLY: Final = 7 * MS_PER_DAY

LEAP_MS: Final = WEEKLY
"""A clock that is further than this ahead of the last time noted may be wrong: it is believed after as long."""

_SEEN: Final = "upkeep_seen"
"""In `meta`: when upkeep was last seen at work, and of the last leap, from where and to where it went."""

_log = logging.getLogger(__name__)


class MaintenanceStoppedError(NotReadyError):
    """Maintenance was stopped between two pieces of work; what was done is kept, the rest is done the next time."""


def _never_stop() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceContext:
    """What a job works with. Jobs maintain the whole database, every project in it.

    Attributes:
        store: an open store of this thread's own; write inside `store.transaction()`, one bounded piece of work each.
        settings: those in force.
        clock: the time.
        client: asks the embedder for vectors; None where embeddings are switched off. It may be cold: skip then.
        should_stop: waits while the assistant is being served, then returns whether to stop.
        dry_run: the store is a throw-away copy, so writing to it is fine; leave everything outside it alone (files,
            the network).
    """

    store: Store
    settings: Settings
    clock: Clock
    client: EmbedderClient | None = None
    should_stop: Callable[[], bool] = _never_stop
    dry_run: bool = False

    def yield_to_others(self) -> None:
        """Let others go first; call it between two transactions, never inside one.

        Raises:
            MaintenanceStoppedError: the process ends; let it pass through.
        """
        if self.should_stop():
            raise MaintenanceStoppedError()

    def believed_time(self) -> int:
        """Return the time by which to tell what is old enough to be removed: the clock's, or an earlier one.

        A clock that was a year ahead for one round would remove what nothing brings back. So after a leap
        (`LEAP_MS`) the time before it holds, until the clock has gone on for as long or was set back to about then.
        """
        now, (at, before, leapt_at) = self.clock(), self._read_seen()
        if now - at > LEAP_MS:
            return at
        return before if _is_unconfirmed(before, leapt_at, now) else now

    def note_time(self) -> None:
        """Note that upkeep is at work now, for `believed_time`; it is written once an hour."""
        now, (at, before, leapt_at) = self.clock(), self._read_seen()
        if self.store.meta.get(_SEEN) and 0 <= now - at < HOURLY:
            return
        if not _is_unconfirmed(before, leapt_at, now):
            before = leapt_at = 0
        leapt_at = min(leapt_at, now)  # Set back in part, it may be right: it has a week to go from here.
        if now - at > LEAP_MS:
            before, leapt_at = at, now
            days = (now - at) // MS_PER_DAY
            _log.warning("by the clock upkeep rested for %d days: for a week all counts as old as it was before", days)
        with self.store.transaction():
            self.store.meta.set(_SEEN, json.dumps([now, before, leapt_at]))

    def _read_seen(self) -> tuple[int, int, int]:
        """Return when upkeep was last seen, and the leap's two ends; where nothing is noted, now and no leap."""
        if noted := self.store.meta.get(_SEEN):
            at, before, leapt_at = json.loads(noted)
            return at, before, leapt_at
        former = self.store.meta.get("last_upkeep")  # All that older versions noted.
        return (from_iso(former) if former else self.clock()), 0, 0

    def list_scopes(self) -> list[str]:
        """Return the ids of every project of the database, and `global`."""
        return [scope.id for scope in self.store.scopes.list_scopes()]

    def isolate_failure(self, node: Node, job: str) -> AbstractContextManager[Attempt]:
        """Run the block for one memory: what fails by its fault is undone, and the memory is set aside for that job.

        Raises:
            StoreError, OSError: the failure is not specific to this memory.
        """
        scope_key = self.store.scopes.find_key(node.scope)
        assert scope_key is not None
        subject = f"{job} {node.id}"
        return self.store.set_aside.attempt_piece(
            scope_key, SetAsideKind.MEMORY, subject, now=self.clock(), node=node.key
        )


@dataclass(frozen=True, slots=True)
class MaintenanceJob:
    """One kind of background work.

    Attributes:
        name: a word for reports and for the note of when it ran last.
        every_ms: how long after a run it is due again, in milliseconds; `ALWAYS` for each time.
        run: does all there is to do (or a bounded part of it) and returns how many things it changed. It must be
            resumable (killed anywhere, the next run goes on) and idempotent (run again at once, it changes nothing
            and returns 0). It may raise `HyperlociError` or `OSError`: the other jobs run all the same.
    """

    name: str
    every_ms: int
    run: Callable[[MaintenanceContext], int]


def _is_unconfirmed(before: int, leapt_at: int, now: int) -> bool:
    """Tell whether a leap of the clock from one time to another has neither been confirmed nor taken back by now."""
    return before + LEAP_MS < now < leapt_at + LEAP_MS
