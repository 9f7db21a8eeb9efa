"""Topics: their rows, their members, and when they were last detected."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.model.topic import Topic, TopicPhase
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.keywords.keyword_index import read_words
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.values import dataclass

NOT_CLUSTERED: Final = ("action", "section", "chunk_micro", "chunk_mini", "chunk_macro")
"""Subtypes that repeat what other memories say: lines about a tool's use, summaries of chunks and sections."""

_CANDIDATES: Final = (
    "FROM nodes n JOIN fingerprints f ON f.node_key = n.key WHERE n.scope_key = ?1 AND n.deleted_at IS NULL"
    " AND n.valid_until IS NULL AND n.type <> 'entity'"
    " AND coalesce(n.subtype, '') NOT IN (SELECT value FROM json_each(?2)) AND f.model_key = ?3"
)

_SELECT: Final = (
    "SELECT t.*, s.id AS scope, (SELECT count(*) FROM topic_members m JOIN nodes n ON n.key = m.node_key"
    " WHERE m.topic_key = t.key AND n.deleted_at IS NULL) AS member_count"
    " FROM topics t JOIN scopes s ON s.key = t.scope_key"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRun:
    """When topics were last looked for in a scope, among how many memories, and whether a new run is asked for."""

    scope_key: int
    run_at: int
    memories: int
    wanted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTopic:
    """A topic as a run found it, about to be stored; fields as in `model.topic.Topic`.

    Attributes:
        key: of the known topic that it is, None for a new one.
        members: weight of each, 0..1, by node key.
        centroid, floor: mean vector of E1 (float32), and the cosine to it that a new member must have.
    """

    key: int | None
    id: str
    name: str
    terms: tuple[str, ...]
    phase: TopicPhase
    agreement: float
    strengths: Mapping[str, float]
    churn: float
    recalled: float
    recalled_before: float
    settled_at: int
    model_key: int
    centroid: bytes
    floor: float
    members: Mapping[NodeKey, float]


@dataclass(frozen=True, slots=True)
class TopicCentre:
    """Where new memories are compared with a topic: its mean vector in E1 and the cosine that is near enough."""

    topic_key: int
    centroid: bytes
    floor: float


class Topics:
    """The topics of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    # -- reading ------------------------------------------------------------------------------------------------------

    def list_of_scopes(self, scopes: Sequence[str]) -> list[Topic]:
        """Return the topics of scopes, largest first."""
        rows = self._connection.execute(
            f"{_SELECT} WHERE s.id IN (SELECT value FROM json_each(?)) ORDER BY member_count DESC, t.key",
            (json.dumps(list(scopes)),),
        )
        return [_topic_from_row(row) for row in rows]

    def get_topic(self, topic_id: str) -> Topic | None:
        """Return a topic, or None."""
        row = self._connection.execute(f"{_SELECT} WHERE t.id = ?", (topic_id,)).fetchone()
        return _topic_from_row(row) if row else None

    def ids_like(self, prefix: str, limit: int = 5, *, scopes: Sequence[str] = ()) -> list[str]:
        """Return ids that start with `prefix`; of topics of one of the scopes, if any are given."""
        rows = self._connection.execute(
            "SELECT t.id FROM topics t JOIN scopes s ON s.key = t.scope_key WHERE t.id >= ?1 AND t.id < ?2"
            " AND (?4 = '[]' OR s.id IN (SELECT value FROM json_each(?4))) ORDER BY t.id LIMIT ?3",
            (prefix, prefix + "\U0010ffff", limit, json.dumps(list(scopes))),
        )
        return [row[0] for row in rows]

    def list_members(self, topic_key: int, limit: int = -1) -> list[NodeKey]:
        """Return living members that are not withheld, the most typical first; all of them unless limited."""
        rows = self._connection.execute(
            "SELECT m.node_key FROM topic_members m JOIN nodes n ON n.key = m.node_key"
            f" WHERE m.topic_key = ? AND n.deleted_at IS NULL AND {NOT_WITHHELD}"
            " ORDER BY m.weight DESC, m.node_key LIMIT ?",
            (topic_key, limit),
        )
        return [NodeKey(row[0]) for row in rows]

    def get_members_at_run(self, scope_key: int) -> dict[int, set[NodeKey]]:
        """Return the members that each topic of a scope had when it was last looked for."""
        found: dict[int, set[NodeKey]] = {}
        for topic, node in self._connection.execute(
            "SELECT m.topic_key, m.node_key FROM topic_members m JOIN topics t ON t.key = m.topic_key"
            " WHERE t.scope_key = ? AND m.joined_at <= t.run_at",
            (scope_key,),
        ):
            found.setdefault(topic, set()).add(NodeKey(node))
        return found

    def list_runs(self, scopes: Sequence[str]) -> list[TopicRun]:
        """Return the latest run in each of these scopes that had one, or is to have one."""
        rows = self._connection.execute(
            "SELECT r.* FROM topic_runs r JOIN scopes s ON s.key = r.scope_key"
            " WHERE s.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(scopes)),),
        )
        return [_run_from_row(row) for row in rows]

    def get_latest_run(self, scopes: Sequence[str]) -> tuple[int | None, int]:
        """Return when topics of these scopes were last looked for, and among how many memories."""
        runs = [run for run in self.list_runs(scopes) if run.run_at]
        return max((run.run_at for run in runs), default=None), sum(run.memories for run in runs)

    def get_run(self, scope_key: int) -> TopicRun | None:
        """Return the latest run in a scope, or None."""
        row = self._connection.execute("SELECT * FROM topic_runs WHERE scope_key = ?", (scope_key,)).fetchone()
        return _run_from_row(row) if row else None

    def list_candidates(self, scope_key: int, model_key: int) -> list[NodeKey]:
        """Return the living memories of a scope that topics are made of: those with a vector, by key."""
        rows = self._connection.execute(
            f"SELECT n.key {_CANDIDATES} ORDER BY n.key", (scope_key, json.dumps(NOT_CLUSTERED), model_key)
        )
        return [NodeKey(row[0]) for row in rows]

    def count_candidates(self, scope_key: int, model_key: int) -> int:
        """Return how many memories topics of a scope are made of."""
        row = self._connection.execute(
            f"SELECT count(*) {_CANDIDATES}", (scope_key, json.dumps(NOT_CLUSTERED), model_key)
        ).fetchone()
        return int(row[0])

    def find_recalled_since(self, keys: Iterable[int], since: int) -> set[NodeKey]:
        """Return which of these memories were recalled at or after a time."""
        rows = self._connection.execute(
            "SELECT n.key FROM json_each(?) j JOIN nodes n ON n.key = j.value"
            " WHERE n.access_count > 0 AND n.last_accessed >= ?",
            (encode_keys(keys), since),
        )
        return {NodeKey(row[0]) for row in rows}

    def get_keywords(self, keys: Sequence[int]) -> dict[NodeKey, str]:
        """Return the analysed terms of memories, title and body, space-joined."""
        rows = self._connection.execute(
            "SELECT k.node_key, k.title, k.body FROM json_each(?) j JOIN keywords k ON k.node_key = j.value",
            (encode_keys(keys),),
        )
        return {NodeKey(row[0]): f"{read_words(row[1])} {read_words(row[2])}" for row in rows}

    def list_centres(self, scope_key: int, model_key: int) -> list[TopicCentre]:
        """Return the centres of a scope's topics in one model's space."""
        rows = self._connection.execute(
            "SELECT key, centroid, floor FROM topics"
            " WHERE scope_key = ? AND model_key = ? AND centroid IS NOT NULL AND merged_into IS NULL ORDER BY key",
            (scope_key, model_key),
        )
        return [TopicCentre(*row) for row in rows]

    def find_joinable(self, keys: Sequence[int]) -> Iterator[tuple[int, NodeKey]]:
        """Yield (scope, memory) of those memories that may join a topic, in scopes that have any."""
        rows = self._connection.execute(
            "SELECT n.scope_key, n.key FROM json_each(?) j JOIN nodes n ON n.key = j.value"
            " WHERE n.deleted_at IS NULL AND n.type <> 'entity'"
            " AND coalesce(n.subtype, '') NOT IN (SELECT value FROM json_each(?))"
            " AND n.scope_key IN (SELECT scope_key FROM topics)",
            (encode_keys(keys), json.dumps(NOT_CLUSTERED)),
        )
        for row in rows:
            yield int(row[0]), NodeKey(row[1])

    # -- writing ------------------------------------------------------------------------------------------------------

    def request_run(self, scope_key: int) -> None:
        """Ask for a new run in a scope."""
        self._connection.execute(
            "INSERT INTO topic_runs(scope_key, run_at, memories, wanted) VALUES (?, 0, 0, 1)"
            " ON CONFLICT(scope_key) DO UPDATE SET wanted = 1",
            (scope_key,),
        )

    def list_wanted(self) -> list[tuple[int, str]]:
        """Return key and id of the scopes in which somebody asked for a run."""
        rows = self._connection.execute(
            "SELECT s.key, s.id FROM topic_runs r JOIN scopes s ON s.key = r.scope_key WHERE r.wanted ORDER BY s.key"
        )
        return [(row[0], row[1]) for row in rows]

    def record_run(self, scope_key: int, memories: int, *, now: int) -> None:
        """Note that topics were looked for in a scope."""
        self._connection.execute(
            "INSERT OR REPLACE INTO topic_runs(scope_key, run_at, memories, wanted) VALUES (?, ?, ?, 0)",
            (scope_key, now, memories),
        )

    def replace_topics(
        self, scope_key: int, found: Sequence[FoundTopic], merged: Mapping[int, str], *, now: int
    ) -> None:
        """Store what a run found in place of what the run before did.

        Args:
            scope_key: where.
            found: the topics, with the keys of the known ones.
            merged: id of the topic that took most members of a known one that was not found again, by its key.
            now: the time, in milliseconds.
        """
        kept = [topic.key for topic in found if topic.key is not None]
        self._connection.execute(
            "DELETE FROM topic_members WHERE topic_key IN (SELECT key FROM topics WHERE scope_key = ?)", (scope_key,)
        )
        self._connection.execute(
            "DELETE FROM topics WHERE scope_key = ? AND key NOT IN (SELECT value FROM json_each(?))",
            (scope_key, json.dumps([*kept, *merged])),
        )
        for key, target in merged.items():
            self._connection.execute(
                "UPDATE topics SET phase = 'merging', merged_into = ?, run_at = ?, centroid = NULL WHERE key = ?",
                (target, now, key),
            )
        for topic in found:
            self._put_topic(scope_key, topic, now)

    def _put_topic(self, scope_key: int, topic: FoundTopic, now: int) -> None:
        values = {
            "id": topic.id,
            "scope_key": scope_key,
            "name": topic.name,
            "terms": json.dumps(topic.terms, ensure_ascii=False),
            "phase": topic.phase,
            "agreement": topic.agreement,
            "strengths": json.dumps(dict(topic.strengths)),
            "churn": topic.churn,
            "recalled": topic.recalled,
            "recalled_before": topic.recalled_before,
            "run_at": now,
            "settled_at": topic.settled_at,
            "merged_into": None,
            "model_key": topic.model_key,
            "centroid": topic.centroid,
            "floor": topic.floor,
        }
        changed = ", ".join(f"{name} = excluded.{name}" for name in values if name != "id")
        row = self._connection.execute(
            f"INSERT INTO topics({', '.join(values)}, created_at) VALUES ({', '.join('?' * len(values))}, ?)"
            f" ON CONFLICT(id) DO UPDATE SET {changed} RETURNING key",
            (*values.values(), now),
        ).fetchone()
        self.add_members(int(row[0]), topic.members, now=now)

    def add_members(self, topic_key: int, members: Mapping[NodeKey, float], *, now: int) -> None:
        """Put memories into a topic, out of the one they were in; those that are gone by now are passed over."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO topic_members(node_key, topic_key, weight, joined_at)"
            " SELECT key, ?, ?, ? FROM nodes WHERE key = ?",
            [(topic_key, weight, now, int(key)) for key, weight in members.items()],
        )

    def clear_keywords(self, node_key: int) -> None:
        """Take the words that a memory may have lent to its topic's name out of it; a new run is asked for."""
        row = self._connection.execute(
            "UPDATE topics SET name = '', terms = '[]'"
            " WHERE key = (SELECT topic_key FROM topic_members WHERE node_key = ?) RETURNING scope_key",
            (node_key,),
        ).fetchone()
        if row is not None:
            self.request_run(int(row[0]))

    def remove_members(self, keys: Iterable[int]) -> None:
        """Take memories out of their topics."""
        self._connection.execute(
            "DELETE FROM topic_members WHERE node_key IN (SELECT value FROM json_each(?))",
            (encode_keys(keys),),
        )


def _run_from_row(row: sqlite3.Row) -> TopicRun:
    return TopicRun(
        scope_key=row["scope_key"], run_at=row["run_at"], memories=row["memories"], wanted=bool(row["wanted"])
    )


def _topic_from_row(row: sqlite3.Row) -> Topic:
    return Topic(
        key=row["key"],
        id=row["id"],
        scope=row["scope"],
        name=row["name"],
        terms=tuple(json.loads(row["terms"])),
        phase=TopicPhase(row["phase"]),
        agreement=row["agreement"],
        strengths=json.loads(row["strengths"]),
        churn=row["churn"],
        recalled=row["recalled"],
        recalled_before=row["recalled_before"],
        created_at=row["created_at"],
        run_at=row["run_at"],
        settled_at=row["settled_at"],
        merged_into=row["merged_into"],
        member_count=row["member_count"],
    )
