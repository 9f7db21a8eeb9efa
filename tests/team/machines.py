"""Machines of a team in tests: each a database of its own, with what a member does on it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path

from hyperloci.config import Settings
from hyperloci.facts.facts import Facts
from hyperloci.memory import Memory
from hyperloci.model.author import Visibility
from hyperloci.model.kinds import NodeId
from hyperloci.model.node import Node
from hyperloci.store.team import members, postgres
from hyperloci.store.team.shared_values import MemberRole, SyncReport, TeamIdentity
from hyperloci.team.membership import Membership
from hyperloci.team.sync import TeamSync
from hyperloci.text.sanitize.sanitizer import sanitize
from tests.support import FakeClock

PROJECT = "example.com/team/project"


@dataclass
class Team:
    """A team in a database."""

    url: str
    identity: TeamIdentity
    token: str

    @classmethod
    def make(cls, url: str, name: str = "Engineers") -> Team:
        with postgres.connect(url) as connection:
            postgres.migrate_schema(connection, login_password=None)
            identity, token = members.create_team(connection, name, "ada")
        return cls(url, identity, token)

    def invite(self, name: str, role: MemberRole = MemberRole.MEMBER) -> str:
        with postgres.connect(self.url) as connection:
            return members.invite_member(connection, self.token, self.identity.team, name, role)


@dataclass
class Machine:
    """One member's machine."""

    memory: Memory
    membership: Membership
    clock: FakeClock

    @classmethod
    def make(cls, folder: Path, team: Team, name: str = "ada", *, token: str | None = None) -> Machine:
        """Join a team as a member, of a new token unless it is the admin or one is given."""
        folder.mkdir(parents=True)
        (folder / "project").mkdir()
        settings = Settings(
            database=folder / "memory.db",
            state_dir=folder / "state",
            runtime_dir=folder / "run",
            embedder=False,
            watch=False,
        )
        clock = FakeClock()
        memory = Memory.open(settings, folder / "project", clock=clock)
        own = token or (team.token if name == "ada" else team.invite(name))
        membership = Membership(
            url=team.url,
            token=own,
            team=team.identity.team,
            team_name=team.identity.team_name,
            member_name=name,
            client=str(uuid.uuid4()),
        )
        machine = cls(memory, membership, clock)
        machine.link(PROJECT)
        return machine

    def link(self, project: str) -> None:
        store = self.memory.store
        with store.transaction():
            key = store.scopes.ensure_scope(self.memory.project.id, now=self.clock())
            store.team.link_project(key, project, now=self.clock())

    @property
    def facts(self) -> Facts:
        return Facts(self.memory.store, self.memory.project.id, self.clock)

    def share(self, text: str, category: str = "insight", replaces: str | None = None) -> str:
        """Remember a fact and share it."""
        stored = self.facts.remember_fact(
            sanitize(text), category=category, confidence=0.9, scope=self.memory.project.id, replaces=replaces
        )
        self.set_visibility(stored.id, Visibility.SHARED)
        return stored.id

    def set_visibility(self, id: str, visibility: Visibility) -> None:
        store = self.memory.store
        node = self.node(id)
        with store.transaction():
            store.nodes.set_visibility(node.key, visibility, now=self.clock())

    def edit(self, id: str, text: str) -> None:
        with self.memory.store.transaction():
            self.memory.store.nodes.update_node(id, now=self.clock(), content=text)

    def forget(self, id: str) -> None:
        self.facts.forget_memory(id, reason=None)

    def node(self, id: str) -> Node:
        found = self.find(id)
        assert found is not None
        return found

    def find(self, id: str) -> Node | None:
        return self.memory.store.nodes.get_node(NodeId(id))

    def sync(self) -> SyncReport:
        return TeamSync(store=self.memory.store, membership=self.membership, clock=self.clock).run()

    def texts(self) -> set[str]:
        """Return what is shared here and holds."""
        rows = self.memory.store.connection.execute(
            "SELECT content FROM nodes WHERE visibility = 'shared' AND deleted_at IS NULL AND valid_until IS NULL"
        )
        return {row[0] for row in rows}

    def disputes(self) -> set[frozenset[str]]:
        """Return which memories contradict each other here, by their texts."""
        page = self.memory.list_disputes("contradicts")
        return {frozenset(hit.content for hit in dispute.memories) for dispute in page.disputes}
