"""Relation queue: snippets whose relations are still to be found, files as rules read them, replaced edges."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

from hyperloci.model.edge import WantedRelation
from hyperloci.model.kinds import EDGE_TYPE_OF_LABEL, SYMMETRIC_LABELS, EdgeType, NodeKey, Role
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.keywords.analysis import analyse_text
from hyperloci.system.random_ids import make_random_id
from hyperloci.system.values import dataclass

_FILE_ROWS: Final = """
SELECT p.path, n.key, n.subtype, n.content, n.metadata, p.symbol, p.class_name, p.function_name, p.anchor, p.language,
    p.section_path, p.line_start, p.line_end, c.facts
FROM files f JOIN positions p ON p.file_key = f.key JOIN nodes n ON n.key = p.node_key
LEFT JOIN code_facts c ON c.node_key = n.key
WHERE f.scope_key = ? AND f.path = ? AND n.deleted_at IS NULL ORDER BY p.char_start, n.key
"""


_OF_PROJECT: Final = "CROSS JOIN nodes n ON n.key = c.node_key WHERE n.scope_key = ? AND n.deleted_at IS NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkableSnippet:
    """One living snippet of a file, with all that rules may look at."""

    key: NodeKey
    kind: str
    content: str
    links: tuple[str, ...]
    symbol: str | None
    class_name: str | None
    function_name: str | None
    anchor: str | None
    language: str | None
    section_path: tuple[str, ...]
    line_start: int
    line_end: int
    facts: dict[str, Any]


class RelationQueue:
    """The relations that rules find in one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    # -- the queue ---------------------------------------------------------------------------------------------------

    def list_waiting(self, scope_key: int) -> dict[str, list[NodeKey]]:
        """Return the snippets of a project whose relations are still to be found, by the path of their file."""
        found: dict[str, list[NodeKey]] = {}
        for path, key in self._connection.execute(
            "SELECT p.path, u.node_key FROM unlinked u CROSS JOIN positions p ON p.node_key = u.node_key"
            " CROSS JOIN files f ON f.key = p.file_key WHERE f.scope_key = ? ORDER BY p.path, u.node_key",
            (scope_key,),
        ):
            found.setdefault(path, []).append(NodeKey(key))
        return found

    def queue_snippets(self, keys: Iterable[int]) -> None:
        """Have the relations of snippets found anew."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO unlinked(node_key) VALUES (?)", [(int(key),) for key in keys]
        )

    def queue_kind(self, scope_key: int, kind: str) -> int:
        """Have the relations of all living snippets of a kind found anew, and return how many were not waiting yet."""
        cursor = self._connection.execute(
            "INSERT OR IGNORE INTO unlinked(node_key) SELECT n.key FROM nodes n WHERE n.scope_key = ?"
            " AND n.type = 'snippet' AND n.subtype = ? AND n.deleted_at IS NULL",
            (scope_key, kind),
        )
        return cursor.rowcount

    def queue_sources_of(self, targets: Iterable[int], labels: Sequence[str]) -> None:
        """Have the relations found anew of whatever an automatic edge of these labels joins to `targets`."""
        self._connection.execute(
            """
            INSERT OR IGNORE INTO unlinked(node_key)
            SELECT s.node_key FROM json_each(?1) j CROSS JOIN membership o ON o.node_key = j.value AND o.role = 'object'
            CROSS JOIN hyperedges h ON h.key = o.hyperedge_key
            CROSS JOIN membership s ON s.hyperedge_key = h.key AND s.role = 'subject'
            CROSS JOIN positions p ON p.node_key = s.node_key
            WHERE h.automatic = 1 AND h.label IN (SELECT value FROM json_each(?2))
            """,
            (encode_keys(targets), json.dumps(list(labels))),
        )

    def unqueue_snippets(self, keys: Iterable[int]) -> None:
        """Note that the relations of snippets were found."""
        self._connection.executemany("DELETE FROM unlinked WHERE node_key = ?", [(int(key),) for key in keys])

    def drop_relations_of_lost(self) -> int:
        """Empty the queue of what has no file any more; return how many those were."""
        return self._connection.execute(
            "DELETE FROM unlinked WHERE NOT EXISTS (SELECT 1 FROM positions p JOIN files f ON f.key = p.file_key"
            " WHERE p.node_key = unlinked.node_key)"
        ).rowcount

    # -- files -------------------------------------------------------------------------------------------------------

    def list_paths(self, scope_key: int) -> list[str]:
        """Return the paths of a project's indexed files."""
        return [row[0] for row in self._connection.execute("SELECT path FROM files WHERE scope_key = ?", (scope_key,))]

    def list_snippets(self, scope_key: int, path: str) -> list[LinkableSnippet]:
        """Return the living snippets of a file, in their order."""
        rows = self._connection.execute(_FILE_ROWS, (scope_key, path))
        return [
            LinkableSnippet(
                key=NodeKey(row["key"]),
                kind=row["subtype"],
                content=row["content"],
                links=tuple(json.loads(row["metadata"]).get("links", ())) if "links" in row["metadata"] else (),
                symbol=row["symbol"],
                class_name=row["class_name"],
                function_name=row["function_name"],
                anchor=row["anchor"],
                language=row["language"],
                section_path=() if row["section_path"] == "[]" else tuple(json.loads(row["section_path"])),
                line_start=row["line_start"],
                line_end=row["line_end"],
                facts=json.loads(row["facts"]) if row["facts"] else {},
            )
            for row in rows
        ]

    def list_texts(self, scope_key: int, paths: Iterable[str]) -> list[tuple[str, str]]:
        """Return (path, text) of the living snippets of some files, in their order."""
        rows = self._connection.execute(
            "SELECT f.path, n.content FROM json_each(?2) j CROSS JOIN files f ON f.scope_key = ?1 AND f.path = j.value"
            " CROSS JOIN positions p ON p.file_key = f.key CROSS JOIN nodes n ON n.key = p.node_key"
            " WHERE n.deleted_at IS NULL ORDER BY f.path, p.char_start",
            (scope_key, json.dumps(list(paths))),
        )
        return [(row[0], row[1]) for row in rows]

    def find_importers(self, scope_key: int, words: Iterable[str]) -> list[NodeKey]:
        """Return the code snippets that import a name in which one of these words stands whole.

        A class is named without an import too by what belongs to its package: of a word in capitals it is enough that a
        snippet says it.

        What imports a name has it in its text: the keyword index says which those are, and only those are read.
        """
        found: set[int] = set()
        for word in set(words):
            # Only the whole word: `StoreFront` says nothing of `Store`.
            said = self._connection.execute(*_select_importers(scope_key, word))
            found.update(row[0] for row in said if row[1] is not None and _has_whole(row[1], word))
        return [NodeKey(key) for key in sorted(found)]

    def find_commits(self, scope_key: int, prefix: str) -> list[NodeKey]:
        """Return at most two commits of a project whose hash begins so."""
        rows = self._connection.execute(
            "SELECT c.node_key FROM commits c JOIN nodes n ON n.key = c.node_key WHERE c.scope_key = ? AND c.sha >= ?"
            " AND c.sha < ? AND n.deleted_at IS NULL LIMIT 2",
            (scope_key, prefix, prefix + "g"),
        )
        return [NodeKey(row[0]) for row in rows]

    def list_commit_messages(self, scope_key: int) -> list[tuple[NodeKey, str]]:
        """Return the commits of a project that name an issue, with what they say."""
        rows = self._connection.execute(
            "SELECT n.key, n.content FROM commits c JOIN nodes n ON n.key = c.node_key WHERE c.scope_key = ?"
            " AND n.deleted_at IS NULL AND (instr(n.content, '#') > 0 OR instr(n.content, 'GH-') > 0) ORDER BY n.key",
            (scope_key,),
        )
        return [(NodeKey(row[0]), row[1]) for row in rows]

    # -- edges -------------------------------------------------------------------------------------------------------

    def replace_relations_of_all(
        self, wanted: dict[NodeKey, Sequence[WantedRelation]], labels: Sequence[str], *, now: int
    ) -> tuple[int, int]:
        """Make the automatic edges of `labels` that snippets speak in exactly these; return (added, removed).

        An edge that is wanted still keeps its id, however sure the rules are of it now; one that somebody confirmed
        stays whatever they say, and is not made twice.
        """
        known = self._known_relations(list(wanted), labels)
        new: list[tuple[NodeKey, WantedRelation]] = []
        changed: list[tuple[float, str | None, int]] = []
        for subject, links in wanted.items():
            for link in links:
                key, sure = known.pop((subject, link.label, int(link.target)), (None, None))
                if key is None:
                    new.append((subject, link))
                elif sure not in (None, link.confidence):
                    changed.append((link.confidence, link.evidence, key))
        if changed:
            self._connection.executemany("UPDATE hyperedges SET confidence = ?, evidence = ? WHERE key = ?", changed)
        stale = [key for key, sure in known.values() if sure is not None]
        if stale:
            self._connection.executemany("DELETE FROM hyperedges WHERE key = ?", [(key,) for key in stale])
        self._create_relations(new, now)
        return len(new), len(stale)

    def _known_relations(
        self, subjects: Sequence[NodeKey], labels: Sequence[str]
    ) -> dict[tuple[NodeKey, str, int], tuple[int, float | None]]:
        """Return the key and the confidence of each automatic edge, None for what somebody confirmed."""
        rows = self._connection.execute(
            """
            SELECT s.node_key, h.label, o.node_key, h.key, iif(h.confirmed_at IS NULL, h.confidence, NULL)
            FROM json_each(?1) j
            CROSS JOIN membership s ON s.node_key = j.value AND s.role IN ('subject', 'participant') AND s.position = 0
            CROSS JOIN hyperedges h ON h.key = s.hyperedge_key
            CROSS JOIN membership o ON o.hyperedge_key = h.key AND o.position = 1
            WHERE h.automatic = 1 AND h.label IN (SELECT value FROM json_each(?2)) AND o.node_key <> s.node_key
            """,
            (encode_keys(subjects), json.dumps(list(labels))),
        )
        return {(NodeKey(row[0]), row[1], row[2]): (row[3], row[4]) for row in rows}

    def _create_relations(self, new: Sequence[tuple[NodeKey, WantedRelation]], now: int) -> None:
        if not new:
            return
        members: list[tuple[int, int, str, int]] = []
        execute = self._connection.execute
        for subject, link in new:
            cursor = execute(
                "INSERT INTO hyperedges(id, type, label, confidence, automatic, evidence, created_at)"
                " VALUES (?, ?, ?, ?, 1, ?, ?)",
                (
                    make_random_id(),
                    EDGE_TYPE_OF_LABEL.get(link.label, EdgeType.RELATION),
                    link.label,
                    link.confidence,
                    link.evidence,
                    now,
                ),
            )
            edge = int(cursor.lastrowid or 0)
            first, second = (
                (Role.PARTICIPANT, Role.PARTICIPANT) if link.label in SYMMETRIC_LABELS else (Role.SUBJECT, Role.OBJECT)
            )
            members += ((edge, int(subject), first, 0), (edge, int(link.target), second, 1))
        self._connection.executemany(
            "INSERT INTO membership(hyperedge_key, node_key, role, position) VALUES (?, ?, ?, ?)", members
        )


def _select_importers(scope_key: int, word: str) -> tuple[str, tuple[object, ...]]:
    """Return the query for snippets that may import something with a word in its name, each with where it says so."""
    said = "n.content" if word[:1].isupper() else "json_extract(c.facts, '$.imports')"
    # Terms are letters, digits and `_`: a quote never stands in one.
    terms = " AND ".join(f'"{term}"' for term in dict.fromkeys(analyse_text(word)))
    if not terms:
        return f"SELECT n.key, {said} FROM code_facts c {_OF_PROJECT}", (scope_key,)
    searched = "(SELECT rowid FROM keyword_index WHERE keyword_index MATCH ?) k"
    found = f"SELECT n.key, {said} FROM {searched} CROSS JOIN code_facts c ON c.node_key = k.rowid {_OF_PROJECT}"
    return found, (terms, scope_key)


def _has_whole(text: str, word: str) -> bool:
    """Say whether a text has a word that is no part of a longer one."""
    end = 0
    while word and (start := text.find(word, end)) >= 0:
        end = start + len(word)
        around = text[max(start - 1, 0) : start] + text[end : end + 1]
        if not any(sign.isalnum() or sign == "_" for sign in around):
            return True
    return False
