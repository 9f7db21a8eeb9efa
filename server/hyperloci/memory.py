"""Memory: the façade that tools, hooks, the command line and the watchers call; one method per use case.

Longer than any other module on purpose: it lists everything the product does, some seventy entries, most of them
signatures and what they promise. Split up, it would be several façades over one store, and a reader would have to know
which one to open. Anything more than a call and its presentation is in another module: searches in
`queries.search_service`, relations in `queries.relations`, and so on.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TextIO

from hyperloci.clock import Clock, system_clock, to_iso
from hyperloci.config import Settings
from hyperloci.conversations.capture.client_names import CLIENT_VERSION_NOTE
from hyperloci.errors import BadRequestError, HyperlociError, StoreBusyError, StoreError
from hyperloci.facts.categories import choose_scope, resolve_category
from hyperloci.facts.facts import Facts
from hyperloci.facts.safe_arguments import sanitize_argument, sanitize_reason
from hyperloci.model.author import Signature, Visibility
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey, NodeType
from hyperloci.model.node import Node
from hyperloci.model.record import CaptureKind, CaptureRecord
from hyperloci.model.search import MAX_USER_FACTS, Hit, SearchAnswer, VectorCoverage
from hyperloci.model.write_answers import ForgottenFact, RememberedFact
from hyperloci.project.identity import Project
from hyperloci.project.project_store import SEEN_PATIENCE_MS, follow_project, identify_known_project, open_store
from hyperloci.store import Store
from hyperloci.store.conversations.sessions import is_of_another_client
from hyperloci.store.database.error_translation import translate_block_errors, translate_errors
from hyperloci.system.parents import list_parents

if TYPE_CHECKING:
    from threading import Event

    from hyperloci.conversations.capture.session_events import Capture
    from hyperloci.conversations.consolidation.consolidator import ConsolidationResult
    from hyperloci.conversations.host_consolidation import HostRequest
    from hyperloci.conversations.transcript_import import TranscriptFile, TranscriptImporter
    from hyperloci.conversations.unasked.quiet_prompts import MeasuredPrompt
    from hyperloci.embedder.client import EmbedderClient
    from hyperloci.embedder.query_encoder import HurriedEncoder, QueryEncoder
    from hyperloci.embedder.status import EmbedderStatus
    from hyperloci.facts.node_operations import NodeOperations
    from hyperloci.facts.sharing.intake import SharedIntake
    from hyperloci.facts.sharing.intake_report import IntakeReport
    from hyperloci.facts.sharing.promotion import Promotion, ShareReport
    from hyperloci.facts.sharing.publication import PendingCorrection, Publication
    from hyperloci.knowledge.entities.entity_service import EntityService
    from hyperloci.maintenance.decay import PruneReport, WeakHit
    from hyperloci.maintenance.job_list import MaintenanceReport
    from hyperloci.model.answers import (
        AssembledContext,
        CommitCounts,
        ContradictionReport,
        DependencyAnswer,
        EdgePruneReport,
        EntityInfo,
        EntityMerge,
        EntityProfile,
        Explanation,
        GraphAnswer,
        GraphEdge,
        GraphNode,
        ImportReport,
        IndexReport,
        Progress,
        PurgeReport,
        RelatedAnswer,
        ReplAnswer,
        RestoredMemory,
        TranscriptReport,
    )
    from hyperloci.model.pyramid import ContextWindow, ExpandedChunk
    from hyperloci.model.set_aside import SetAside
    from hyperloci.model.topic import EventPlace, Timeline, TopicHit, TopicList
    from hyperloci.model.turn import Turn
    from hyperloci.project.places import LinkedProject, PlaceAccount
    from hyperloci.queries.browsing import EventPage, SessionPage
    from hyperloci.queries.file_structure import OutlineEntry, OutlineTree
    from hyperloci.queries.injection_report import InjectionReport
    from hyperloci.queries.relations import RelationService
    from hyperloci.queries.review import Dispute, DisputePage, ReviewPage
    from hyperloci.queries.search_service import SearchService
    from hyperloci.queries.session_replay import SessionReplay
    from hyperloci.queries.session_report import SessionReport
    from hyperloci.retrieval.search import Searcher
    from hyperloci.sandbox.program_session import ProgramSession
    from hyperloci.store.conversations.consolidations import WaitingTurns
    from hyperloci.store.conversations.sessions import StoredSession
    from hyperloci.store.export_selection import ExportChoice
    from hyperloci.store.projects.places import KnownProject, ScopeLink
    from hyperloci.team.team_search import TeamSearch

_log = logging.getLogger(__name__)

WARM_SECONDS: Final = 30.0
"""E.17: the embedder answers its first query within this time after a cold start."""

MAX_UNREAD: Final = 20
"""Sessions that are read as another one starts: more than were ever left without their last turn's hook."""

SHARED_SECONDS: Final = 0.3
"""How long a session's start may take for what others share: some twenty new memories; watchers take in the rest."""

REPL_PATIENCE_MS: Final = 3_000
"""How long one write of a program waits for another process's; a program has 10 s for all that it does."""

SEARCH_SCOPES: Final = ("project", "team")

OFF: Final = "embeddings are switched off (HYPERLOCI_EMBEDDER)"


@translate_errors
class Memory:
    """The memory of one project, plus global memories, over one open store. Synchronous; used by one thread at a time.

    Every method that writes is one transaction: when it returns, what it wrote survives a kill of any process.
    Every method may raise StoreError when the database fails; the subclass says why.
    """

    def __init__(self, store: Store, settings: Settings, project: Project, clock: Clock = system_clock) -> None:
        self.store = store
        self.settings = settings
        self.project = project
        self._clock = clock
        self._facts = Facts(store, project.id, clock)
        self.sign_as()

    @classmethod
    def open(cls, settings: Settings, project_path: Path, *, clock: Clock = system_clock) -> Self:
        """Open (and make, where needed) the database for the project that `project_path` lies in.

        A database that can't be written (a disk mounted for reading, another user's file) is opened for reading.

        Raises:
            StoreError: the database can't be opened.
        """
        store = open_store(settings, clock)
        try:
            with translate_block_errors(store.path):
                project = identify_known_project(store, settings, project_path, clock())
        except BaseException:
            store.close()
            raise
        return cls(store, settings, project, clock)

    def follow_place(self) -> None:
        """Switch to what this folder is now: since this was opened it may have been linked, or become a repository."""
        known = self.project.id
        # A call doesn't wait for whoever writes meanwhile: the next one will do.
        with contextlib.suppress(StoreBusyError), self.store.limit_lock_wait(SEEN_PATIENCE_MS):
            self.project = follow_project(self.store, self.settings, self.project, self._clock())
        if self.project.id != known:
            self._facts = Facts(self.store, self.project.id, self._clock)

    def note_client_version(self, client: str, version: str) -> None:
        """Note which version of a client has a session in this project now, as it told the server that it started."""
        if self.store.read_only:
            return
        scope_key = self.store.scopes.find_key(self.project.id)
        with self.store.transaction():
            # Hooks that tell no version take it from here when their session begins.
            self.store.meta.set(f"{CLIENT_VERSION_NOTE}{client}", version)
            if scope_key is not None:
                self.store.sessions.put_client_version(scope_key, client, version, now=self._clock())

    def sign_as(self, *, author: str | None = None, agent: str | None = None) -> None:
        """Sign what is written from now on.

        Args:
            author: the person, whom answers then tell who else told what is not theirs; None is the one at this machine
                (setting `author`, else Git's, else the login name).
            agent: the assistant through which the person writes; None: none.
        """

        def find() -> str | None:
            from hyperloci.project.author_lookup import find_author

            return find_author(self.settings.author, self.project.root)

        self.store.nodes.signature = Signature(find if author is None else lambda: author, agent, asker=author)

    # -- reading -----------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        content_type: str = "any",
        profile: str = "auto",
        limit: int = 5,
        after: str | None = None,
        before: str | None = None,
        entity_name: str | None = None,
        where: Mapping[str, Any] | None = None,
        explain: bool = False,
        reinforce: bool = True,
        quick: bool = False,
        scope: str = "project",
    ) -> SearchAnswer:
        """Find the memories that answer a query best.

        Args:
            query: a question or words, at most 10,000 characters.
            content_type: which kind to look among (`retrieval.filters.CONTENT_TYPES`).
            profile: which scores to weigh most (`retrieval.space_weights.PERSPECTIVES`).
            limit: 1..50.
            after, before: time bounds as `retrieval.time_bounds.parse_time_bound` reads them.
            entity_name: only memories that mention this entity.
            where: further conditions (`retrieval.filters.WHERE_KEYS`).
            explain: give each hit's scores by space.
            reinforce: record that the hits were recalled (B.12).
            quick: search by meaning and words only, for a caller that makes the user wait.
            scope: `project` for what is here; `team` asks the team's database too, for what is not on this machine.

        Raises:
            BadRequestError: an argument is invalid; the message says what is valid.
        """
        if scope not in SEARCH_SCOPES:
            raise BadRequestError(
                f"scope={scope!r} is unknown: use one of {', '.join(SEARCH_SCOPES)}; where.scope says whose memories."
            )
        answer = self._search_service.search(
            query,
            content_type=content_type,
            profile=profile,
            limit=limit,
            after=after,
            before=before,
            entity_name=entity_name,
            where=where,
            explain=explain,
            reinforce=reinforce,
            quick=quick,
        )
        return self._team_search.add_hits(answer, limit) if scope == "team" else answer

    def search_by_query_line(
        self, line: str, *, limit: int = 5, explain: bool = False, reinforce: bool = True, **otherwise: Any
    ) -> SearchAnswer:
        """Find memories by one line of words and `key:value` conditions (docs/query-language.md).

        A line with conditions only lists what meets them, by file and line, then the latest first.

        Args:
            line: what a person wrote.
            limit: 1..50, unless the line has `limit:`.
            explain, reinforce: as in `search`.
            otherwise: `content_type`, `after`, `before` and `path`, where the line doesn't say them.

        Raises:
            QuerySyntaxError: the line can't be read, or a condition can't be met; the message names the column.
            BadRequestError: an argument beside the line is invalid.
        """
        return self._search_service.search_line(line, limit=limit, explain=explain, reinforce=reinforce, **otherwise)

    def list_changed_files(self, hits: Iterable[Hit]) -> tuple[str, ...]:
        """Return the files of some hits that are gone, or have changed, since they were indexed."""
        from hyperloci.indexing.file_reader import is_as_indexed

        scope = self.store.scopes.find_key(self.project.id)
        if scope is None or not self.store.files.is_indexed_root(self.project.id, str(self.project.root)):
            return ()
        paths = dict.fromkeys(hit.source.path for hit in hits if hit.type == NodeType.SNIPPET and hit.source.path)
        known = ((path, self.store.files.get_file(scope, path)) for path in paths)
        return tuple(
            path for path, file in known if file is not None and not is_as_indexed(self.project.root / path, file)
        )

    def get_context(self, query: str, *, max_tokens: int | None = None) -> AssembledContext:
        """Return what a prompt should know, as Markdown within a token budget (B.09); reinforces what it shows.

        A question about sessions or a kind of memory (`queries.recall_targets`) gets what it asks for; every other what
        is relevant to it (`retrieval.relevance`), which may be nothing.
        """
        from hyperloci.queries.context_service import ContextService

        return ContextService(self._search_service).assemble(query, max_tokens)

    def find_contradictions(self, statement: str, *, limit: int = 5) -> ContradictionReport:
        """Find memories that disagree with a statement, each with a score and the reason (D.10)."""
        text = sanitize_argument("statement", statement).text
        return self._search_service.find_contradictions(text, limit)

    def find_related(
        self, topic: str, *, relationship: str = "any", direction: str = "both", depth: int = 1, limit: int = 10
    ) -> RelatedAnswer:
        """Walk the relations of the memory that `topic` names or describes best, nearest first (D.02)."""
        return self._connections.find_related(topic, relationship, direction, depth, limit)

    def get_subgraph(
        self, topic: str, *, relationship: str = "any", direction: str = "both", depth: int = 2, limit: int = 20
    ) -> GraphAnswer:
        """Return the memories around one and every relation between them, to be drawn (D.02, D.11)."""
        return self._connections.draw_graph(topic, relationship, direction, depth, limit)

    def get_neighbourhood(self, topic: str, *, depth: int = 2, relationship: str = "any") -> tuple[GraphNode, ...]:
        """Return every memory at most `depth` relations away, in either direction; 2,000 at most (D.02)."""
        return self._connections.list_neighbourhood(topic, depth, relationship)

    def get_dependencies(self, topic: str, *, relationship: str = "depends_on") -> DependencyAnswer:
        """Return everything a memory depends on, over any number of relations, and the cycles among it (D.02)."""
        return self._connections.find_dependencies(topic, relationship)

    def path_between(
        self, start: str, end: str, *, relationship: str = "any", direction: str = "both"
    ) -> GraphAnswer | None:
        """Return a shortest path over relations from one memory to another, None if they aren't connected (D.02)."""
        return self._connections.find_path(start, end, relationship, direction)

    def graph_stats(self) -> dict[str, Any]:
        """Return the concept graph's measures (D.02): edges, nodes with outgoing edges, their degrees, labels."""
        return self.store.pruning.measure_graph()

    def get_outline(self, path: str) -> OutlineTree:
        """Return the tree of an indexed file's sections or symbols (D.04).

        Raises:
            BadRequestError: the path lies outside the project, or no file system can have it.
            NotFoundError: the file isn't indexed, holds nothing that an outline shows, or there is none.
        """
        from hyperloci.queries.file_structure import load_tree

        return load_tree(self.store, self.project, self.settings, path)

    def find_sections(
        self,
        title: str | None = None,
        *,
        fuzzy: bool = False,
        type: str | None = None,
        level: int | None = None,
        path: str | None = None,
        limit: int = 50,
    ) -> tuple[OutlineEntry, ...]:
        """Return the sections of the project's documents with this title, type and level (D.04).

        Args:
            title: the heading, in any case.
            fuzzy: also headings that contain or resemble it; the most similar first.
            type: what the section is for (`text.chunking.section_types.SectionType`).
            level: of the heading.
            path: only this file.
            limit: how many at most.
        """
        from hyperloci.queries.file_structure import find_sections

        found = find_sections(
            self.store,
            self.project,
            self.settings,
            title=title,
            fuzzy=fuzzy,
            type=type,
            level=level,
            path=path,
            limit=limit,
        )
        return tuple(found)

    def recall_user_info(self) -> tuple[Hit, ...]:
        """Return what is known about the user: who they are, what they prefer; highest confidence first.

        Of each the latest `MAX_USER_FACTS`: who somebody is was told long before what they preferred last.
        """
        scopes = (GLOBAL_SCOPE, self.project.id)
        nodes = [
            node
            for subtype in ("user_info", "preference")
            for node in self.store.nodes.query_nodes("fact", subtypes=(subtype,), scopes=scopes, limit=MAX_USER_FACTS)
        ]
        return tuple(sorted(self._present_hits(nodes), key=lambda hit: (hit.subtype != "user_info", -hit.confidence)))

    def list_topics(self, limit: int = 20) -> TopicList:
        """Return what the memories of this project, and the global ones, cluster into, largest first (E.09)."""
        from hyperloci.queries.topic_report import list_topics

        return list_topics(
            self.store, (self.project.id, GLOBAL_SCOPE), limit, now=self._clock(), present=self._present_hits
        )

    def get_topic(self, id: str) -> TopicHit:
        """Return one topic with its most typical members.

        Raises:
            NotFoundError: no such topic.
        """
        from hyperloci.queries.topic_report import load_topic

        return load_topic(self.store, id, self._scopes, now=self._clock(), present=self._present_hits)

    def refresh_topics(self, progress: Progress | None = None) -> bool:
        """Recompute this project's topics and the global ones, and wait; False where no embedder is enabled.

        Raises:
            EmbedderError: the embedder can't embed the pending memories.
        """
        from hyperloci.queries.topic_report import refresh_topics

        if self._client is None:
            return False
        with self.keep_embedder_running():
            self.embed_pending(progress)
            scopes = (self.project.id, GLOBAL_SCOPE)
            return refresh_topics(self.store, scopes, self._notify_embedder, now=self._clock(), progress=progress)

    def get_timeline(
        self,
        around: str | None = None,
        *,
        session_id: str | None = None,
        direction: str = "both",
        limit: int = 10,
    ) -> Timeline:
        """Return what happened before and after a memory, or in a session (the latest, if neither is named), in order.

        Raises:
            BadRequestError: both `around` and `session_id`, an unknown direction, a limit outside 1..50.
            NotFoundError: no such memory or session.
        """
        from hyperloci.queries import timeline

        timeline.check_arguments(direction, limit, around, session_id)
        if session_id is not None:
            return timeline.timeline_of_session(
                self.store, session_id, direction, limit, scope=self.project.id, present=self._present_hits
            )
        if around is None:
            return timeline.timeline_of_latest_session(
                self.store, direction, limit, scope=self.project.id, present=self._present_hits
            )
        start = self._search_service.find_event(around, "around")
        scopes = (self.project.id, GLOBAL_SCOPE)
        found = timeline.timeline_around(
            self.store, start.node, direction, limit, scopes=scopes, present=self._present_hits
        )
        return replace(found, start=start.described)

    def list_events(self, kind: str = "learnt", *, limit: int = 50, before: EventPlace | None = None) -> EventPage:
        """Return a page of what happened in this project and globally, latest first (`queries.browsing.EVENT_KINDS`).

        Raises:
            BadRequestError: an unknown kind.
        """
        from hyperloci.queries.browsing import list_events

        return list_events(self.store, self._scopes, kind, limit, before=before, present=self._present_hits)

    def list_forgotten(self, *, limit: int = 50, before: EventPlace | None = None) -> EventPage:
        """Return a page of what was forgotten, latest first; `restore` brings it back for 30 days."""
        from hyperloci.queries.browsing import list_forgotten

        return list_forgotten(self.store, self._scopes, limit, before=before, present=self._present_hits)

    def list_left_out(self, query: str, *, limit: int = 10) -> tuple[Hit, ...]:
        """Return what has a question's words and no search finds: forgotten, no longer valid, withheld."""
        from hyperloci.queries.browsing import list_left_out

        return list_left_out(self.store, query, self._scopes, limit, self._present_hits)

    def list_disputes(self, label: str, *, limit: int = 20, before: int | None = None) -> DisputePage:
        """Return a page of memories that contradict each other (`contradicts`) or may be replaced (`updates`)."""
        from hyperloci.queries.review import list_disputes

        return list_disputes(self.store, label, self._scopes, limit, before=before, present=self._present_hits)

    def list_disputes_of(self, id: str) -> tuple[Dispute, ...]:
        """Return what contradicts one memory, may have replaced it or may be replaced by it."""
        from hyperloci.queries.review import list_disputes_of

        return list_disputes_of(self.store, self._facts.resolve_node(id, "id"), self._scopes, self._present_hits)

    def list_outdated(self, *, after: int = 0) -> ReviewPage:
        """Return memories about code that has changed since they were stored."""
        from hyperloci.queries.review import list_outdated

        return list_outdated(self.store, self._scopes, after=after, present=self._present_hits)

    def list_suspicious(self, *, limit: int = 20, before: int | None = None) -> ReviewPage:
        """Return memories that looked like an instruction when they were stored; no session is shown them unasked."""
        from hyperloci.queries.review import list_suspicious

        return list_suspicious(self.store, self._scopes, limit, before=before, present=self._present_hits)

    def explain_fact(self, id: str) -> Explanation:
        """Tell where a memory came from, what it replaced, what replaced it and what happened to it (B.15)."""
        from hyperloci.queries.provenance import explain_provenance

        node, threshold = self._facts.resolve_node(id, "id"), self.settings.decay_threshold
        return explain_provenance(
            self.store, node, self._present_hits, scopes=self._scopes, now=self._clock(), threshold=threshold
        )

    def get_entity_info(self, name: str) -> EntityProfile:
        """Return what is known about a person, project, tool, place, file or symbol, by any of its names (B.15).

        Raises:
            NotFoundError: no memory mentions it; the message suggests similar names.
        """
        return self._entities.describe_entity(name, self._present_hits)

    def list_entities(self, limit: int = 20) -> tuple[EntityInfo, ...]:
        """Return the entities that memories mention most."""
        return self._entities.list_most_mentioned(limit)

    def merge_entities(self, kept: str, merged: str, *, reason: str | None = None) -> EntityMerge:
        """Merge two entities that are the same thing; `unmerge_entities` undoes it for 30 days."""
        return self._entities.merge_entities(kept, merged, reason=sanitize_reason(reason))

    def unmerge_entities(self, id: int) -> EntityMerge:
        """Undo a merge of entities."""
        return self._entities.undo_merge(id)

    def list_entity_merges(self, limit: int = 20) -> tuple[EntityMerge, ...]:
        """Return the merges of entities, latest first, including those that maintenance made."""
        return self._entities.list_merges(limit)

    def latest(self, limit: int = 10) -> tuple[Hit, ...]:
        """Return the facts, decisions and experiences stored or used last, of this project and global, latest first."""
        from hyperloci.queries.recent import list_latest

        return tuple(self._present_hits(list_latest(self.store, (GLOBAL_SCOPE, self.project.id), limit)))

    def list_memories(
        self,
        *,
        kinds: Sequence[str] = (),
        origins: Sequence[str] = (),
        since: str | None = None,
        include_ended: bool = False,
        limit: int = 20,
    ) -> tuple[Hit, ...]:
        """Return memories of this project, and global ones, by the time they are of, latest first.

        Args:
            kinds: subtypes (`model.kinds.SUBTYPES`); by default what is stated.
            origins: where they are from; by default anywhere.
            since: a time bound as `retrieval.time_bounds.parse_time_bound` reads them.
            include_ended: those too that were replaced or forgotten.
            limit: how many at most.

        Raises:
            BadRequestError: an unknown kind, or no time.
        """
        from hyperloci.queries.recent import list_memories
        from hyperloci.retrieval.time_bounds import parse_time_bound

        after = None if since is None else parse_time_bound(since, self._clock(), argument="since")
        scopes = (GLOBAL_SCOPE, self.project.id)
        found = list_memories(
            self.store, scopes, kinds=kinds, origins=origins, since=after, include_ended=include_ended, limit=limit
        )
        return tuple(self._present_hits(found))

    def get_many(self, ids: Sequence[str]) -> tuple[Hit, ...]:
        """Return the memories with these ids, forgotten ones too; ids of purged ones are skipped.

        Raises:
            NotFoundError: no memory ever had one of the ids.
        """
        from hyperloci.facts.purge import resolve_or_purged

        found = (resolve_or_purged(self.store, self._facts, id) for id in ids)
        return tuple(self._present_hits([node for node in found if isinstance(node, Node)]))

    def complete_id(self, id: str) -> str:
        """Return the whole id of a memory by the beginning of it, also of one that was purged.

        Raises:
            NotFoundError: no memory ever had it.
        """
        from hyperloci.facts.purge import resolve_or_purged

        found = resolve_or_purged(self.store, self._facts, id)
        return found.id if isinstance(found, Node) else found

    def get(self, id: str) -> Hit:
        """Return one memory by its id.

        Raises:
            NotFoundError: no such memory.
        """
        return self._present_hits([self._facts.resolve_node(id, "id")])[0]

    def stats(self) -> dict[str, Any]:
        """Return counts of everything held, and the embedder's state."""
        from hyperloci.project.places import account_to_json

        answer = self.store.count_everything()
        answer["project"] = account_to_json(self.describe_place())
        answer["database"] = str(self.settings.database)
        answer["embedder"] = self._describe_embedder()
        answer["chunks"] = self.store.chunks.count_by_stage()
        answer["archive"] = self._describe_archive()
        answer["history"] = asdict(self.get_history_progress())
        reach = self.get_embedding_coverage()
        answer["by_meaning"] = asdict(reach) | {"share": round(reach.share, 4)}
        return answer

    def _describe_archive(self) -> dict[str, Any]:
        from hyperloci.store.archive.chunk_archive import Archive, describe_retention

        usage = Archive.for_database(self.store.path).measure_usage()
        return asdict(usage) | {"limit": describe_retention(self.settings.cold_retention_days)}

    def get_history_progress(self) -> CommitCounts:
        """Return how much of the project's git history is stored."""
        from hyperloci.model.answers import CommitCounts

        scope = self.store.scopes.find_key(self.project.id) or 0
        state = self.store.history.get_state(scope)
        waiting, older = (state.waiting, state.older) if state else (0, 0)
        is_known = state is not None or self.project.common_dir is None
        return CommitCounts(
            stored=self.store.history.count_commits(scope), waiting=waiting, older=older, is_known=is_known
        )

    def get_embedding_coverage(self) -> VectorCoverage:
        """Return how many of the project's memories can be found by meaning now."""
        total, waiting, given_up = self.store.count_waiting(self.project.id)
        pace = self.store.embedding_pace.get_pace(now=self._clock()) if waiting else None
        return VectorCoverage(
            embedded=total - waiting - given_up,
            total=total,
            waiting=waiting,
            seconds_left=None if pace is None else round(waiting / pace),
        )

    # -- writing -----------------------------------------------------------------------------------------------------

    def remember_fact(
        self,
        fact: str,
        *,
        category: str = "insight",
        confidence: float = 1.0,
        scope: str | None = None,
        entities: Sequence[str] = (),
        replaces: str | None = None,
        session_id: str | None = None,
    ) -> RememberedFact:
        """Store a fact and say what it contradicts and may affect; the same again is counted, not stored twice.

        Raises:
            BadRequestError: an empty or overlong fact, an unknown category or scope.
            NotFoundError: `replaces` names no memory.
        """
        text = sanitize_argument("fact", fact)
        resolve_category(category)
        where = choose_scope(scope, category, self.project.id)
        check = self._search_service.check_statement(text.text)
        remembered = self._facts.remember_fact(
            text,
            category=category,
            confidence=confidence,
            scope=where,
            entities=entities,
            replaces=replaces,
            session_id=session_id or self._find_current_session(),
            check=check,
        )
        self._notify_embedder()
        return self._note_sharing(remembered)

    def mark_dead_end(
        self, approach: str, reason: str, *, scope: str | None = None, session_id: str | None = None
    ) -> RememberedFact:
        """Store that an approach failed, and why, so that it isn't tried again."""
        tried, why = sanitize_argument("approach", approach), sanitize_argument("reason", reason)
        remembered = self._facts.mark_dead_end(
            tried,
            why,
            scope=choose_scope(scope, "dead_end", self.project.id),
            session_id=session_id or self._find_current_session(),
            check=self._search_service.find_proposing(tried.text),
        )
        self._notify_embedder()
        return remembered

    def add_experience(self, content: str, outcome: str, *, success: bool) -> RememberedFact:
        """Store what was done in this project, what came of it, and whether it worked (SPEC-02.29)."""
        remembered = self._facts.add_experience(
            sanitize_argument("content", content),
            sanitize_argument("outcome", outcome),
            success=success,
            scope=self.project.id,
            session_id=self._find_current_session(),
        )
        self._notify_embedder()
        return remembered

    def correct_fact(self, id: str, fact: str, *, reason: str | None = None) -> RememberedFact:
        """Replace a memory by a corrected one; the old one is kept, invalidated, as its history (B.13)."""
        text = sanitize_argument("fact", fact)
        remembered = self._facts.correct_fact(
            id,
            text,
            reason=reason,
            session_id=self._find_current_session(),
            check=self._search_service.check_statement(text.text),
        )
        self._notify_embedder()
        return self._note_sharing(remembered)

    def confirm_fact(self, id: str) -> Hit:
        """Protect a memory from decay, with full confidence (B.13)."""
        return self._present_hits([self._facts.confirm_fact(id)])[0]

    def withhold(self, id: str, *, reason: str | None = None) -> Hit:
        """Keep a memory, and let no search find it nor any session be shown it unasked; `release` undoes it."""
        from hyperloci.facts.settlement import withhold_memory

        node = self._facts.resolve_living_node(id, "id")
        if withhold_memory(self.store, node, reason=sanitize_reason(reason), now=self._clock()):
            self._renew_summaries(node)
        return self._present_hits([node])[0]

    def release(self, id: str) -> Hit:
        """Let a withheld memory be found again."""
        from hyperloci.facts.settlement import release_memory

        node = self._facts.resolve_node(id, "id")
        if release_memory(self.store, node, now=self._clock()):
            self._renew_summaries(node)
        return self._present_hits([node])[0]

    def _renew_summaries(self, turn: Node) -> None:
        """Make the summaries of a turn's chunks anew, by rules: at once, so that none quotes what is withheld."""
        from hyperloci.conversations.pyramid.pyramid_jobs import make_rarity
        from hyperloci.conversations.pyramid.summary import ExtractiveSummariser
        from hyperloci.conversations.pyramid.summary_nodes import renew_summaries_over

        renew_summaries_over(self.store, turn, self._clock, ExtractiveSummariser(make_rarity(self.store)))

    def clear_suspicion(self, id: str) -> Hit:
        """Take away what made a memory suspicious: the user found it harmless."""
        from hyperloci.facts.settlement import clear_suspicion

        node = self._facts.resolve_living_node(id, "id")
        clear_suspicion(self.store, node, now=self._clock())
        return self.get(node.id)

    def settle_dispute(self, relation: str, *, holds: str | None) -> tuple[str, ...]:
        """Settle which memory of a contradiction or a possible replacement holds; return the ids of those that ended.

        Args:
            relation: the relation's id.
            holds: the id of the memory that holds; None where all do, and the relation is taken away.

        Raises:
            NotFoundError: no such relation or memory.
            BadRequestError: the relation is no dispute, or the memory takes no part in it.
        """
        from hyperloci.facts.settlement import settle_as_compatible, settle_for
        from hyperloci.queries.review import DISPUTES
        from hyperloci.store.ids import edge_ids, resolve_id

        edge = resolve_id(edge_ids(self.store.edges, scopes=self._scopes), relation, "relation")
        if edge.label not in DISPUTES:
            raise BadRequestError(f"relation={relation!r} is of kind {edge.label}: only {', '.join(DISPUTES)} settle.")
        if holds is None:
            settle_as_compatible(self.store, edge, now=self._clock())
            return ()
        ended = settle_for(self.store, edge, self._facts.resolve_living_node(holds, "holds"), now=self._clock())
        self._tell_teammates()
        return tuple(node.id for node in ended)

    def get_facets(self, id: str) -> dict[str, Any]:
        """Return what kind of content a memory is, facet by facet (D.07)."""
        from hyperloci.facts.facet_edits import facets_to_json, load_facets

        return facets_to_json(load_facets(self.store, self._facts.resolve_node(id, "id")))

    def set_facets(self, id: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Correct a memory's facets by hand (`facts.facet_edits.FACET_NAMES`) and return them."""
        from hyperloci.facts.facet_edits import correct_facets, facets_to_json

        return facets_to_json(
            correct_facets(self.store, self._facts.resolve_living_node(id, "id"), values, now=self._clock())
        )

    def relate(
        self,
        label: str,
        members: Sequence[Mapping[str, str]],
        *,
        weight: float = 1.0,
        evidence: str | None = None,
    ) -> str:
        """Join memories in a hyperedge and return its id.

        Args:
            label: a relation of D.02, or any other word.
            members: `{"id": ..., "role": ...}` for each memory, two or more.
            weight: 0 or more.
            evidence: why, in words.
        """
        return self._connections.create_relation(label, members, weight, evidence)

    def confirm_link(self, id: str) -> GraphEdge:
        """Confirm a relation, by its id or the start of its id: full confidence from now on, never pruned (D.02, D.03).

        Raises:
            NotFoundError: no such relation.
        """
        return self._connections.confirm_relation(id)

    def prune_links(self, *, dry_run: bool = False) -> EdgePruneReport:
        """Remove automatic relations that faded, or that exceed a memory's limit; never confirmed ones (D.02)."""
        return self._connections.prune_relations(dry_run=dry_run)

    def forget(self, id: str, *, reason: str | None = None) -> ForgottenFact:
        """Forget a memory; `restore` brings it back for 30 days (E.16)."""
        forgotten = self._facts.forget_memory(id, reason=reason)
        self._tell_teammates()
        node = self.store.nodes.get_node(forgotten.id)
        if node is None or node.visibility is not Visibility.SHARED:
            return forgotten
        from hyperloci.facts.sharing.publication import describe_forgetting

        return replace(forgotten, sharing=describe_forgetting(self.store, self.project.id, node))

    def restore(self, id: str, *, reason: str | None = None) -> RestoredMemory:
        """Bring a forgotten memory back as it was (E.16): what had been replaced by then still is, and says so."""
        from hyperloci.facts.sharing.publication import end_withdrawn_sharing
        from hyperloci.queries.provenance import describe_restored

        node = self._facts.restore_memory(id, reason=reason)
        sharing = end_withdrawn_sharing(self.store, self.project.id, node, now=self._clock())
        if sharing is not None:
            node = self._facts.resolve_living_node(node.id, "id")
        restored = describe_restored(self.store, node, self._present_hits, scopes=self._scopes)
        return replace(restored, sharing=sharing)

    def purge(self, ids: Sequence[str]) -> PurgeReport:
        """Remove memories for good: from the database, its log, its backups and the hooks' spool.

        Every other session should be closed: one that reads keeps the write-ahead log from being emptied.

        Raises:
            NotFoundError: no memory has one of the ids; nothing was purged.
            StoreBusyError: the memories are gone, but traces may be left in the log; purge the same ids again.
        """
        from hyperloci.facts.purge import purge_memories

        report = purge_memories(self.store, self.settings, self._facts, ids, now=self._clock())
        self._tell_teammates()
        return report

    # -- sharing -----------------------------------------------------------------------------------------------------

    def read_shared(self, *, thorough: bool = False, seconds: float | None = None) -> IntakeReport:
        """Take in what others share in this project's folder; one look where nothing came or went since.

        Args:
            thorough: read every file again, also those whose version is known.
            seconds: how long it may take; the rest waits for the next reading.
        """
        from hyperloci.facts.sharing.shared_folder import read_stamp

        if read_stamp(self.project.root) is None:
            from hyperloci.facts.sharing.intake_report import IntakeReport

            return IntakeReport()
        report = self._intake.read(thorough=thorough, seconds=seconds)
        if report.taken:
            self._notify_embedder()
        return report

    def share(
        self,
        ids: Sequence[str] = (),
        *,
        kinds: Sequence[str] = (),
        since: str | None = None,
        dry_run: bool = False,
        through_team: bool = False,
    ) -> ShareReport:
        """Share memories of one's own with the project: write them, redacted again, where Git carries them.

        Args:
            ids: the memories; with none, those of `kinds` and `since`.
            kinds: subtypes.
            since: of this time or later, as `retrieval.time_bounds.parse_time_bound` reads it.
            dry_run: only say what would be shared.
            through_team: through the team's database instead of Git.

        Raises:
            BadRequestError: nothing was chosen, an argument is invalid, or a reader would share with the team.
            NotFoundError: no memory has one of the ids, or no team was joined.
            StoreError: the folder can't be written.
        """
        from hyperloci.retrieval.time_bounds import parse_time_bound

        if not (ids or kinds or since):
            raise BadRequestError(
                "Nothing is chosen: give ids, or kinds or a time since when. Nothing is shared by itself."
            )
        if through_team:
            from hyperloci.team.membership import require_writer

            require_writer(self.settings)
        after = None if since is None else parse_time_bound(since, self._clock(), argument="since")
        nodes = [self._facts.resolve_node(id, "ids") for id in ids] or self._promotion.choose(kinds, after)
        return self._promotion.share(nodes, dry_run=dry_run, through_team=through_team)

    def unshare(self, ids: Sequence[str]) -> ShareReport:
        """Withdraw memories from the project: others forget them, you keep them as your own.

        Raises:
            NotFoundError: no memory has one of the ids.
            StoreError: the folder can't be written.
        """
        return self._promotion.unshare([self._facts.resolve_node(id, "ids") for id in ids])

    def _read_shared_at_start(self) -> None:
        try:
            self.read_shared(seconds=SHARED_SECONDS)
        except (HyperlociError, OSError) as error:
            # The session's own record comes first; watchers and the next start try again.
            _log.warning("what others share cannot be read: %s", error)

    def _tell_teammates(self) -> None:
        from hyperloci.facts.sharing.shared_folder import read_stamp

        if read_stamp(self.project.root) is not None:
            # What is over is over here; a folder that can't be written is tried again by maintenance.
            with contextlib.suppress(StoreError):
                self._publication.publish_changes()

    def _note_sharing(self, remembered: RememberedFact) -> RememberedFact:
        """Tell others what a correction ended, and say what they don't know yet."""
        old = None if remembered.supersedes is None else self.store.nodes.get_node(remembered.supersedes)
        if old is None or old.visibility is not Visibility.SHARED:
            return remembered
        from hyperloci.facts.sharing.publication import describe_pending

        self._tell_teammates()
        pending = [one for one in self.list_pending_corrections() if one.old == old.id]
        return replace(remembered, sharing=describe_pending(pending[0]) if pending else None)

    def list_pending_corrections(self) -> list[PendingCorrection]:
        """Return the corrections of shared memories that are not shared; sharing them is the user's word."""
        return self._publication.list_pending()

    @property
    def _intake(self) -> SharedIntake:
        from hyperloci.facts.sharing.intake import SharedIntake

        return SharedIntake(self.store, self.project.id, self.project.root, self._clock)

    @property
    def _publication(self) -> Publication:
        from hyperloci.facts.sharing.publication import Publication

        return Publication(self.store, self.project.id, self.project.root, self._clock)

    @property
    def _promotion(self) -> Promotion:
        from hyperloci.facts.sharing.promotion import Promotion

        return Promotion(self.store, self.project.id, self.project.root, self._clock)

    def run_program(self, code: str, stop: Event | None = None) -> ReplAnswer:
        """Run a program over this memory in a sandbox, and return its result (SPEC-02.27 to .32).

        All that it writes is one transaction: it is stored when the program ends, and not at all if it fails or is
        stopped. The names that it binds are known to the programs run after it by this object.

        Args:
            code: the program.
            stop: set by another thread, it ends the program.

        Raises:
            BadRequestError: the program is empty or too long.
            NotReadyError: this system can't put a process under limits (Windows).
        """
        from hyperloci.sandbox.functions import functions_of

        # Shorter than a program's time limit, so that it gets the reason instead of being stopped while it waits.
        with self.store.limit_lock_wait(REPL_PATIENCE_MS):
            answer = self._programs.run(code, functions_of(self), self.store.transaction, stop=stop)
        # Told within the transaction, the embedder found nothing to do yet.
        self._notify_embedder()
        return answer

    # -- nodes and edges, as SPEC-02.20 to .26 name them ---------------------------------------------------------------

    def create_node(self, type: str, content: str, **fields: Any) -> str:
        """Store a memory of any type and return its id (SPEC-02.20).

        Args:
            type: `entity`, `fact`, `experience`, `decision` or `snippet`.
            content: what it says; of an entity its name.
            fields: `subtype`, `tier` (task), `confidence` (0.5), `provenance`, `metadata`, `scope` (project).

        Raises:
            BadRequestError: an unknown type, subtype, tier or field, or a value that it can't have.
        """
        made = self._node_operations.create_node(type, content, fields)
        self._notify_embedder()
        return made

    def get_node(self, node_id: str) -> Node | None:
        """Return a memory by its whole id, forgotten ones too, or None (SPEC-02.21)."""
        return self._node_operations.get_node(node_id)

    def update_node(self, node_id: str, **changes: Any) -> bool:
        """Change fields of a memory and return whether there is one (SPEC-02.22).

        A new statement in place of an old one is `correct_fact`, which keeps the history.

        Raises:
            BadRequestError: a field that can't be changed, or a value that it can't have.
        """
        known = self._node_operations.update_node(node_id, changes)
        self._notify_embedder()
        return known

    def delete_node(self, node_id: str) -> bool:
        """Forget a memory, as `forget` does, and return whether there was one (SPEC-02.23)."""
        return self._node_operations.delete_node(node_id)

    def query_nodes(
        self,
        type: str | None = None,
        tier: str | None = None,
        min_confidence: float | None = None,
        limit: int = 100,
    ) -> list[Node]:
        """Return living memories that match every filter given, newest first (SPEC-02.24)."""
        return self._node_operations.query_nodes(type, tier, min_confidence, limit)

    def create_edge(self, type: str, label: str, members: Sequence[Mapping[str, str]]) -> str:
        """Join memories in a hyperedge of one of the four types and return its id (SPEC-02.25).

        Args:
            type: `relation`, `composition`, `causation` or `context`.
            label: what joins them, a word (`relate` chooses the type by it).
            members: `{"id": ..., "role": ...}` for each memory, two or more.
        """
        return self._connections.create_relation(label, members, 1.0, None, edge_type=type)

    def get_related_nodes(self, node_id: str, edge_type: str | None = None) -> list[Node]:
        """Return the living memories that share a hyperedge with one (SPEC-02.26).

        Raises:
            NotFoundError: no such memory.
        """
        return self._node_operations.get_related_nodes(node_id, edge_type)

    # -- indexing ----------------------------------------------------------------------------------------------------

    def index_path(self, path: str | Path | None = None, *, progress: Progress | None = None) -> IndexReport:
        """Index a file or folder inside the project; without a path all of it, and its git history.

        Raises:
            BadRequestError: the path lies outside the project.
            NotFoundError: there is nothing at the path.
        """
        from hyperloci.indexing.indexer import Indexer

        target = None if path is None else self.project.resolve_path(Path(path))
        report = Indexer(self.store, self.settings, self.project, self._clock).index_tree(target, progress=progress)
        self._notify_embedder()
        return report

    def list_set_aside(self) -> list[SetAside]:
        """Return what was set aside because it failed, in this project and outside of any; the latest first."""
        found = self.store.set_aside.list_all()
        return [item for item in found if item.scope in (self.project.id, GLOBAL_SCOPE)]

    def try_again(self) -> int:
        """Let the next run retry everything that is set aside; return how many items that are."""
        from hyperloci.indexing.retry import retry_set_aside

        scopes = (self.store.scopes.find_key(scope) for scope in (self.project.id, GLOBAL_SCOPE))
        return sum(retry_set_aside(self.store, scope) for scope in scopes if scope is not None)

    def index_history(self, progress: Progress | None = None) -> int:
        """Store the older commits of the git history that are still missing, newest first; return how many were new.

        Then it is found which commits wrote the lines of code that stand.

        It may be interrupted anywhere: the next call, or a server's watchers, store the rest.
        """
        from hyperloci.indexing.indexer import Indexer

        indexer = Indexer(self.store, self.settings, self.project, self._clock)
        added, files, waiting = 0, 0, True
        while waiting:
            report = indexer.continue_history()
            added, waiting = added + report.commits, bool(report.commits_waiting or report.files_waiting)
            files = max(files, report.files_waiting)
            if progress is not None and files:
                progress(files - report.files_waiting, files, "which commits wrote what")
            elif progress is not None and added:
                progress(added, added + report.commits_waiting, "older commits")
            self._notify_embedder()
        return added

    def import_file(self, path: Path, *, scope: str | None = None, dry_run: bool = False) -> ImportReport:
        """Add what is new in an export or in another program's memory; see `facts.importers.importer`.

        Raises:
            NotFoundError: there is no such file.
            BadRequestError: a file of no known kind, or a damaged one; the message names the line.
        """
        from hyperloci.facts.importers.importer import import_file

        where = choose_scope(scope, "import", self.project.id)
        root = Path(self.project.root)
        report = import_file(self.store, path, scope=where, project_root=root, clock=self._clock, dry_run=dry_run)
        self._notify_embedder()
        return report

    def find_transcripts(
        self, folder: Path, *, begun_in: Path | None = None, every_project: bool = False
    ) -> list[TranscriptFile]:
        """Return Claude Code's transcripts in a folder and all below it, the oldest first.

        Args:
            folder: where they lie.
            begun_in: only sessions that were begun in the project of this folder, which need not exist any more;
                default: of this project.
            every_project: sessions of all projects.
        """
        from hyperloci.conversations.transcript_import import find_transcripts, select_of_places
        from hyperloci.project.identity import find_place_folder

        found = find_transcripts(folder)
        if every_project:
            return found
        own = self._transcripts.list_places(self.project)
        return select_of_places(found, own if begun_in is None else {find_place_folder(begun_in)})

    def import_transcripts(
        self, transcripts: Sequence[TranscriptFile], *, every_project: bool = False, progress: Progress | None = None
    ) -> TranscriptReport:
        """Store the turns of transcripts that are not stored yet, and what their sessions yield.

        Args:
            transcripts: the oldest first.
            every_project: each belongs to the project of its own folder; otherwise all of them to this one.
            progress: called with each transcript.
        """

        def find_project(folder: Path) -> Project:
            if not every_project:
                return self.project
            if not folder.is_dir():
                raise BadRequestError(
                    f"its project lay in {folder}, which is gone; run in the project's new folder:"
                    f" hyperloci import --claude-code --from {folder}"
                )
            return identify_known_project(self.store, self.settings, folder, self._clock())

        with contextlib.ExitStack() as stack:

            @functools.cache
            def start_embedder() -> None:
                try:
                    stack.enter_context(self.keep_embedder_running())
                except HyperlociError as error:
                    _log.warning("old sessions are judged by words alone: %s", error)

            report = self._transcripts.import_sessions(transcripts, find_project, progress, start_embedder)
            self._notify_embedder()
        return report

    def choose_export(
        self, *, this_project: bool = False, kinds: Sequence[str] = (), since: str | None = None
    ) -> ExportChoice:
        """Return what an export is to hold.

        Args:
            this_project: only this project's memories.
            kinds: only these subtypes (`model.kinds.SUBTYPES`).
            since: only of this time or later, as `retrieval.time_bounds.parse_time_bound` reads it.

        Raises:
            BadRequestError: an unknown kind, or no time.
        """
        from hyperloci.queries.recent import check_kinds
        from hyperloci.retrieval.time_bounds import parse_time_bound
        from hyperloci.store.export_selection import ExportChoice

        return ExportChoice(
            scope=self.project.id if this_project else None,
            kinds=check_kinds(kinds),
            since=None if since is None else parse_time_bound(since, self._clock(), argument="since"),
        )

    def write_export(self, out: TextIO, choice: ExportChoice, *, markdown: bool = False) -> Counter[str]:
        """Write what was chosen as JSON lines for `import_file`, or as Markdown to read.

        Returns:
            how many memories of each kind were written; of those that were forgotten, as `forgotten`.
        """
        if markdown:
            from hyperloci.queries.markdown_export import write_markdown

            return write_markdown(self.store, out, choice)
        from hyperloci.store.export import write_records

        return write_records(self.store, out, choice)

    @contextlib.contextmanager
    def keep_embedder_running(self) -> Iterator[None]:
        """Keep an embedder running for the block: this process's own, unless another session's runs already."""
        from hyperloci.embedder.supervisor import EmbedderSupervisor

        if self._client is None:
            yield
            return
        with EmbedderSupervisor(self.settings) as owner:
            if owner.ensure_running():
                self._client.wait_until_ready(WARM_SECONDS)
            yield

    @contextlib.contextmanager
    def keep_questions_encodable(self) -> Iterator[None]:
        """Keep an embedder running for the block if this process can't encode questions of the profile by itself."""
        from hyperloci.embedder.models.profile_models import has_light_encoder

        if not self.settings.embedder or has_light_encoder(self.settings):
            yield
            return
        with self.keep_embedder_running():
            yield

    def embed_pending(self, progress: Progress | None = None) -> int:
        """Wait until every memory of this project has its fingerprint, however slow the machine; return how many wait.

        Memories of other projects may wait too: whoever uses those needs them.

        Raises:
            EmbedderError: the embedder can't embed, or there is none.
        """
        if self._client is not None:
            from hyperloci.embedder.supervisor import EmbedderSupervisor
            from hyperloci.embedder.waiting import wait_until_drained

            with EmbedderSupervisor(self.settings) as owner:
                if owner.ensure_running():
                    self._client.wait_until_ready(WARM_SECONDS)
                self._queue_for_model(self._client.status())
                wait_until_drained(
                    self._client, self.settings.database, self.count_pending, progress, alive=owner.ensure_running
                )
        return self.count_pending()

    def count_pending(self) -> int:
        """Return how many memories of this project, and of none, wait for their vectors."""
        return self.store.vectors.count_pending(self._scopes)

    def _queue_for_model(self, status: EmbedderStatus | None) -> None:
        """Queue what another model embedded, as the embedder's next batch will: until then the queue looks empty."""
        vectors = self.store.vectors
        if status is not None and status.model_id and vectors.get_model_in_use() not in (None, status.model_id):
            with self.store.transaction():
                vectors.use_model(status.model_id, status.dimensions, now=self._clock())

    def expand_chunk(self, id: str) -> ExpandedChunk:
        """Return the turns of a conversation chunk in full, from the database or the archive (C.07).

        Raises:
            NotFoundError: no chunk has this id.
        """
        from hyperloci.conversations.pyramid.chunk_expansion import expand_chunk

        return expand_chunk(self.store, id, scopes=(self.project.id, GLOBAL_SCOPE))

    def get_context_window(
        self, max_tokens: int | None = None, query: str | None = None, *, session_id: str | None = None
    ) -> ContextWindow:
        """Return a conversation within a budget: the latest turns, older ones relevant to `query`, summaries (C.06).

        Args:
            max_tokens: never exceeded; None means two fifths of what all its turns would cost.
            query: selects the older turns; None takes summaries and the most recent turns.
            session_id: which conversation; None means the project's latest.

        Raises:
            NotFoundError: no such session, or none at all.
            BadRequestError: a budget below 1.
        """
        from hyperloci.conversations.pyramid.turn_search import build_session_window

        return build_session_window(
            self.store, self._searcher, self.project.id, session_id=session_id, max_tokens=max_tokens, query=query
        )

    def list_session_page(self, limit: int = 30, *, before: EventPlace | None = None) -> SessionPage:
        """Return a page of the project's sessions, the last used first."""
        from hyperloci.queries.browsing import list_session_page

        return list_session_page(self.store, self.project.id, limit, before=before)

    def replay_session(self, session_id: str, first: int = 0) -> SessionReplay:
        """Return a page of a session as it was: turns, what was shown to the assistant, what was extracted.

        Raises:
            NotFoundError: there is no such session.
        """
        from hyperloci.queries.session_replay import replay_session

        return replay_session(self.store, self._require_session(session_id), first, self._present_hits)

    def list_recent_sessions(self, limit: int = 20) -> list[dict[str, Any]]:
        """Return the project's sessions, latest first, times as ISO 8601."""
        from hyperloci.queries.recent import list_sessions

        return list_sessions(self.store, self.project.id, limit)

    # -- hooks -------------------------------------------------------------------------------------------------------

    def keep(self, record: CaptureRecord) -> int:
        """Store what a hook recorded, only once even if given again, and return how many turns were new.

        As a session starts, what others share is taken in first, as far as there is time.
        """
        if record.kind is CaptureKind.STARTED:
            self._read_shared_at_start()
        new = self._capture.store_record(record)
        if new and record.kind is not CaptureKind.PROMPT:
            self._notify_embedder()
        return new

    def consolidate_record(self, record: CaptureRecord) -> None:
        """Store what the turns before a record yield: of its session, and at a start of those that are over (B.17).

        When a session ends, what the next one begins with is prepared.
        """
        if record.kind in (CaptureKind.PROMPT, CaptureKind.ACTION):
            return
        # What is over waits for nobody, and what the next session begins with is about to be rendered.
        may_wait = record.kind is CaptureKind.TURNS
        if record.kind is CaptureKind.STARTED:
            sessions = self.store.consolidations.list_unread(MAX_UNREAD, self.project.id)
        else:
            sessions = [self._capture.place_record(record).session_id]
        if sessions or self.store.consolidations.list_reviews(self.project.id, 1):
            self._consolidate_now(sessions, until=record.at, may_wait=may_wait)
        if record.kind is CaptureKind.ENDED:
            self._capture.prepare_opening(self._capture.place_record(record).project_id)

    def read_ready_opening(self, record: CaptureRecord) -> str:
        """Return what a session that starts afresh begins with, as it was rendered ahead; '' where that is not there.

        One row is read, and nothing noted: for a hook whose time may be over before the record is stored.
        """
        return self._capture.read_ready_opening(record)

    def take_back_context(self, record: CaptureRecord, marks: Collection[str]) -> None:
        """Forget that a record's session was shown what runs of hooks (`marks`) handed over too late."""
        self._capture.take_back_context(record, marks)

    def get_context_for_record(self, record: CaptureRecord, mark: str = "") -> str:
        """Return the context to inject after a stored record, '' for none; it reinforces nothing.

        `mark` tells the hook's run that hands it over (`take_back_context`).
        """
        context = self._capture.context_after(record, self, mark)
        if record.kind is CaptureKind.PROMPT:
            # Not before the search, which would wait behind the prompt's own fingerprint.
            self._notify_embedder()
        return context

    def describe_recall(self, record: CaptureRecord) -> str:
        """Return a line for the user on what was put before the assistant with a prompt, '' for nothing."""
        return self._capture.describe_recall(record) if self.settings.announce else ""

    def measure_prompt(self, prompt: str, keys: Sequence[NodeKey]) -> MeasuredPrompt:
        """Return how near a prompt is to memories in E1, whether it is quiet, and what bears on it.

        Of memories without a vector nothing is told. Without the prompt's, its letters tell whether it is quiet.
        """
        from hyperloci.conversations.unasked.bearing import move_request
        from hyperloci.conversations.unasked.quiet_prompts import MeasuredPrompt, is_mostly_latin, score_quietness
        from hyperloci.spaces.chance_cosine import exceed_chance, measure_chance

        # Without an embedder a hook is spared the modules of the search, two thirds of its work.
        ready = self._hurried_encoder is not None and self._hurried_encoder.is_ready()
        seen = self._searcher.measure_meaning(prompt, keys) if ready else None
        if seen is None:
            return MeasuredPrompt(quietness=score_quietness(prompt))
        quietness = score_quietness(prompt, seen.model_id, seen.vector)
        chance = measure_chance(seen.model_id, seen.vector)
        if not is_mostly_latin(prompt):
            # What E1 makes of other scripts tells less than their words do.
            return MeasuredPrompt(quietness=quietness, chance=chance)
        cosines = {key: exceed_chance(cosine, chance) for key, cosine in seen.cosines.items()}
        moved = move_request(seen.model_id, seen.vector)
        bearings = {} if moved is None else self._searcher.multiply_vectors(moved, keys, seen.model_id)
        return MeasuredPrompt(cosines, quietness, bearings, chance)

    def list_injections(self, limit: int = 5) -> tuple[InjectionReport, ...]:
        """Return what was last put before the assistant unasked in this project's sessions, latest first."""
        from hyperloci.queries.injection_report import list_injections

        return tuple(list_injections(self.store, self.project.id, limit, self._present_hits))

    def add_turns(self, session_id: str, turns: Sequence[Turn]) -> int:
        """Store turns of a conversation from another client; return how many were new (B.01).

        Turns known by their `uuid` are not stored again.
        """
        from hyperloci.conversations.capture.sessions import add_turns

        with self.store.transaction():
            new = add_turns(self.store, session_id, self.project.id, turns, now=self._clock())
        self._notify_embedder()
        return new

    def catch_up(self) -> int:
        """Store turns that no hook reported, and close abandoned sessions; return how many turns were new."""
        from hyperloci.conversations.capture.sessions import close_abandoned

        new = self._capture.store_late_turns(self.project.id)
        with self.store.transaction():
            close_abandoned(self.store, self.project.id, now=self._clock())
        return new

    def prepare_opening(self) -> bool:
        """Render ahead what the project's next session begins with; return whether that was still to be done."""
        return self._capture.prepare_opening(self.project.id)

    def get_place_notice(self) -> str:
        """Return one line for the user about projects that this place looks like; '' after the first time."""
        from hyperloci.project.places import make_notice

        return make_notice(self.store, self.project, now=self._clock())

    # -- places ------------------------------------------------------------------------------------------------------

    def describe_place(self) -> PlaceAccount:
        """Return which project this place is, why, and which others look like it."""
        from hyperloci.project.places import describe_place

        return describe_place(self.store, self.project)

    def list_projects(self) -> tuple[KnownProject, ...]:
        """Return every project of the database, the one used last first."""
        return tuple(self.store.places.list_projects())

    def list_unplaced_projects(self) -> tuple[KnownProject, ...]:
        """Return the projects with memories that no folder opened here has, as after an import."""
        from hyperloci.project.places import list_unplaced_projects

        return list_unplaced_projects(self.store, self.project)

    def find_link_target(self, said: str | None = None) -> KnownProject:
        """Return the project with this folder, name or id; without an argument, the only one that looks like this one.

        Raises:
            NotFoundError: none matches, or none looks like this one.
            BadRequestError: several match.
        """
        from hyperloci.project.places import find_link_target

        return find_link_target(self.store, self.project, said)

    def link_place(self, target: KnownProject) -> LinkedProject:
        """Join this place to another project's memory, and use that memory from now on.

        Raises:
            BadRequestError: it has that memory already, was linked to another, or is known by a name.
        """
        from hyperloci.project.places import link_place

        linked = link_place(self.store, self.project, target, now=self._clock())
        self.follow_place()
        return linked

    def unlink_place(self) -> LinkedProject:
        """Give this place its own memory back; what was stored since the link stays where it is.

        Raises:
            NotFoundError: it is not linked.
        """
        from hyperloci.project.places import unlink_place

        undone = unlink_place(self.store, self.project, now=self._clock())
        self.follow_place()
        return undone

    def list_links(self) -> tuple[ScopeLink, ...]:
        """Return all links that the user made, latest first, undone ones too."""
        from hyperloci.project.places import list_links

        return list_links(self.store)

    # -- upkeep ------------------------------------------------------------------------------------------------------

    def run_maintenance(self, *, dry_run: bool = False, force: bool = True) -> MaintenanceReport | None:
        """Run the maintenance jobs now (B.16, B.18), for a dry run on a copy. None: another process is running them.

        Args:
            dry_run: change nothing, and report what would change.
            force: run all jobs, due or not.
        """
        from hyperloci.maintenance.scheduler import run_maintenance_now

        report = run_maintenance_now(self.store, self.settings, self._clock, dry_run=dry_run, force=force)
        if report is not None and report.changed and not dry_run:
            self._notify_embedder()
        return report

    def list_weak_facts(self, limit: int = 10) -> tuple[WeakHit, ...]:
        """Return low-confidence memories, lowest first, and when each is forgotten (B.15)."""
        from hyperloci.maintenance.decay import list_weak_facts

        scopes, threshold = (self.project.id, GLOBAL_SCOPE), self.settings.decay_threshold
        return list_weak_facts(
            self.store, scopes, self._present_hits, now=self._clock(), threshold=threshold, limit=limit
        )

    def prune_faded(self, *, limit: int | None = None, dry_run: bool = False) -> PruneReport:
        """Forget what has faded, in every project; `restore` brings it back for 30 days (B.11)."""
        from hyperloci.maintenance.decay import prune_faded
        from hyperloci.maintenance.scheduler import make_maintenance_context

        return prune_faded(
            make_maintenance_context(self.store, self.settings, self._clock), limit=limit, dry_run=dry_run
        )

    def get_session_report(self, session_id: str) -> SessionReport:
        """Return a report on one session: what it was for, how it ended, what it left.

        Raises:
            NotFoundError: there is no such session.
        """
        from hyperloci.queries.session_report import make_session_report

        return make_session_report(self.store, self._require_session(session_id), self._present_hits)

    def get_consolidation_request(self, session_id: str | None = None) -> HostRequest:
        """Return the turns of a session that waits to be consolidated, as shown to the assistant (B.17).

        Raises:
            NotFoundError: there is no such session, or none waits.
        """
        from hyperloci.conversations.host_consolidation import HostConsolidation

        return HostConsolidation(self.store, self.settings, self._clock).make_request(session_id, self.project.id)

    def count_waiting_turns(self) -> WaitingTurns:
        """Return how much of this project's sessions that are over waits to be consolidated."""
        return self.store.consolidations.count_waiting(self.project.id)

    def save_consolidation(self, session_id: str, payload: object) -> ConsolidationResult:
        """Store what the assistant found in a session, item by item; the result lists what was rejected (B.17).

        Raises:
            NotFoundError: there is no such session.
        """
        from hyperloci.conversations.host_consolidation import HostConsolidation

        done = HostConsolidation(self.store, self.settings, self._clock).save_findings(session_id, payload)
        self._notify_embedder()
        return done

    def _consolidate_now(self, sessions: Sequence[str], until: int, *, may_wait: bool) -> None:
        # Only where there is something to read: a hook is spared a quarter of its imports.
        from hyperloci.conversations.consolidation.consolidator import Consolidation

        consolidation = Consolidation(self.store, self.settings, self._clock, scorer=self._client)
        made = [consolidation.consolidate_now(session_id, until, may_wait=may_wait).new for session_id in sessions]
        if any(made):
            self._notify_embedder()
        consolidation.write.replacements.review_statements(self.project.id, may_wait=may_wait)

    # -- inner -------------------------------------------------------------------------------------------------------

    @property
    def _node_operations(self) -> NodeOperations:
        from hyperloci.facts.node_operations import NodeOperations

        return NodeOperations(self.store, self._facts, self.project.id, self._clock)

    @functools.cached_property
    def _programs(self) -> ProgramSession:
        from hyperloci.sandbox.program_session import ProgramSession

        return ProgramSession()

    @property
    def _scopes(self) -> tuple[str, str]:
        return (self.project.id, GLOBAL_SCOPE)

    @functools.cached_property
    def _capture(self) -> Capture:
        from hyperloci.conversations.capture.session_events import Capture

        return Capture(self.store, self.settings, self._clock)

    @property
    def _transcripts(self) -> TranscriptImporter:
        from hyperloci.conversations.transcript_import import TranscriptImporter

        return TranscriptImporter(self.store, self.settings, self._clock, self._client)

    @property
    def _entities(self) -> EntityService:
        from hyperloci.knowledge.entities.entity_service import EntityService

        return EntityService(self.store, (self.project.id, GLOBAL_SCOPE), self._clock)

    @functools.cached_property
    def _team_search(self) -> TeamSearch:
        from hyperloci.team.team_search import TeamSearch

        return TeamSearch(self.store, self.settings, self._make_query_encoder())

    @property
    def _search_service(self) -> SearchService:
        from hyperloci.queries.search_service import SearchService

        return SearchService(
            store=self.store,
            searcher=self._searcher,
            facts=self._facts,
            project=self.project,
            clock=self._clock,
            token_budget=self.settings.context_token_budget,
            nli=self._client if self.settings.nli_model is not None else None,
            scorer=self._client,
        )

    @property
    def _connections(self) -> RelationService:
        from hyperloci.queries.relations import RelationService

        return RelationService(
            store=self.store,
            facts=self._facts,
            scopes=(self.project.id, GLOBAL_SCOPE),
            find_start=self._search_service.find_start,
            present_hits=self._present_hits,
            clock=self._clock,
        )

    @functools.cached_property
    def _searcher(self) -> Searcher:
        from hyperloci.retrieval.search import Searcher

        return Searcher(
            self.store,
            self._make_query_encoder(),
            self.settings,
            quick_encoder=self._hurried_encoder,
            prompt_encoder=self._make_query_encoder(self._hurried_encoder),
            off_reason=OFF,
            clock=self._clock,
        )

    @functools.cached_property
    def _hurried_encoder(self) -> HurriedEncoder | None:
        """One for all that a prompt asks, since it waits only once."""
        if self._client is None:
            return None
        from hyperloci.embedder.query_encoder import HurriedEncoder

        return HurriedEncoder(self._client)

    def _make_query_encoder(self, hurried: HurriedEncoder | None = None) -> QueryEncoder | None:
        if self._client is None:
            return None
        from hyperloci.embedder.query_encoder import QueryEncoder

        vectors = self.store.vectors
        return QueryEncoder(
            self._client, self.settings, lambda: vectors.get_model_in_use() is not None, hurried=hurried
        )

    @functools.cached_property
    def parents(self) -> list[str]:
        """What started this process, the nearest first; empty it where another program's client asks."""
        return list_parents()

    @functools.cached_property
    def _client(self) -> EmbedderClient | None:
        if not self.settings.embedder:
            return None
        from hyperloci.embedder.client import EmbedderClient

        return EmbedderClient(self.settings)

    def _present_hits(self, nodes: Sequence[Node]) -> list[Hit]:
        from hyperloci.retrieval.presentation import present_hits

        return present_hits(self.store, nodes, now=self._clock(), project=self.project.id)

    def _require_session(self, session_id: str) -> StoredSession:
        from hyperloci.store.ids import resolve_id, session_ids

        return resolve_id(session_ids(self.store.sessions, scope=self.project.id), session_id)

    def _find_current_session(self) -> str | None:
        """Return the session of the client that started this process.

        If it can't be told whose this process is, it is the last, while it lasts.
        """
        own = self.store.sessions.find_of_client(self.project.id, self.parents) if self.parents else None
        if own is not None:
            return own
        sessions = self.store.sessions.list_recent(self.project.id, limit=1)
        is_open = bool(sessions) and sessions[0].status == "active"
        return sessions[0].id if is_open and not is_of_another_client(sessions[0], self.parents) else None

    def _notify_embedder(self) -> None:
        """Notify a running embedder that there is work; without one the queue waits."""
        if self._client is not None:
            from hyperloci.embedder.client import NOTICE_SECONDS

            self._client.notify(self.settings.database, NOTICE_SECONDS)

    def _describe_embedder(self) -> dict[str, Any]:
        from hyperloci.embedder.transport import find_address_fault, find_embedder_address

        status = None if self._client is None else self._client.status()
        if status is None:
            silent = None if self._client is None else self._client.silent_since
            told = {} if silent is None else {"silent_since": to_iso(silent)}
            if self._client is not None and (fault := find_address_fault(find_embedder_address(self.settings))):
                told["error"] = fault
            return {"warm": False, "enabled": self.settings.embedder, **told}
        told = {} if status.error is None else {"error": status.error}
        return {"warm": status.is_ready, "enabled": True, "model": status.model_id, "device": status.device, **told}

    def close(self) -> None:
        """Close the database."""
        if "_team_search" in self.__dict__:
            self._team_search.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
