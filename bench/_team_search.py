"""Team search at size: time of a question, and how much of what a comparison with every row finds the indexes find."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bench._shared import MarkdownTable
from bench._team_fill import (
    Team,
    drop_indexes,
    fill_rows,
    lay_slots,
    make_indexes,
    make_teams,
    name_model,
    prepare_tables,
)
from bench._team_server import give_memory, make_database, serve_postgres
from bench._team_texts import ExactAnswers, TermWeights, Texts, load_texts
from hyperloci.config import Settings
from hyperloci.store.team import postgres
from hyperloci.store.team.graphs import build_graphs
from hyperloci.store.team.truth_search import search_truth

BASE_TEXTS = 2_000
QUESTIONS = 50
HITS = 10
SECONDS = 120
"""A statement that takes longer hangs."""

ASKED = (1_000, 100_000, 1_000_000)
OTHERS = (100_000, 10_000, 1_000)
"""Sizes of the teams that ask, and of those that the rest of the rows are, each size having as many rows in all."""

PAGE = 5_000


def measure_search(rows: int, folder: Path, questions: int = QUESTIONS, with_graphs: bool = True) -> dict[str, Any]:
    """Fill a database with `rows` memories of teams small and large, and ask as one of each size.

    A folder that holds such a database is asked again.
    """
    folder.mkdir(exist_ok=True)
    settings = Settings(database=folder / "x.db", state_dir=folder, runtime_dir=folder, embedder=False, watch=False)
    texts = load_texts(settings, BASE_TEXTS, QUESTIONS, folder / "texts.json")
    known = folder / "teams.json"
    if is_new := not known.exists():
        with serve_postgres(folder) as server:
            give_memory(server.get_uri())
    with serve_postgres(folder) as server:
        url = make_database(server, "search") if is_new else str(server.get_uri("search"))
        made: dict[str, int] = _fill(url, rows, texts, known) if is_new else {}
        with postgres.connect(url) as connection:
            if with_graphs:
                started = time.perf_counter()
                if build_graphs(connection):
                    made["graphs"] = round(time.perf_counter() - started)
            weights = TermWeights(texts)
            teams = [Team(**values) for values in json.loads(known.read_text())]
            answers = [
                _ask_team(connection, team, texts, weights, _compare_all(connection, team, texts, weights), questions)
                for team in teams
            ]
            return {"rows": rows, "made in s": made, "teams": answers, "bytes": _measure_sizes(connection)}


def _fill(url: str, rows: int, texts: Texts, known: Path) -> dict[str, int]:
    taken = {}
    with postgres.connect(url) as connection:
        postgres.migrate_schema(connection, login_password=None)
        statements = drop_indexes(connection)
        prepare_tables(url, texts)
        asked = make_teams(url, [size for size in ASKED if 2 * size <= rows] or [rows])
        first = sum(team.rows for team in asked)
        others = make_teams(
            url,
            [size for size in OTHERS for _ in range((rows - first) // len(OTHERS) // size)] or [max(1, rows - first)],
        )
        started = time.perf_counter()
        for teams, numbers in ((asked, range(first)), (others, range(first, rows))):
            fill_rows(url, name_model(texts), lay_slots(url, teams), len(texts.stored), numbers)
        taken["rows"] = round(time.perf_counter() - started)
        taken |= make_indexes(connection, statements)
    known.write_text(json.dumps([asdict(team) for team in asked]))
    return taken


def _compare_all(connection: Any, team: Team, texts: Texts, weights: TermWeights) -> ExactAnswers:
    """Return what a comparison with each row of a team finds."""
    exact = ExactAnswers(texts.asked_vectors, HITS)
    with connection.transaction(), connection.cursor("rows", binary=True) as cursor:
        cursor.itersize = PAGE
        cursor.execute(
            "SELECT id, keywords, halfvec_send(e1) FROM hyperloci.memories WHERE team = %s AND state = 'live'",
            (team.team,),
        )
        while rows := cursor.fetchmany(PAGE):
            vectors = np.frombuffer(b"".join(row[2][4:] for row in rows), ">f2").reshape(len(rows), -1)
            exact.add(
                [str(row[0]) for row in rows], vectors.astype(np.float32), weights.weigh_rows([r[1] for r in rows])
            )
    return exact


class _Times:
    """Wall time and the server's processor time of questions, in ms."""

    def __init__(self, connection: Any) -> None:
        self._file = Path(f"/proc/{connection.info.backend_pid}/schedstat")
        self.wall: list[float] = []
        self.processor: list[float] = []

    def __enter__(self) -> None:
        self._before = time.perf_counter(), self._read()

    def __exit__(self, *_: object) -> None:
        self.wall.append(1_000 * (time.perf_counter() - self._before[0]))
        self.processor.append((self._read() - self._before[1]) / 1e6)

    def _read(self) -> int:
        """Return the nanoseconds that the connection's process has run; 0 where the system doesn't tell."""
        return int(self._file.read_text().split()[0]) if self._file.exists() else 0

    def tell(self) -> dict[str, list[float]]:
        """Return the median and the 95th percentile of both."""
        return {
            name: [round(float(np.percentile(values, part)), 1) for part in (50, 95)]
            for name, values in (("wall", self.wall), ("processor", self.processor))
        }


def _ask_team(
    connection: Any, team: Team, texts: Texts, weights: TermWeights, exact: ExactAnswers, questions: int
) -> dict[str, Any]:
    """Ask every question by words, by meaning and by both, the first time to warm the server up."""
    times: dict[str, _Times] = {}
    near: list[float] = []
    worded: list[float] = []
    # So that the processor time of the connection's process is all of it.
    connection.execute("SET max_parallel_workers_per_gather = 0")
    for _ in range(2):
        near, worded, times = [], [], {kind: _Times(connection) for kind in ("words", "meaning", "both")}
        for kind, taken in times.items():
            for number, terms in enumerate(weights.questions[:questions]):
                with taken:
                    hits = search_truth(
                        connection,
                        team.token,
                        team.team,
                        terms=terms if kind != "meaning" else {},
                        model=name_model(texts),
                        vector=texts.asked_vectors[number].tolist() if kind != "words" else None,
                        limit=HITS,
                        seconds=SECONDS,
                    )
                found = [hit.memory.id for hit in hits[:HITS]]
                if kind == "meaning":
                    near.append(len(set(found) & set(exact.ids[number].tolist())) / len(exact.ids[number]))
                elif kind == "words":
                    worded.append(_find_share(hits, terms, exact.shared[number].tolist()))
    return {
        "rows": team.rows,
        "recall@10": {"meaning": round(float(np.mean(near)), 3), "words": round(float(np.mean(worded)), 3)},
        "ms": {kind: taken.tell() for kind, taken in times.items()},
        "load": round(os.getloadavg()[0], 1),
    }


def _find_share(hits: Sequence[Any], weights: dict[str, float], exact: Sequence[float]) -> float:
    """Return the share of the hits with the greatest weights that were found; of equals any will do."""
    found = sorted((sum(weights[term] for term in hit.matched) for hit in hits), reverse=True)[:HITS]
    wanted = [weight for weight in exact if weight > 0]
    return 1.0 if not wanted else sum(weight >= wanted[-1] - 0.001 for weight in found) / len(wanted)


def _measure_sizes(connection: Any) -> dict[str, int]:
    """Return the bytes of the table and of each index; graphs by the number of rows that they hold."""
    found = connection.execute(
        "SELECT relname, pg_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE nspname = 'hyperloci' AND relname LIKE 'memories%' ORDER BY 2 DESC"
    ).fetchall()
    (table,) = connection.execute("SELECT pg_table_size('hyperloci.memories')").fetchone() or (0,)
    return {**dict(found), "memories": table}


def print_search(answer: dict[str, Any]) -> None:
    """Print what was measured as tables."""
    table = MarkdownTable("team's rows", "way", "recall@10", "wall p50, p95 ms", "processor p50, p95 ms", "load")
    for team in answer["teams"]:
        for way, times in team["ms"].items():
            both = (" / ".join(f"{value:,.0f}" for value in times[name]) for name in ("wall", "processor"))
            table.add(f"{team['rows']:,}", way, team["recall@10"].get(way, ""), *both, team["load"])
    table.print()
    print()
    table = MarkdownTable("of the database", "bytes a row of the table")
    for name, size in answer["bytes"].items():
        table.add(name, round(size / answer["rows"]))
    table.print()
    print(answer["made in s"])
