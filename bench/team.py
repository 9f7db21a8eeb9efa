"""Team: `python -m bench team search|bulk|foreign|partition ...` (docs/benchmarks/team.md, "Team")."""

from __future__ import annotations

import argparse
import importlib
import json
import tempfile
from pathlib import Path
from typing import Any

PRINTED = {
    "search": ("_team_search", "print_search"),
    "bulk": ("_team_exchange", "print_bulk"),
    "local": ("_team_exchange", "print_local"),
}
"""What prints the answers of a kind as tables; the others are a few numbers."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench team")
    kinds = parser.add_subparsers(dest="kind", required=True)
    search = kinds.add_parser("search", help="time and recall of searches at size")
    search.add_argument("--rows", type=int, default=100_000)
    search.add_argument("--folder", type=Path, help="keep the server's folder, and ask what is in it")
    search.add_argument("--questions", type=int, default=50)
    search.add_argument("--without-graphs", action="store_true", help="ask large teams as if they had no graph")
    bulk = kinds.add_parser("bulk", help="one machine tells many memories, another takes them in")
    bulk.add_argument("--memories", type=int, default=100_000)
    foreign = kinds.add_parser("foreign", help="random statements of one team's member against another's rows")
    foreign.add_argument("--queries", type=int, default=10_000)
    partition = kinds.add_parser("partition", help="clients write through a partition and kills")
    partition.add_argument("--clients", type=int, default=2)
    partition.add_argument("--writes", type=int, default=400)
    partition.add_argument("--seconds", type=float, default=30)
    local = kinds.add_parser("local", help="local search and hooks with and without a team, in turns")
    local.add_argument("--turns", type=int, default=20)
    for kind in kinds.choices.values():
        kind.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    answer = run(asked)
    if asked.json or asked.kind not in PRINTED:
        print(json.dumps(answer, indent=2))
    else:
        module, function = PRINTED[asked.kind]
        getattr(importlib.import_module(f"bench.{module}"), function)(answer)


def run(asked: argparse.Namespace) -> dict[str, Any]:
    if asked.kind == "search":
        from bench._team_search import measure_search

        with tempfile.TemporaryDirectory(prefix="hlbench-") as place:
            folder = asked.folder or Path(place)
            return measure_search(asked.rows, folder, asked.questions, with_graphs=not asked.without_graphs)
    if asked.kind == "bulk":
        from bench._team_exchange import measure_bulk

        return measure_bulk(asked.memories)
    if asked.kind == "foreign":
        from bench._team_foreign import measure_foreign

        return measure_foreign(asked.queries)
    if asked.kind == "partition":
        from bench._team_partition import measure_partition

        return measure_partition(asked.clients, asked.writes, asked.seconds)
    from bench._team_exchange import measure_local

    return measure_local(asked.turns)


if __name__ == "__main__":
    main()
