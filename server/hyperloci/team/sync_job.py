"""Sync job: the exchange with the team as a maintenance job, with a back-off while its database doesn't answer."""

from __future__ import annotations

import json
import logging
import uuid
from dataclasses import asdict
from typing import Final

from hyperloci.errors import TeamUnreachableError
from hyperloci.jobs import MaintenanceContext
from hyperloci.store import Store
from hyperloci.store.team.shared_values import SyncReport
from hyperloci.system.values import dataclass
from hyperloci.team.membership import Membership, has_joined, load_membership, note_role
from hyperloci.team.sync import TeamSync

_log = logging.getLogger(__name__)

FIRST_WAIT_MS: Final = 60_000
LONGEST_WAIT_MS: Final = 30 * 60_000
"""After a failure the next try waits a minute, then twice as long each time, half an hour at most: a laptop on a train
tries a few dozen times a day, and a team of a thousand does not storm a database that has just come back."""

_STATE: Final = "team.sync"


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncState:
    """How the last exchange of a database went. Times are milliseconds; `failures` counts those in a row."""

    last_success: int | None = None
    last_try: int | None = None
    failures: int = 0
    error: str | None = None
    refused: tuple[str, ...] = ()

    def next_try(self, client: str) -> int:
        """Return when the database may be asked again, somewhat different on each machine."""
        if not self.failures or self.last_try is None:
            return 0
        wait = min(LONGEST_WAIT_MS, FIRST_WAIT_MS << min(self.failures - 1, 10))
        share = uuid.UUID(client).int % 1_000 / 1_000
        return self.last_try + round(wait * (0.5 + share / 2))


def load_state(store: Store) -> SyncState:
    """Return how the last exchange went."""
    noted = store.meta.get(_STATE)
    values = json.loads(noted) if noted else {}
    return SyncState(**{**values, "refused": tuple(values.get("refused", ()))})


def note_success(store: Store, report: SyncReport, *, now: int) -> None:
    """Note an exchange that went well."""
    refused = tuple(dict.fromkeys((*report.refused, *load_state(store).refused)))[:20]
    _save_state(store, SyncState(last_success=now, last_try=now, refused=refused))


def note_failure(store: Store, error: Exception, *, now: int) -> None:
    """Note an exchange that failed."""
    before = load_state(store)
    state = SyncState(
        last_success=before.last_success,
        last_try=now,
        failures=before.failures + 1,
        error=str(error),
        refused=before.refused,
    )
    _save_state(store, state)


def _save_state(store: Store, state: SyncState) -> None:
    with store.transaction():
        store.meta.set(_STATE, json.dumps(asdict(state), ensure_ascii=False))


def sync_now(store: Store, membership: Membership, context: MaintenanceContext) -> SyncReport:
    """Exchange with the team now, and note how it went.

    Raises:
        TeamUnreachableError: the database did not answer; what waits is kept.
        TeamError: the token is revoked, or the database refused.
    """
    sync = TeamSync(store=store, membership=membership, clock=context.clock, yield_to_others=context.yield_to_others)
    try:
        report = sync.run()
    except TeamUnreachableError as error:
        note_failure(store, error, now=context.clock())
        raise
    if report.role is not None:
        note_role(context.settings, membership, report.role)
    if report.changed or report.refused or load_state(store).failures or load_state(store).last_success is None:
        note_success(store, report, now=context.clock())
    return report


def sync_with_team(context: MaintenanceContext) -> int:
    """Exchange with the team, where this database has joined one and the database may be asked again."""
    if context.dry_run or not has_joined(context.settings):
        return 0
    membership, now = load_membership(context.settings), context.clock()
    state = load_state(context.store)
    # A clock that was set back must not put it off for years.
    if state.last_try is not None and state.last_try <= now < state.next_try(membership.client):
        return 0
    try:
        return sync_now(context.store, membership, context).changed
    except TeamUnreachableError as error:
        _log.info("the team's database can't be reached: %s", error)
        return 0
