"""Export selection: which rows a partial export has, so that an import finds whole memories and nothing of others.

A row goes along if everything that it refers to does. Memories of a project take the entities along that they mention;
relations only go where all their members do.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from hyperloci.model.kinds import Origin
from hyperloci.store.keywords.keyword_index import read_words
from hyperloci.system.values import dataclass

_CHOSEN: Final = """
    SELECT n.key FROM nodes n JOIN scopes s ON s.key = n.scope_key
    WHERE (?1 IS NULL OR s.id = ?1) AND (?2 = '[]' OR n.subtype IN (SELECT value FROM json_each(?2)))
    AND (?3 IS NULL OR n.event_time >= ?3)
"""

_OF_WHOLE_PROJECTS: Final = frozenset({"consolidations", "chunks", "chunk_turns", "files", "commits", "transcripts"})
"""They say how far something was read: true only beside all memories that were made of it."""

_HELPED_BY_THEIR_OWN: Final = frozenset({Origin.CODE, Origin.MARKDOWN, Origin.COMMIT})
"""What further words help to find these, a commit's name and author among them, is no other memory's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportChoice:
    """What is exported; everything by default.

    Attributes:
        scope: only this project's memories.
        kinds: only these subtypes.
        since: only memories of this time or later, in milliseconds.
    """

    scope: str | None = None
    kinds: tuple[str, ...] = ()
    since: int | None = None

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return self == ExportChoice()

    @property
    def has_whole_projects(self) -> bool:
        """Whether all memories of a project are exported, or none."""
        return not self.kinds and self.since is None


class SelectedRows:
    """The rows of a partial export. They must be asked for table by table, parents before children."""

    def __init__(self, connection: sqlite3.Connection, choice: ExportChoice) -> None:
        self._choice = choice
        self._kept: defaultdict[str, set[Any]] = defaultdict(set)
        chosen = {row[0] for row in connection.execute(_CHOSEN, _values(choice))}
        mentions = connection.execute("SELECT node_key, entity_key FROM mentions").fetchall()
        chosen |= {entity for node, entity in mentions if node in chosen}
        self._nodes, self._helped_by_own = chosen, set[int]()
        self._ids, self._scopes, self._sessions = set[str](), set[int](), set[int]()
        for key, id, scope, session in connection.execute("SELECT key, id, scope_key, session_key FROM nodes"):
            if key in chosen:
                self._ids.add(id)
                self._scopes.add(scope)
                self._sessions.add(session)
        self._broken = {
            edge
            for edge, node in connection.execute("SELECT hyperedge_key, node_key FROM membership")
            if node not in chosen
        }

    def keeps(self, table: str, key: str | None, references: Mapping[str, str], row: dict[str, Any]) -> bool:
        """Return whether a row goes along; one that can do without what it refers to loses that."""
        if table in _OF_WHOLE_PROJECTS and (not self._choice.has_whole_projects or table == "transcripts"):
            return False
        if table == "positions" and row["file_key"] not in self._kept["files"]:
            row["file_key"] = None
        self._drop_other_words(table, row)
        is_kept = self._is_chosen(table, row) and all(
            row.get(column) is None or row[column] in self._kept[parent] for column, parent in references.items()
        )
        if is_kept and key is not None:
            self._kept[table].add(row[key])
        return is_kept

    def _drop_other_words(self, table: str, row: dict[str, Any]) -> None:
        """Take out of a row what it repeats of memories that may stay here; upkeep there makes summaries anew."""
        if table == "entities":
            row["summary"] = None
        elif table == "nodes" and row["origin"] in _HELPED_BY_THEIR_OWN:
            self._helped_by_own.add(row["key"])
        elif table == "keywords" and not self._choice.has_whole_projects and row["node_key"] not in self._helped_by_own:
            # The words of the fact that was told before it, or of the turns before it.
            row["length"] -= len(read_words(row["extra"]).split())
            row["extra"] = ""

    def _is_chosen(self, table: str, row: Mapping[str, Any]) -> bool:
        match table:
            case "scopes":
                return row["key"] in self._scopes
            case "sessions":
                return row["key"] in self._sessions
            case "nodes":
                return row["key"] in self._nodes
            case "hyperedges":
                return row["key"] not in self._broken
            case "evolution_log":
                return self._ids.issuperset(json.loads(row["node_ids"]))
            case _:
                return True


def _values(choice: ExportChoice) -> tuple[str | None, str, int | None]:
    return choice.scope, json.dumps(list(choice.kinds)), choice.since
