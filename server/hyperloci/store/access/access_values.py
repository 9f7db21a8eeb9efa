"""Access: values about who may use a memory over HTTP, and who did."""

from __future__ import annotations

from typing import Literal

from hyperloci.system.values import dataclass

Outcome = Literal["done", "refused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessGrant:
    """What a token allows, without the token.

    Attributes:
        id: eight hexadecimal digits, by which people name it.
        person: who holds it; the author of what is told with it.
        may_write: whether it may change the memory.
        created, expires, revoked, last_used: milliseconds since 1970; None: never.
    """

    id: str
    person: str
    may_write: bool
    created: int
    expires: int | None = None
    revoked: int | None = None
    last_used: int | None = None

    def is_valid_at(self, now: int) -> bool:
        """Whether it admits anybody at a time."""
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessEvent:
    """One call over HTTP.

    Attributes:
        at: milliseconds since 1970.
        person: who called.
        token_id: with which token; None for a token of an outside issuer.
        client: the assistant's name and version, as it says.
        tool: what was called.
        outcome: `done`, `refused` (not allowed, or a wrong argument), `failed`.
        memories: ids that the answer named.
    """

    at: int
    person: str
    token_id: str | None
    client: str | None
    tool: str
    outcome: Outcome
    memories: tuple[str, ...] = ()
