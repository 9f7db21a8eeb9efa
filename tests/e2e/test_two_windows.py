"""Two windows of one project: what an assistant tells belongs to the session of its own client."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.e2e.conftest import SOON, House

BESIDE = ("sh", "-c", '"$@"; true', "sh")
"""Starts a program from a process that the server doesn't come from, as another window's client is."""

FACT = "The release notes are written by Kaoru, in the wiki."


def start_session(house: House, session: str, *before: str) -> None:
    told = {"session_id": session, "cwd": str(house.project), "hook_event_name": "SessionStart", "source": "startup"}
    hook = [*before, sys.executable, "-m", "hyperloci_hooks.run", "SessionStart"]
    subprocess.run(
        hook,
        input=json.dumps(told).encode(),
        env=house.environment,
        cwd=house.project,
        timeout=SOON,
        check=True,
        capture_output=True,
    )


@pytest.mark.req("B.16", "E.10")
@pytest.mark.parametrize("is_served", [True, False], ids=["a server stores the starts", "hooks store the starts"])
def test_what_is_told_is_noted_in_the_session_of_the_same_client(house: House, is_served: bool) -> None:
    starts = [("own", ()), ("other", BESIDE)]
    for session, before in () if is_served else starts:
        start_session(house, session, *before)
    with house.server() as server:
        server.shake_hands()
        server.call("memory_stats")
        for session, before in starts if is_served else ():
            start_session(house, session, *before)
        told = server.call("remember_fact", fact=FACT)["structuredContent"]
    with house.memory() as memory:
        kept = memory.store.nodes.get_node(told["id"])
        assert kept is not None and kept.session_id == "own"


AWAY = (sys.executable, "-c", "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)") * 3
"""Starts a program so far below this process that both are of two clients: another terminal's."""


@pytest.mark.req("B.16", "E.10")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells what is further up")
def test_what_is_told_by_a_client_without_a_session_is_of_none_though_another_client_has_one(house: House) -> None:
    start_session(house, "other", *AWAY)
    with house.server() as server:
        server.shake_hands()
        told = server.call("remember_fact", fact=FACT)["structuredContent"]
    with house.memory() as memory:
        kept = memory.store.nodes.get_node(told["id"])
        assert kept is not None and kept.session_id is None
        (session,) = memory.store.sessions.list_recent(memory.project.id)
        assert (session.id, session.status) == ("other", "active")
