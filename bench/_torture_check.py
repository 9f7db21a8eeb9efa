"""Comparing what was acknowledged with what is there."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.store import Store, integrity
from hyperloci_hooks.finisher import OWN_SECONDS
from hyperloci_hooks.outcome_statistics import HookStatistics
from hyperloci_hooks.spool import drain_spool

SEARCHED = 100
"""So many acknowledged facts are looked for by search too, not only by id."""

HOOK_SECONDS = OWN_SECONDS + 10
"""The kernel ends by then what a hook left its event to."""

LOCKED = ("locked", "busy", "is writing to the memory", "StoreBusyError")


@dataclass(slots=True)
class ExpectedState:
    """What the journals say must be there: `None` for a state that an unacknowledged act may have changed."""

    texts: dict[str, set[str]] = field(default_factory=dict)
    living: dict[str, bool | None] = field(default_factory=dict)
    once: set[str] = field(default_factory=set)
    late: set[str] = field(default_factory=set)
    acknowledged: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    messages: dict[str, str] = field(default_factory=dict)
    ms: list[float] = field(default_factory=list)

    def read_journal(self, journal: Path) -> None:
        """Take one journal in; one writer's lives follow each other in it."""
        for line in _journal_lines(journal):
            if "intent" in line:
                self._note_intent(line)
            elif "done" in line:
                self._note_done(line)
            elif "late" in line:
                self.late.update(line["texts"])
            elif "error" in line:
                # It was refused: nothing of it may have happened, but the state is as it was in any case.
                self.errors[line["error"]] += 1
                self.messages.setdefault(line["error"], line["message"])

    def _note_intent(self, line: dict[str, Any]) -> None:
        if line["intent"] in ("forget", "restore", "correct"):
            self.living[line["id"]] = None

    def _note_done(self, line: dict[str, Any]) -> None:
        kind = line["done"]
        if kind in ("search", "upkeep"):
            return
        self.acknowledged += 1
        self.ms.append(float(line.get("ms", 0.0)))
        if kind in ("remember", "shared"):
            self.texts.setdefault(line["id"], set()).add(line["text"])
            self.living.setdefault(line["id"], True)
        elif kind == "correct":
            self.living[line["id"]] = False
            self.texts.setdefault(line["new"], set()).add(line["text"])
            self.living.setdefault(line["new"], True)
        elif kind in ("forget", "restore"):
            self.living[line["id"]] = kind == "restore"
        else:
            self.once.update(line["texts"])


def _journal_lines(journal: Path) -> Iterator[dict[str, Any]]:
    for line in journal.read_bytes().split(b"\n"):
        if line:
            yield json.loads(line)


@dataclass(slots=True)
class TortureVerdict:
    """What was found; `lost`, `wrong_state`, `duplicates`, `problems`, `bad_backups` and `locked` are to be empty."""

    acknowledged: int = 0
    found: int = 0
    lost: list[str] = field(default_factory=list)
    wrong_state: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)
    unsearchable: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    backups: int = 0
    bad_backups: list[str] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    locked: int = 0
    memories: int = 0
    late: int = 0
    late_found: int = 0

    @property
    def is_sound(self) -> bool:
        """Whether everything that was promised held."""
        faults = (self.lost, self.wrong_state, self.duplicates, self.unsearchable, self.problems, self.bad_backups)
        return not any(faults) and not self.locked


def judge_database(
    settings: Settings, project: Path, expected: ExpectedState, markers: Iterable[str] = ()
) -> TortureVerdict:
    """Open the database that the killed left, store what their hooks left, and compare.

    Args:
        settings, project: whose memory.
        expected: what the journals say.
        markers: texts that stand in one file of the project each.
    """
    verdict = TortureVerdict(errors=dict(expected.errors), messages=expected.messages)
    verdict.locked = sum(
        count
        for kind, count in expected.errors.items()
        if any(word in f"{kind} {expected.messages[kind]}".lower() for word in LOCKED) or kind in LOCKED
    )
    _await_hooks(settings)
    with Memory.open(settings, project) as memory:
        drain_spool(memory)
        memory.index_path()
        verdict.memories = int(memory.stats()["nodes"])
        _compare_store(memory.store, expected, verdict)
        _count_files(memory.store, markers, verdict)
        _search_all(memory, expected, verdict)
        verdict.problems += integrity.check_integrity(memory.store)
        verdict.problems += [f"{count} {name}" for name, count in integrity.count_violations(memory.store).items()]
    _look_at_backups(settings, verdict)
    return verdict


def _await_hooks(settings: Settings) -> None:
    """Wait for the processes that hooks have left their events to; of a killed one nothing more is to be expected."""
    until = time.monotonic() + HOOK_SECONDS
    while time.monotonic() < until:
        if not HookStatistics.read_log(str(settings.spool_dir)).under_way:
            return
        time.sleep(0.1)


def _compare_store(store: Store, expected: ExpectedState, verdict: TortureVerdict) -> None:
    rows = {
        row["id"]: row for row in store.connection.execute("SELECT id, content, deleted_at, valid_until FROM nodes")
    }
    # A text that hooks and turns brought counts once: its episode; a fact that was made of it is another memory.
    told = Counter(
        row[0]
        for row in store.connection.execute(
            "SELECT content FROM nodes WHERE type = 'experience' AND subtype IN ('episode', 'action')"
        )
    )
    same = store.connection.execute(
        "SELECT content, count(*) FROM nodes WHERE type IN ('fact', 'decision') AND deleted_at IS NULL"
        " AND valid_until IS NULL GROUP BY content, scope_key, place HAVING count(*) > 1"
    )
    verdict.duplicates += [f"{row[0]} ({row[1]} times)" for row in same]
    verdict.acknowledged = len(expected.texts) + len(expected.once)
    for id, texts in expected.texts.items():
        row = rows.get(id)
        if row is None or row["content"] not in texts:
            verdict.lost.append(f"{id}: {texts}")
            continue
        verdict.found += 1
        living = row["deleted_at"] is None and row["valid_until"] is None
        if expected.living[id] not in (None, living):
            verdict.wrong_state.append(f"{id}: living={living}")
    verdict.late, verdict.late_found = len(expected.late), sum(told[text] > 0 for text in expected.late)
    for text in expected.once:
        verdict.found += told[text] > 0
        if told[text] != 1:
            (verdict.duplicates if told[text] else verdict.lost).append(f"{text!r} is there {told[text]} times")


def _count_files(store: Store, markers: Iterable[str], verdict: TortureVerdict) -> None:
    for marker in markers:
        row = store.connection.execute(
            "SELECT count(*) FROM nodes WHERE type = 'snippet' AND deleted_at IS NULL AND instr(content, ?) > 0",
            (marker,),
        ).fetchone()
        if row[0] != 1:
            (verdict.duplicates if row[0] else verdict.lost).append(f"{marker} stands in {row[0]} chunks")


def _search_all(memory: Memory, expected: ExpectedState, verdict: TortureVerdict) -> None:
    living = sorted(id for id in expected.texts if expected.living[id])
    for id in living[:: max(1, len(living) // SEARCHED)]:
        text = min(expected.texts[id])
        hits = memory.search(text, limit=10, reinforce=False).results
        if id not in {hit.id for hit in hits}:
            verdict.unsearchable.append(f"{id}: {text}")


def _look_at_backups(settings: Settings, verdict: TortureVerdict) -> None:
    for path in settings.backup_dir.glob("*.db"):
        verdict.backups += 1
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as backup:
            state = backup.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if state != "ok":
            verdict.bad_backups.append(f"{path.name}: {state}")
