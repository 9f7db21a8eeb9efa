"""Members: teams, who is in them, and the tokens that prove it."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from typing import TYPE_CHECKING, Any

from hyperloci.errors import BadRequestError, TeamError
from hyperloci.store.team.postgres import member_transaction, translate_postgres_errors
from hyperloci.store.team.shared_values import MemberRole, MemberRow, TeamIdentity

if TYPE_CHECKING:
    import psycopg


def create_token(team: str) -> str:
    """Return a new token of a team: which one it is, and 256 random bits."""
    return f"hlt_{uuid.UUID(team).hex}_{secrets.token_urlsafe(32)}"


def _hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def create_team(connection: psycopg.Connection[Any], name: str, admin: str) -> tuple[TeamIdentity, str]:
    """Make a team with one admin, as the owner of the schema; return who that is, and their token.

    Raises:
        TeamError: the connection is not the owner's.
    """
    team, member = str(uuid.uuid4()), str(uuid.uuid4())
    token = create_token(team)
    with translate_postgres_errors(), connection.transaction(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO hyperloci.teams(team, name) VALUES (%s, %s)", (team, name))
        cursor.execute(
            "INSERT INTO hyperloci.members(team, member, name, role) VALUES (%s, %s, %s, 'admin')",
            (team, member, admin),
        )
        cursor.execute(
            "INSERT INTO hyperloci.tokens(team, hash, member) VALUES (%s, %s, %s)", (team, _hash_token(token), member)
        )
    identity = TeamIdentity(team=team, team_name=name, member=member, member_name=admin, role=MemberRole.ADMIN)
    return identity, token


def identify_member(connection: psycopg.Connection[Any], token: str, *, seconds: float = 10.0) -> TeamIdentity:
    """Return who a token's owner is.

    Raises:
        TeamError: the token is unknown or revoked.
    """
    with member_transaction(connection, token, seconds=seconds) as cursor:
        cursor.execute(
            "SELECT i.team, t.name, i.member, m.name, i.role FROM hyperloci.current_identity() i"
            " JOIN hyperloci.teams t ON t.team = i.team"
            " JOIN hyperloci.members m ON m.team = i.team AND m.member = i.member"
        )
        row = cursor.fetchone()
    if row is None:
        raise TeamError("The token is unknown to this team's database, or was revoked: ask an admin for a new one.")
    return TeamIdentity(
        team=str(row[0]), team_name=row[1], member=str(row[2]), member_name=row[3], role=MemberRole(row[4])
    )


def invite_member(
    connection: psycopg.Connection[Any], token: str, team: str, name: str, role: MemberRole = MemberRole.MEMBER
) -> str:
    """Add a member, or a further token of a known one, as an admin; return the token, which is kept nowhere.

    Raises:
        BadRequestError: an empty or overlong name.
        TeamError: the token isn't an admin's.
    """
    if not 1 <= len(name.strip()) <= 200:
        raise BadRequestError(f"name={name!r:.80} must have 1 to 200 characters.")
    made = create_token(team)
    with member_transaction(connection, token) as cursor:
        cursor.execute(
            "SELECT hyperloci.add_member(%s, %s, %s, %s)",
            (str(uuid.uuid4()), name.strip(), str(role), _hash_token(made)),
        )
    return made


def revoke_member(connection: psycopg.Connection[Any], token: str, name: str) -> int:
    """Revoke all tokens of a member, as an admin; return how many they had. What they shared stays.

    Raises:
        TeamError: the token isn't an admin's.
    """
    with member_transaction(connection, token) as cursor:
        cursor.execute("SELECT hyperloci.revoke_member(%s)", (name,))
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def list_members(connection: psycopg.Connection[Any], token: str) -> list[MemberRow]:
    """Return the members of the token's team, by name."""
    with member_transaction(connection, token) as cursor:
        cursor.execute("SELECT name, role FROM hyperloci.members ORDER BY name")
        return [MemberRow(name=row[0], role=row[1]) for row in cursor.fetchall()]
