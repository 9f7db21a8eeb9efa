"""Commit writer: stores one of Git's commits as a memory, joined to what it changed, or notes why it can't be."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from hyperloci.clock import Clock
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.indexing.commits.changed_symbols import TouchedNodes
from hyperloci.indexing.commits.commit_reader import commit_text, is_message_cut
from hyperloci.model.kinds import NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import NewNode
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.project.git_log import Commit
from hyperloci.project.identity import Project
from hyperloci.store import Store
from hyperloci.store.projects.set_aside import describe_failure, is_fault_of_content
from hyperloci.system.values import dataclass
from hyperloci.text.commit_text import message_of
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize, sanitize_name

SHORT_SHA: Final = 12
"""Digits that are unique in any repository there is."""

NAME_CONFIDENCE: Final = 0.8
"""Of an edge that rests on names in hunk headings: Git sees one function a hunk, and not always the right one."""

NAMESAKE_CONFIDENCE: Final = 0.5
"""Of an edge to each of two or three symbols with the name in a hunk's heading: one of them was changed."""

NOTHING: Final = SanitizedText(text="")
UNTOUCHED: Final = TouchedNodes()

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCommit:
    """A commit as it is to be written; `problem` says why it can't be.

    One `is_cut_off` where a shallow clone begins with it: what it changed can't be told.
    """

    sha: str
    text: SanitizedText = NOTHING
    author: str = ""
    date_ms: int = 0
    committed_ms: int = 0
    touched: TouchedNodes = UNTOUCHED
    is_cut_off: bool = False
    problem: str | None = None


def prepare_commit(sha: str, commit: Commit | str, touched: Mapping[str, TouchedNodes]) -> PreparedCommit:
    """Make a commit ready to be written, outside of any transaction; what fails has its reason instead."""
    if isinstance(commit, str):
        return PreparedCommit(sha=sha, problem=commit)
    try:
        return PreparedCommit(
            sha=sha,
            text=sanitize(commit_text(commit), is_cut=is_message_cut(commit)),
            author=sanitize(commit.author).text,
            date_ms=commit.date_ms,
            committed_ms=commit.committed_ms,
            touched=touched[sha],
        )
    except Exception as error:  # One message that no rule foresaw must not keep all others out.
        return PreparedCommit(sha=sha, problem=describe_failure(error))


class CommitWriter:
    """Writes the commits of one project's repository.

    Args:
        store: the open store; each commit is a transaction.
        project: whose history.
        scope_key: the project's scope.
        clock: tells the time.
    """

    def __init__(self, store: Store, project: Project, scope_key: int, clock: Clock) -> None:
        self._store = store
        self._project = project
        self._scope_key = scope_key
        self._clock = clock
        self._writer = MemoryWriter(store, sparing=True)

    def store_commit(self, one: PreparedCommit, branch: str | None) -> int:
        """Write one commit, or note that it can't be; return how many were written."""
        problem = one.problem
        if problem is None:
            try:
                with self._store.transaction():
                    self._add_commit(one, branch)
            except Exception as error:
                if not is_fault_of_content(error):
                    raise
                problem = describe_failure(error)
                self.forget_undone()
        if problem is not None:
            self._set_commit_aside(one.sha, problem)
        return int(problem is None)

    def forget_undone(self) -> None:
        """Forget the entities that were made known in what was undone."""
        self._writer = MemoryWriter(self._store, sparing=True)

    def _set_commit_aside(self, sha: str, problem: str) -> None:
        """Leave a commit out that can't be read or stored, so that it costs no further run anything."""
        _log.warning("commit %s of %s cannot be stored: %s", sha[:SHORT_SHA], self._project.name, problem)
        self._store.files.put_commit(self._scope_key, sha, None)
        self._store.set_aside.add_failure(self._scope_key, SetAsideKind.COMMIT, sha, problem, now=self._clock())

    def _add_commit(self, one: PreparedCommit, branch: str | None) -> None:
        now = self._clock()
        # Anyone may write any date into a commit.
        date, committed = (min(max(ms, 0), now) for ms in (one.date_ms, one.committed_ms))
        metadata = {
            "sha": one.sha,
            "author": one.author,
            "branch": sanitize_name(branch) if branch else None,
            "flags": one.text.flags,
            "committed": committed if committed != date else None,
            "cut_off": one.is_cut_off,
        }
        content = _content_of(one)
        node = self._writer.write_event(
            NewNode(
                type=NodeType.DECISION,
                subtype="commit",
                # Its subject is a commit's heading: among the lines of a long message it weighs next to nothing.
                title=content.lstrip().partition("\n")[0],
                content=content,
                tier=Tier.LONGTERM,
                confidence=1.0,
                decay_rate=0.0,
                provenance=f"git {one.sha[:SHORT_SHA]}",
                origin=Origin.COMMIT,
                scope=self._project.id,
                event_time=date,
                valid_from=date,
                extra_terms=f"{one.sha} {one.sha[:SHORT_SHA]} {one.sha[:7]} {one.author}",
                metadata={name: value for name, value in metadata.items() if value},
                author=one.author or None,
            ),
            now=now,
            place=one.sha,
            text=message_of(one.text.text),
            author=one.author or None,
        )
        self._store.files.put_commit(self._scope_key, one.sha, node.key)
        self._link_touched(node.key, one, now)

    def _link_touched(self, key: NodeKey, one: PreparedCommit, now: int) -> None:
        sure = 1.0 if one.touched.exact else NAME_CONFIDENCE
        for nodes, confidence in ((one.touched.nodes, sure), (one.touched.namesakes, NAMESAKE_CONFIDENCE)):
            if nodes:
                self._store.edges.link_nodes(
                    "changed",
                    key,
                    nodes,
                    now=now,
                    confidence=confidence,
                    automatic=True,
                    evidence=f"git {one.sha[:SHORT_SHA]}",
                )

    def complete_commit(self, node_id: str, one: PreparedCommit) -> None:
        """Say of a commit what it changed, which could not be told where the clone was cut off at it."""
        node, now = self._store.nodes.get_node(node_id), self._clock()
        if node is None or one.problem is not None:
            return
        metadata = {name: value for name, value in node.metadata.items() if name != "cut_off"}
        with self._store.transaction():
            self._store.nodes.update_node(node_id, now=now, content=_content_of(one), metadata=metadata)
            self._link_touched(node.key, one, now)

    def mark_ended(self, node_id: str, ended_at: int | None) -> None:
        """End a commit that no branch leads to any more, or take that back."""
        node = self._store.nodes.get_node(node_id)
        if node is None or (ended_at is None and "unreachable" not in node.metadata):
            return
        metadata = {name: value for name, value in node.metadata.items() if name != "unreachable"}
        if ended_at is not None:
            metadata["unreachable"] = True
            self._store.entities.drop_summaries_from(node.key)
        self._store.nodes.update_node(node_id, now=self._clock(), valid_until=ended_at, metadata=metadata)


def _content_of(one: PreparedCommit) -> str:
    return one.text.text if one.text.text.strip() else f"Commit {one.sha[:SHORT_SHA]}"
