"""Builds the pyramid of a database, and tells when it begins: `python killed_worker.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.conversations.pyramid.pyramid_jobs import make_builder
from hyperloci.jobs import MaintenanceContext
from hyperloci.store import Store
from hyperloci.text.tokens import count_tokens


def main(folder: Path) -> None:
    settings = Settings(database=folder / "memory.db", state_dir=folder, runtime_dir=folder, embedder=False)
    with Store.open(settings.database) as store:
        building = make_builder(MaintenanceContext(store=store, settings=settings, clock=system_clock))
        # All that is loaded on first use: what is killed is to be the work.
        count_tokens("warm")
        building.fallback.rarity("warm")  # type: ignore[attr-defined]
        print("begins", flush=True)
        building.advance_all()


main(Path(sys.argv[1]))
