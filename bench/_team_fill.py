"""Many rows for a team's database, made inside PostgreSQL of some real texts and their vectors."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np

from bench._team_texts import Texts
from hyperloci.store.keywords.analysis import analyse_text
from hyperloci.store.team import members, postgres
from hyperloci.store.team.shared_truth import format_vector
from hyperloci.store.vectors.fingerprints import meaning_model_of

PROJECTS = 50
CHUNK = 20_000
BUILD_MEMORY = "1GB"
LEVELS = 4
"""Shares in which a row has the vectors of its second and third text: 0.2, 0.35, 0.5, 0.65, and half of that."""

_TABLES = """
    CREATE TABLE base (n int PRIMARY KEY, head text, tail text, head_terms text, tail_terms text, e1 halfvec(384));
    CREATE TABLE scaled (n int, level int, e1 halfvec(384), PRIMARY KEY (n, level));
    CREATE TABLE slots (n int PRIMARY KEY, team uuid, author uuid);
    CREATE TABLE chunks (first bigint PRIMARY KEY, seconds real);
"""

_INSERT = """
    INSERT INTO hyperloci.memories(team, id, project, revision, change, author, state, type, subtype, title, content,
        confidence, event_time, valid_from, supersedes, digest, keywords, model, e1)
    SELECT s.team, gen_random_uuid(), 'example.com/team/p' || i / %(slots)s %% %(projects)s, 1, i, s.author, 'live',
        'fact', 'insight', '', a.head || ' ' || b.tail, 0.9, i, i, '{}', sha256(int8send(i)),
        btrim(a.head_terms || ' ' || b.tail_terms), %(model)s, l2_normalize(a.e1 + x.e1 + y.e1)
    FROM (
        SELECT i, (i %% %(slots)s)::int AS slot, (hashint8extended(i, 1) & 2147483647) %% %(base)s AS one,
            (hashint8extended(i, 2) & 2147483647) %% %(base)s AS two,
            (hashint8extended(i, 3) & 2147483647) %% %(base)s AS three,
            (hashint8extended(i, 4) & 2147483647) %% %(levels)s AS level
        FROM generate_series(%(first)s::bigint, %(last)s::bigint) i
    ) r
    JOIN slots s ON s.n = r.slot JOIN base a ON a.n = r.one JOIN base b ON b.n = r.two
    JOIN scaled x ON x.n = r.two AND x.level = r.level
    JOIN scaled y ON y.n = r.three AND y.level = r.level + %(levels)s
"""


@dataclass(frozen=True)
class Team:
    """A team of the table: how many rows, whose they are, and who may read them."""

    rows: int
    team: str
    member: str
    token: str


def prepare_tables(url: str, texts: Texts) -> None:
    """Put the texts, and their vectors in all shares, into tables that rows are made of."""
    with postgres.connect(url) as connection, connection.transaction(), connection.cursor() as cursor:
        cursor.execute(_TABLES)
        with cursor.copy("COPY base FROM STDIN") as copy:
            for number, text in enumerate(texts.stored):
                words = text.split()
                head, tail = " ".join(words[: len(words) * 2 // 3]), " ".join(words[len(words) // 2 :])
                terms = (" ".join(dict.fromkeys(analyse_text(part))) for part in (head, tail))
                copy.write_row((number, head, tail, *terms, format_vector(texts.vectors[number])))
        with cursor.copy("COPY scaled FROM STDIN") as copy:
            for number, vector in enumerate(texts.vectors):
                for level in range(LEVELS):
                    share = 0.2 + 0.15 * level
                    copy.write_row((number, level, format_vector(share * vector)))
                    copy.write_row((number, level + LEVELS, format_vector(share / 2 * vector)))
        cursor.execute("ANALYZE base")
        cursor.execute("ANALYZE scaled")


def make_teams(url: str, sizes: Sequence[int]) -> list[Team]:
    """Make teams of so many rows each, with their projects."""
    made = []
    with postgres.connect(url) as connection:
        for size in sizes:
            identity, token = members.create_team(connection, f"team {uuid.uuid4().hex[:8]}", "admin")
            made.append(Team(size, identity.team, identity.member, token))
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL row_security = off")
            cursor.execute(
                "INSERT INTO hyperloci.projects(team, project, change)"
                " SELECT team, 'example.com/team/p' || number, 0 FROM unnest(%s::uuid[]) team,"
                " generate_series(0, %s) number",
                ([team.team for team in made], PROJECTS - 1),
            )
    return made


def lay_slots(url: str, teams: Sequence[Team]) -> int:
    """Decide whose the rows are, so that those of a team are spread over all the table; return the cycle's length."""
    unit = gcd(*(team.rows for team in teams))
    slots = [team for team in teams for _ in range(team.rows // unit)]
    np.random.default_rng(0).shuffle(slots)
    with postgres.connect(url) as connection, connection.transaction(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE slots")
        with cursor.copy("COPY slots FROM STDIN") as copy:
            for number, team in enumerate(slots):
                copy.write_row((number, team.team, team.member))
        cursor.execute("ANALYZE slots")
    return len(slots)


def fill_rows(url: str, model: str, slots: int, base: int, rows: range, *, sessions: int = 2, until: float = 0) -> int:
    """Make rows in sessions at once, without a log and without looking up their keys; return how many there are.

    Args:
        url, model: of the database, and of the vectors.
        slots, base: how many slots and texts there are.
        rows: numbers of the rows.
        sessions: connections.
        until: the time of the clock from which on no further chunk is begun; 0: all rows are made.
    """

    def fill(firsts: Iterator[int]) -> int:
        made = 0
        with postgres.connect(url) as connection:
            for name, value in (("session_replication_role", "replica"), ("synchronous_commit", "off")):
                connection.execute(f"SET {name} = {value}".encode())
            for first in firsts:
                if until and time.time() > until:
                    break
                started, last = time.perf_counter(), min(first + CHUNK, rows.stop) - 1
                values = {"model": model, "slots": slots, "base": base, "levels": LEVELS, "projects": PROJECTS}
                connection.execute(_INSERT, values | {"first": first, "last": last})
                made += last - first + 1
                seconds = time.perf_counter() - started
                connection.execute("INSERT INTO chunks VALUES (%s, %s)", (first, seconds))
                print(f"{first:,}: {seconds:.0f} s, load {os.getloadavg()[0]:.0f}", flush=True)
        return made

    firsts = iter(range(rows.start, rows.stop, CHUNK))
    with ThreadPoolExecutor(sessions) as pool:
        return sum(pool.map(fill, [firsts] * sessions))


def make_indexes(connection: Any, statements: Sequence[str]) -> dict[str, int]:
    """Make the indexes, like after a restored backup; return how long each took, in seconds."""
    taken = {}
    connection.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'".encode())
    for statement in statements:
        started, name = time.perf_counter(), statement.partition(" hyperloci.")[0].split()[-2]
        connection.execute(statement.encode())
        taken[name] = round(time.perf_counter() - started)
        print(f"{name}: {taken[name]} s", flush=True)
    connection.execute("ALTER TABLE hyperloci.memories ADD PRIMARY KEY USING INDEX memories_pkey")
    connection.execute("VACUUM ANALYZE hyperloci.memories")
    return taken


def name_model(texts: Texts) -> str:
    """Return what rows say of the model of their vectors."""
    return meaning_model_of(texts.model)


def drop_indexes(connection: Any) -> list[str]:
    """Drop the indexes on memories but for none, and keep no log of its rows; return what makes them again."""
    found = connection.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'hyperloci' AND tablename = 'memories'"
    ).fetchall()
    for name, _ in found:
        if name == "memories_pkey":
            connection.execute("ALTER TABLE hyperloci.memories DROP CONSTRAINT memories_pkey")
        else:
            connection.execute(f"DROP INDEX hyperloci.{name}".encode())
    connection.execute("ALTER TABLE hyperloci.memories SET UNLOGGED")
    return [statement for _, statement in found]
