"""The days that turns speak of: kept with them, found by `after` and `before`, told with a hit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.clock import from_iso
from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn, TurnKind
from tests.support import FakeClock

SAID = "2026-07-15T10:00:00"


@pytest.fixture
def memory(settings: Settings, clock: FakeClock, tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(settings, tmp_path, clock=clock) as opened:
        turns = [
            ("The migration ran last month and broke the invoices.", TurnKind.TEXT),
            ("The invoices were printed.", TurnKind.TEXT),
            ("Bash: print the invoices of yesterday", TurnKind.ACTION),
        ]
        opened.add_turns(
            "s",
            [
                Turn(uuid=str(n), role=Speaker.USER, text=text, timestamp_ms=from_iso(SAID), kind=kind)
                for n, (text, kind) in enumerate(turns)
            ],
        )
        yield opened


@pytest.mark.req("B.05", "B.07")
def test_a_search_between_dates_finds_what_happened_then_and_what_was_told_of_it_later(memory: Memory) -> None:
    then = memory.search("invoices", after="2026-06-01", before="2026-07-01", reinforce=False)
    assert [hit.content for hit in then.results] == ["The migration ran last month and broke the invoices."]
    said = memory.search("invoices", after="2026-07-15", reinforce=False)
    assert len(said.results) == 3
    assert memory.search("invoices", before="2026-05-31", reinforce=False).results == ()


@pytest.mark.req("B.05")
def test_a_hit_tells_which_days_it_speaks_of(memory: Memory) -> None:
    notes = {hit.content[:8]: hit.notes for hit in memory.search("invoices", reinforce=False).results}
    assert notes == {"The migr": ("last month: 2026-06",), "The invo": (), "Bash: pr": ()}
