"""Sync: exchanges shared memories with the team's database, what changed here first.

Killed anywhere it goes on where it was: what was told has a name that the truth knows again, what was taken in moves
the cursor in the same transaction, and the outbox loses an entry only after the truth has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hyperloci.clock import Clock
from hyperloci.store import Store
from hyperloci.store.team.members import identify_member
from hyperloci.store.team.postgres import connect
from hyperloci.store.team.shared_truth import SharedTruth
from hyperloci.store.team.shared_values import MemberRole, SyncReport
from hyperloci.store.team.team_rows import TeamProject
from hyperloci.system.values import dataclass
from hyperloci.team.incoming import IncomingChanges
from hyperloci.team.membership import Membership
from hyperloci.team.outgoing import OutgoingChanges

MAX_ROUNDS: Final = 20
"""How often a sync begins anew because something changed here while it took in the same memory."""


def _do_nothing() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSync:
    """One exchange of one database with its team."""

    store: Store
    membership: Membership
    clock: Clock
    yield_to_others: Callable[[], None] = _do_nothing

    def run(self) -> SyncReport:
        """Tell what changed here, then take in what changed there.

        Raises:
            TeamUnreachableError: what was exchanged stays; the rest waits.
            TeamError: the token is revoked, or the database refused.
        """
        projects = self.store.team.list_projects()
        if not projects:
            return SyncReport()
        connection = connect(self.membership.url)
        try:
            identity = identify_member(connection, self.membership.token)
            truth = SharedTruth(connection, self.membership.token, identity)
            return self._exchange(truth)
        finally:
            connection.close()

    def _exchange(self, truth: SharedTruth) -> SyncReport:
        writes = truth.identity.role is not MemberRole.READER
        outgoing = OutgoingChanges(self.store, truth, self.membership.client, self.yield_to_others)
        incoming = IncomingChanges(self.store, truth, self.clock, self.yield_to_others)
        for project in self.store.team.list_projects():
            self._restart_if_lost(truth, project)
        for _ in range(MAX_ROUNDS):
            projects = self.store.team.list_projects()
            if writes:
                outgoing.send_all(projects)
            if all(incoming.receive_all(project) for project in projects):
                break
        vectors = 0
        if writes:
            vectors = sum(outgoing.send_vectors(project) for project in self.store.team.list_projects())
            truth.expire_forgotten()
        return SyncReport(
            sent=outgoing.sent,
            received=incoming.received,
            diverged=outgoing.diverged,
            vectors=vectors,
            refused=(*outgoing.refused, *incoming.refused),
            role=truth.identity.role,
        )

    def _restart_if_lost(self, truth: SharedTruth, project: TeamProject) -> None:
        """Tell everything again if the truth is older than what was exchanged: it was restored from a backup."""
        if truth.read_change(project.project) < project.cursor:
            with self.store.transaction():
                self.store.team.restart_project(project)
