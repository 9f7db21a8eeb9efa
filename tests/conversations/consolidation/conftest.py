"""Sessions played into a store, and what was made of them."""

from __future__ import annotations

import pytest

from hyperloci.config import Settings
from hyperloci.conversations.capture.sessions import NewTurn, add_turn, end_session, start_session
from hyperloci.facts.facts import Facts
from hyperloci.facts.safe_arguments import sanitize_argument
from hyperloci.jobs import MaintenanceContext
from hyperloci.model.node import Node
from hyperloci.model.turn import Speaker, TurnKind
from hyperloci.store import Store
from tests.support import FakeClock

USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT
PROJECT = "project-1"

TALK = [
    (USER, "Invoices go into PostgreSQL, never into SQLite, which locks up under our load."),
    (ASSISTANT, "Done, the list of invoices loads faster now."),
    (USER, "Tests must not touch the network, CI has none."),
    (ASSISTANT, "Understood, the tests use recorded answers."),
    (USER, "One change per commit, never more, reviewers insist."),
]
"""A session in which the user says three things for later."""


class Talk:
    """Plays sessions into a store, a second a turn."""

    def __init__(self, store: Store, clock: FakeClock, project: str = PROJECT) -> None:
        self.store = store
        self.clock = clock
        self.project = project

    def say(self, session: str, *turns: tuple[Speaker, str], kind: TurnKind = TurnKind.TEXT) -> list[Node]:
        said = []
        for role, text in turns:
            now = self.clock.advance(1_000)
            with self.store.transaction():
                saying = NewTurn(role=role, text=text, at=now, kind=kind, uuid=f"{session}-{now}")
                node = add_turn(self.store, session, self.project, saying, now=now)
            assert node is not None
            said.append(node)
        return said

    def session(self, session: str, *turns: tuple[Speaker, str], end: bool = True) -> list[Node]:
        with self.store.transaction():
            start_session(self.store, session, self.project, now=self.clock.advance(1_000))
        said = self.say(session, *turns)
        if end:
            with self.store.transaction():
                end_session(self.store, session, now=self.clock.advance(1_000))
        return said


@pytest.fixture
def talk(store: Store, clock: FakeClock) -> Talk:
    return Talk(store, clock)


@pytest.fixture
def context(store: Store, settings: Settings, clock: FakeClock) -> MaintenanceContext:
    return MaintenanceContext(store=store, settings=settings, clock=clock)


@pytest.fixture
def facts(store: Store, clock: FakeClock) -> Facts:
    return Facts(store, PROJECT, clock)


def extracted(store: Store) -> list[Node]:
    rows = store.connection.execute(
        "SELECT key FROM nodes WHERE origin = 'extraction' AND type <> 'entity' ORDER BY key"
    )
    return [node for row in rows if (node := store.nodes.get_by_key(row[0])) is not None]


def remember(facts: Facts, text: str, category: str = "decision", scope: str = PROJECT) -> str:
    return facts.remember_fact(sanitize_argument("fact", text), category=category, confidence=1.0, scope=scope).id
