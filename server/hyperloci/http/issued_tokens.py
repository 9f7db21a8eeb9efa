"""Issued tokens: what this server gives people itself, one bearer token each; only its SHA-256 is kept.

A token has 256 bits of chance, so a plain hash of it can't be searched through; a slow one would only slow requests.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

from mcp.server.auth.provider import AccessToken

from hyperloci.clock import Clock
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.memory import Memory
from hyperloci.store import Store
from hyperloci.store.access.access_values import AccessGrant
from hyperloci.worker import WorkerHandle

PREFIX: Final = "hyl_"
"""By this secret scanners, ours too, know a token for what it is."""

SECRET_BYTES: Final = 32
ID_BYTES: Final = 4

READ: Final = "memory:read"
WRITE: Final = "memory:write"
"""Scopes, by which outside issuers grant the same."""

MAX_NAME: Final = 200
DAY_MS: Final = 86_400_000


def create_token(store: Store, person: str, *, may_write: bool, days: int | None, now: int) -> tuple[AccessGrant, str]:
    """Give a person a token; return what it allows and the token itself, which is never shown again.

    Args:
        store: the memory it is for.
        person: a name, with an address where there is one, as in `Ada <ada@example.org>`; at most 200 characters.
        may_write: whether it may change the memory.
        days: until it expires; None: it doesn't.
        now: milliseconds since 1970.

    Raises:
        BadRequestError: the name is empty or too long, or has control characters.
    """
    name = " ".join(person.split())
    # Of brackets alone nobody could sign.
    if not name.strip("<> ") or len(name) > MAX_NAME or not name.isprintable():
        raise BadRequestError(f"person={person[:40]!r} must be a name of 1 to {MAX_NAME} printable characters.")
    token = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    grant = AccessGrant(
        id=secrets.token_hex(ID_BYTES),
        person=name,
        may_write=may_write,
        created=now,
        expires=None if days is None else now + days * DAY_MS,
    )
    with store.transaction():
        store.access_tokens.insert_grant(grant, _hash_token(token))
    return grant, token


def revoke_token(store: Store, id: str, *, now: int) -> AccessGrant:
    """Revoke the token whose id begins so; from the next request on it admits nobody.

    Raises:
        NotFoundError: there is none, or more than one.
    """
    found = store.access_tokens.find_by_prefix(id.lower())
    if len(found) != 1:
        told = "no token has" if not found else f"{len(found)} tokens have"
        raise NotFoundError(f"id={id!r}: {told} an id that begins so.")
    with store.transaction():
        store.access_tokens.revoke_grant(found[0].id, now=now)
    return found[0]


def _hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class IssuedTokenVerifier:
    """Verifies the tokens that this server issued, anew at every request: a revoked one ends at once."""

    def __init__(self, door: WorkerHandle, clock: Clock) -> None:
        """Make it; `door` opens the memory that the tokens are for."""
        self._door = door
        self._clock = clock

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who holds a token and what it allows, or None for one that admits nobody."""
        if not token.startswith(PREFIX):
            return None
        grant = await self._door.call(_admit_holder, _hash_token(token), self._clock())
        if grant is None:
            return None
        return AccessToken(
            token=grant.id,
            client_id=grant.id,
            subject=grant.person,
            scopes=[READ, WRITE] if grant.may_write else [READ],
            expires_at=None if grant.expires is None else grant.expires // 1_000,
        )


def _admit_holder(memory: Memory, digest: bytes, now: int) -> AccessGrant | None:
    store = memory.store
    grant = store.access_tokens.find_by_digest(digest)
    if grant is None or not grant.is_valid_at(now):
        return None
    if not store.read_only and (grant.last_used or 0) < now - store.access_tokens.USED_EVERY_MS:
        with store.transaction():
            store.access_tokens.note_use(grant.id, now=now)
    return grant
