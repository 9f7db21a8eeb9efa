"""Answers of the use cases of `Memory`. Times are ISO 8601, scores and confidences 0..1 unless said otherwise.

The module is long because it is a list: an answer is a class of fields, and nothing else is here.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from hyperloci.model.search import Hit, HitSource
from hyperloci.system.values import dataclass

Progress = Callable[[int, int, str], None]
"""Called with (done, total, description)."""


class ContradictionKind(StrEnum):
    """How two memories were found to disagree (D.10)."""

    EXPLICIT = "explicit"
    SUPERSEDED = "superseded"
    DEAD_END = "dead_end"
    NEGATION = "negation"
    ANTONYM = "antonym"
    VALUE = "value"
    JUDGED = "judged"
    NLI = "nli"


class ContradictionNature(StrEnum):
    """What a disagreement is: two things that can't both be so, a newer state of a thing, or a state that was."""

    CONTRADICTION = "contradiction"
    UPDATE = "update"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A memory that disagrees with a statement: confidence and reason; `sure` ones are stored with the statement."""

    id: str
    content: str
    kind: ContradictionKind
    score: float
    reason: str
    source: HitSource
    nature: ContradictionNature = ContradictionNature.CONTRADICTION
    sure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionReport:
    """What `find_contradictions` found; `checked` memories were compared.

    Attributes:
        statement: what was checked.
        checked: how many memories it was compared with.
        contradictions: what disagrees with it, the surest first.
        on_subject: the nearest other living memories on its subject, three at most: whoever asks judges them best.
    """

    statement: str
    checked: int
    contradictions: tuple[Contradiction, ...]
    on_subject: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import added, or would have (`dry_run`).

    Attributes:
        format: `hyperloci`, `server-memory` or `notes`.
        files: those that were read.
        added: new items by kind.
        known: items that were already stored; unchanged.
        redactions: secrets that were replaced.
        skipped: what was left out, each with its file, line and why.
    """

    format: str
    files: tuple[str, ...]
    added: dict[str, int]
    known: int = 0
    redactions: int = 0
    skipped: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptReport:
    """What an import of transcripts added.

    Attributes:
        sessions: those that gave new turns.
        unchanged: those that gave none.
        turns: new turns.
        facts: what was made of them.
        failed: transcripts that could not be read, each with the reason.
    """

    sessions: int = 0
    unchanged: int = 0
    turns: int = 0
    facts: int = 0
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedHit:
    """A memory reached over relations. `direction` is out, in or both; `distance` counts hyperedges crossed.

    `path`, `line` and `symbol` say where: of what speaks of the start, the line on which it does; else the first.
    `author` is who told it, if somebody else did.
    """

    id: str
    content: str
    relation: str
    direction: str
    distance: int
    confidence: float
    automatic: bool
    path: str | None = None
    line: int | None = None
    symbol: str | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedAnswer:
    """The memory a search for relations began at, and what it reached.

    Attributes:
        node: where it began.
        started: in words what the topic was taken for, and what else it could have been.
        related: what was reached, nearest first.
        relations: all that it has, as `calls in 12`.
    """

    node: Hit
    started: str
    related: tuple[RelatedHit, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One event in a memory's life."""

    time: str
    operation: str
    from_tier: str | None
    to_tier: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Where a fact came from and what became of it (B.15); `account` tells it in sentences."""

    node: Hit
    account: tuple[str, ...]
    sources: tuple[Hit, ...]
    supersedes: tuple[Hit, ...]
    superseded_by: Hit | None
    entities: tuple[str, ...]
    log: tuple[LogLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredMemory:
    """A memory that was brought back as it was: `ended` says in words that it no longer holds, `replaced_by` why.

    `sharing` says that others don't have it back.
    """

    memory: Hit
    ended: str | None
    replaced_by: Hit | None
    sharing: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSection:
    """One part of an assembled context: its heading, and the ids of the memories in it."""

    title: str
    tokens: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledContext:
    """Markdown for a prompt within a token budget (B.09)."""

    query: str
    markdown: str
    tokens: int
    sections: tuple[ContextSection, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFile:
    """A file that was not indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitCounts:
    """How much of a project's Git history is stored.

    Attributes:
        stored: commits that are.
        waiting: older ones that are still to be.
        older: older ones that are not, by the setting `history_commits`.
        is_known: whether the repository was looked at, if there is one.
    """

    stored: int
    waiting: int
    older: int
    is_known: bool = True

    def describe_progress(self) -> str:
        """Return it as one line."""
        known = self.stored + self.waiting
        if not known:
            return "no commits" if self.is_known else "not checked yet"
        if not self.is_known:
            return f"{known:,} {'commit' if known == 1 else 'commits'}; the repository is not checked yet"
        if self.waiting:
            return f"{self.stored:,} of {known:,} commits, newest first"
        bound = f"; {self.older:,} older ones are left out (history_commits)" if self.older else ""
        if known == 1:
            return f"the newest commit{bound}" if self.older else "its only commit"
        return f"the newest {known:,} commits{bound}" if self.older else f"all of {known:,} commits"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """What indexing did. `changed` chunks were written anew, `moved` ones only changed their place.

    `set_aside` counts what of the project failed by itself, in this run or an earlier one, and is left out until it or
    the program changes.
    `commits` are the new commits that were stored, newest first; `commits_waiting` older ones are still to be stored.
    Of `files_waiting` files it is still to be found which commits wrote their lines.
    """

    files: int
    chunks: int
    added: int
    changed: int
    moved: int
    removed: int
    unchanged_files: int
    commits: int
    skipped: tuple[SkippedFile, ...]
    seconds: float
    set_aside: int = 0
    commits_waiting: int = 0
    files_waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeReport:
    """What was purged, and what remains.

    Attributes:
        ids: the memories that are gone for good.
        entities: names of entities that only they mentioned; purged too.
        alike: memories that hold the same text or were made from it; they stay, unless purged too.
        sources: files they were indexed from; when those change, they are indexed again.
        records: how many waiting records of hooks held them.
        backups_rewritten, backups_deleted, backups_unreadable: what became of the backups we manage.
    """

    ids: tuple[str, ...]
    entities: tuple[str, ...]
    alike: tuple[str, ...]
    sources: tuple[str, ...]
    records: int
    backups_rewritten: tuple[str, ...]
    backups_deleted: tuple[str, ...]
    backups_unreadable: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplError:
    """Why a program ended early; `line` is the line that was running, if any."""

    type: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplAnswer:
    """What a program printed, its last expression's value as JSON has it, and how often it called the memory.

    Attributes:
        undone: how many of its writes were undone because it failed.
        names_not_kept: names that the next program of the session won't know: their values can't be written down.
    """

    output: str
    result: Any
    error: ReplError | None
    calls: int
    undone: int = 0
    names_not_kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A memory in a drawn part of the concept graph; `distance` counts hyperedges from the middle."""

    id: str
    type: str
    content: str
    place: str
    distance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """A hyperedge between drawn memories: members as (id, role), those that are not drawn left out.

    A mention is no hyperedge; its `id` is empty, since it can't be confirmed or pruned.
    """

    id: str
    label: str
    members: tuple[tuple[str, str], ...]
    confidence: float
    automatic: bool
    confirmed: bool
    evidence: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAnswer:
    """A part of the concept graph: the memory in its middle first, then by distance, and what joins them.

    `started` says in words what the topic was taken for; empty for a path.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    started: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyAnswer:
    """What a memory depends on, nearest first, and the circles in it; `complete` is False if more was not looked at."""

    node: Hit
    dependencies: tuple[GraphNode, ...]
    cycles: tuple[tuple[str, ...], ...]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgePruneReport:
    """How many automatic relations were pruned, or would be (`dry_run`), and why."""

    faded: int
    crowded: int
    dry_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityInfo:
    """An entity (B.10); `summary` is None until it was mentioned often enough."""

    id: str
    canonical_name: str
    type: str
    aliases: tuple[str, ...]
    summary: str | None
    mention_count: int
    first_seen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedEntity:
    """An entity that the same memories mention; `together` is in how many."""

    name: str
    type: str
    together: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityProfile:
    """What is known of an entity (B.15): facts, events, and entities mentioned with it."""

    entity: EntityInfo
    facts: tuple[Hit, ...]
    timeline: tuple[Hit, ...]
    related_entities: tuple[RelatedEntity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMerge:
    """Two entities merged by a rule or a user; `id` undoes the merge."""

    id: int
    kept: str
    merged: str
    reason: str
    score: float
    merged_at: str
    undone_at: str | None
