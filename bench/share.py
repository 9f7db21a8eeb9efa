"""What sharing through Git costs, and whether Git merges diverged folders by itself.

    python -m bench share [--memories 10000] [--clones 8] [--turns 40] [--layouts]

First, with `--layouts`, four ways to lay out shared memories, merged by Git alone after everybody added twenty, edited
the same five and withdrew two: merges that Git refused, and texts that were withdrawn and came back. Then clones that
share a part each and are merged into one: what is lost, and how long Git and the readings take. Last, in turns, with
and without the folder: a look at a session's start, and a search. Times are processor times of this
process unless said otherwise.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from bench._shared import MarkdownTable, bench_settings
from hyperloci.facts.sharing.shared_folder import FOLDER, write_memory
from hyperloci.facts.sharing.shared_version import SharedVersion
from hyperloci.memory import Memory

NOW = 1_780_000_000_000
THINGS = ("cache", "queue", "parser", "gateway", "importer", "scheduler", "index", "mailer", "ledger", "proxy")
SAYINGS = (
    "The {thing} of team {team} keeps its data for {number} days, because audits ask for them.",
    "We decided to run the {thing} of module {team} behind proxy {number}; restarts were too slow.",
    "Team {team} tests the {thing} with seed {number}, as production orders can't be replayed.",
)


def run_git(folder: Path, *arguments: str, check: bool = True) -> int:
    """Run Git and return its exit status."""
    who = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "gc.auto=0"]
    done = subprocess.run(["git", "-C", str(folder), *who, *arguments], capture_output=True, check=False)
    if check and done.returncode:
        raise RuntimeError(done.stderr.decode())
    return done.returncode


def make_memory(author: str, number: int, draw: random.Random) -> SharedVersion:
    """Return one of many memories, each different."""
    text = draw.choice(SAYINGS).format(
        thing=draw.choice(THINGS), team=f"{author}{number}", number=draw.randrange(10**6)
    )
    id = str(uuid.UUID(int=draw.getrandbits(128), version=4))
    return SharedVersion(id=id, author=f"{author} <{author}@example.com>", at=NOW + number, kind="decision", text=text)


# -- layouts -----------------------------------------------------------------------------------------------------------

Lines = dict[str, str]


def _write_one_file(root: Path, lines: Lines, gone: Sequence[str]) -> None:
    path = root / "shared.jsonl"
    known = {json.loads(line)["id"]: line for line in path.read_text().splitlines()} if path.exists() else {}
    known.update(lines, **{id: json.dumps({"id": id, "gone": True}) for id in gone})
    path.write_text("".join(f"{known[id]}\n" for id in sorted(known)))


def _write_memory_files(root: Path, lines: Lines, gone: Sequence[str]) -> None:
    for id, line in (lines | {id: json.dumps({"id": id, "gone": True}) for id in gone}).items():
        (root / f"{id}.json").write_text(f"{line}\n")


def _write_version_files(root: Path, lines: Lines, gone: Sequence[str]) -> None:
    for id, line in lines.items():
        (root / f"{id}.{hashlib.sha256(line.encode()).hexdigest()[:8]}.json").write_text(f"{line}\n")
    for id in gone:
        for path in root.glob(f"{id}.*"):
            path.unlink()
        (root / f"{id}.gone.json").write_text(json.dumps({"id": id, "gone": True}) + "\n")


LAYOUTS: dict[str, tuple[Callable[[Path, Lines, Sequence[str]], None], bool]] = {
    "one sorted file": (_write_one_file, False),
    "one sorted file, merge=union": (_write_one_file, True),
    "a file a memory": (_write_memory_files, False),
    "a file a version (ours)": (_write_version_files, False),
}


def compare_layouts(folder: Path, base: int, clones: int, table: MarkdownTable) -> None:
    """Merge diverged clones of every layout with Git alone, and add a row for each."""
    for name, (write, union) in LAYOUTS.items():
        draw, place = random.Random(1), folder / hashlib.sha256(f"{name}{base}{clones}".encode()).hexdigest()[:8]
        ids = [str(uuid.UUID(int=draw.getrandbits(128))) for _ in range(base)]
        roots = [place / str(number) for number in range(clones)]
        roots[0].mkdir(parents=True)
        run_git(roots[0], "init", "-q", "-b", "main")
        if union:
            (roots[0] / ".gitattributes").write_text("*.jsonl merge=union\n")
        write(roots[0], {id: json.dumps({"id": id, "text": f"base {id} " * 3}) for id in ids}, ())
        _commit(roots[0])
        for root in roots[1:]:
            run_git(place, "clone", "-q", str(roots[0]), str(root))
        for number, root in enumerate(roots):
            new = [str(uuid.UUID(int=draw.getrandbits(128))) for _ in range(20)]
            lines = {id: json.dumps({"id": id, "text": f"new by {number} " * 5}) for id in new}
            lines |= {id: json.dumps({"id": id, "text": f"edited by {number} " * 5}) for id in ids[:5]}
            write(root, lines, [ids[-1], ids[-2 - number]])
            _commit(root)
        refused = sum(not _merge(roots[0], root) for root in roots[1:])
        texts = [line for path in roots[0].glob("*.json*") for line in path.read_text().splitlines() if line[:1] == "{"]
        rows = [json.loads(line) for line in texts]
        gone = {row["id"] for row in rows if "gone" in row}
        back = sum("text" in row and row["id"] in gone for row in rows)
        table.add(name, f"{base:,}", clones, f"{refused} of {clones - 1}", back)


def _commit(root: Path) -> None:
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "--allow-empty", "-m", "share")


def _merge(root: Path, other: Path) -> bool:
    run_git(root, "fetch", "-q", str(other), "main")
    if run_git(root, "merge", "-q", "--no-edit", "FETCH_HEAD", check=False):
        run_git(root, "merge", "--abort", check=False)
        return False
    return True


def _merge_branch(theirs: Path, root: Path) -> bool:
    """Commit what is new in a tree in a clone instead, and merge that."""
    run_git(root, "stash", "-q", "-u")
    run_git(root.parent, "clone", "-q", str(root), str(theirs))
    run_git(theirs, "fetch", "-q", str(root), "refs/stash")
    run_git(theirs, "checkout", "-q", "FETCH_HEAD^3", "--", ".")
    _commit(theirs)
    return _merge(root, theirs)


# -- our own -----------------------------------------------------------------------------------------------------------


def merge_clones(folder: Path, memories: int, clones: int) -> tuple[Path, list[SharedVersion]]:
    """Have clones share a part each and merge them into the first; print how that went."""
    draw, told = random.Random(7), list[SharedVersion]()
    roots = [folder / f"clone-{number}" for number in range(clones)]
    roots[0].mkdir(parents=True)
    run_git(roots[0], "init", "-q", "-b", "main")
    _commit(roots[0])
    for root in roots[1:]:
        run_git(folder, "clone", "-q", str(roots[0]), str(root))
    for number, root in enumerate(roots):
        mine = [make_memory(f"p{number}", one, draw) for one in range(memories // clones)]
        for memory in mine:
            write_memory(root, memory)
        told += mine
        _commit(root)
    started = time.perf_counter()
    refused = sum(not _merge(roots[0], root) for root in roots[1:])
    seconds = time.perf_counter() - started
    files = len(list((roots[0] / FOLDER).iterdir()))
    print(f"{clones} clones, {len(told):,} memories: {refused} merges refused, {files:,} files, {seconds:.1f} s of Git")
    return roots[0], told


def read_all(memory: Memory, told: Sequence[SharedVersion]) -> None:
    """Take everything in, then nothing, then ten more; print what was lost and what it took."""
    started = time.process_time()
    report = memory.read_shared()
    seconds = time.process_time() - started
    lost = sum(memory.store.nodes.get_node(one.id) is None for one in told)
    each = 1e3 * seconds / max(1, report.taken)
    print(f"taken in {report.taken:,} in {seconds:.1f} s ({each:.1f} ms each), lost {lost}")
    print(f"unchanged: {1e6 * _median(memory.read_shared, 200):.0f} µs; thorough: {_median(_reread(memory), 3):.2f} s")
    draw = random.Random(11)
    for number in range(10):
        write_memory(memory.project.root, make_memory("late", number, draw))
    started = time.process_time()
    taken = memory.read_shared().taken
    print(f"{taken} more among them: {time.process_time() - started:.2f} s")


def _reread(memory: Memory) -> Callable[[], object]:
    return lambda: memory.read_shared(thorough=True)


def _median(step: Callable[[], object], runs: int) -> float:
    times = []
    for _ in range(runs):
        started = time.process_time()
        step()
        times.append(time.process_time() - started)
    return statistics.median(times)


def compare_in_turns(memory: Memory, turns: int) -> None:
    """Print what a session's start and a search cost with the folder there and with it moved away, in turns."""
    table = MarkdownTable("what, median processor time", "with the folder", "without", "ratio")
    shared, away = memory.project.root / FOLDER, memory.project.root / "away"
    steps: dict[str, Callable[[], object]] = {
        "a look at a session's start": lambda: memory.read_shared(seconds=0.3),
        "search": lambda: memory.search("how long does the ledger keep its data", reinforce=False),
    }
    for name, step in steps.items():
        taken: dict[bool, list[float]] = {True: [], False: []}
        for turn in range(2 * turns):
            there = turn % 2 == 0
            if not there:
                shared.rename(away)
            started = time.process_time()
            step()
            taken[there].append(time.process_time() - started)
            if not there:
                away.rename(shared)
        with_it, without = statistics.median(taken[True]), statistics.median(taken[False])
        table.add(name, f"{1e3 * with_it:.3f} ms", f"{1e3 * without:.3f} ms", f"{with_it / without:.2f}")
    table.print()


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="bench share", description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--clones", type=int, default=8)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--layouts", action="store_true")
    parser.add_argument("--hostile", type=int, default=0, metavar="LINES", help="of each kind, merged into the rest")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if chosen.layouts:
            table = MarkdownTable("layout", "memories before", "clones", "merges refused", "withdrawn texts back")
            for base in (20, 1_000):
                for clones in (2, 8):
                    compare_layouts(folder, base, clones, table)
            table.print()
        root, told = merge_clones(folder / "ours", chosen.memories, chosen.clones)
        if chosen.hostile:
            from bench._share_hostile import measure_hostile

            measure_hostile(folder, root, told, chosen.hostile, lambda: _merge_branch(folder / "theirs", root))
            return
        settings = replace(bench_settings(folder / "home", embedder=False), author="Bench <bench@example.com>")
        with Memory.open(settings, root) as memory:
            read_all(memory, told)
            compare_in_turns(memory, chosen.turns)


if __name__ == "__main__":
    main()
