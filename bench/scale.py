"""Speed against size: `python -m bench scale [--n 10000,100000,1000000] [--cache FOLDER] [--no-baseline] [--json]`.

Builds databases of n memories with all spaces (`_scale_build`), then measures, on two threads at most and with the
query's vectors given: search through `Searcher` (unfiltered, with conditions that 50, 10 and 1 % meet, and unfiltered
again, when a process has read the postings of the questions' words), the vector
stage's recall@10 against an exact scan, beside it in the same run sqlite-vec's full float scan (`vec0`) plus a plain
FTS5 OR query; opening cold in a process of its own; memory; disk; the neighbourhood of two and three hops; and
`remember_fact` while another process indexes. Databases are kept in the cache folder and not built again.

The base of real chunks is made of functions of the installed packages (some minutes, once), or taken from a memory that
exists (`--memory DATABASE --questions FILE`).

Results go to `bench/results/scale-COMMIT.json`, growth to `bench/results/scale-*.svg`.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench._plots import line_chart
from bench._scale_base import ScaleBase, load_base, load_questions
from bench._scale_build import NOW, TIERS, ScaleBuilder
from bench._shared import RESULTS, MarkdownTable, bench_settings, save_result
from hyperloci.knowledge.graph.paths import find_neighbourhood
from hyperloci.knowledge.graph.symbol_steps import Walk
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeKey
from hyperloci.model.search import SearchFilter
from hyperloci.retrieval.filters import Conditions
from hyperloci.retrieval.search import Searcher
from hyperloci.spaces.query import QueryFingerprint
from hyperloci.store import Store
from hyperloci.store.database import vector_extension
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.store.search.keyword_search import quote_term
from hyperloci.store.vectors import float16

FACTS = 200
BASELINE_QUESTIONS = 20
WALKS = 100
BATCH = 20_000


@dataclass(frozen=True, slots=True)
class KnownQuestions:
    """An encoder that knows the questions already: what is measured is the search."""

    known: dict[str, QueryFingerprint]

    def embed_query(self, text: str) -> tuple[str, NDArray[np.float32]]:
        return self.known[text].model_id, self.known[text].dense["e1"]

    def embed_query_spaces(self, text: str) -> QueryFingerprint:
        return self.known[text]


def times_of(run: Callable[[Any], Any], items: Sequence[Any]) -> dict[str, float]:
    """Return milliseconds by the wall, and of this thread's processor time, which other work does not touch."""
    taken, worked = [], []
    for item in items:
        started, cpu = time.perf_counter(), time.thread_time()
        run(item)
        worked.append(1_000 * (time.thread_time() - cpu))
        taken.append(1_000 * (time.perf_counter() - started))
    return percentiles_of(taken) | {f"cpu_{name}": value for name, value in percentiles_of(worked).items()}


def percentiles_of(taken: Sequence[float]) -> dict[str, float]:
    ordered = sorted(taken)
    return {
        "p50": round(statistics.median(ordered), 2),
        "p95": round(ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))], 2),
        "max": round(ordered[-1], 2),
    }


def make_database(folder: Path, base: ScaleBase, n: int) -> tuple[Path, float]:
    """Return the database of n memories and the seconds it took to build, 0 if it was there."""
    path = folder / f"scale-{n}.db"
    if path.exists():
        return path, 0.0
    started = time.perf_counter()
    building = path.with_suffix(".building")
    for suffix in ("", "-wal", "-shm"):
        Path(f"{building}{suffix}").unlink(missing_ok=True)
    ScaleBuilder(building, base, n).build_database()
    building.rename(path)
    return path, time.perf_counter() - started


def time_searches(store: Store, base: ScaleBase, clock: Callable[[], int]) -> dict[str, dict[str, float]]:
    searcher = Searcher(store, KnownQuestions(dict(base.questions)), bench_settings(store.path.parent), clock=clock)
    texts = [text for text, _ in base.questions]
    answer = {}
    for name, where in search_conditions().items():
        asked = Conditions(where=where)
        started = time.perf_counter()
        searcher.find(texts[0], asked, limit=10)
        first = 1_000 * (time.perf_counter() - started)
        for text in texts[1:10]:
            searcher.find(text, asked, limit=10)
        answer[name] = times_of(functools.partial(searcher.find, conditions=asked, limit=10), texts)
        answer[name]["first"] = round(first, 1)
    asked = Conditions(where=SearchFilter())
    answer["again"] = times_of(functools.partial(searcher.find, conditions=asked, limit=10), texts)
    return answer


def search_conditions() -> dict[str, SearchFilter]:
    filtered = {f"{share:.0%}": SearchFilter(tiers=(tier,)) for tier, share in TIERS.items() if tier != "archive"}
    return {"all": SearchFilter(), **dict(reversed(filtered.items()))}


def measure_recall(store: Store, base: ScaleBase) -> dict[str, Any]:
    """Return the share of the exact ten nearest that the vector stage finds, and how long it takes."""
    model = store.vectors.find_model(base.model_id)
    assert model is not None
    queries = np.stack([seen.dense["e1"] for _, seen in base.questions])
    exact = exact_nearest(store, queries)
    allowed = store.filters.select_allowed(SearchFilter())
    found = [set(store.vectors.find_nearest(query, allowed, model, 10)[0].tolist()) for query in queries]
    hits = sum(len(ours & set(theirs)) for ours, theirs in zip(found, exact.tolist(), strict=True))
    stage = times_of(lambda query: store.vectors.find_nearest(query, allowed, model, 10), list(queries))
    return {"recall@10": round(hits / exact.size, 4), **stage}


def exact_nearest(store: Store, queries: NDArray[np.float32]) -> NDArray[np.int64]:
    best = np.full((len(queries), 10), -2.0, np.float32)
    keys = np.zeros((len(queries), 10), np.int64)
    last = int(store.connection.execute("SELECT max(node_key) FROM fingerprints").fetchone()[0])
    for start in range(0, last + 1, BATCH):
        rows = store.connection.execute(
            "SELECT node_key, e1 FROM fingerprints WHERE node_key >= ? AND node_key < ?", (start, start + BATCH)
        ).fetchall()
        if not rows:
            continue
        cosines = queries @ float16.unpack_half([row[1] for row in rows]).T
        together = np.hstack([best, cosines])
        names = np.hstack([keys, np.broadcast_to(np.array([row[0] for row in rows]), cosines.shape)])
        order = np.argsort(-together, axis=1, kind="stable")[:, :10]
        best, keys = np.take_along_axis(together, order, 1), np.take_along_axis(names, order, 1)
    return keys


def time_baseline(store: Store, base: ScaleBase, folder: Path) -> dict[str, float]:
    """Return the times of sqlite-vec's full float scan plus FTS5's OR query: the plain hybrid."""
    path = folder / f"vec0-{store.path.stem}.db"
    fresh = not path.exists()
    store.vectors.count_fingerprints()  # sqlite-vec is attached on first use
    connection = store.connection
    connection.execute("ATTACH ? AS plain", (str(path),))
    if fresh:
        connection.execute("CREATE VIRTUAL TABLE plain.v USING vec0(e float[384])")
        connection.create_function("floats", 1, lambda blob: float16.unpack_half([blob]).tobytes(), deterministic=True)
        connection.execute("INSERT INTO plain.v(rowid, e) SELECT node_key, floats(e1) FROM fingerprints")

    def both(question: tuple[str, QueryFingerprint]) -> None:
        text, seen = question
        connection.execute(
            "SELECT rowid, distance FROM plain.v WHERE e MATCH ? AND k = 10", (seen.dense["e1"].tobytes(),)
        ).fetchall()
        wanted = " OR ".join(quote_term(term) for term in analyse_query(text))
        connection.execute(
            "SELECT rowid FROM keyword_index WHERE keyword_index MATCH ? ORDER BY rank LIMIT 10", (wanted,)
        ).fetchall()

    both(base.questions[0])
    answer = times_of(both, base.questions[1 : 1 + BASELINE_QUESTIONS])
    connection.execute("DETACH plain")
    return answer


def time_walks(store: Store) -> dict[str, dict[str, float]]:
    nodes = int(store.connection.execute("SELECT max(node_key) FROM membership").fetchone()[0])
    starts = [NodeKey(int(key)) for key in np.random.default_rng(1).integers(1, nodes + 1, WALKS)]
    walk = Walk(direction="both")
    for start in starts[:10]:
        find_neighbourhood(store, start, walk, 2)
    return {
        f"{depth} hops": times_of(functools.partial(_time_neighbourhood, store=store, walk=walk, depth=depth), starts)
        for depth in (2, 3)
    }


def _time_neighbourhood(start: NodeKey, *, store: Store, walk: Walk, depth: int) -> None:
    find_neighbourhood(store, start, walk, depth, 2_000)


def measure_cold(path: Path, folder: Path) -> dict[str, float]:
    """Open and search in a process of its own; return seconds and its peak memory."""
    done = subprocess.run(
        [sys.executable, "-m", "bench", "scale", "--child", str(path), "--cache", str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def run_child(path: Path, folder: Path) -> None:
    questions = load_questions(folder)
    started = time.perf_counter()
    with Store.open(path) as store:
        opened = time.perf_counter()
        searcher = Searcher(store, KnownQuestions(dict(questions)), bench_settings(folder), clock=lambda: NOW)
        searcher.find(questions[0][0], Conditions(where=SearchFilter()), limit=10)
        first = time.perf_counter()
        for text, _ in questions[1:50]:
            searcher.find(text, Conditions(where=SearchFilter()), limit=10)
        held = memory_mb()
    print(
        json.dumps(
            {
                "open_ms": round(1_000 * (opened - started), 1),
                "first_search_ms": round(1_000 * (first - opened), 1),
                "peak_mb": held["VmHWM"],
                "own_mb": held["RssAnon"],
            }
        )
    )


def memory_mb() -> dict[str, float]:
    """Return the peak of this process's memory, and what of it is its own now: the rest are pages of files.

    Not `ru_maxrss`, which begins with what the parent held.
    """
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    return {name: round(int(fields[name].split()[0]) / 1_024, 1) for name in ("VmHWM", "RssAnon")}


def measure_writes(folder: Path) -> dict[str, float]:
    """Remember facts while another process indexes this repository's code into the same database."""
    with tempfile.TemporaryDirectory(prefix="hl-", dir=folder) as name:
        place = Path(name)
        settings = bench_settings(place, embedder=False)
        project = Path(__file__).parents[1]
        with Memory.open(settings, project) as memory:
            indexing = subprocess.Popen([sys.executable, "-m", "bench", "scale", "--index", str(place)])
            try:
                time.sleep(0.5)
                facts = [f"the worker number {number} retries after {number * 7} seconds" for number in range(FACTS)]
                answer = times_of(lambda fact: memory.remember_fact(fact), facts)
                answer["still_indexing"] = float(indexing.poll() is None)
            finally:
                indexing.terminate()
                indexing.wait()
    return answer


def index_for_ever(place: Path) -> None:
    project = Path(__file__).parents[1]
    with Memory.open(bench_settings(place, embedder=False), project) as memory:
        while True:
            memory.index_path()
            with memory.store.transaction():
                memory.store.connection.execute("DELETE FROM files")


def measure_size(n: int, base: ScaleBase, folder: Path, *, with_baseline: bool) -> dict[str, Any]:
    path, seconds = make_database(folder, base, n)
    answer: dict[str, Any] = {"build_s": round(seconds, 1), "cold": measure_cold(path, folder)}
    size = path.stat().st_size
    answer["disk"] = {"bytes": size, "bytes_a_memory": round(size / n)}
    with Store.open(path) as store:
        answer["search"] = time_searches(store, base, lambda: NOW)
        answer["vector_stage"] = measure_recall(store, base)
        answer["walks"] = time_walks(store)
        if with_baseline:
            answer["baseline"] = time_baseline(store, base, folder)
            answer["ratio"] = round(answer["baseline"]["p50"] / answer["search"]["all"]["p50"], 1)
    return answer


def print_all(answer: dict[str, Any]) -> None:
    table = MarkdownTable(
        "n", "all p50/p95", "again", "50 %", "10 %", "1 %", "recall@10", "vectors", "plain hybrid", "2 / 3 hops p95"
    )
    rest = MarkdownTable("n", "open ms", "first ms", "peak MB", "own MB", "disk B/memory", "build s")
    for n, row in answer["sizes"].items():
        found = row["search"]
        table.add(
            f"{int(n):,}",
            *(
                f"{found[name]['p50']} / {found[name]['p95']} (cpu {found[name]['cpu_p50']} / {found[name]['cpu_p95']})"
                for name in ("all", "again", "50%", "10%", "1%")
            ),
            row["vector_stage"]["recall@10"],
            f"{row['vector_stage']['p50']} / {row['vector_stage']['p95']}",
            f"{row['baseline']['p50']} / {row['baseline']['p95']} (x{row['ratio']})" if "baseline" in row else "-",
            f"{row['walks']['2 hops']['p95']} / {row['walks']['3 hops']['p95']}",
        )
        cold_start = row["cold"]
        rest.add(
            f"{int(n):,}",
            cold_start["open_ms"],
            cold_start["first_search_ms"],
            cold_start["peak_mb"],
            cold_start["own_mb"],
            row["disk"]["bytes_a_memory"],
            row["build_s"],
        )
    table.print()
    rest.print()
    if "writes" in answer:
        print(f"remember_fact while indexing: p50 {answer['writes']['p50']} p95 {answer['writes']['p95']} ms")


def draw_plots(answer: dict[str, Any]) -> dict[str, str]:
    """Return the growth of latency, memory and disk as SVG, by name."""
    rows = [(float(n), row) for n, row in answer["sizes"].items()]
    latency = {
        "search p50": [(n, row["search"]["all"]["p50"]) for n, row in rows],
        "search p95": [(n, row["search"]["all"]["p95"]) for n, row in rows],
        "asked again p95": [(n, row["search"]["again"]["p95"]) for n, row in rows],
        "vector stage p50": [(n, row["vector_stage"]["p50"]) for n, row in rows],
        "sqlite-vec + FTS5 p50": [(n, row["baseline"]["p50"]) for n, row in rows if "baseline" in row],
    }
    return {
        "latency": line_chart("Search", "ms", {name: line for name, line in latency.items() if line}),
        "memory": line_chart(
            "Memory of a searching process",
            "MB",
            {
                "peak, with pages of the file": [(n, r["cold"]["peak_mb"]) for n, r in rows],
                "its own": [(n, r["cold"]["own_mb"]) for n, r in rows],
            },
        ),
        "disk": line_chart("Database", "MB", {"": [(n, r["disk"]["bytes"] / 1e6) for n, r in rows]}),
    }


def main() -> None:
    """Parse the arguments, measure and print."""
    parser = argparse.ArgumentParser(description="Speed against size.")
    parser.add_argument("--n", default="10000,100000")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--memory", type=Path, help="take real chunks and fingerprints from this database")
    parser.add_argument("--questions", type=Path, help="with --memory: JSON lines with a `query` each")
    parser.add_argument("--no-baseline", action="store_true")
    parser.add_argument("--no-writes", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    # As the product does before it opens a database: connections opened earlier would be without sqlite-vec.
    vector_extension.prepare_vec()
    if arguments.index is not None:
        index_for_ever(arguments.index)
    with tempfile.TemporaryDirectory(prefix="hl-") as name:
        folder = arguments.cache or Path(name)
        if arguments.child is not None:
            run_child(arguments.child, folder)
            return
        base = load_base(folder, arguments.memory, arguments.questions)
        sizes = [int(part) for part in arguments.n.split(",")]
        answer: dict[str, Any] = {
            "sizes": {str(n): measure_size(n, base, folder, with_baseline=not arguments.no_baseline) for n in sizes}
        }
        if not arguments.no_writes:
            answer["writes"] = measure_writes(folder)
    if arguments.json:
        print(json.dumps(answer, indent=2))
    else:
        print_all(answer)
    path = save_result("scale", answer)
    for name, svg in draw_plots(answer).items():
        (RESULTS / f"scale-{name}.svg").write_text(svg, encoding="utf-8")
    print(f"kept in {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
