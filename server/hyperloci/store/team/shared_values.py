"""Team values: what of a memory is shared, and what the shared truth says of it."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Final, Self

from hyperloci.system.values import dataclass

MEANING_DIMENSIONS: Final = 384
"""Of the vectors that the shared truth keeps: those of the bundled model. What another model sees is found by words."""


class SharedState(StrEnum):
    """Whether a shared memory is one, later ones prevailing over earlier ones where two members disagree."""

    LIVE = "live"
    WITHDRAWN = "withdrawn"
    FORGOTTEN = "forgotten"
    PURGED = "purged"


STATE_ORDER: Final = tuple(SharedState)


class MemberRole(StrEnum):
    """What a member may do: an admin also invites and revokes, a reader doesn't write (CI)."""

    ADMIN = "admin"
    MEMBER = "member"
    READER = "reader"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPayload:
    """What is shared of a memory. Times are milliseconds since the epoch.

    Attributes:
        state: whether it is one; only a live or forgotten one has a text.
        type, subtype, title, content: as of `Node`; the text is redacted again on its way out.
        agent: the assistant through which it came.
        confidence: as its author's machine had it; never the reason for a new revision.
        event_time, valid_from, valid_until: when it happened, and when it holds.
        supersedes: ids of shared memories that it replaced.
    """

    state: SharedState
    type: str
    subtype: str | None
    title: str
    content: str
    agent: str | None
    confidence: float
    event_time: int
    valid_from: int
    valid_until: int | None
    supersedes: tuple[str, ...] = ()

    @property
    def digest(self) -> bytes:
        """SHA-256 of all that makes it another revision."""
        values = self.to_dict()
        del values["confidence"]
        text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON form."""
        # Not `asdict`, which copies what can't change, and takes ten times as long.
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read the JSON form; keys that a later version adds are left out."""
        known = {name: values[name] for name in cls.__dataclass_fields__}
        return cls(**{**known, "state": SharedState(known["state"]), "supersedes": tuple(known["supersedes"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingRevision:
    """What this machine tells of a memory.

    Attributes:
        id: the memory's.
        base: the revision that was known here when it changed; 0 for a new one.
        payload: what it says now.
        keywords: its index terms.
        model, vector: its vector in E1 and the model that made it, if there is one that is kept.
        edit: names this edit, the same each time it is told.
    """

    id: str
    base: int
    payload: SharedPayload
    keywords: tuple[str, ...] = ()
    model: str | None = None
    vector: tuple[float, ...] | None = None
    edit: str = ""

    @classmethod
    def make(cls, client: str, id: str, base: int, payload: SharedPayload, **fields: Any) -> Self:
        """Make one, its edit named by who tells what of which revision."""
        edit = uuid.uuid5(uuid.UUID(client), f"{id} {base} {payload.digest.hex()}")
        return cls(id=id, base=base, payload=payload, edit=str(edit), **fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRevision:
    """What became of an outgoing revision: its number, and whether another member had changed the memory before."""

    id: str
    revision: int
    diverged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamMemory:
    """What holds now of a memory in the shared truth. `author` is a member's name, proven by their token."""

    id: str
    project: str
    revision: int
    author: str
    payload: SharedPayload


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingRevision:
    """One change in a project: what holds after all changes, and what was told where that differs.

    Attributes:
        change: its number in the project.
        revision: of the memory.
        editor: the name of the member who told it.
        is_mine: whether that is the member who asks.
        memory: what holds now.
        told: what they told without having seen the newest revision; None in the usual case.
    """

    change: int
    revision: int
    editor: str
    is_mine: bool
    memory: TeamMemory
    told: SharedPayload | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamIdentity:
    """Who a token's owner is."""

    team: str
    team_name: str
    member: str
    member_name: str
    role: MemberRole


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamHit:
    """A memory that a search of the shared truth found.

    Attributes:
        memory: what it says.
        cosine: in E1; None where it has no vector that can be compared.
        matched: which of the question's terms it has.
    """

    memory: TeamMemory
    cosine: float | None
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """A member, as others see them."""

    name: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What one exchange with the team did. `disputes`: contradictions found when what was received was compared;
    `role`: the member's, None where nobody was asked."""

    sent: int = 0
    received: int = 0
    diverged: int = 0
    disputes: int = 0
    vectors: int = 0
    refused: tuple[str, ...] = field(default=())
    role: MemberRole | None = None

    @property
    def changed(self) -> int:
        """How many memories were exchanged."""
        return self.sent + self.received
