"""The topologies' figures: `python -m bench topology [DATA_DIR] [--sizes 1000,10000,100000] [--json] [--save]`.

Three tables:

- graph and facet queries at several sizes, beside RFC-014's targets and beside its own method (dictionaries of edges in
  memory) on the same graph in the same run;
- with DATA_DIR (a folder that holds `mddocs`), finding Markdown sections with and without breadcrumbs and with a
  section filter, by words alone;
- how many of the relations in `bench/relations_labelled.jsonl`, drawn at random and read one by one, are right.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench._shared import MarkdownTable, bench_settings, save_result
from hyperloci.knowledge.graph.paths import find_dependencies, find_neighbourhood, find_shortest_path, walk_all
from hyperloci.knowledge.graph.symbol_steps import Walk
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeKey
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store
from hyperloci.store.search.filters import Filters

NOW = 1_800_000_000_000
ROUNDS = 60
TARGETS = {
    "facets, nothing kept": {1_000: 1.0, 10_000: 5.0, 100_000: 50.0},
    "facets, each asked before": {1_000: 1.0, 10_000: 5.0, 100_000: 50.0},
    "path": {1_000: 2.0, 10_000: 20.0, 100_000: 200.0},
    "neighbourhood of 2": {1_000: 5.0, 10_000: 50.0, 100_000: 500.0},
}
"""Milliseconds that RFC-014 allows."""

DIATAXIS = ("tutorial", "howto", "reference", "explanation")
PERSONAS = ("novice", "pragmatist", "skeptic", "expert")
LABELED = Path(__file__).parent / "relations_labelled.jsonl"

Edge = tuple[str, list[int]]


# The graph


def random_edges(size: int, seed: int = 14) -> Iterator[Edge]:
    """Yield about 2.3 hyperedges a node: binary ones with hubs, and some of four; five memberships a node in all."""
    chance = random.Random(seed)

    def node() -> int:
        return min(size - 1, int(size * chance.random() ** 1.5))

    for number in range(2 * size):
        source, target = chance.randrange(size), node()
        if source != target:
            yield ("depends_on" if number % 3 else "relates_to"), [source, target]
    for _ in range(size // 4):
        members = list(dict.fromkeys([chance.randrange(size), node(), node(), node()]))
        if len(members) > 2:
            yield "contains", members


def fill_graph(store: Store, size: int) -> None:
    """Store a graph of `size` memories, and facets of each."""
    chance = random.Random(7)
    connection = store.connection
    with store.transaction():
        scope = store.scopes.find_key("global")
        connection.executemany(
            "INSERT INTO nodes(key, id, type, content, origin, scope_key, content_hash, event_time, created_at,"
            " updated_at, last_accessed, valid_from) VALUES (?, ?, 'fact', ?, 'tool', ?, x'00', 0, 0, 0, 0, 0)",
            ((key, f"node-{key}", f"memory {key} " + "of a few words " * 8, scope) for key in range(1, size + 1)),
        )
        connection.executemany(
            "INSERT INTO facets(node_key, diataxis, persona) VALUES (?, ?, ?)",
            ((key, chance.choice(DIATAXIS), chance.choice(PERSONAS)) for key in range(1, size + 1)),
        )
        for number, (label, members) in enumerate(random_edges(size), start=1):
            symmetric = label == "relates_to"
            connection.execute(
                "INSERT INTO hyperedges(key, id, type, label, confidence, automatic, created_at)"
                " VALUES (?, ?, 'relation', ?, 0.8, 1, ?)",
                (number, f"edge-{number}", label, NOW),
            )
            connection.executemany(
                "INSERT INTO membership(hyperedge_key, node_key, role, position) VALUES (?, ?, ?, ?)",
                [
                    (number, member + 1, "participant" if symmetric else "object" if place else "subject", place)
                    for place, member in enumerate(members)
                ],
            )


class NaiveGraph:
    """RFC-014's method: adjacency lists and sets in memory, read whole from JSON before the first question."""

    def __init__(self, size: int) -> None:
        self.out: dict[int, list[int]] = {}
        self.into: dict[int, list[int]] = {}
        for label, members in random_edges(size):
            for target in members[1:]:
                self._add_edge(members[0], target)
                if label == "relates_to":
                    self._add_edge(target, members[0])
        chance = random.Random(7)
        self.diataxis: dict[str, set[int]] = {}
        self.personas: dict[str, set[int]] = {}
        for key in range(size):
            self.diataxis.setdefault(chance.choice(DIATAXIS), set()).add(key)
            self.personas.setdefault(chance.choice(PERSONAS), set()).add(key)

    def _add_edge(self, source: int, target: int) -> None:
        self.out.setdefault(source, []).append(target)
        self.into.setdefault(target, []).append(source)

    def find_path(self, start: int, end: int, max_depth: int = 5) -> list[int] | None:
        """`ConceptGraph.find_path`."""
        queue: deque[tuple[int, list[int]]] = deque([(start, [])])
        visited = {start}
        while queue:
            current, path = queue.popleft()
            if len(path) >= max_depth:
                continue
            for target in self.out.get(current, ()):
                if target == end:
                    return [*path, target]
                if target not in visited:
                    visited.add(target)
                    queue.append((target, [*path, target]))
        return None

    def find_neighbourhood(self, start: int, depth: int = 2) -> set[int]:
        """`ConceptGraph.get_neighborhood`."""
        found = {start}
        frontier = {start}
        for _ in range(depth):
            fresh: set[int] = set()
            for node in frontier:
                fresh.update(self.out.get(node, ()))
                fresh.update(self.into.get(node, ()))
            frontier = fresh - found
            found |= frontier
        return found

    def query_facets(self, diataxis: str, persona: str) -> set[int]:
        """`FacetedIndex.query`."""
        return self.diataxis[diataxis] & self.personas[persona]


def time_runs(run: Callable[[random.Random], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Return median and 95th percentile in milliseconds of CPU: other programs run on the machine too."""
    chance, times = random.Random(3), []
    for _ in range(rounds):
        started = time.thread_time()
        run(chance)
        times.append(1_000 * (time.thread_time() - started))
    times.sort()
    return statistics.median(times), times[int(0.95 * (len(times) - 1))]


def time_once(run: Callable[[], object]) -> float:
    """Return the milliseconds of CPU of one run."""
    started = time.thread_time()
    run()
    return 1_000 * (time.thread_time() - started)


def measure_size(size: int) -> dict[str, Any]:
    """Return what the questions take on a graph of one size."""
    with tempfile.TemporaryDirectory(prefix="hl-") as folder, Store.open(Path(folder) / "memory.db") as store:
        fill_graph(store, size)
        started = time.thread_time()
        naive = NaiveGraph(size)
        loading = 1_000 * (time.thread_time() - started)
        out, both = Walk(direction="out"), Walk(direction="both")

        def key(chance: random.Random) -> NodeKey:
            return NodeKey(chance.randrange(size) + 1)

        def where(chance: random.Random) -> SearchFilter:
            return SearchFilter(diataxis=chance.choice(DIATAXIS), persona=chance.choice(PERSONAS))

        ours = {
            "facets, nothing kept": time_runs(lambda chance: Filters(store.connection).select_allowed(where(chance))),
            "facets, each asked before": time_runs(
                lambda chance: store.filters.select_allowed(where(chance)), 10 * ROUNDS
            ),
            "path": time_runs(lambda chance: find_shortest_path(store, key(chance), key(chance), out, 5)),
            "neighbourhood of 2": time_runs(lambda chance: find_neighbourhood(store, key(chance), both, 2)),
        }
        theirs = {
            "facets, nothing kept": time_runs(
                lambda chance: naive.query_facets(chance.choice(DIATAXIS), chance.choice(PERSONAS))
            ),
            "facets, each asked before": time_runs(
                lambda chance: naive.query_facets(chance.choice(DIATAXIS), chance.choice(PERSONAS))
            ),
            "path": time_runs(lambda chance: naive.find_path(chance.randrange(size), chance.randrange(size))),
            "neighbourhood of 2": time_runs(lambda chance: naive.find_neighbourhood(chance.randrange(size))),
        }
        chance, agree = random.Random(4), 0
        for _ in range(40):
            start, end = chance.randrange(size), chance.randrange(size)
            mine, other = (
                find_shortest_path(store, NodeKey(start + 1), NodeKey(end + 1), out, 5),
                naive.find_path(start, end),
            )
            agree += (None if mine is None else len(mine)) == (None if other is None or start == end else len(other))
        return {
            "size": size,
            "memberships": store.connection.execute("SELECT count(*) FROM membership").fetchone()[0],
            "ours_ms": ours,
            "rfc_method_ms": theirs,
            "rfc_method_load_ms": loading,
            "paths_of_equal_length": agree / 40,
            "whole_ms": {
                "dependencies": time_once(lambda: find_dependencies(store, NodeKey(1), Walk(label="depends_on"))),
                "bfs": time_once(lambda: list(walk_all(store, NodeKey(1), both))),
                "dfs": time_once(lambda: list(walk_all(store, NodeKey(1), both, "dfs"))),
                "what to prune": time_once(lambda: store.pruning.find_prunable(NOW + 5 * 7 * 86_400_000)),
                "stats": time_once(lambda: store.pruning.measure_graph()),
            },
        }


def print_sizes(results: list[dict[str, Any]]) -> None:
    """Print the first table."""
    table = MarkdownTable(
        "question", "nodes", "ours ms p50 / p95", "target", "target / ours", "RFC's method ms", "its / ours"
    )
    for name, targets in TARGETS.items():
        for result in results:
            size = result["size"]
            median, slow = result["ours_ms"][name]
            target = targets.get(size)
            other = result["rfc_method_ms"][name][0]
            factor = "-" if target is None else f"{target / median:.0f}x"
            table.add(
                name,
                f"{size:,}",
                f"{median:.2f} / {slow:.2f}",
                target or "-",
                factor,
                f"{other:.3f}",
                f"{other / median:.2f}",
            )
    table.print()
    print()
    names = list(results[0]["whole_ms"])
    table = MarkdownTable("nodes", "memberships", *(f"{name} ms" for name in names), "RFC's method: load ms")
    for result in results:
        cells = [f"{result['whole_ms'][name]:.0f}" for name in names]
        table.add(f"{result['size']:,}", f"{result['memberships']:,}", *cells, f"{result['rfc_method_load_ms']:.0f}")
    table.print()


# Structure


def rebuild_documents(data: Path, repository: str, root: Path) -> dict[str, tuple[str, int, int, list[str]]]:
    """Write a repository's documents as files; return of each section its path, lines and headings."""
    files: dict[str, list[str]] = {}
    places: dict[str, tuple[str, int, int, list[str]]] = {}
    for line in (data / "sections.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["repo"] != repository:
            continue
        lines = files.setdefault(row["path"], [])
        first = len(lines) + 1
        text = f"{'#' * min(6, max(1, row['level']))} {row['title']}\n\n{row['text']}\n"
        lines.extend(text.split("\n"))
        places[row["id"]] = (row["path"], first, len(lines), row["breadcrumb"])
    for path, lines in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("\n".join(lines), encoding="utf-8")
    return places


def measure_structure(data: Path) -> dict[str, dict[str, float]]:
    """Return recall at 1 and 5, and the mean reciprocal rank, of the three ways to look for a section."""
    questions = [json.loads(line) for line in (data / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    ranks: dict[str, list[int]] = {"without breadcrumbs": [], "with breadcrumbs": [], "and a section filter": []}
    for repository in sorted({question["repo"] for question in questions}):
        with tempfile.TemporaryDirectory(prefix="hl-") as name:
            root = Path(name) / "project"
            root.mkdir()
            places = rebuild_documents(data, repository, root)
            settings = bench_settings(Path(name), project=repository, embedder=False)
            with Memory.open(settings, root) as memory:
                memory.index_path()
                mine = [question for question in questions if question["repo"] == repository]
                for question in mine:
                    crumbs = question["target_breadcrumb"]
                    section = {"section": crumbs[-2]} if len(crumbs) > 1 else {}
                    ranks["with breadcrumbs"].append(_rank_hits(memory, question, places, {}))
                    ranks["and a section filter"].append(_rank_hits(memory, question, places, section))
                _without_titles(memory.store)
                ranks["without breadcrumbs"].extend(_rank_hits(memory, question, places, {}) for question in mine)
    return {
        name: {
            "R@1": sum(rank == 1 for rank in found) / len(found),
            "R@5": sum(0 < rank <= 5 for rank in found) / len(found),
            "MRR@10": sum(1 / rank for rank in found if 0 < rank <= 10) / len(found),
            "questions": len(found),
        }
        for name, found in ranks.items()
    }


def _rank_hits(memory: Memory, question: dict[str, Any], places: dict[str, Any], where: dict[str, Any]) -> int:
    """Return the rank of the first hit that overlaps a relevant section, 0 for none; the asking section is left out."""

    def overlaps(source: Any, ids: list[str]) -> bool:
        return any(
            source.path == path and source.line_start <= last and (source.line_end or 0) >= first
            for path, first, last, _ in (places[id] for id in ids)
        )

    answer = memory.search(question["query"], limit=20, where=where or None, reinforce=False)
    rank = 0
    for hit in answer.results:
        relevant = overlaps(hit.source, question["relevant"])
        if not relevant and overlaps(hit.source, question["exclude"]):
            continue
        rank += 1
        if relevant:
            return rank
    return 0


def _without_titles(store: Store) -> None:
    with store.transaction():
        for key, content in store.connection.execute("SELECT key, content FROM nodes").fetchall():
            store.connection.execute("UPDATE nodes SET title = '' WHERE key = ?", (key,))
            store.keywords.put_text(key, title="", body=content)


# Precision


def label_precision() -> dict[str, dict[str, Any]]:
    """Return the share of right relations in the labelled sample, by kind and by label."""
    rows = [json.loads(line) for line in LABELED.read_text(encoding="utf-8").splitlines()]
    groups: dict[str, list[bool]] = {}
    for row in rows:
        for name in (f"all {row['kind']}", f"{row['kind']}: {row['label']}"):
            groups.setdefault(name, []).append(row["right"])
    return {name: {"n": len(right), "precision": sum(right) / len(right)} for name, right in sorted(groups.items())}


def main() -> None:
    """Parse the arguments, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench topology", description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", help="a folder that holds mddocs")
    parser.add_argument("--sizes", default="1000,10000,100000", help="how many nodes, by commas; 0 for none")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results, named by commit")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",") if int(size)]
    answer: dict[str, Any] = {"sizes": [measure_size(size) for size in sizes], "precision": label_precision()}
    if options.data:
        answer["structure"] = measure_structure(options.data / "mddocs")
    if options.save:
        save_result("topology", answer)
    if options.json:
        print(json.dumps(answer, indent=2))
        return
    if sizes:
        print_sizes(answer["sizes"])
    for name, rows in (("structure", answer.get("structure", {})), ("precision", answer["precision"])):
        if rows:
            print()
            heads = list(next(iter(rows.values())))
            table = MarkdownTable(name, *heads)
            for key, values in rows.items():
                table.add(
                    key, *(f"{values[head]:.3f}" if isinstance(values[head], float) else values[head] for head in heads)
                )
            table.print()


if __name__ == "__main__":
    main()
