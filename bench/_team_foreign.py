"""Foreign teams: statements of one team's member, drawn at random, that try to see another team's rows."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator

from bench._team_server import make_database, make_team, serve_postgres
from hyperloci.store.team import postgres
from hyperloci.store.team.postgres import member_transaction
from hyperloci.store.team.shared_truth import SharedTruth
from hyperloci.store.team.shared_values import OutgoingRevision, SharedPayload, SharedState
from hyperloci.store.team.truth_search import search_truth

TABLES = ("teams", "members", "projects", "memories", "revisions")
TEAMS = 5
MEMORIES = 200


def list_attempts(team: str, rng: random.Random) -> Iterator[str]:
    """Return statements that try to see or change a team's rows, some drawn at random."""
    wheres = (
        "true",
        f"team = '{team}'",
        f"team = '{team}' OR true",
        f"team::text LIKE '{team[:6]}%'",
        "team IN (SELECT team FROM hyperloci.teams)",
        "EXISTS (SELECT 1)",
        "random() >= 0",
        "1 / (CASE WHEN length(team::text) > 0 THEN 1 ELSE 0 END) = 1",
    )
    shapes = (
        "SELECT team::text FROM hyperloci.{table} WHERE {where} AND team = '{team}'",
        "SELECT x.team::text FROM hyperloci.{table} x JOIN hyperloci.{other} y USING (team) WHERE x.team = '{team}'",
        "SELECT max(team::text) FROM hyperloci.{table} WHERE ({where}) AND team = '{team}' HAVING count(*) > 0",
        "WITH w AS (SELECT * FROM hyperloci.{table}) SELECT team::text FROM w WHERE ({where}) AND team = '{team}'",
        "SELECT team::text FROM hyperloci.{table} WHERE team = '{team}' UNION SELECT team::text FROM hyperloci.{other}"
        " WHERE team = '{team}'",
        "SELECT (SELECT team::text FROM hyperloci.{table} WHERE team = '{team}' LIMIT 1) WHERE EXISTS"
        " (SELECT 1 FROM hyperloci.{other} WHERE team = '{team}')",
    )
    while True:
        shape, where = rng.choice(shapes), rng.choice(wheres)
        table, other = rng.choice(TABLES), rng.choice(TABLES)
        yield shape.format(table=table, other=other, where=where, team=team)


def measure_foreign(queries: int) -> dict[str, object]:
    """Ask as each team's member for the rows of the others; one in ten asks by the product's own search."""
    rng = random.Random(7)
    with serve_postgres() as server:
        url = make_database(server)
        teams = [make_team(url, f"team{number}") for number in range(TEAMS)]
        connection = postgres.connect(url)
        for identity, token in teams:
            truth = SharedTruth(connection, token, identity)
            truth.store_revisions("p", [_make_revision(f"{identity.team_name} {n}", rng) for n in range(MEMORIES)])
        attempts = {identity.team: list_attempts(identity.team, rng) for identity, _ in teams}
        seen, own, started = 0, 0, time.perf_counter()
        for number in range(queries):
            (mine, token), (other, _) = rng.sample(teams, 2)
            if number % 10 == 0:
                hits = search_truth(
                    connection, token, other.team, terms={"secret": 1.0}, model="m", vector=[rng.gauss(0, 1)] * 384
                )
                seen += len(hits)
                continue
            with member_transaction(connection, token) as cursor:
                cursor.execute(next(attempts[other.team]).encode())
                seen += len(cursor.fetchall())
            if number % 100 == 1:
                with member_transaction(connection, token) as cursor:
                    cursor.execute(next(attempts[mine.team]).encode())
                    own += len(cursor.fetchall())
        connection.close()
    return {
        "teams": TEAMS,
        "queries": queries,
        "foreign rows seen": seen,
        "own rows seen, of one in a hundred": own,
        "seconds": round(time.perf_counter() - started, 1),
    }


def _make_revision(text: str, rng: random.Random) -> OutgoingRevision:
    payload = SharedPayload(
        state=SharedState.LIVE,
        type="fact",
        subtype="insight",
        title="",
        content=text,
        agent=None,
        confidence=0.9,
        event_time=1,
        valid_from=1,
        valid_until=None,
    )
    vector = tuple(rng.gauss(0, 1) for _ in range(384))
    return OutgoingRevision.make(
        str(uuid.uuid4()), str(uuid.uuid4()), 0, payload, keywords=("secret",), model="m", vector=vector
    )
