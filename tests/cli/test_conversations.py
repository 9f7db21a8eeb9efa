"""recap and expand on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperloci.cli.common import load_settings
from hyperloci.conversations.pyramid.pyramid_jobs import make_builder
from hyperloci.jobs import MaintenanceContext
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn
from tests.cli.helpers import invoke
from tests.support import FakeClock

SAID = [f"Turn {n}: the invoice job of day {n} must end by noon." for n in range(40)]


@pytest.fixture
def chunk(tmp_path: Path) -> str:
    """The first chunk's id, in the memory that the command line finds."""
    project = tmp_path / "project"
    settings = load_settings(project)
    with Memory.open(settings, project) as memory:
        turns = [
            Turn(uuid=str(n), role=Speaker.USER, text=text, timestamp_ms=1_800_000_000_000 + n)
            for n, text in enumerate(SAID)
        ]
        memory.add_turns("s", turns)
        make_builder(MaintenanceContext(store=memory.store, settings=settings, clock=FakeClock())).advance_all()
        return memory.store.chunks.list_of_session(1)[0].id


def test_a_summary_names_the_command_that_prints_its_turns(chunk: str) -> None:
    # The command line shows beginnings of ids, and a search takes whole ones.
    shown = " ".join(invoke("show", chunk).output.split())
    assert f"`hyperloci expand {chunk[:8]}` prints them" in shown


@pytest.mark.usefixtures("chunk")
def test_a_list_without_facts_says_that_there_are_conversations() -> None:
    told = invoke("list").stdout
    assert "No fact is remembered here yet" in told and "conversations" in told and "hyperloci sessions" in told


@pytest.mark.req("C.06")
def test_recap_prints_a_conversation_within_its_budget(chunk: str) -> None:
    result = invoke("recap", "the invoice job of day 4", "--tokens", "400")
    assert result.exit_code == 0, result.output
    assert (
        "Earlier, on your question:" in result.output and "you, just now" in result.output and SAID[39] in result.output
    )
    shown = json.loads(invoke("recap", "--json", "--tokens", "400").output)
    assert shown["tokens"] <= 400 and shown["mode"] == "recency"
    assert invoke("recap", "--session", "nope").exit_code == 1


def test_recap_shows_a_short_session_whole_and_says_so_and_says_what_to_do_where_there_is_none(tmp_path: Path) -> None:
    assert "No session of this project" in invoke("recap").stdout
    project = tmp_path / "project"
    with Memory.open(load_settings(project), project) as memory:
        said = ("Where do the logs go?", "To stderr.")
        turns = [
            Turn(uuid=text, role=role, text=text, timestamp_ms=1_800_000_000_000 + number)
            for number, (role, text) in enumerate(zip((Speaker.USER, Speaker.ASSISTANT), said, strict=True))
        ]
        memory.add_turns("s", turns)
    shown = invoke("recap").stdout
    assert all(text in shown for text in said) and "the whole conversation" in shown
    assert "Earlier" not in shown


@pytest.mark.req("C.07")
def test_expand_prints_the_turns_word_for_word(chunk: str) -> None:
    shown = json.loads(invoke("expand", chunk, "--json").output)
    assert [turn["content"] for turn in shown["turns"]] == SAID[:10]
    plain = invoke("expand", chunk)
    assert plain.exit_code == 0 and SAID[9] in plain.output
    assert invoke("expand", "nope").exit_code == 1
