"""Real trees that nobody here wrote: does indexing one crash, hang, or take too long?

    python -m bench wild FOLDERS... [--jobs 2] [--seconds 900] [--stall 60] [--history 60] [--copy FILES]
        [--results FOLDER] [--json]

Each tree is indexed without vectors into a database of its own, by a process of its own, so that a crash is seen as one
and a hang is ended: a file that shows no headway, or a tree that takes too long in all. Then it is indexed again,
searched and walked; at last its files are searched with `git grep` and parsed once, which is the least that could be
done with them. Told of each tree: files, chunks, commits, what was skipped and what was set aside with the reasons, the
slowest file (each above 2 s by name), peak memory, and processor seconds against that least. The exit status is 1 if a
tree crashed, hung, took too long, or an error came out that is not ours.

With `--copy FILES`, not the folders but copies are indexed, outside of any repository and in trees of at most 2,000
files: so many files of all folders together, chosen by the hash of their path, which is the same choice at each run.
`--results FOLDER` keeps what was found; a tree whose result is there is not indexed again.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench._shared import MarkdownTable
from hyperloci.indexing.tree_walk import MAX_FILE_BYTES

TREE_FILES = 2_000
"""Of a tree that is a copy."""

TREE = ("-m", "bench._wild_tree")
"""What Python runs for a tree."""

SPARE_SECONDS = 60
"""Beyond its own deadline, until a process that did not end itself is ended."""

NOT_COPIED = (".pyc", ".so", ".a", ".o", ".gz", ".whl", ".png", ".npz", ".npy", ".mo", ".gpu", ".dat", ".pkl")
"""Endings of files that are never indexed and would only take room."""

SHOWN = 40
"""Things of one kind that are printed; the results hold all."""

_FRAME = re.compile(r'  File "([^"]+)", line (\d+)(?: in (\S+))?')


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """How long a tree may take in all, one file of it, and its older commits, in seconds."""

    seconds: float
    stall: float
    history: float


# -- one tree ---------------------------------------------------------------------------------------------------------


def examine_tree(name: str, root: Path, limits: TreeLimits, program: Sequence[str] = TREE) -> dict[str, Any]:
    """Index a tree in a process of its own; return what it measured and how it ended."""
    with tempfile.TemporaryDirectory(prefix="wild-") as folder:
        place = Path(folder)
        started = time.perf_counter()
        with (place / "stderr").open("wb") as stderr:
            process = subprocess.Popen(
                [
                    sys.executable,
                    *program,
                    str(root),
                    folder,
                    *map(str, (limits.stall, limits.seconds, limits.history)),
                ],
                cwd=Path(__file__).parent.parent,
                env={**os.environ, "HOME": folder, "PYTHONFAULTHANDLER": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )
            status = _wait_for(process, limits.seconds + SPARE_SECONDS)
        said = (place / "stderr").read_text(encoding="utf-8", errors="replace")
        measured = _read_json(place / "tree.json", {})
        phase, what, stalls = _read_json(place / "at_hand", ["start", "", False])
    row = {"tree": name, **measured, "wall_s": round(time.perf_counter() - started, 1)}
    if not measured.get("done"):
        end = "HANG" if stalls else "TIME-OUT"
        row |= {
            "end": describe_crash(status, said) or end,
            "at_hand": f"{phase} {what}".strip(),
            "stack": innermost_functions(said),
            "said": said[-2_000:],
        }
    return row


def _wait_for(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Wait for a process; None if it had to be ended."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # What it started may live on.
        process.wait()


def describe_crash(status: int | None, said: str) -> str:
    """Say how a process crashed; '' if it was ended because it took too long."""
    if status is None or "Timeout (" in said:
        return ""
    return f"CRASH by signal {-status}" if status < 0 else "CRASH"


def innermost_functions(said: str) -> str:
    """Return the innermost functions of the last stack on a stderr, the innermost first."""
    if "most recent call first" in said:
        stacks = said.split("most recent call first")
        frames = _FRAME.findall(stacks[-1])
    else:
        frames = _FRAME.findall(said.replace(", in ", " in "))[::-1]
    return " < ".join(f"{Path(file).name}:{line} {function}" for file, line, function in frames[:4])


def _read_json(path: Path, otherwise: Any) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else otherwise


# -- copies -----------------------------------------------------------------------------------------------------------


def choose_files(folders: Sequence[Path], files: int) -> list[tuple[Path, Path]]:
    """Choose so many files of all folders, by the hash of their path; each with the folder that it lies in."""
    found: list[tuple[bytes, Path, Path]] = []
    for folder in folders:
        for path in _files_of(folder):
            shown = os.fsencode(path.relative_to(folder))
            found.append((hashlib.sha256(shown).digest(), folder, path))
    found.sort()
    return [(folder, path) for _, folder, path in found[:files]]


def _files_of(folder: Path) -> Iterator[Path]:
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = Path(above, name)
            if not name.endswith(NOT_COPIED) and not path.is_symlink() and path.stat().st_size <= MAX_FILE_BYTES:
                yield path


def copy_files(files: Sequence[tuple[Path, Path]], into: Path) -> list[Path]:
    """Copy files into trees of at most `TREE_FILES`, neighbours together; return the trees."""
    ordered = sorted(files)
    trees: list[Path] = []
    for start in range(0, len(ordered), TREE_FILES):
        tree = into / f"part {start // TREE_FILES + 1}"
        trees.append(tree)
        for folder, path in ordered[start : start + TREE_FILES]:
            target = tree / folder.name.lstrip(".") / path.relative_to(folder)
            # The names of folders are what rules go by; here it is the files that are tried.
            target = Path(str(target).replace("site-packages", "packages").replace("_vendor", "vendored"))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return trees


# -- all trees --------------------------------------------------------------------------------------------------------


def run_trees(trees: Sequence[Path], limits: TreeLimits, jobs: int, results: Path) -> list[dict[str, Any]]:
    """Examine trees, so many at a time; what has a result is not examined again."""
    results.mkdir(parents=True, exist_ok=True)

    def one(root: Path) -> dict[str, Any]:
        kept = results / f"{root.name}.json"
        if not kept.exists():
            row = examine_tree(root.name, root.resolve(), limits)
            kept.with_suffix(".new").write_text(json.dumps(row, indent=2), encoding="utf-8")
            kept.with_suffix(".new").replace(kept)
            print(f"{root.name}: {row.get('end', 'done')} in {row['wall_s']} s", file=sys.stderr, flush=True)
        answer: dict[str, Any] = _read_json(kept, {})
        return answer

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, trees))


def summarise_trees(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the sums of all trees, and what is to be looked at."""
    skipped: Counter[str] = Counter()
    for row in rows:
        skipped.update({_reason_kind(reason): count for reason, count in row.get("skipped", {}).items()})
    least = sum(_least_seconds(row) for row in rows)
    slow = [{"tree": row["tree"], **step} for row in rows for step in row.get("slow", ())]
    return {
        "trees": len(rows),
        **{key: sum(row.get(key, 0) for row in rows) for key in ("files", "chunks", "commits", "commits_waiting")},
        "set_aside": dict(Counter(_reason_kind(reason) for row in rows for _, reason in row.get("set_aside", ()))),
        "skipped": dict(skipped.most_common()),
        "peak_mb": max((row.get("peak_mb", 0) for row in rows), default=0),
        "times_the_parse": round(sum(row["files_cpu_s"] for row in rows if row.get("done")) / max(least, 0.01), 1),
        "slow": sorted(slow, key=lambda step: -float(step["seconds"])),
        "changed_when_indexed_again": [row["tree"] for row in rows if row.get("again")],
        "unhandled": [problem for row in rows for problem in tree_problems(row)],
    }


def _least_seconds(row: dict[str, Any]) -> float:
    """Return the processor seconds of `git grep` and the plain parse; 0 where it did not come to them."""
    return float(row["grep_cpu_s"] + row["parse_cpu_s"]) if row.get("done") else 0.0


def tree_problems(row: dict[str, Any]) -> list[str]:
    """Return what may not happen and did, of one tree."""
    told = [f"{row['tree']}: {error}" for key in ("failures", "history", "ask_errors") for error in row.get(key, ())]
    if not row.get("done"):
        told.append(f"{row['tree']}: {row['end']} at {row['at_hand']!r} in {row['stack']}")
    return told


def _reason_kind(reason: str) -> str:
    """Return a reason without what differs between two files."""
    return re.sub(r"\d[\d,.]*", "N", reason.split(" in /")[0])[:60]


def print_table(rows: Sequence[dict[str, Any]], total: dict[str, Any]) -> None:
    """Print a table of all trees, and what is to be looked at."""
    table = MarkdownTable(
        *(
            "tree",
            "files",
            "chunks",
            "commits",
            "left",
            "skipped",
            "set aside",
            "slowest file, s",
            "peak MB",
            "seconds",
        ),
        *("processor, s", "of it files", "grep + parse, processor, s", "times", "end"),
    )
    for row in sorted(rows, key=lambda row: str(row["tree"])):
        least = _least_seconds(row)
        table.add(
            row["tree"],
            *(row.get(key, "") for key in ("files", "chunks", "commits", "commits_waiting")),
            sum(row.get("skipped", {}).values()),
            len(row.get("set_aside", ())),
            row.get("slowest", {}).get("seconds", ""),
            *(row.get(key, "") for key in ("peak_mb", "index_s", "index_cpu_s", "files_cpu_s")),
            round(least, 2) if row.get("done") else "",
            round(row["files_cpu_s"] / max(least, 0.01), 1) if row.get("done") else "",
            row.get("end", "done"),
        )
    table.print()
    print()
    for key, value in total.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name}: {count}" for name, count in value.items()) or "none"
        if isinstance(value, list):
            shown = [json.dumps(item, ensure_ascii=False) for item in value[:SHOWN]]
            value = "".join(f"\n  {item}" for item in [*shown, *["..."] * (len(value) > SHOWN)]) or "none"
        print(f"{key.replace('_', ' ')}: {value}")


def main() -> None:
    """Examine, print and judge."""
    parser = argparse.ArgumentParser(
        prog="python -m bench wild", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=900, help="a tree may take in all")
    parser.add_argument("--stall", type=float, default=60, help="a file may take, before it is called a hang")
    parser.add_argument(
        "--history", type=float, default=60, help="older commits of a tree may take; then the rest is left"
    )
    parser.add_argument("--copy", type=int, metavar="FILES", help="index copies of so many files")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for folder in options.folders:
        if not folder.is_dir():
            parser.error(f"{folder} is no folder")
    with tempfile.TemporaryDirectory(prefix="wild-trees-") as folder:
        trees = list(options.folders)
        if options.copy is not None:
            trees = copy_files(choose_files([tree.resolve() for tree in trees], options.copy), Path(folder))
        limits = TreeLimits(options.seconds, options.stall, options.history)
        rows = run_trees(trees, limits, options.jobs, options.results or Path(folder) / "results")
    total = summarise_trees(rows)
    if options.json:
        print(json.dumps({"trees": rows, "total": total}, indent=2))
    else:
        print_table(rows, total)
    sys.exit(bool(total["unhandled"]))


if __name__ == "__main__":
    main()
