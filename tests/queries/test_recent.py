"""What a project did last."""

from __future__ import annotations

import pytest

from hyperloci.memory import Memory
from tests.support import FakeClock


@pytest.mark.req("E.10")
def test_the_latest_are_what_was_stored_or_recalled_last(memory: Memory, clock: FakeClock) -> None:
    first = memory.remember_fact("the gateway listens on 8443").id
    clock.advance(1_000)
    second = memory.mark_dead_end("retrying at once", "it floods the queue").id
    clock.advance(1_000)
    assert [hit.id for hit in memory.latest()] == [second, first]

    memory.search("gateway")

    assert [hit.id for hit in memory.latest()] == [first, second]
    assert [hit.id for hit in memory.latest(1)] == [first]


@pytest.mark.req("B.16")
def test_a_project_without_sessions_lists_none(memory: Memory) -> None:
    assert memory.list_recent_sessions() == []
