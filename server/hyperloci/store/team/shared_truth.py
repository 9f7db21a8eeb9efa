"""Shared truth: a team's memories in PostgreSQL, and everything that was ever told of them.

What is told of a memory is a revision. It names the one that its machine knew; where another member's came in between,
it has diverged: the history keeps both, what holds is merged so that nothing is lost (`merge_payload`), and every
member's machine is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hyperloci.store.team.postgres import member_transaction
from hyperloci.store.team.shared_values import (
    MEANING_DIMENSIONS,
    STATE_ORDER,
    IncomingRevision,
    OutgoingRevision,
    SharedPayload,
    SharedState,
    StoredRevision,
    TeamIdentity,
    TeamMemory,
)
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import psycopg

HEAD_COLUMNS: Final = (
    "m.id, m.project, m.revision, a.name, m.state, m.type, m.subtype, m.title, m.content, m.agent, m.confidence,"
    " m.event_time, m.valid_from, m.valid_until, m.supersedes"
)
"""Columns of a memory as it stands, in the order that `read_memory` takes them."""

AUTHOR_JOIN: Final = "JOIN hyperloci.members a ON a.team = m.team AND a.member = m.author"

_UPSERT: Final = """
    INSERT INTO hyperloci.memories(team, id, project, revision, change, author, state, type, subtype, agent, title,
        content, confidence, event_time, valid_from, valid_until, supersedes, digest, keywords, model, e1)
    VALUES (%(team)s, %(id)s, %(project)s, %(revision)s, %(change)s, %(author)s, %(state)s, %(type)s, %(subtype)s,
        %(agent)s, %(title)s, %(content)s, %(confidence)s, %(event_time)s, %(valid_from)s, %(valid_until)s,
        %(supersedes)s::uuid[], %(digest)s, %(keywords)s, %(model)s, %(e1)s)
"""

_UPDATE: Final = """
    UPDATE hyperloci.memories SET revision = %(revision)s, change = %(change)s, state = %(state)s, type = %(type)s,
        subtype = %(subtype)s, agent = %(agent)s, title = %(title)s, content = %(content)s,
        confidence = %(confidence)s, event_time = %(event_time)s, valid_from = %(valid_from)s,
        valid_until = %(valid_until)s, supersedes = %(supersedes)s::uuid[], digest = %(digest)s, stored_at = now(),
        keywords = CASE WHEN %(same_text)s THEN keywords ELSE %(keywords)s END,
        model = CASE WHEN %(same_text)s THEN coalesce(%(model)s, model) ELSE %(model)s END,
        e1 = CASE WHEN %(same_text)s THEN coalesce(%(e1)s, e1) ELSE %(e1)s END
    WHERE team = %(team)s AND id = %(id)s
"""

EXPIRY_DAYS: Final = 30
"""How long a forgotten memory can be restored, as on every machine (E.16); then its text goes here too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """A memory as it stands there."""

    revision: int
    author: str
    payload: SharedPayload


def merge_payload(head: SharedPayload, told: SharedPayload) -> SharedPayload:
    """Return what holds of a memory that two members changed without having seen each other's change.

    Symmetric but for the text, of which the first to arrive stands and the other is kept in the history: the further
    state of the two, the earlier end, all that either replaced.
    """
    ends = [end for end in (head.valid_until, told.valid_until) if end is not None]
    state = max(head.state, told.state, key=STATE_ORDER.index)
    merged = replace(
        head,
        state=state,
        confidence=max(head.confidence, told.confidence),
        valid_until=min(ends, default=None),
        supersedes=tuple(sorted({*head.supersedes, *told.supersedes})),
    )
    return blank_payload(merged) if state in (SharedState.WITHDRAWN, SharedState.PURGED) else merged


def blank_payload(payload: SharedPayload) -> SharedPayload:
    """Return what is left of a memory whose text is to be nowhere."""
    return replace(payload, title="", content="")


class SharedTruth:
    """The shared truth as one member sees it, over one open connection. Each method is one transaction.

    Every method may raise TeamError; TeamUnreachableError is the subclass after which trying again is right.
    """

    def __init__(self, connection: psycopg.Connection[Any], token: str, identity: TeamIdentity) -> None:
        self._connection = connection
        self._token = token
        self.identity = identity

    def store_revisions(self, project: str, revisions: Sequence[OutgoingRevision]) -> list[StoredRevision]:
        """Store what a machine tells of a project's memories; what was stored before is only confirmed.

        Args:
            project: whose they are.
            revisions: one for each memory at most.

        Raises:
            TeamError: the member may not write, or a value is refused; nothing is stored then.
        """
        with member_transaction(self._connection, self._token) as cursor:
            change = self._lock_project(cursor, project)
            heads = self._load_heads(cursor, [revision.id for revision in revisions])
            known = self._find_edits(cursor, [revision.edit for revision in revisions])
            stored, writes = [], _Writes(self.identity, project, change)
            for revision in revisions:
                head = heads.get(revision.id)
                if (number := known.get(revision.edit)) is not None:
                    stored.append(StoredRevision(id=revision.id, revision=number))
                elif head is not None and _changes_nothing(head.payload, writes.complete(revision.payload, head)):
                    stored.append(StoredRevision(id=revision.id, revision=head.revision))
                else:
                    stored.append(writes.add_revision(revision, head))
            writes.flush(cursor)
        return stored

    def _lock_project(self, cursor: psycopg.Cursor[Any], project: str) -> int:
        """Return the number of the project's last change, and let nobody else make one until the commit."""
        team = self.identity.team
        cursor.execute(
            "INSERT INTO hyperloci.projects(team, project) VALUES (%s, %s) ON CONFLICT DO NOTHING", (team, project)
        )
        cursor.execute(
            "SELECT change FROM hyperloci.projects WHERE team = %s AND project = %s FOR UPDATE", (team, project)
        )
        row = cursor.fetchone()
        assert row is not None
        return int(row[0])

    def _load_heads(self, cursor: psycopg.Cursor[Any], ids: Sequence[str]) -> dict[str, _Head]:
        cursor.execute(
            f"SELECT {HEAD_COLUMNS}, m.author FROM hyperloci.memories m {AUTHOR_JOIN}"
            " WHERE m.team = %s AND m.id = ANY(%s::uuid[]) FOR UPDATE OF m",
            (self.identity.team, list(ids)),
        )
        heads = {}
        for row in cursor.fetchall():
            memory = read_memory(row)
            heads[memory.id] = _Head(revision=memory.revision, author=str(row[-1]), payload=memory.payload)
        return heads

    def _find_edits(self, cursor: psycopg.Cursor[Any], edits: Sequence[str]) -> dict[str, int]:
        cursor.execute(
            "SELECT edit, revision FROM hyperloci.revisions WHERE team = %s AND edit = ANY(%s::uuid[])",
            (self.identity.team, list(edits)),
        )
        return {str(row[0]): int(row[1]) for row in cursor.fetchall()}

    def list_changes(self, project: str, after: int, limit: int) -> list[IncomingRevision]:
        """Return what changed in a project after a change, in order."""
        with member_transaction(self._connection, self._token) as cursor:
            cursor.execute(
                f"SELECT {HEAD_COLUMNS}, r.change, r.revision, e.name, r.editor = %(member)s,"
                " CASE WHEN r.diverged THEN r.payload END FROM hyperloci.revisions r"
                " JOIN hyperloci.memories m ON m.team = r.team AND m.id = r.id"
                " JOIN hyperloci.members e ON e.team = r.team AND e.member = r.editor"
                f" {AUTHOR_JOIN} WHERE r.team = %(team)s AND r.project = %(project)s AND r.change > %(after)s"
                " ORDER BY r.change LIMIT %(limit)s",
                {
                    "team": self.identity.team,
                    "member": self.identity.member,
                    "project": project,
                    "after": after,
                    "limit": limit,
                },
            )
            return [_read_incoming(row) for row in cursor.fetchall()]

    def read_change(self, project: str) -> int:
        """Return the number of a project's last change, 0 where nothing was told yet."""
        with member_transaction(self._connection, self._token) as cursor:
            cursor.execute(
                "SELECT change FROM hyperloci.projects WHERE team = %s AND project = %s", (self.identity.team, project)
            )
            row = cursor.fetchone()
        return int(row[0]) if row else 0

    def put_vectors(self, model: str, vectors: Mapping[str, tuple[int, Sequence[float]]]) -> None:
        """Add the vectors of memories that had none when they were told, by id, each for one revision."""
        with member_transaction(self._connection, self._token) as cursor:
            cursor.executemany(
                "UPDATE hyperloci.memories SET model = %s, e1 = %s WHERE team = %s AND id = %s AND revision = %s",
                [
                    (model, format_vector(vector), self.identity.team, id, revision)
                    for id, (revision, vector) in vectors.items()
                ],
            )

    def expire_forgotten(self) -> int:
        """Take the texts of memories that nobody can restore any more out of the truth; return how many."""
        with member_transaction(self._connection, self._token) as cursor:
            cursor.execute(
                "UPDATE hyperloci.memories SET title = '', content = '', keywords = '', model = NULL, e1 = NULL"
                " WHERE team = %s AND state = 'forgotten' AND content <> ''"
                " AND stored_at < now() - make_interval(days => %s) RETURNING id",
                (self.identity.team, EXPIRY_DAYS),
            )
            expired = [row[0] for row in cursor.fetchall()]
            if expired:
                cursor.execute("SELECT hyperloci.erase_history(%s)", (expired,))
        return len(expired)

    def list_memories(self, project: str) -> Iterator[TeamMemory]:
        """Return every memory of a project as it stands, in the order of their ids."""
        with member_transaction(self._connection, self._token) as cursor:
            cursor.execute(
                f"SELECT {HEAD_COLUMNS} FROM hyperloci.memories m {AUTHOR_JOIN}"
                " WHERE m.team = %s AND m.project = %s ORDER BY m.id",
                (self.identity.team, project),
            )
            yield from (read_memory(row) for row in cursor)


class _Writes:
    """Collects what one transaction stores, and stores it in few round trips."""

    def __init__(self, identity: TeamIdentity, project: str, change: int) -> None:
        self._identity = identity
        self._project = project
        self._change = change
        self._history: list[tuple[Any, ...]] = []
        self._new: list[dict[str, Any]] = []
        self._changed: list[dict[str, Any]] = []
        self._erased: list[str] = []

    def add_revision(self, told: OutgoingRevision, head: _Head | None) -> StoredRevision:
        """Add what was told of a memory that stands as `head`."""
        payload = self.complete(told.payload, head)
        number = 1 if head is None else head.revision + 1
        diverged = head is not None and told.base < head.revision
        if payload.state in (SharedState.PURGED, SharedState.WITHDRAWN):
            payload = blank_payload(payload)
            self._erased.append(told.id)
        holds = payload if head is None or not diverged else merge_payload(head.payload, payload)
        self._change += 1
        self._history.append(
            (
                *(self._identity.team, self._project, self._change, told.id, number, told.base, told.edit),
                *(self._identity.member, diverged, json.dumps(payload.to_dict(), ensure_ascii=False)),
            )
        )
        row = self._make_row(told, holds, number)
        if head is None:
            self._new.append(row)
        else:
            self._changed.append(row | {"same_text": _is_same_text(head.payload, holds)})
        return StoredRevision(id=told.id, revision=number, diverged=diverged)

    def complete(self, payload: SharedPayload, head: _Head | None) -> SharedPayload:
        """Return a payload; of what is only forgotten, or erased by who is neither author nor admin, with its text."""
        if head is None:
            return payload
        may_erase = head.author == self._identity.member or self._identity.role == "admin"
        is_erased = payload.state in (SharedState.PURGED, SharedState.WITHDRAWN)
        if (is_erased and not may_erase) or (payload.state is SharedState.FORGOTTEN and not payload.content):
            return replace(head.payload, state=SharedState.FORGOTTEN)
        return payload

    def _make_row(self, told: OutgoingRevision, holds: SharedPayload, number: int) -> dict[str, Any]:
        is_told = holds.content == told.payload.content and bool(holds.content)
        vector = told.vector if is_told and told.vector is not None and len(told.vector) == MEANING_DIMENSIONS else None
        return {
            **holds.to_dict(),
            "team": self._identity.team,
            "id": told.id,
            "project": self._project,
            "revision": number,
            "change": self._change,
            "author": self._identity.member,
            "state": str(holds.state),
            "supersedes": list(holds.supersedes),
            "digest": holds.digest,
            "keywords": " ".join(dict.fromkeys(told.keywords)) if is_told else "",
            "model": told.model if vector is not None else None,
            "e1": None if vector is None else format_vector(vector),
        }

    def flush(self, cursor: psycopg.Cursor[Any]) -> None:
        """Store everything."""
        if not self._history:
            return
        cursor.executemany(
            "INSERT INTO hyperloci.revisions(team, project, change, id, revision, base, edit, editor, diverged,"
            " payload) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            self._history,
        )
        if self._new:
            cursor.executemany(_UPSERT, self._new)
        if self._changed:
            cursor.executemany(_UPDATE, self._changed)
        if self._erased:
            cursor.execute("SELECT hyperloci.erase_history(%s::uuid[])", (self._erased,))
        cursor.execute(
            "UPDATE hyperloci.projects SET change = %s WHERE team = %s AND project = %s",
            (self._change, self._identity.team, self._project),
        )


def _changes_nothing(head: SharedPayload, told: SharedPayload) -> bool:
    """Tell whether the truth says it already, or whether the memory is gone for good."""
    return head.digest == told.digest or head.state is SharedState.PURGED


def _is_same_text(before: SharedPayload, after: SharedPayload) -> bool:
    return (before.title, before.content) == (after.title, after.content)


def format_vector(vector: Iterable[float]) -> str:
    """Return a vector as PostgreSQL reads it."""
    return "[" + ",".join(f"{value:.6g}" for value in vector) + "]"


def read_memory(row: Sequence[Any]) -> TeamMemory:
    """Read the columns of `HEAD_COLUMNS`."""
    payload = SharedPayload(
        state=SharedState(row[4]),
        type=row[5],
        subtype=row[6],
        title=row[7],
        content=row[8],
        agent=row[9],
        confidence=float(row[10]),
        event_time=row[11],
        valid_from=row[12],
        valid_until=row[13],
        supersedes=tuple(sorted(map(str, row[14]))),
    )
    return TeamMemory(id=str(row[0]), project=row[1], revision=row[2], author=row[3], payload=payload)


def _read_incoming(row: Sequence[Any]) -> IncomingRevision:
    change, revision, editor, is_mine, told = row[15:]
    return IncomingRevision(
        change=change,
        revision=revision,
        editor=editor,
        is_mine=is_mine,
        memory=read_memory(row),
        told=SharedPayload.from_dict(told) if told else None,
    )
