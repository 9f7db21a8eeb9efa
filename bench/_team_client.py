"""One client of the partition: writes shared facts and exchanges beside that, until it is done or killed.

Each line on stdout is the id of a fact that is stored here for good: acknowledged.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.errors import HyperlociError
from hyperloci.memory import Memory
from hyperloci.model.author import Visibility
from hyperloci.model.kinds import NodeId
from hyperloci.store import Store
from hyperloci.team.membership import Membership
from hyperloci.team.sync import TeamSync

PROJECT = "example.com/bench/partition"


def open_client(folder: Path) -> Memory:
    """Open a client's memory, taking part in the team's project."""
    (folder / "project").mkdir(parents=True, exist_ok=True)
    settings = Settings(
        database=folder / "memory.db",
        state_dir=folder / "state",
        runtime_dir=folder / "run",
        embedder=False,
        watch=False,
    )
    memory = Memory.open(settings, folder / "project")
    with memory.store.transaction():
        key = memory.store.scopes.ensure_scope(memory.project.id, now=system_clock())
        if not memory.store.team.list_projects():
            memory.store.team.link_project(key, PROJECT, now=system_clock())
    return memory


def load_membership(folder: Path) -> Membership:
    """Return who this client is."""
    return Membership(**json.loads((folder / "membership.json").read_text()))


def exchange(folder: Path, stopping: threading.Event) -> None:
    """Exchange every half second, as a server's maintenance does every minute."""
    with Store.open(folder / "memory.db") as store:
        sync = TeamSync(store=store, membership=load_membership(folder), clock=system_clock)
        while not stopping.wait(0.5):
            try:
                sync.run()
            except HyperlociError as error:
                print(f"# {error}"[:200], file=sys.stderr, flush=True)


def main() -> None:
    folder, writes, first, pause = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    stopping = threading.Event()
    with open_client(folder) as memory:
        thread = threading.Thread(target=exchange, args=(folder, stopping), daemon=True)
        thread.start()
        for number in range(first, writes):
            # One transaction: what is acknowledged is stored and shared.
            with memory.store.transaction():
                stored = memory.remember_fact(f"{folder.name} decided rule {number} of the house")
                node = memory.store.nodes.get_node(NodeId(stored.id))
                assert node is not None
                memory.store.nodes.set_visibility(node.key, Visibility.SHARED, now=system_clock())
            print(stored.id, flush=True)
            time.sleep(pause)
        stopping.set()


if __name__ == "__main__":
    main()
