"""Those who are killed: writers over the façade and rounds of upkeep, each in a process of its own.

What a writer was told is done it writes to its journal, after what it is about to do: the system keeps what a killed
process has written, so the journal holds every acknowledgement, and at most one intent without one per life.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.errors import HyperlociError
from hyperloci.jobs import MaintenanceContext
from hyperloci.maintenance.job_list import run_maintenance
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn
from hyperloci.store import Store

SHARED_FACTS = 40
"""Facts that every writer states again and again: stated at once by several, each is to be stored once."""

TOPICS = "gateway port cache importer migration schema retry timeout worker queue token parser session deploy".split()  # noqa: SIM905

Act = tuple[str, Callable[[], dict[str, Any]], dict[str, Any]]
"""What it is called, what does it, and what is known of it before."""


class WriterJournal:
    """Lines of JSON that survive their writer."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write_line(self, **fields: Any) -> None:
        """Write one line, at once."""
        os.write(self._file, json.dumps(fields).encode() + b"\n")


class TortureWriter:
    """States, corrects, forgets and restores facts, tells turns, searches; at random, until it is killed or stopped."""

    def __init__(self, memory: Memory, journal: WriterJournal, name: str) -> None:
        self._memory = memory
        self._journal = journal
        self._name = name
        self._chance = random.Random(name)
        self._count = 0
        self._own: list[tuple[str, str]] = []
        self._forgotten: list[str] = []

    def act_once(self) -> None:
        """Do one thing, and note what came of it."""
        self._count += 1
        kind, do, known = self._choose_act()
        self._journal.write_line(n=self._count, intent=kind, **known)
        started = time.perf_counter()
        try:
            told = do()
        except HyperlociError as error:
            self._journal.write_line(n=self._count, error=type(error).__name__, message=str(error)[:300], kind=kind)
            return
        self._journal.write_line(
            n=self._count, done=kind, ms=round(1_000 * (time.perf_counter() - started), 2), **known, **told
        )

    def _choose_act(self) -> Act:
        dice = self._chance.random()
        if dice < 0.12:
            return self._share_fact()
        if dice < 0.20 and self._own:
            return self._forget_fact()
        if dice < 0.25 and self._forgotten:
            return self._restore_fact()
        if dice < 0.32 and self._own:
            return self._correct_fact()
        if dice < 0.42:
            return self._tell_turns()
        if dice < 0.50:
            return "search", lambda: {"hits": len(self._memory.search(self._chance.choice(TOPICS)).results)}, {}
        return self._remember_fact()

    def _random_text(self) -> str:
        return (
            f"{self._random_word()}: the {self._chance.choice(TOPICS)} of the {self._chance.choice(TOPICS)} takes "
            f"{self._chance.randrange(10_000)} units."
        )

    def _random_word(self) -> str:
        return f"zq{self._name}n{self._count}"

    def _remember_fact(self) -> Act:
        text = self._random_text()

        def do() -> dict[str, Any]:
            id = self._memory.remember_fact(text, entities=[self._chance.choice(TOPICS)]).id
            self._own.append((id, text))
            return {"id": id}

        return "remember", do, {"text": text}

    def _share_fact(self) -> Act:
        text = f"Shared fact {self._chance.randrange(SHARED_FACTS)} is stated by everybody."
        return "shared", lambda: {"id": self._memory.remember_fact(text).id}, {"text": text}

    def _forget_fact(self) -> Act:
        id, _ = self._own.pop(self._chance.randrange(len(self._own)))

        def do() -> dict[str, Any]:
            self._memory.forget(id, reason="torture")
            self._forgotten.append(id)
            return {}

        return "forget", do, {"id": id}

    def _restore_fact(self) -> Act:
        id = self._forgotten.pop(self._chance.randrange(len(self._forgotten)))

        def do() -> dict[str, Any]:
            self._memory.restore(id)
            return {}

        return "restore", do, {"id": id}

    def _correct_fact(self) -> Act:
        id, _ = self._own.pop(self._chance.randrange(len(self._own)))
        text = self._random_text()
        return "correct", lambda: {"new": self._memory.correct_fact(id, text).id}, {"id": id, "text": text}

    def _tell_turns(self) -> Act:
        texts = [
            f"{self._random_word()} turn {part}: what about the {self._chance.choice(TOPICS)}?" for part in range(3)
        ]
        turns = [
            Turn(uuid=f"{self._random_word()}-{part}", role=Speaker.USER, text=text, timestamp_ms=None)
            for part, text in enumerate(texts)
        ]
        return "turns", lambda: {"new": self._memory.add_turns(f"s-{self._name}", turns)}, {"texts": texts}


def write_on(settings: Settings, project: Path, journal: Path, name: str, stop: Path) -> None:
    """Be a writer until killed, or until the file `stop` is there."""
    notes = WriterJournal(journal)
    try:
        with Memory.open(settings, project) as memory:
            writer = TortureWriter(memory, notes, name)
            while not stop.exists():
                writer.act_once()
    except HyperlociError as error:
        notes.write_line(n=0, error=type(error).__name__, message=str(error)[:300], kind="open")


def look_after(settings: Settings, journal: Path, stop: Path) -> None:
    """Run rounds of upkeep until killed, or until the file `stop` is there."""
    notes = WriterJournal(journal)
    while not stop.exists():
        try:
            with Store.open(settings.database, backup_dir=settings.backup_dir) as store:
                context = MaintenanceContext(
                    store=store, settings=settings, clock=system_clock, should_stop=stop.exists
                )
                report = run_maintenance(context, force=True)
            for step in report.steps:
                if step.error:
                    notes.write_line(n=0, error="upkeep", message=f"{step.name}: {step.error}"[:300], kind="upkeep")
            notes.write_line(n=0, done="upkeep")
        except HyperlociError as error:
            notes.write_line(n=0, error=type(error).__name__, message=str(error)[:300], kind="upkeep")
        time.sleep(0.2)
