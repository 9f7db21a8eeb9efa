"""A member sees and changes their own team's rows, whatever they ask."""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from bench._team_foreign import TABLES, list_attempts
from hyperloci.errors import TeamError
from hyperloci.store.team import members, postgres
from hyperloci.store.team.postgres import member_transaction
from hyperloci.store.team.shared_truth import SharedTruth
from hyperloci.store.team.shared_values import MemberRole, OutgoingRevision, SharedPayload, SharedState
from hyperloci.store.team.truth_search import search_truth
from tests.team.machines import PROJECT, Team


def make_payload(content: str) -> SharedPayload:
    return SharedPayload(
        state=SharedState.LIVE,
        type="fact",
        subtype="insight",
        title="",
        content=content,
        agent=None,
        confidence=0.9,
        event_time=1,
        valid_from=1,
        valid_until=None,
    )


@pytest.fixture
def teams(database_url: str) -> tuple[Team, Team]:
    """Two teams in one database, each with a memory that says the same in the same project."""
    made = Team.make(database_url, "Ours"), Team.make(database_url, "Theirs")
    for team in made:
        with postgres.connect(team.url) as connection:
            truth = SharedTruth(connection, team.token, team.identity)
            revision = OutgoingRevision.make(
                str(uuid.uuid4()),
                str(uuid.uuid4()),
                0,
                make_payload(f"secret of {team.identity.team_name}"),
                keywords=("secret",),
                model="m",
                vector=(0.1,) * 384,
            )
            truth.store_revisions(PROJECT, [revision])
    return made


@pytest.fixture
def connection(teams: tuple[Team, Team]) -> Iterator[Any]:
    with postgres.connect(teams[0].url) as opened:
        yield opened


def test_no_statement_shows_a_foreign_teams_rows(teams: tuple[Team, Team], connection: Any) -> None:
    ours, theirs = teams
    attempts = list_attempts(theirs.identity.team, random.Random(1))
    seen = 0
    for query in itertools.islice(attempts, 500):
        with member_transaction(connection, ours.token) as cursor:
            cursor.execute(query.encode())
            seen += len(cursor.fetchall())
    assert seen == 0


def test_the_same_statements_show_ones_own_rows(teams: tuple[Team, Team], connection: Any) -> None:
    attempts = list_attempts(teams[0].identity.team, random.Random(1))
    seen = 0
    for query in itertools.islice(attempts, 50):
        with member_transaction(connection, teams[0].token) as cursor:
            cursor.execute(query.encode())
            seen += len(cursor.fetchall())
    assert seen > 0


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM hyperloci.tokens",
        "UPDATE hyperloci.members SET role = 'admin'",
        "UPDATE hyperloci.memories SET author = gen_random_uuid()",
        "DELETE FROM hyperloci.memories",
        "UPDATE hyperloci.revisions SET payload = '{}'",
        "INSERT INTO hyperloci.members(team, member, name, role) SELECT team, gen_random_uuid(), 'x', 'admin'"
        " FROM hyperloci.teams",
        "ALTER TABLE hyperloci.memories DISABLE ROW LEVEL SECURITY",
        "DROP POLICY of_team ON hyperloci.memories",
    ],
)
def test_a_member_may_neither_read_tokens_nor_forge_nor_delete(
    teams: tuple[Team, Team], connection: Any, statement: str
) -> None:
    with pytest.raises(TeamError, match="refused"), member_transaction(connection, teams[0].token) as cursor:
        cursor.execute(statement.encode())


def test_rows_of_a_foreign_team_can_not_be_written(teams: tuple[Team, Team], connection: Any) -> None:
    ours, theirs = teams
    forged = SharedTruth(connection, ours.token, theirs.identity)
    with pytest.raises(TeamError):
        forged.store_revisions(
            PROJECT, [OutgoingRevision.make(str(uuid.uuid4()), str(uuid.uuid4()), 0, make_payload("forged"))]
        )


def test_another_members_name_can_not_be_used(teams: tuple[Team, Team], connection: Any) -> None:
    ours = teams[0]
    token = ours.invite("bob")
    forged = SharedTruth(connection, token, ours.identity)
    with pytest.raises(TeamError):
        forged.store_revisions(
            PROJECT, [OutgoingRevision.make(str(uuid.uuid4()), str(uuid.uuid4()), 0, make_payload("by ada"))]
        )


def test_no_statement_of_another_member_erases_a_memory(teams: tuple[Team, Team], connection: Any) -> None:
    bob = teams[0].invite("bob")
    erase = b"UPDATE hyperloci.memories SET state = 'purged', title = '', content = ''"
    with pytest.raises(TeamError, match="only its author or an admin"), member_transaction(connection, bob) as cursor:
        cursor.execute(erase)
    with member_transaction(connection, teams[0].token) as cursor:
        cursor.execute(erase)
        assert cursor.rowcount == 1


def test_an_operator_of_ones_own_makes_no_writer_of_a_reader(teams: tuple[Team, Team], connection: Any) -> None:
    """Databases made before PostgreSQL 15 let everybody make objects in `public`."""
    reader = teams[0].invite("ci", MemberRole.READER)
    connection.execute(
        "CREATE SCHEMA forged; GRANT USAGE ON SCHEMA forged TO hyperloci_member;"
        " CREATE FUNCTION forged.differs(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
        " CREATE OPERATOR forged.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = forged.differs)"
    )
    try:
        with member_transaction(connection, reader) as cursor:
            cursor.execute("SET LOCAL search_path = forged, pg_catalog")
            cursor.execute("SELECT 'a' <> 'a', hyperloci.current_writer()")
            assert cursor.fetchone() == (True, None)
    finally:
        connection.execute("DROP SCHEMA forged CASCADE")


@pytest.mark.parametrize("token", ["", "hlt_", "x' OR true --", "hlt_" + "0" * 32 + "_" + "a" * 43])
def test_a_wrong_token_shows_nothing(teams: tuple[Team, Team], connection: Any, token: str) -> None:
    for table in TABLES:
        with member_transaction(connection, token) as cursor:
            cursor.execute(f"SELECT * FROM hyperloci.{table}".encode())
            assert cursor.fetchall() == []
    with pytest.raises(TeamError, match="token"):
        members.identify_member(connection, token)


def test_who_asked_is_forgotten_with_the_transaction(teams: tuple[Team, Team], connection: Any) -> None:
    with member_transaction(connection, teams[0].token) as cursor:
        cursor.execute("SELECT 1")
    with postgres.translate_postgres_errors(), connection.transaction():
        connection.execute("SET LOCAL ROLE hyperloci_member")
        assert connection.execute("SELECT * FROM hyperloci.memories").fetchall() == []


def test_a_search_finds_only_the_teams_own(teams: tuple[Team, Team], connection: Any) -> None:
    for team in teams:
        hits = search_truth(
            connection,
            team.token,
            team.identity.team,
            terms={"secret": 1.0},
            model="m",
            vector=[0.1] * 384,
        )
        assert [hit.memory.payload.content for hit in hits] == [f"secret of {team.identity.team_name}"]
    ours, theirs = teams
    assert search_truth(connection, ours.token, theirs.identity.team, terms={"secret": 1.0}) == []


def test_only_an_admin_invites_and_revokes(teams: tuple[Team, Team], connection: Any) -> None:
    token = teams[0].invite("bob")
    with pytest.raises(TeamError, match="admin"):
        members.invite_member(connection, token, teams[0].identity.team, "eve", MemberRole.MEMBER)
    with pytest.raises(TeamError, match="admin"):
        members.revoke_member(connection, token, "ada")


def test_the_schema_is_made_once_and_a_newer_one_is_refused(teams: tuple[Team, Team], connection: Any) -> None:
    assert postgres.migrate_schema(connection, login_password=None) == []
    connection.execute("INSERT INTO hyperloci.migrations(number, name) VALUES (999, 'later')")
    with pytest.raises(TeamError, match="newer"):
        postgres.migrate_schema(connection, login_password=None)


def test_an_address_is_shown_without_its_password() -> None:
    shown = [
        postgres.hide_password(url)
        for url in ("postgresql://ada:hunter2@db/x", "host=db password=hunter2 user=ada", "postgresql://ada@db/x")
    ]
    assert "hunter2" not in " ".join(shown)
    assert shown[2] == "postgresql://ada@db/x"
