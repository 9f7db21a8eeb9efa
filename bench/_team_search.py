"""Team search at size: time of a question, and how much of what a search of all rows finds the indexes find."""

from __future__ import annotations

import json
import struct
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench._shared import MarkdownTable
from bench._team_server import give_memory, make_database, make_team, serve_postgres
from bench._team_texts import ExactAnswers, Mixture, Texts, load_texts
from hyperloci.config import Settings
from hyperloci.store.team import postgres
from hyperloci.store.team.truth_search import search_truth
from hyperloci.store.vectors.fingerprints import meaning_model_of

PROJECTS = 50
BASE_TEXTS = 1_000
QUESTIONS = 50
HITS = 10
SECONDS = 120
"""A statement that takes longer hangs."""

SHARES = {"whole": 1.0, "tenth": 0.1, "hundredth": 0.01}
"""Teams in one table, by their rows as a share of the largest's: a condition that more or fewer rows meet."""

BUILD_MEMORY = "1500MB"

INDEXES = {
    "words": "CREATE INDEX memories_terms ON hyperloci.memories USING gin (terms)",
    "graph": "CREATE INDEX memories_bits ON hyperloci.memories USING hnsw (bits bit_hamming_ops) WHERE state = 'live'",
}
"""As the schema has them; made after the rows, like after a restored backup."""

_COPY = (
    "COPY hyperloci.memories(team, id, project, revision, change, author, state, type, subtype, title, content,"
    " confidence, event_time, valid_from, supersedes, digest, keywords, model, e1) FROM STDIN (FORMAT BINARY)"
)

_COPIED = "uuid uuid text int4 int8 uuid text text text text text float4 int8 int8 uuid[] bytea text text"


@dataclass(frozen=True)
class Asked:
    """A team of the table, and what its members ask of it."""

    name: str
    rows: int
    team: str
    token: str
    model: str
    terms: list[dict[str, float]]
    vectors: list[list[float]]
    ids: list[list[str]]
    shared: list[list[float]]


def measure_search(rows: int, folder: Path) -> dict[str, Any]:
    """Fill a database with `rows` memories of one team and fewer of two others, and ask as each.

    A folder that holds such a database is asked again.
    """
    settings = Settings(database=folder / "x.db", state_dir=folder, runtime_dir=folder, embedder=False, watch=False)
    name = f"search{rows}"
    is_new = not (folder / "data").exists()
    folder.mkdir(exist_ok=True)
    if is_new:
        with serve_postgres(folder) as server:
            give_memory(server.get_uri())
    with serve_postgres(folder) as server:
        with postgres.connect(server.get_uri()) as connection:
            is_there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
        url = str(server.get_uri(name)) if is_there else make_database(server, name)
        made = {} if is_there else _fill(url, rows, load_texts(settings, BASE_TEXTS, QUESTIONS, folder / "texts.json"))
        return {"rows": rows, **made, **_ask_all(url)}


def _fill(url: str, rows: int, texts: Texts) -> dict[str, Any]:
    model, mixture, rng = meaning_model_of(texts.model), Mixture(texts), np.random.default_rng(rows)
    teams = {name: make_team(url, name) for name in SHARES}
    started = time.perf_counter()
    taken = {}
    with postgres.connect(url) as connection:
        connection.execute("DROP INDEX hyperloci.memories_bits, hyperloci.memories_terms")
        connection.execute("CREATE TABLE asked AS SELECT NULL::jsonb AS asked WHERE false")
        for name, share in SHARES.items():
            identity, token = teams[name]
            exact = _copy_rows(connection, identity, model, mixture, texts, round(rows * share), rng)
            asked = Asked(
                name=name,
                rows=round(rows * share),
                team=identity.team,
                token=token,
                model=model,
                terms=[{term: mixture.weigh(term) for term in one} for one in mixture.questions],
                vectors=texts.asked_vectors.tolist(),
                ids=exact.ids.tolist(),
                shared=exact.shared.tolist(),
            )
            connection.execute("INSERT INTO asked VALUES (%s)", (json.dumps(asked.__dict__),))
        taken["rows"] = round(time.perf_counter() - started)
        print(f"rows: {taken['rows']} s", flush=True)
        connection.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'".encode())
        connection.execute("SET max_parallel_maintenance_workers = 0")
        for name, statement in INDEXES.items():
            started = time.perf_counter()
            connection.execute(statement.encode())
            taken[name] = round(time.perf_counter() - started)
            print(f"{name}: {taken[name]} s", flush=True)
        connection.execute("VACUUM ANALYZE hyperloci.memories")
    return {"made in s": taken}


def _copy_rows(
    connection: Any, identity: Any, model: str, mixture: Mixture, texts: Texts, count: int, rng: np.random.Generator
) -> ExactAnswers:
    """Put rows of one team into the table, a fiftieth into each project; return what a search of all of them finds."""
    exact = ExactAnswers(texts.asked_vectors, HITS)
    with connection.transaction(), connection.cursor() as cursor:
        for number in range(PROJECTS):
            cursor.execute(
                "INSERT INTO hyperloci.projects(team, project) VALUES (%s, %s)", (identity.team, f"p{number}")
            )
        team, author = uuid.UUID(identity.team), uuid.UUID(identity.member)
        kind = _register_halfvec(cursor)
        with cursor.copy(_COPY) as copy:
            copy.set_types([*_COPIED.split(), kind])
            change = 0
            for block in mixture.make_blocks(count, rng):
                ids = [uuid.UUID(bytes=rng.bytes(16)) for _ in block.texts]
                halves = block.vectors.astype(">f2")
                for place, id in enumerate(ids):
                    change += 1
                    copy.write_row(
                        (
                            *(team, id, f"p{change % PROJECTS}", 1, change, author, "live", "fact", "insight", ""),
                            *(block.texts[place], 0.9, 1, 1, [], b"", block.keywords[place], model),
                            HalfVector(halves[place].tobytes()),
                        )
                    )
                exact.add([str(id) for id in ids], block)
    return exact


class HalfVector:
    """The numbers of a vector as PostgreSQL's binary form has them: two bytes each, the higher first."""

    def __init__(self, numbers: bytes) -> None:
        self.numbers = numbers


def _register_halfvec(cursor: Any) -> int:
    """Teach a cursor the binary form of pgvector's type; return the type's number."""
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    (number,) = cursor.execute("SELECT 'halfvec'::regtype::oid").fetchone()

    class HalfVectorDumper(Dumper):
        format = Format.BINARY
        oid = number

        def dump(self, obj: HalfVector) -> bytes:
            return struct.pack(">HH", len(obj.numbers) // 2, 0) + obj.numbers

    cursor.adapters.register_dumper(HalfVector, HalfVectorDumper)
    return int(number)


def _ask_all(url: str) -> dict[str, Any]:
    with postgres.connect(url) as connection:
        teams = [Asked(**row[0]) for row in connection.execute("SELECT asked FROM asked").fetchall()]
        sizes = connection.execute(
            "SELECT relname, pg_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE nspname = 'hyperloci' AND relname LIKE 'memories%' ORDER BY 2 DESC"
        ).fetchall()
        (table,) = connection.execute("SELECT pg_table_size('hyperloci.memories')").fetchone() or (0,)
        (count,) = connection.execute("SELECT count(*) FROM hyperloci.memories").fetchone() or (0,)
        answers = [_ask_team(connection, asked) for asked in teams]
    return {"teams": answers, "bytes a row": {name: round(size / count) for name, size in [*sizes, ("table", table)]}}


def _ask_team(connection: Any, asked: Asked) -> dict[str, Any]:
    """Ask every question by words, by meaning and by both, the first time to warm the server up."""
    times: dict[str, list[float]] = {"words": [], "meaning": [], "both": []}
    near, worded = [], []
    for turn in range(2):
        for kind, taken in times.items():
            for number, terms in enumerate(asked.terms):
                started = time.perf_counter()
                hits = search_truth(
                    connection,
                    asked.token,
                    asked.team,
                    terms=terms if kind != "meaning" else {},
                    model=asked.model,
                    vector=asked.vectors[number] if kind != "words" else None,
                    limit=HITS,
                    seconds=SECONDS,
                )
                if turn:
                    taken.append(1_000 * (time.perf_counter() - started))
                    found = [hit.memory.id for hit in hits[:HITS]]
                    if kind == "meaning":
                        near.append(len(set(found) & set(asked.ids[number])) / len(asked.ids[number]))
                    elif kind == "words":
                        worded.append(_find_share(hits, terms, asked.shared[number]))
    return {
        "team": asked.name,
        "rows": asked.rows,
        "recall@10": {"meaning": round(float(np.mean(near)), 4), "words": round(float(np.mean(worded)), 4)},
        "ms": {
            kind: [round(float(np.percentile(taken, part)), 1) for part in (50, 95)] for kind, taken in times.items()
        },
    }


def _find_share(hits: list[Any], weights: dict[str, float], exact: list[float]) -> float:
    """Return the share of the hits with the greatest weights that were found; of equals any will do."""
    found = sorted((sum(weights[term] for term in hit.matched) for hit in hits), reverse=True)[:HITS]
    wanted = [weight for weight in exact if weight > 0]
    return 1.0 if not wanted else sum(weight >= wanted[-1] - 0.001 for weight in found) / len(wanted)


def print_search(answer: dict[str, Any]) -> None:
    """Print what was measured as tables."""
    table = MarkdownTable("team's rows", "way", "recall@10", "p50 ms", "p95 ms")
    for team in answer["teams"]:
        for way, (middle, high) in team["ms"].items():
            table.add(f"{team['rows']:,}", way, team["recall@10"].get(way, ""), middle, high)
    table.print()
    print()
    table = MarkdownTable("of the database", "bytes a row", "made in s")
    made = answer.get("made in s", {})
    for name, key, seconds in (
        ("rows, all columns", "table", made.get("rows", "")),
        ("words", "memories_terms", made.get("words", "")),
        ("graph over bits", "memories_bits", made.get("graph", "")),
        ("keys", "memories_pkey", ""),
    ):
        table.add(name, answer["bytes a row"].get(key, ""), seconds)
    table.print()
