"""Team search at size: time of a question, and how many of the ten nearest the graph over bits finds."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from bench._team_server import Texts, keywords_of, make_database, make_team, mix_vectors, read_texts, serve_postgres
from hyperloci.config import Settings
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.store.team import postgres
from hyperloci.store.team.shared_truth import format_vector
from hyperloci.store.team.truth_search import search_truth
from hyperloci.store.vectors.fingerprints import meaning_model_of

PROJECTS = 50
BASE_TEXTS = 200
QUESTIONS = 30

_COPY = (
    "COPY hyperloci.memories(team, id, project, revision, change, author, state, type, subtype, title, content,"
    " confidence, event_time, valid_from, supersedes, digest, keywords, model, e1) FROM STDIN"
)


def measure_search(rows: int, folder: Path) -> dict[str, Any]:
    """Fill a database with `rows` memories of one team and ask it; one that is there is asked again."""
    settings = Settings(database=folder / "x.db", state_dir=folder, runtime_dir=folder, embedder=False, watch=False)
    texts = read_texts(settings, BASE_TEXTS, QUESTIONS)
    print(f"{len(texts.stored)} texts encoded", flush=True)
    with serve_postgres(folder) as server:
        name = f"search{rows}"
        with postgres.connect(server.get_uri()) as connection:
            is_there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
        if is_there:
            url = str(server.get_uri(name))
        else:
            url = make_database(server, name)
            _fill(url, rows, texts)
        return _ask(url, rows, texts)


def _fill(url: str, rows: int, texts: Texts) -> None:
    started = time.perf_counter()
    identity, token = make_team(url)
    model, rng = meaning_model_of(texts.model), np.random.default_rng(rows)
    with postgres.connect(url) as connection:
        connection.execute("DROP INDEX hyperloci.memories_bits, hyperloci.memories_terms")
        connection.execute("CREATE TABLE bench_token AS SELECT %s::text AS token", (token,))
        with connection.transaction(), connection.cursor() as cursor:
            for number in range(PROJECTS):
                cursor.execute(
                    "INSERT INTO hyperloci.projects(team, project) VALUES (%s, %s)", (identity.team, f"p{number}")
                )
            with cursor.copy(_COPY) as copy:
                for number, (text, vector) in enumerate(mix_vectors(texts, rows, rng)):
                    copy.write_row(
                        (
                            *(identity.team, str(uuid.UUID(bytes=rng.bytes(16)))),
                            *(f"p{number % PROJECTS}", 1, number, identity.member, "live", "fact", "insight", "", text),
                            *(0.9, 1, 1, "{}", b"", keywords_of(text), model, format_vector(vector)),
                        )
                    )
        print(f"{rows} rows in {time.perf_counter() - started:.0f} s", flush=True)
        connection.execute("SET maintenance_work_mem = '2GB'")
        for made in (
            "CREATE INDEX memories_terms ON hyperloci.memories USING gin (terms)",
            "CREATE INDEX memories_bits ON hyperloci.memories USING hnsw (bits bit_hamming_ops) WHERE state = 'live'",
            "ANALYZE hyperloci.memories",
        ):
            started = time.perf_counter()
            connection.execute(made.encode())
            print(f"{made[:28]}: {time.perf_counter() - started:.0f} s", flush=True)


def _ask(url: str, rows: int, texts: Texts) -> dict[str, Any]:
    model = meaning_model_of(texts.model)
    with postgres.connect(url) as connection:
        (token,) = connection.execute("SELECT token FROM bench_token").fetchone() or ("",)
        (team,) = connection.execute("SELECT team::text FROM hyperloci.teams").fetchone() or ("",)
        sizes = connection.execute(
            "SELECT relname, pg_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE nspname = 'hyperloci' AND relname LIKE 'memories%' ORDER BY 2 DESC"
        ).fetchall()
        (toast,) = connection.execute("SELECT pg_table_size('hyperloci.memories')").fetchone() or (0,)
        exact = [_nearest_exactly(connection, vector) for vector in texts.asked_vectors]
        times: dict[str, list[float]] = {"both": [], "words": [], "meaning": []}
        found = []
        for kind, taken in times.items():
            for text, vector in zip(texts.asked, texts.asked_vectors, strict=True):
                started = time.perf_counter()
                hits = search_truth(
                    connection,
                    token,
                    team,
                    terms=analyse_query(text) if kind != "meaning" else [],
                    model=model,
                    vector=vector.tolist() if kind != "words" else None,
                    without=["p0"],
                    limit=10,
                    seconds=30,
                )
                taken.append(1_000 * (time.perf_counter() - started))
                if kind == "meaning":
                    found.append([hit.memory.id for hit in hits[:10]])
    recall = np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, exact, strict=True)])
    return {
        "rows": rows,
        "questions": len(texts.asked),
        "recall@10": round(float(recall), 4),
        "ms": {kind: [round(float(np.percentile(taken, p)), 1) for p in (50, 95)] for kind, taken in times.items()},
        "bytes": {**{row[0]: row[1] for row in sizes}, "table": toast},
    }


def _nearest_exactly(connection: Any, vector: Any) -> list[str]:
    rows = connection.execute(
        "SELECT id::text FROM hyperloci.memories WHERE project <> 'p0' ORDER BY e1 <=> %s::halfvec(384) LIMIT 10",
        (format_vector(vector),),
    )
    return [row[0] for row in rows.fetchall()]
