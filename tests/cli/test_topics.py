"""hyperloci topics and timeline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperloci.cli.common import load_settings
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn
from hyperloci.store import Store
from tests.cli.helpers import invoke, run
from tests.support import NOW
from tests.topics.themes import THEMES, WordEncoder, embed, fill


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.mark.req("E.09")
def test_topics_are_shown_to_people_and_programs(project: Path) -> None:
    settings = load_settings(project)
    with Store.open(settings.database) as store:
        fill(store, 10)
    embed(settings, WordEncoder())
    found = json.loads(run("topics", "--json"))
    assert found["total"] == len(THEMES)
    shown = run("topics")
    assert all(topic["id"][:8] in shown for topic in found["topics"])
    assert f"{len(THEMES)} topics among 40 memories" in shown
    one = run("topics", "--id", found["topics"][0]["id"][:4])
    assert "agreement" in one
    run("topics", "--id", "none", code=1)


def test_without_an_embedder_topics_cannot_be_looked_for(project: Path) -> None:
    assert "a dozen memories" in run("topics")
    assert "embeddings are switched off (HYPERLOCI_EMBEDDER)" in invoke("topics", "--refresh").stderr
    run("topics", "--refresh", code=3)


@pytest.mark.req("E.10")
def test_a_timeline_is_shown(project: Path) -> None:
    for number in range(3):
        run("remember", f"step {number} of the plan")
    lines = run("timeline", "step 1 of the plan", "--limit", "1").splitlines()
    assert ["step 0" in lines[0], "step 1" in lines[1], "step 2" in lines[2]] == [True] * 3
    assert [line.startswith("> ") for line in lines[:3]] == [False, True, False]
    assert "took the memory nearest to the words" in invoke("timeline", "step 1 of the plan").stderr
    assert json.loads(run("timeline", "step 1 of the plan", "--json"))["direction"] == "both"
    run("timeline", "step 1", "--session", "one", code=2)


def test_a_timeline_says_what_is_contradicted(project: Path) -> None:
    older = run("remember", "we deploy on Fridays").split()[-1]
    newer = run("remember", "we never deploy on Fridays").split()[2]
    shown = run("timeline", "deploy on Fridays")
    assert f"! contradicted by {newer}" in shown and f"! contradicted by {older}" in shown


def test_a_timeline_of_nothing_in_particular_is_that_of_the_latest_session(project: Path) -> None:
    assert "No session of this project" in run("timeline")
    with Memory.open(load_settings(project), project) as memory:
        for number, session in enumerate(("first", "second")):
            turn = Turn(uuid=session, role=Speaker.USER, text=f"said in the {session}", timestamp_ms=NOW + number)
            memory.add_turns(session, [turn])
    assert "said in the second" in run("timeline") and "said in the first" not in run("timeline")
