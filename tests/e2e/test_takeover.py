"""Two sessions over one project and one database: when the one that does the work is killed, the other goes on with it.

Only the operating system can tell the survivor: a killed process says goodbye to nobody.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from tests.e2e.conftest import House, Server

SOON = 60
"""Seconds for what takes two to five on an idle machine: noticing a death, loading a model, indexing a file."""

EMBEDDING_AND_WATCHING = {"HYPERLOCI_EMBEDDER": "1", "HYPERLOCI_WATCH": "1"}


def wait_for(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < deadline, what
        threading.Event().wait(0.1)


def remember(server: Server, *facts: str) -> dict[str, str]:
    """Have facts remembered; return each with the id that acknowledges it."""
    return {fact: server.call("remember_fact", fact=fact)["structuredContent"]["id"] for fact in facts}


def found(server: Server, query: str) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = server.call("search_memory", query=query)["structuredContent"]["results"]
    return hits


def finds_file(server: Server, query: str, path: str) -> bool:
    return any(hit["source"].get("path") == path and query in hit["content"] for hit in found(server, query))


def works(stats: dict[str, Any]) -> bool:
    """Whether a server has an embedder of its own, which is ready, and watches the project."""
    owns = stats["embedder_process"].get("pid") is not None and stats["watchers"].get("owner", False)
    return owns and stats["embedder"].get("warm", False) and stats["fingerprints_pending"] == 0


def kill(server: Server) -> list[psutil.Process]:
    """Kill a server and nothing else; return it with the processes it had started."""
    process = psutil.Process(server.process.pid)
    family = [process, *process.children(recursive=True)]
    server.process.kill()
    server.process.wait(SOON)
    return family


@pytest.mark.model
@pytest.mark.timeout(300)
@pytest.mark.req("SPEC-02.04", "B.03", "E.17")
def test_when_the_session_that_embeds_and_watches_is_killed_another_goes_on(house: House) -> None:
    house.extra |= EMBEDDING_AND_WATCHING
    (house.project / "tea.md").write_text("# Brewing\n\nWater for green tea has 75 degrees.\n")
    with house.server() as first, house.server() as second:
        first.shake_hands()
        acknowledged = remember(first, "We ship the billing service on Fridays.")
        owned = first.until(works)
        second.shake_hands()
        acknowledged |= remember(second, "The staging cluster has three nodes.")
        beside = second.until(lambda stats: stats["watchers"]["running"] and stats["fingerprints_pending"] == 0)
        assert not beside["watchers"].get("owner", False)
        assert beside["embedder_process"].get("pid") is None
        acknowledged |= remember(first, *(f"Tenant {number} lives in region {number + 7}." for number in range(5)))
        gone = kill(first)
        assert owned["embedder_process"]["pid"] in {process.pid for process in gone}

        # The survivor is asked nothing: it has to find out by itself. What it does is seen in the database.
        with house.memory() as memory:
            acknowledged["Refunds are approved."] = memory.remember_fact("Refunds are approved.").id
            wait_for(lambda: memory.stats()["fingerprints_pending"] == 0, "no embedder has taken over")
        taken_over = second.until(works)
        assert taken_over["embedder_process"]["pid"] not in {process.pid for process in gone}
        assert psutil.wait_procs(gone, timeout=SOON)[1] == []

        (house.project / "tea.md").write_text("# Brewing\n\nWater for white tea has 80 degrees.\n")
        wait_for(lambda: finds_file(second, "white tea", "tea.md"), "an edited file is not indexed")
        (house.project / "coffee.md").write_text("# Grinding\n\nEspresso beans are ground finely.\n")
        wait_for(lambda: finds_file(second, "Espresso beans", "coffee.md"), "a new file is not indexed")
        assert all(id in {hit["id"] for hit in found(second, fact)} for fact, id in acknowledged.items())
        gone += kill(second)
    assert psutil.wait_procs(gone, timeout=SOON)[1] == []

    (house.project / "tea.md").write_text("# Brewing\n\nWater for black tea boils.\n")
    with house.server() as third:
        warned = third.complaints()  # Of the embedder that was gone when the second wanted it, once: all share a file.
        third.shake_hands()
        acknowledged |= remember(third, "Support answers within two hours.")
        third.until(works)
        wait_for(lambda: finds_file(third, "black tea", "tea.md"), "what changed between two sessions is not indexed")
        assert all(id in {hit["id"] for hit in found(third, fact)} for fact, id in acknowledged.items())
        last = psutil.Process(third.process.pid).children(recursive=True)
        assert third.end() == 0
        assert third.complaints() == warned
    assert psutil.wait_procs(last, timeout=SOON)[1] == []
