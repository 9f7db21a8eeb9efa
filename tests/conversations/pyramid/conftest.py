"""A conversation of any length, and its pyramid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.conversations.capture.sessions import add_turns, end_session
from hyperloci.conversations.pyramid.builder import PyramidBuilder
from hyperloci.conversations.pyramid.pyramid_jobs import make_builder
from hyperloci.jobs import MaintenanceContext
from hyperloci.model.pyramid import PyramidChunk
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.store import Store
from tests.support import FakeClock

TOPICS = ("the invoice numbers", "the login page", "the nightly backup", "the search index", "the billing report")


def is_long(number: int) -> bool:
    """Tell whether a turn is long enough to be packed; the lines of actions never are."""
    return number % 3 == 0 and number % 10 != 9


def text_of(number: int) -> str:
    """Return what is said in a turn: every third one is long enough to be packed."""
    said = f"Turn {number}: we decided that {TOPICS[number // 7 % 5]} must be ready by day {number}."
    return said + (
        f" Here is the background of step {number}, at some length.\n\tx = '¶'\\n" * 12 if is_long(number) else ""
    )


class Talk:
    """One session of one store."""

    def __init__(self, store: Store, settings: Settings, clock: FakeClock) -> None:
        self.store = store
        self.settings = settings
        self.clock = clock
        self.said: list[str] = []
        self.scope = "p"

    def say(self, count: int, text: Callable[[int], str] = text_of, session: str = "s") -> None:
        """Add turns."""
        first = len(self.said)
        turns = [
            Turn(
                uuid=f"{session}-{number}",
                role=Speaker.USER if number % 2 == 0 else Speaker.ASSISTANT,
                text=text(number),
                timestamp_ms=self.clock() + (number - first) * 1_000,
                kind=TurnKind.ACTION if number % 10 == 9 else TurnKind.TEXT,
                path="src/a.py" if number % 10 == 9 else None,
            )
            for number in range(first, first + count)
        ]
        with self.store.transaction():
            add_turns(self.store, session, self.scope, turns, now=self.clock())
        self.said += [turn.text for turn in turns]

    def builder(self, **changes: Any) -> PyramidBuilder:
        """Return what builds the pyramid, under changed settings."""
        settings = replace(self.settings, **changes)
        return make_builder(MaintenanceContext(store=self.store, settings=settings, clock=self.clock))

    def build(self, **changes: Any) -> int:
        """Bring the pyramid up to date."""
        return self.builder(**changes).advance_all()

    def end(self, days: int = 2) -> None:
        """End the session and let some days go by."""
        with self.store.transaction():
            end_session(self.store, "s", now=self.clock.advance(86_400_000))
        self.clock.advance(days * MS_PER_DAY)

    def chunks(self, level: PyramidLevel) -> list[PyramidChunk]:
        """Return the chunks of a level."""
        return self.store.chunks.list_of_session(1, level)

    def shape(self, level: PyramidLevel) -> list[tuple[int, int, str]]:
        """Return the first and last turn and the stage of each chunk of a level."""
        return [(chunk.first_seq, chunk.last_seq, chunk.stage.value) for chunk in self.chunks(level)]

    def texts(self) -> list[str]:
        """Return what every turn's node says, in order."""
        return [turn.content for turn in self.store.chunks.list_turns(1, 0, 10**6)]


@pytest.fixture
def talk(store: Store, settings: Settings, clock: FakeClock) -> Talk:
    """An empty conversation."""
    return Talk(store, settings, clock)


def raw(store: Store) -> Sequence[str]:
    """Return what the rows of turns hold themselves."""
    rows = store.connection.execute("SELECT content FROM nodes WHERE type = 'experience' ORDER BY seq")
    return [row[0] for row in rows]
