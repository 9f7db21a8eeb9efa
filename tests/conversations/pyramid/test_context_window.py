"""A conversation within a budget, whatever the budget."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.memory import Memory
from hyperloci.model import compact_turn_format
from hyperloci.model.pyramid import ContextWindow
from hyperloci.text.tokens import count_tokens
from tests.conversations.pyramid.conftest import Talk, text_of
from tests.support import SHARED_FIXTURE, FakeClock, examples

NEEDLE = "The staging password rotates every 17 days, says the xylophone team."


@pytest.fixture
def memory(settings: Settings, clock: FakeClock, tmp_path: Path) -> Iterator[Memory]:
    """A conversation of 130 turns, one of which nobody would guess, with its pyramid."""
    with Memory.open(settings, tmp_path, clock=clock) as opened:
        talk = Talk(opened.store, settings, clock)
        talk.scope = opened.project.id
        talk.say(130, text=lambda number: NEEDLE if number == 42 else text_of(number))
        talk.build()
        yield opened


def kinds(window: ContextWindow) -> list[str]:
    return [part.kind for part in window.parts]


@pytest.mark.req("C.06")
def test_a_hundred_turns_cost_two_fifths_and_hold_what_is_asked_for(memory: Memory) -> None:
    window = memory.get_context_window(None, "which team rotates the staging password?")
    assert window.tokens <= 0.4 * window.raw_tokens
    assert kinds(window) == ["summary", "warm", "hot"]
    assert NEEDLE in window.parts[1].text
    assert NEEDLE not in memory.get_context_window(None).parts[-1].text


@pytest.mark.req("C.06")
def test_the_latest_turns_come_first_without_a_hole(memory: Memory) -> None:
    window = memory.get_context_window(900)
    hot = next(part for part in window.parts if part.kind == "hot")
    nodes = [memory.store.nodes.get_node(id) for id in hot.ids]
    assert [node.seq for node in nodes if node] == list(range(130 - len(nodes), 130))


@pytest.mark.req("C.06")
def test_its_turns_are_ctf_that_reads_back(memory: Memory) -> None:
    window = memory.get_context_window(None, "staging password")
    for part in window.parts:
        if part.kind != "summary":
            turns = compact_turn_format.decode_turns(part.text.partition("\n")[2])
            nodes = [memory.store.nodes.get_node(id) for id in part.ids]
            assert [turn.text for turn in turns] == [node.content for node in nodes if node]
            assert [turn.timestamp_ms for turn in turns] == [node.event_time for node in nodes if node]


@pytest.mark.req("C.06")
@given(budget=st.integers(1, 30_000), query=st.sampled_from([None, "", "staging password", "invoice numbers", "?"]))
@settings(max_examples=examples(60), suppress_health_check=SHARED_FIXTURE)
def test_no_budget_is_ever_exceeded(memory: Memory, budget: int, query: str | None) -> None:
    window = memory.get_context_window(budget, query)
    assert window.tokens <= budget
    assert abs(count_tokens(window.text) - window.tokens) <= len(window.parts)
    ids = [id for part in window.parts for id in part.ids]
    assert len(ids) == len(set(ids))


def test_a_budget_that_all_fits_into_holds_every_turn(memory: Memory) -> None:
    window = memory.get_context_window(100_000, "staging password")
    assert kinds(window) == ["hot"] and len(window.parts[0].ids) == 130


@pytest.mark.req("C.09")
def test_it_says_how_turns_were_chosen_and_what_was_missing(memory: Memory) -> None:
    window = memory.get_context_window(800, "staging password")
    assert window.mode == "keyword" and "switched off" in (window.degraded or "")
    assert memory.get_context_window(800).mode == "recency"


def test_what_was_forgotten_is_in_no_window(memory: Memory) -> None:
    [hit] = memory.search("staging password xylophone", limit=1, reinforce=False).results
    memory.forget(hit.id)
    assert "xylophone" not in memory.get_context_window(100_000, "staging password").text


def test_bad_questions_are_answered_with_what_would_be_good(memory: Memory, settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(BadRequestError, match="max_tokens=0 must be 1 or above"):
        memory.get_context_window(0)
    with pytest.raises(NotFoundError, match="session_id='nope': no session"):
        memory.get_context_window(100, session_id="nope")
    other = tmp_path / "other"
    other.mkdir()
    with Memory.open(settings, other) as elsewhere, pytest.raises(NotFoundError, match="no conversation"):
        elsewhere.get_context_window(100)
