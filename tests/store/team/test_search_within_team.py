"""A search reads its own team's part of the indexes, and finds what a comparison with every row finds."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from hyperloci.store.team import postgres
from hyperloci.store.team.graphs import build_graphs
from hyperloci.store.team.postgres import member_transaction
from hyperloci.store.team.shared_truth import SharedTruth, format_vector
from hyperloci.store.team.shared_values import OutgoingRevision
from hyperloci.store.team.truth_search import _NEAR, search_truth
from tests.store.team.test_change_order import make_payload
from tests.team.machines import PROJECT, Team

ROWS = 60
rng = random.Random(1)


def make_vector() -> tuple[float, ...]:
    return tuple(rng.gauss(0, 1) for _ in range(384))


def store_rows(team: Team, words: list[tuple[str, ...]]) -> list[str]:
    revisions = [
        OutgoingRevision.make(
            str(uuid.uuid4()),
            str(uuid.uuid4()),
            0,
            make_payload(" ".join(keywords)),
            keywords=keywords,
            model="m",
            vector=make_vector(),
        )
        for keywords in words
    ]
    with postgres.connect(team.url) as connection:
        SharedTruth(connection, team.token, team.identity).store_revisions(PROJECT, revisions)
        connection.execute("VACUUM ANALYZE hyperloci.memories")
    return [revision.id for revision in revisions]


@pytest.fixture
def team(database_url: str) -> Team:
    """A team among others, whose words are the same."""
    made = [Team.make(database_url, name) for name in ("One", "Two", "Three")]
    for one in made:
        store_rows(one, [("deploy", f"word{number}") for number in range(ROWS)])
    return made[1]


@pytest.fixture
def connection(team: Team) -> Iterator[Any]:
    with postgres.connect(team.url) as opened:
        yield opened


def explain_near(connection: Any, team: Team) -> str:
    values = {
        "team": team.identity.team,
        "model": "m",
        "without": [],
        "vector": format_vector(make_vector()),
        "near": 20,
        "limit": 10,
    }
    with member_transaction(connection, team.token) as cursor:
        cursor.execute("SELECT set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true)")
        cursor.execute("EXPLAIN (FORMAT JSON) " + _NEAR, values)
        return json.dumps(cursor.fetchall())


def test_a_teams_bits_are_read_side_by_side_without_their_rows(team: Team, connection: Any) -> None:
    plan = explain_near(connection, team)
    assert '"Index Only Scan"' in plan and '"memories_near"' in plan


def test_a_large_team_has_a_graph_of_its_own_that_its_searches_walk_and_no_others(team: Team, connection: Any) -> None:
    store_rows(team, [("more",)] * ROWS)
    assert build_graphs(connection, least=2 * ROWS) == 1
    assert build_graphs(connection, least=2 * ROWS) == 0
    assert f"memories_graph_{uuid.UUID(team.identity.team).hex}" in explain_near(connection, team)
    other = Team.make(team.url, "Four")
    store_rows(other, [("deploy",)] * ROWS)
    assert '"memories_near"' in explain_near(connection, other)


def test_a_graph_whose_making_was_broken_off_is_made_again(team: Team, connection: Any) -> None:
    build_graphs(connection, least=ROWS)
    connection.execute(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid::regclass::text LIKE '%memories_graph%'"
    )
    assert build_graphs(connection, least=ROWS) == 3
    assert build_graphs(connection, least=ROWS) == 0


def test_a_graph_is_made_in_memory_where_the_server_gives_less(
    team: Team, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr("hyperloci.store.team.graphs.GRAPH_ROW_BYTES", 5_000_000)
    connection.execute("SET maintenance_work_mem = '64MB'")
    build = connection.execute

    def execute(statement: Any, *values: Any) -> Any:
        if "CREATE INDEX" in str(statement):
            told.append(build("SHOW maintenance_work_mem").fetchone()[0])
        return build(statement, *values)

    monkeypatch.setattr(connection, "execute", execute)
    assert build_graphs(connection, least=ROWS) == 3
    assert told == ["292968kB"] * 3


PARTITIONED = """
    ALTER TABLE hyperloci.memories RENAME TO memories_whole;
    CREATE TABLE hyperloci.memories (LIKE hyperloci.memories_whole INCLUDING ALL) PARTITION BY HASH (team);
    CREATE TABLE hyperloci.part_0 PARTITION OF hyperloci.memories FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE hyperloci.part_1 PARTITION OF hyperloci.memories FOR VALUES WITH (MODULUS 2, REMAINDER 1)
"""


def test_in_a_table_of_partitions_a_graph_is_of_the_one_that_has_the_team(team: Team, connection: Any) -> None:
    columns = ", ".join(
        row[0]
        for row in connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'hyperloci.memories'::regclass AND attnum > 0"
            " AND NOT attisdropped AND attgenerated = ''"
        )
    )
    for statement in PARTITIONED.split(";"):
        connection.execute(statement.encode())
    connection.execute(
        f"INSERT INTO hyperloci.memories({columns}) SELECT {columns} FROM hyperloci.memories_whole".encode()
    )
    assert build_graphs(connection, least=ROWS) == 3
    assert build_graphs(connection, least=ROWS) == 0
    name = f"memories_graph_{uuid.UUID(team.identity.team).hex}"
    (lies,) = connection.execute(
        "SELECT i.indrelid FROM pg_index i WHERE i.indexrelid = %s::regclass", (f"hyperloci.{name}",)
    ).fetchone()
    held = connection.execute(
        "SELECT DISTINCT tableoid FROM hyperloci.memories WHERE team = %s", (team.identity.team,)
    ).fetchall()
    assert held == [(lies,)]


def test_the_nearest_are_those_of_all_rows_with_a_graph_and_without(team: Team, connection: Any) -> None:
    vector = make_vector()
    with member_transaction(connection, team.token) as cursor:
        cursor.execute(
            "SELECT id::text FROM hyperloci.memories ORDER BY e1 <=> %s::halfvec(384) LIMIT 10",
            (format_vector(vector),),
        )
        exact = [row[0] for row in cursor.fetchall()]

    def search() -> list[str]:
        hits = search_truth(connection, team.token, team.identity.team, terms={}, model="m", vector=vector, limit=10)
        return [hit.memory.id for hit in hits]

    assert search() == exact
    build_graphs(connection, least=ROWS)
    assert search() == exact


def test_words_are_sought_in_the_teams_own_entries(team: Team, connection: Any) -> None:
    found = search_truth(connection, team.token, team.identity.team, terms={"word7": 2.0, "deploy": 1.0}, limit=30)
    assert len(found) == ROWS
    assert set(found[0].matched) == {"deploy", "word7"}
    with connection.transaction():
        connection.execute("SET LOCAL enable_seqscan = off")
        (plan,) = connection.execute(
            "EXPLAIN (FORMAT JSON) SELECT id FROM hyperloci.memories WHERE hyperloci.mark_terms(team, keywords) @@ 'x'"
        ).fetchone()
    assert '"memories_words"' in json.dumps(plan)


@pytest.mark.parametrize("term", ["it's", "back\\slash", "a&b|!c", "naïve☃", "'", "\\'", "<->", "a:b*"])
def test_whatever_is_in_a_term_it_is_found_as_it_was_stored(team: Team, connection: Any, term: str) -> None:
    (id,) = store_rows(team, [(term, "other")])
    found = search_truth(connection, team.token, team.identity.team, terms={term: 1.0})
    assert [hit.memory.id for hit in found] == [id] and found[0].matched == (term,)


def test_what_is_shared_by_the_rarest_words_is_not_all_that_a_small_team_is_shown(team: Team, connection: Any) -> None:
    terms = {f"absent{number}": 5.0 for number in range(8)} | {"deploy": 0.5}
    found = search_truth(connection, team.token, team.identity.team, terms=terms, limit=10)
    assert len(found) == 20 and {hit.matched for hit in found} == {("deploy",)}


def test_an_older_schema_is_searched_as_well(database_url: str) -> None:
    steps = postgres.load_migrations()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres, "load_migrations", lambda: steps[:1])
        team = Team.make(database_url, "Old")
    ids = store_rows(team, [("deploy",), ("other",)])
    with postgres.connect(team.url) as connection:
        for _ in range(2):
            hits = search_truth(
                connection, team.token, team.identity.team, terms={"deploy": 1.0}, model="m", vector=make_vector()
            )
            assert {hit.memory.id for hit in hits} == set(ids)
            postgres.migrate_schema(connection, login_password=None)
