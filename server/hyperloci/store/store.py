"""Store: one connection to one database file, and everything kept in it."""

from __future__ import annotations

import contextlib
import functools
import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hyperloci.clock import Clock, system_clock
from hyperloci.model.decay import decay_factor
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.store import stats
from hyperloci.store.archive import compressed_turns
from hyperloci.store.conversations.sessions import Sessions
from hyperloci.store.database import connection as connections
from hyperloci.store.database.database_copy import copy_to_file
from hyperloci.store.database.error_translation import translate_block_errors
from hyperloci.store.database.file_guard import DatabaseChange, FileGuard, refuse_missing_log
from hyperloci.store.database.meta import Meta
from hyperloci.store.keywords.keyword_index import KeywordIndex
from hyperloci.store.memories.edges import Edges
from hyperloci.store.memories.entities import Entities
from hyperloci.store.memories.evolution_log import EvolutionLog
from hyperloci.store.memories.node_lists import NodeLists
from hyperloci.store.memories.nodes import DECAY_RATE, Nodes
from hyperloci.store.memories.positions import Positions
from hyperloci.store.memories.relation_queue import RelationQueue
from hyperloci.store.memories.scopes import Scopes
from hyperloci.store.memories.symbols import Symbols
from hyperloci.store.memories.withheld import WithheldRows
from hyperloci.store.migration import check_version, migrate_schema, refuse_changed_schema
from hyperloci.store.projects.places import Places
from hyperloci.store.projects.set_aside import SetAsideRows
from hyperloci.store.vectors.embedding_pace import EmbeddingPace

if TYPE_CHECKING:
    from hyperloci.store.access.access_log import AccessLog
    from hyperloci.store.access.tokens import AccessTokens
    from hyperloci.store.conversations.chunks import Chunks
    from hyperloci.store.conversations.consolidations import Consolidations
    from hyperloci.store.conversations.openings import Openings
    from hyperloci.store.conversations.passing_statements import PassingStatements
    from hyperloci.store.conversations.turns import TurnRows
    from hyperloci.store.memories.decay import DecayQueries
    from hyperloci.store.memories.edge_pruning import EdgePruning
    from hyperloci.store.memories.facets import FacetRows
    from hyperloci.store.memories.shared import SharedRows
    from hyperloci.store.memories.timeline import TimelineRows
    from hyperloci.store.memories.topics import Topics
    from hyperloci.store.memories.traversal import Traversal
    from hyperloci.store.projects.files import Files
    from hyperloci.store.projects.git_history import CommitHistory
    from hyperloci.store.projects.line_commits import LineCommits
    from hyperloci.store.search.filters import Filters
    from hyperloci.store.search.keyword_search import KeywordSearch
    from hyperloci.store.team.team_rows import TeamRows
    from hyperloci.store.vectors.fingerprints import Fingerprints
    from hyperloci.store.vectors.sparse import SparseIndex


class Store:
    """One connection to the database; used by one thread at a time.

    Reads may run at any time; writes run inside `with store.transaction():`. The parts that a hook
    does not need, above all those with numpy, are loaded on first use, so that hooks stay fast.
    `connection` is for the modules of this package; all others use one of the parts.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path, *, read_only: bool = False, decay_rate: float = DECAY_RATE
    ) -> None:
        self.connection = connection
        self.path = path
        self.read_only = read_only
        self._makes_log = False
        self.file_guard = FileGuard(connection, path)
        self.scopes = Scopes(connection)
        self.places = Places(connection)
        self.log = EvolutionLog(connection)
        self.keywords = KeywordIndex(connection)
        self.positions = Positions(connection)
        self.node_lists = NodeLists(connection)
        self.nodes = Nodes(connection, self.scopes, self.keywords, self.positions, self.log, decay_rate)
        self.symbols = Symbols(connection)
        self.edges = Edges(connection)
        self.relation_queue = RelationQueue(connection)
        self.entities = Entities(connection)
        self.withheld = WithheldRows(connection)
        self.sessions = Sessions(connection)
        self.set_aside = SetAsideRows(connection, self.transaction)
        self.meta = Meta(connection)
        self.embedding_pace = EmbeddingPace(self.meta)
        compressed_turns.register_functions(connection, path)
        connection.create_function("decayed", 2, decay_factor, deterministic=True)
        connection.create_function("ln1p", 1, math.log1p, deterministic=True)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        backup_dir: Path | None = None,
        synchronous: str = "normal",
        clock: Clock = system_clock,
        read_only: bool = False,
        busy_timeout_ms: int | None = None,
        decay_rate: float = DECAY_RATE,
    ) -> Self:
        """Open the database, making or migrating it where needed.

        Args:
            path: the database file.
            backup_dir: where the copy goes that is made before a migration.
            synchronous: `normal` or `full` (settings).
            clock: the time, for what is written now.
            read_only: neither make, migrate nor write.
            busy_timeout_ms: how long a write waits for another process's; None is the usual time.
            decay_rate: of new facts that give none (settings: `decay_rate_default`).

        Raises:
            StoreError: it cannot be opened; the kind says why.
        """
        refuse_missing_log(path)
        makes_log = read_only and not connections.has_log(path)
        connection = connections.open_connection(
            path, synchronous=synchronous, read_only=read_only, busy_timeout_ms=busy_timeout_ms
        )
        try:
            with translate_block_errors(path):
                if read_only:
                    check_version(connection, path)
                else:
                    migrate_schema(connection, path, backup_dir or path.parent / "backups", clock)
                store = cls(connection, path, read_only=read_only, decay_rate=decay_rate)
                store._makes_log = makes_log
                if not read_only and store.scopes.find_key(GLOBAL_SCOPE) is None:
                    with store.transaction():
                        store.scopes.ensure_scope(GLOBAL_SCOPE, now=clock())
        except BaseException:
            connection.close()
            raise
        return store

    @functools.cached_property
    def access_tokens(self) -> AccessTokens:
        """Who may use the memory over HTTP."""
        from hyperloci.store.access.tokens import AccessTokens

        return AccessTokens(self.connection)

    @functools.cached_property
    def access_log(self) -> AccessLog:
        """Who read and wrote what over HTTP."""
        from hyperloci.store.access.access_log import AccessLog

        return AccessLog(self.connection)

    @functools.cached_property
    def shared(self) -> SharedRows:
        """What was exchanged with others."""
        from hyperloci.store.memories.shared import SharedRows

        return SharedRows(self.connection)

    @functools.cached_property
    def turns(self) -> TurnRows:
        """What was said and done in sessions."""
        from hyperloci.store.conversations.turns import TurnRows

        return TurnRows(self.connection)

    @functools.cached_property
    def consolidations(self) -> Consolidations:
        """How far each session was consolidated."""
        from hyperloci.store.conversations.consolidations import Consolidations

        return Consolidations(self.connection, self.log)

    @functools.cached_property
    def passing_statements(self) -> PassingStatements:
        """What was said in passing."""
        from hyperloci.store.conversations.passing_statements import PassingStatements

        return PassingStatements(self.connection)

    @functools.cached_property
    def openings(self) -> Openings:
        """What sessions begin with, rendered ahead."""
        from hyperloci.store.conversations.openings import Openings

        return Openings(self.connection)

    @functools.cached_property
    def decay(self) -> DecayQueries:
        """Memories that faded, change tier, or were forgotten for too long."""
        from hyperloci.store.memories.decay import DecayQueries

        return DecayQueries(self.connection, self.log)

    @functools.cached_property
    def pruning(self) -> EdgePruning:
        """Relations that have faded, and the graph's measures."""
        from hyperloci.store.memories.edge_pruning import EdgePruning

        return EdgePruning(self.connection)

    @functools.cached_property
    def traversal(self) -> Traversal:
        """Steps over hyperedges."""
        from hyperloci.store.memories.traversal import Traversal

        return Traversal(self.connection)

    @functools.cached_property
    def chunks(self) -> Chunks:
        """Chunks of conversations."""
        from hyperloci.store.conversations.chunks import Chunks

        return Chunks(self.connection)

    @functools.cached_property
    def files(self) -> Files:
        """Indexed files."""
        from hyperloci.store.projects.files import Files

        return Files(self.connection)

    @functools.cached_property
    def history(self) -> CommitHistory:
        """Commits, and how far the rest of the history has been read."""
        from hyperloci.store.projects.git_history import CommitHistory

        return CommitHistory(self.connection)

    @functools.cached_property
    def line_commits(self) -> LineCommits:
        """Which commits wrote the lines of code that stand."""
        from hyperloci.store.projects.line_commits import LineCommits

        return LineCommits(self.connection)

    @functools.cached_property
    def topics(self) -> Topics:
        """Topics."""
        from hyperloci.store.memories.topics import Topics

        return Topics(self.connection)

    @functools.cached_property
    def timeline(self) -> TimelineRows:
        """Memories in the order of their time."""
        from hyperloci.store.memories.timeline import TimelineRows

        return TimelineRows(self.connection)

    @functools.cached_property
    def facets(self) -> FacetRows:
        """Facets of memories."""
        from hyperloci.store.memories.facets import FacetRows

        return FacetRows(self.connection)

    @functools.cached_property
    def team(self) -> TeamRows:
        """What of the team's memories is here, and what waits to be told."""
        from hyperloci.store.team.team_rows import TeamRows

        return TeamRows(self.connection)

    @functools.cached_property
    def filters(self) -> Filters:
        """Sets of nodes that meet conditions."""
        from hyperloci.store.search import filters

        filters.register_functions(self.connection)
        return filters.Filters(self.connection)

    @functools.cached_property
    def keyword_search(self) -> KeywordSearch:
        """Queries of the keyword index."""
        from hyperloci.store.search.keyword_search import KeywordSearch

        return KeywordSearch(self.connection)

    @functools.cached_property
    def vectors(self) -> Fingerprints:
        """Fingerprints."""
        from hyperloci.store.database import vector_extension
        from hyperloci.store.vectors.fingerprints import Fingerprints

        return Fingerprints(self.connection, vec_attached=vector_extension.attach_vec(self.connection))

    @functools.cached_property
    def sparse_index(self) -> SparseIndex:
        """Weighted terms and their inverted index."""
        from hyperloci.store.vectors.sparse import SparseIndex

        return SparseIndex(self.connection)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one write: all of it is durable afterwards, or none of it happened.

        Raises:
            StoreVersionError: another program has changed the schema since this one opened the database.
            StoreMovedError: another program has moved, replaced or cut its files.
        """
        self.refuse_moved_files()
        with connections.write_transaction(self.connection, self.path):
            refuse_changed_schema(self.connection, self.path)
            yield
        self.file_guard.note_commit()

    def refuse_moved_files(self) -> None:
        """Make sure that what is written goes where it will be found.

        Raises:
            StoreMovedError: another program has moved, replaced or cut the files; says where their content is.
        """
        if (
            not (self.read_only or self.connection.in_transaction)
            and (change := self.file_guard.detect_change()) is not None
        ):
            raise self.file_guard.secure_content(change)

    def has_waiting_writers(self) -> bool | None:
        """Return whether another connection waits for the write lock; None where that can't be told."""
        queue = getattr(self.connection, "queue", None)
        return None if queue is None else queue.has_waiting_writers()

    @contextlib.contextmanager
    def limit_lock_wait(self, milliseconds: int) -> Iterator[None]:
        """Wait at most so long for the write lock inside the block, for work that may be skipped."""
        usual = int(self.connection.execute("PRAGMA busy_timeout").fetchone()[0])
        self.connection.execute(f"PRAGMA busy_timeout = {int(milliseconds)}")
        try:
            yield
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {usual}")

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Run the block's reads on one state of the database."""
        with connections.read_snapshot(self.connection, self.path):
            yield

    def checkpoint_log(self) -> None:
        """Write the content of the write-ahead log into the file, as far as no other connection prevents it."""
        with self.limit_lock_wait(0), translate_block_errors(self.path):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def count_everything(self) -> dict[str, Any]:
        """Return counts of everything held."""
        return stats.collect_counts(self.connection)

    def has_waiting(self) -> bool:
        """Tell whether a living memory waits for a fingerprint, those given up aside."""
        return stats.has_waiting(self.connection)

    def count_waiting(self, scope_id: str) -> tuple[int, int, int]:
        """Return how many living memories a scope has, how many wait for a fingerprint, and how many get none."""
        return stats.count_waiting(self.connection, scope_id)

    def back_up(self, target: Path) -> Path:
        """Copy the whole database to a new file while it is in use."""
        with translate_block_errors(self.path):
            return copy_to_file(self.connection, target)

    def close(self) -> None:
        """Close the connection; what it holds of files that were moved or deleted meanwhile is saved first."""
        try:
            self._save_moved_files()
        finally:
            self.connection.close()
            if self._makes_log:
                connections.remove_empty_log(self.path)

    def _save_moved_files(self) -> None:
        # It may be closed already, or have failed before.
        with contextlib.suppress(sqlite3.Error):
            if self.read_only or self.connection.in_transaction:
                return
            change = self.file_guard.detect_change()
            if change not in (None, DatabaseChange.NOTICED):
                self.file_guard.secure_content(change)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
