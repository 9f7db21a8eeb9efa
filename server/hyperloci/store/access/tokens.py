"""Access tokens: rows that name a person and the SHA-256 of a token, which itself is kept nowhere."""

from __future__ import annotations

import sqlite3
from typing import Final

from hyperloci.store.access.access_values import AccessGrant


class AccessTokens:
    """The access tokens of one database. Every write expects to run inside a transaction."""

    USED_EVERY_MS: Final = 60_000
    """How exactly the last use is known: a write for every request would make requests wait for each other."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def insert_grant(self, grant: AccessGrant, digest: bytes) -> None:
        """Add a token."""
        self._connection.execute(
            "INSERT INTO access_tokens(id, digest, person, may_write, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
            (grant.id, digest, grant.person, grant.may_write, grant.created, grant.expires),
        )

    def find_by_digest(self, digest: bytes) -> AccessGrant | None:
        """Return the token with this SHA-256, revoked or expired ones too."""
        row = self._connection.execute("SELECT * FROM access_tokens WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else _read_grant(row)

    def list_grants(self) -> list[AccessGrant]:
        """Return all tokens, the newest first."""
        rows = self._connection.execute("SELECT * FROM access_tokens ORDER BY created DESC, id")
        return [_read_grant(row) for row in rows]

    def find_by_prefix(self, prefix: str) -> list[AccessGrant]:
        """Return the tokens whose id begins so."""
        rows = self._connection.execute(
            "SELECT * FROM access_tokens WHERE substr(id, 1, ?) = ? ORDER BY id", (len(prefix), prefix)
        )
        return [_read_grant(row) for row in rows]

    def revoke_grant(self, id: str, *, now: int) -> bool:
        """Revoke a token; False if it was revoked before."""
        cursor = self._connection.execute(
            "UPDATE access_tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", (now, id)
        )
        return cursor.rowcount > 0

    def note_use(self, id: str, *, now: int) -> None:
        """Note that a token was used, to the minute."""
        self._connection.execute(
            "UPDATE access_tokens SET last_used = ? WHERE id = ? AND coalesce(last_used, 0) < ?",
            (now, id, now - self.USED_EVERY_MS),
        )


def _read_grant(row: sqlite3.Row) -> AccessGrant:
    return AccessGrant(
        id=row["id"],
        person=row["person"],
        may_write=bool(row["may_write"]),
        created=row["created"],
        expires=row["expires"],
        revoked=row["revoked"],
        last_used=row["last_used"],
    )
