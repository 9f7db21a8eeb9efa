"""One tree, in a process of its own: `python -m bench._wild_tree ROOT FOLDER STALL SECONDS`.

`FOLDER` takes the database, `tree.json` (what was measured so far: a crash leaves what came before it) and `at_hand`
(what the process was at). Whatever shows no headway for `STALL` seconds while files are read, or for `SECONDS` in all,
ends the process, and its stacks stand on stderr.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import logging
import os
import resource
import sqlite3
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import tree_sitter
from markdown_it import MarkdownIt

from bench._shared import bench_settings
from hyperloci.errors import HyperlociError
from hyperloci.indexing.tree_walk import IndexableFile, walk_tree
from hyperloci.memory import Memory
from hyperloci.text.chunking.file_kinds import FileKind
from hyperloci.text.chunking.programming_languages import language_of
from hyperloci.text.decoding import decode_text

SLOW_SECONDS = 2.0

ASKED = 12
"""Files of a tree whose names are searched for, and walked from."""

NEEDLE = "a_word_that_no_file_has"


class TreeJournal:
    """What is known of a tree so far, and what is at hand."""

    def __init__(self, folder: Path, stall: float, seconds: float) -> None:
        self._folder = folder
        self._stall = stall
        self._end = time.monotonic() + seconds
        self.known: dict[str, Any] = {}

    def note_measures(self, **measures: Any) -> None:
        """Keep measures, whatever happens next."""
        self.known |= measures
        self._replace_file("tree.json", json.dumps(self.known))

    def note_phase(self, phase: str, what: str = "", *, stalls: bool = False) -> None:
        """Say what is done from now on; it may take until the end of all, or as long as a stall if it `stalls`."""
        left = max(1.0, self._end - time.monotonic())
        self._replace_file("at_hand", json.dumps([phase, what, stalls and self._stall < left]))
        faulthandler.dump_traceback_later(min(left, self._stall) if stalls else left, exit=True)

    def _replace_file(self, name: str, text: str) -> None:
        path = self._folder / name
        path.with_suffix(".new").write_text(text, encoding="utf-8")
        path.with_suffix(".new").replace(path)


class StepTimes:
    """Seconds between two steps of indexing, and which file comes next."""

    def __init__(self, journal: TreeJournal, paths: Sequence[str]) -> None:
        self._journal = journal
        self._next = dict(zip(paths, [*paths[1:], ""], strict=True))
        self._wall: float | None = None
        self._cpu = 0.0
        self._ended = time.perf_counter()
        self.files_cpu = 0.0
        self.slow: list[dict[str, Any]] = []
        self.slowest: dict[str, Any] = {}

    def __call__(self, done: int, total: int, what: str) -> None:
        """Take note of a file that is done; the first one's seconds hold the walk too, and aren't taken."""
        now, cpu = time.perf_counter(), cpu_seconds()
        if self._wall is not None:
            seconds = round(now - self._wall, 3)
            step = {"file": what, "seconds": seconds, "cpu": round(cpu - self._cpu, 3)}
            if seconds > self.slowest.get("seconds", 0):
                self.slowest = step
            if seconds > SLOW_SECONDS:
                self.slow.append(step)
        self._wall, self._cpu, self._ended, self.files_cpu = now, cpu, now, cpu
        following = self._next.get(what, "")
        if done >= total:
            self._journal.note_phase("history and links")
        else:
            self._journal.note_phase("files", following, stalls=True)

    def files_end(self) -> float:
        """Return when the last file was done, by the clock that counts seconds."""
        return self._ended


def cpu_seconds() -> float:
    """Return the processor seconds of this process and of those that it started, ended or not."""
    times = os.times()
    total = times.user + times.system + times.children_user + times.children_system
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            of_child = child.cpu_times()
            total += of_child.user + of_child.system
    return total


class FailureCounter(logging.Handler):
    """Counts what was logged as an error, with the last line of its traceback."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        place = traceback.extract_tb(error.__traceback__)[-1] if error is not None and error.__traceback__ else None
        where = f" ({Path(place.filename).name}:{place.name})" if place else ""
        self.seen.append(f"{record.getMessage()}: {type(error).__name__}: {error}{where}"[:300])


class EnoughError(Exception):
    """The time for older commits is over."""


def store_history(memory: Memory, seconds: float) -> dict[str, Any]:
    """Store older commits for so many seconds, or all; return how many are stored and wait, and the time it took."""
    started, cpu = time.perf_counter(), cpu_seconds()

    def enough(done: int, total: int, what: str) -> None:
        if time.perf_counter() - started > seconds:
            raise EnoughError

    with contextlib.suppress(EnoughError):
        memory.index_history(enough)
    counts = memory.get_history_progress()
    return {
        "commits": counts.stored,
        "commits_waiting": counts.waiting,
        "history_s": round(time.perf_counter() - started, 2),
        "history_cpu_s": round(cpu_seconds() - cpu, 2),
    }


def index_twice(memory: Memory, journal: TreeJournal, found: Sequence[IndexableFile], seconds: float) -> None:
    """Index the tree, twice: the second time there must be nothing to do."""
    failures = FailureCounter()
    logging.getLogger().addHandler(failures)
    journal.note_phase("files", found[0].path if found else "", stalls=True)
    steps = StepTimes(journal, sorted(file.path for file in found))
    started = time.perf_counter()
    cpu = cpu_seconds()
    report = memory.index_path(progress=steps)
    ended = time.perf_counter()
    journal.note_measures(
        files=report.files,
        chunks=report.chunks,
        commits=report.commits,
        index_s=round(ended - started, 2),
        files_s=round(steps.files_end() - started, 2),
        index_cpu_s=round(cpu_seconds() - cpu, 2),
        files_cpu_s=round(max(steps.files_cpu - cpu, 0), 2),
        slow=steps.slow,
        slowest=steps.slowest,
        failures=failures.seen,
        history=[item.reason for item in report.skipped if item.path == ".git"],
        set_aside=set_aside(memory.settings.database),
        peak_mb=round(peak_kb() / 1024),
        database_mb=round(memory.settings.database.stat().st_size / 1e6, 1),
    )
    journal.note_phase("older commits")
    journal.note_measures(**store_history(memory, seconds))
    journal.note_phase("indexing again")
    again = memory.index_path()
    journal.note_measures(again=again.added + again.changed + again.moved + again.removed)


def set_aside(database: Path) -> list[list[str]]:
    """Return what the database says was set aside, with reasons."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'set_aside'").fetchone() is None:
            return []
        return [list(row) for row in connection.execute("SELECT subject, kind || ': ' || reason FROM set_aside")]


def peak_kb() -> int:
    """Return the most memory that this process held, or one that it waited for."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def use_memory(memory: Memory, journal: TreeJournal, found: Sequence[IndexableFile]) -> None:
    """Ask for some files by name, and walk from them; an error that is ours is an answer."""
    asks: dict[str, Callable[[str], object]] = {
        "search": lambda path: memory.search(path, reinforce=False),
        "query": lambda path: memory.search_by_query_line(f'path:"{path}"', reinforce=False),
        "related": lambda path: memory.find_related(path, depth=2),
        "neighbourhood": memory.get_neighbourhood,
        "outline": memory.get_outline,
    }
    some = [file.path for file in found[:: max(1, len(found) // ASKED)]][:ASKED]
    errors: list[str] = []
    slowest = 0.0
    for path in some:
        for name, ask in asks.items():
            journal.note_phase(name, path)
            started = time.perf_counter()
            try:
                ask(path)
            except HyperlociError:
                pass
            except Exception as error:  # What this looks for.
                errors.append(f"{name} {path!r}: {type(error).__name__}: {error}"[:300])
            slowest = max(slowest, time.perf_counter() - started)
    journal.note_phase("statistics")
    memory.stats()
    memory.graph_stats()
    journal.note_measures(asks=len(asks) * len(some), ask_errors=errors, slowest_ask_s=round(slowest, 2))


def parse_plainly(root: Path, found: Sequence[IndexableFile], journal: TreeJournal) -> None:
    """Do the least that could be done with the same files: `git grep` once, and parse each once."""
    cpu = cpu_seconds()
    plain = [] if (root / ".git").exists() else ["--no-index"]
    subprocess.run(["git", "grep", *plain, "-c", "-I", "-e", NEEDLE], cwd=root, capture_output=True, check=False)
    grep = cpu_seconds() - cpu
    cpu = cpu_seconds()
    markdown = MarkdownIt("commonmark").enable("table")
    parsers: dict[str, tree_sitter.Parser] = {}
    for file in found:
        journal.note_phase("the plain parse", file.path, stalls=True)
        data = (root / file.path).read_bytes()
        text = decode_text(data) or ""
        language = language_of(file.path, text) if file.kind is FileKind.CODE else None
        if language is not None and (grammar := language.load_grammar()) is not None:
            parsers.setdefault(language.name, tree_sitter.Parser(grammar)).parse(data)
        elif file.kind is FileKind.MARKDOWN:
            markdown.parse(text)
    journal.note_measures(grep_cpu_s=round(grep, 2), parse_cpu_s=round(cpu_seconds() - cpu, 2))


def main() -> None:
    """Measure one tree."""
    root, folder = Path(sys.argv[1]), Path(sys.argv[2])
    journal = TreeJournal(folder, float(sys.argv[3]), float(sys.argv[4]))
    journal.note_phase("the walk")
    settings = bench_settings(folder, embedder=False, upkeep=False)
    seen = list(walk_tree(root))
    found = [entry for entry in seen if isinstance(entry, IndexableFile)]
    skipped = Counter(entry.reason for entry in seen if not isinstance(entry, IndexableFile))
    journal.note_measures(skipped=dict(skipped.most_common()), bytes=sum(file.size for file in found))
    with Memory.open(settings, root) as memory:
        index_twice(memory, journal, found, float(sys.argv[5]))
        use_memory(memory, journal, found)
    parse_plainly(root, found, journal)
    faulthandler.cancel_dump_traceback_later()
    journal.note_measures(done=True)


if __name__ == "__main__":
    main()
