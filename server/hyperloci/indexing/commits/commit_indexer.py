"""Commit indexer: stores Git's history as memories: one node per commit, joined to the symbols that it changed.

The newest commits are stored with the files; the rest follow batch by batch, newest first, over as many runs as it
takes. Commits are identified by hash, so a run may be interrupted anywhere, and history may be rewritten between two.

A commit whose branch was rebased, amended or deleted is no longer in any history. Its node stays, with
`unreachable` in its metadata and an end to its validity, so that searches leave it out and questions about the past
still find it; should the commit come back (a reflog rescue, another clone), so does the node. Switching branches ends
nothing: commits are looked for under every branch, tag and working tree.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock, system_clock
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.indexing.commits.changed_symbols import CommitEffects, TouchedNodes
from hyperloci.indexing.commits.commit_reader import CHANGED, CommitReader, commit_text, shallow_commits
from hyperloci.indexing.link_queue import due_counter_name
from hyperloci.indexing.write_throttle import WriteThrottle
from hyperloci.model.kinds import NodeType, Origin, Tier
from hyperloci.model.node import NewNode
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.project.git import GitError, GitRepository, never_cancelled
from hyperloci.project.git_folder import BrokenRepositoryError, open_repository, read_head
from hyperloci.project.git_log import Commit
from hyperloci.project.identity import Project
from hyperloci.store import Store
from hyperloci.store.projects.git_history import CommitHistoryState
from hyperloci.store.projects.set_aside import describe_failure, is_fault_of_content
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize, sanitize_name

FIRST_COMMITS: Final = 500
"""Newest commits that are stored together with the files: about a year of a busy project, within ten seconds."""

BATCH: Final = 100
"""Commits that are read together: about a second's work, of which half is Git's."""

WINDOW: Final = 20_000
"""Missing commits that are listed at a time, which bounds memory; a longer history is walked again for the next."""

ASKED_AT_ONCE: Final = 1_000
"""Hashes looked up in one statement."""

MAX_TIPS: Final = 1_000
"""The newest stored commits, none an ancestor of another; nobody works on more branches than this."""

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
class CommitReport:
    """What reading the history did; `waiting` commits are still to be read; `problem` says why not all can be."""

    added: int = 0
    ended: int = 0
    revived: int = 0
    waiting: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _MissingCommit:
    """A commit that is to be stored; `resumed` if later ones of the same walk are known already."""

    sha: str
    resumed: bool


class CommitIndexer:
    """Keeps the commits of one project's repository as memories.

    Args:
        store: the open store; the indexer makes its own transactions.
        project: whose history.
        scope_key: the project's scope.
        clock: tells the time.
        git: reads the repository.
        first: how many new commits `run` stores at most.
        wanted: how many commits of a history are stored at all, the newest; 0 is all.
        cancelled: asked between commits; True ends what is going on early.
    """

    def __init__(
        self,
        store: Store,
        project: Project,
        scope_key: int,
        clock: Clock = system_clock,
        *,
        git: GitRepository | None = None,
        first: int = FIRST_COMMITS,
        wanted: int = 0,
        cancelled: Callable[[], bool] = never_cancelled,
    ) -> None:
        self._store = store
        self._project = project
        self._scope_key = scope_key
        self._clock = clock
        self._git = git or GitRepository(project.root)
        self._first = first
        self._wanted = wanted
        self._cancelled = cancelled
        self._turns = WriteThrottle(store)
        self._writer = MemoryWriter(store, sparing=True)
        self._effects: CommitEffects | None = None
        self._reader = CommitReader(self._git)
        self._head: str | None = None
        self._window: deque[_MissingCommit] = deque()
        self._unlisted = 0
        self._problem: str | None = None
        self._resumed = False

    def run(self) -> CommitReport:
        """Store the newest commits of HEAD that are new; end those that no branch leads to any more, revive those back.

        What is older than a stored one is left to `store_more`.
        Files should be indexed before: a commit is joined to the symbols as they are now.
        """
        if self._project.common_dir is None:
            return CommitReport()
        try:
            head = self._git.head_commit()
            if head is None:
                return CommitReport()
            ended, revived = self._reconcile_history(head)
            self._requeue_outdated()
            self._walk_history(head)
            new = itertools.takewhile(lambda missing: not missing.resumed, self._window)
            added = self._store_next(sum(1 for _ in itertools.islice(new, self._first)))
        except (GitError, BrokenRepositoryError) as error:
            return CommitReport(problem=str(error))
        return CommitReport(
            added=added, ended=ended, revived=revived, waiting=self._count_waiting, problem=self._problem
        )

    def store_more(self, count: int = BATCH) -> CommitReport:
        """Store the next older commits; where `waiting` is 0 there are none left, or they can't be read."""
        if self._project.common_dir is None:
            return CommitReport()
        try:
            head = self._git.head_commit()
            if head is None:
                return CommitReport()
            if head != self._head or not self._window:
                self._walk_history(head)
            added = self._store_next(count)
        except (GitError, BrokenRepositoryError) as error:
            return CommitReport(problem=str(error))
        return CommitReport(added=added, waiting=self._count_waiting, problem=self._problem)

    # -- what is to be done ------------------------------------------------------------------------------------------

    @property
    def _count_waiting(self) -> int:
        return len(self._window) + self._unlisted

    def _read_state(self) -> CommitHistoryState:
        return self._store.history.get_state(self._scope_key) or CommitHistoryState()

    def _reconcile_history(self, head: str) -> tuple[int, int]:
        """End what no branch leads to any more, revive what one leads to again; return how many of each."""
        history = self._store.history
        state = history.get_state(self._scope_key)
        # Before there was a state, any stored commit may be one that nothing leads to.
        tips = state.tips if state else tuple(history.list_commits(self._scope_key))
        lost = self._git.commits_lost_by(tips)
        ended = history.list_ended(self._scope_key)
        still_lost = self._git.commits_lost_by(ended)
        back = [ended[sha] for sha in self._git.existing_commits(ended) if sha not in still_lost]
        gone = [node for sha, node in history.get_node_ids(self._scope_key, lost).items() if sha not in ended]
        self._mark_ended(gone, self._clock())
        self._mark_ended(back, None)
        # What is lost no longer covers what it stood on.
        base = {parent for parents in lost.values() for parent in parents} - lost.keys()
        others = self._git.commits_beyond([sha for sha in tips if sha not in lost] + sorted(base), head)
        covering = (head, *sorted(others)[:MAX_TIPS])
        if state is None or state.tips != covering:
            with self._store.transaction():
                history.put_state(self._scope_key, replace(self._read_state(), tips=covering))
        return len(gone), len(back)

    def _requeue_outdated(self) -> None:
        """Have those commits tried again that an earlier version of the program failed on."""
        if outdated := self._store.set_aside.list_outdated_subjects(self._scope_key, SetAsideKind.COMMIT):
            with self._store.transaction():
                self._store.history.mark_missing(self._scope_key, outdated)
                self._store.set_aside.clear_subjects(self._scope_key, SetAsideKind.COMMIT, outdated)

    def _walk_history(self, head: str) -> None:
        """Find which commits are missing, newest first."""
        self._head, self._problem = head, None
        self._window.clear()
        self._unlisted, self._resumed = 0, False
        state, basis = self._read_state(), self._history_basis()
        whole_to = state.whole_to if state.basis == basis else None
        if whole_to == head:
            return
        older = self._list_missing(head, whole_to)
        if self._cancelled():
            self._window.clear()
            return
        found = replace(
            state,
            whole_to=whole_to,
            basis=basis,
            waiting=self._count_waiting,
            older=state.older if whole_to else older,
            tips=state.tips if head in state.tips else (head, *state.tips),
        )
        if found != state:
            with self._store.transaction():
                self._store.history.put_state(self._scope_key, found)
        if not self._count_waiting:
            self._mark_history_whole()

    def _list_missing(self, head: str, whole_to: str | None) -> int:
        """List the missing commits, or the first of them; return how many more there are than are wanted."""
        seen = 0
        shas = self._git.walk_commits(head, without=[whole_to] if whole_to else ())
        bounded = self._wanted > 0 and whole_to is None
        try:
            while not self._cancelled() and (some := list(itertools.islice(shas, ASKED_AT_ONCE))):
                wanted = some[: max(0, self._wanted - seen)] if bounded else some
                seen += len(some)
                known = self._store.history.find_known(self._scope_key, wanted)
                for sha in wanted:
                    if sha in known:
                        self._resumed = True
                    elif len(self._window) < WINDOW:
                        self._window.append(_MissingCommit(sha, self._resumed))
                    else:
                        self._unlisted += 1
        except GitError as error:
            # Damaged somewhere: what is listed can be had all the same.
            self._problem = str(error)
        return max(0, seen - self._wanted) if bounded else 0

    def _history_basis(self) -> str:
        """Return what a whole history rests on: deeper clones and larger wishes have more."""
        cut_off = ",".join(sorted(shallow_commits(self._project.common_dir)))
        return f"{hashlib.sha256(cut_off.encode()).hexdigest()[:16] if cut_off else 'whole'}:{self._wanted}"

    def _mark_history_whole(self) -> None:
        """Note that nothing is missing before the commit that the walk began with."""
        if self._problem is not None:
            return
        with self._store.transaction():
            state = self._read_state()
            self._store.history.put_state(self._scope_key, replace(state, whole_to=self._head, waiting=0))
            self._store.history.forget_renames(self._scope_key)
            if self._resumed:
                # Documents may name commits that are here only now; which do, only a look at all of them can tell.
                self._store.meta.set(due_counter_name(self._scope_key), str(self._clock()))

    # -- doing it ----------------------------------------------------------------------------------------------------

    def _store_next(self, count: int) -> int:
        """Store the first `count` of the missing commits; return how many were new."""
        if not self._window:
            return 0
        added, branch = 0, _current_branch(self._project.root)
        try:
            while self._window and count > 0 and not self._cancelled():
                some = [self._window.popleft() for _ in range(min(BATCH, count, len(self._window)))]
                count -= len(some)
                added += self._store_batch(some, branch)
        except BaseException:
            self._window.clear()  # What of it was stored, the next walk tells.
            self._forget_undone()
            raise
        if not self._count_waiting:
            self._mark_history_whole()
        return added

    def _store_batch(self, missing: Sequence[_MissingCommit], branch: str | None) -> int:
        commits = dict(self._reader.iter_commits([one.sha for one in missing]))
        for sha in commits.keys() & shallow_commits(self._project.common_dir):
            if isinstance(commit := commits[sha], Commit):
                # It is shown as if it had added every file.
                commits[sha] = replace(commit, files=(), changed=0, read=0)
        touched = self._find_touched([commit for commit in commits.values() if isinstance(commit, Commit)], missing)
        ready = deque(self._prepare_commit(sha, commit, touched) for sha, commit in commits.items())
        added = 0
        while ready:
            if self._cancelled():
                self._window.clear()
                self._unlisted += len(ready)
                return added
            with self._turns.take_turn() as deadline:
                before = len(ready)
                while ready and time.perf_counter() < deadline:
                    one = ready.popleft()
                    if not self._store.files.has_commit(self._scope_key, one.sha):
                        added += self._store_commit(one, branch)
                self._store.history.reduce_waiting(self._scope_key, before - len(ready))
        return added

    def _find_touched(self, commits: Sequence[Commit], missing: Sequence[_MissingCommit]) -> Mapping[str, TouchedNodes]:
        if self._effects is None:
            self._effects = CommitEffects(self._store, self._project, self._scope_key)
        if any(one.resumed for one in missing):
            self._effects.load_renames()
        touched = self._effects.find_touched(commits)
        if self._count_waiting and (renames := self._effects.new_renames()):
            with self._store.transaction():
                self._store.history.put_renames(self._scope_key, renames)
        return touched

    def _prepare_commit(self, sha: str, commit: Commit | str, touched: Mapping[str, TouchedNodes]) -> _PreparedCommit:
        """Make a commit ready to be written, outside of any transaction; what fails has its reason instead."""
        if isinstance(commit, str):
            return _PreparedCommit(sha=sha, problem=commit)
        try:
            return _PreparedCommit(
                sha=sha,
                text=sanitize(commit_text(commit)),
                author=sanitize(commit.author).text,
                date_ms=commit.date_ms,
                touched=touched[sha],
            )
        except Exception as error:  # One message that no rule foresaw must not keep all others out.
            return _PreparedCommit(sha=sha, problem=describe_failure(error))

    def _store_commit(self, one: _PreparedCommit, branch: str | None) -> int:
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
                self._forget_undone()
        if problem is not None:
            self._set_commit_aside(one.sha, problem)
        return int(problem is None)

    def _forget_undone(self) -> None:
        """Forget the entities that were made known in what was undone."""
        self._writer = MemoryWriter(self._store, sparing=True)

    def _set_commit_aside(self, sha: str, problem: str) -> None:
        """Leave a commit out that can't be read or stored, so that it costs no further run anything."""
        _log.warning("commit %s of %s cannot be stored: %s", sha[:SHORT_SHA], self._project.name, problem)
        self._store.files.put_commit(self._scope_key, sha, None)
        self._store.set_aside.add_failure(self._scope_key, SetAsideKind.COMMIT, sha, problem, now=self._clock())

    def _add_commit(self, one: _PreparedCommit, branch: str | None) -> None:
        now = self._clock()
        date = min(max(one.date_ms, 0), now)  # Anyone may write any date into a commit.
        metadata = {
            "sha": one.sha,
            "author": one.author,
            "branch": sanitize_name(branch) if branch else None,
            "flags": one.text.flags,
        }
        content = one.text.text if one.text.text.strip() else f"Commit {one.sha[:SHORT_SHA]}"
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
            text=one.text.text.partition(CHANGED)[0],
            author=one.author or None,
        )
        self._store.files.put_commit(self._scope_key, one.sha, node.key)
        sure = 1.0 if one.touched.exact else NAME_CONFIDENCE
        for nodes, confidence in ((one.touched.nodes, sure), (one.touched.namesakes, NAMESAKE_CONFIDENCE)):
            if nodes:
                self._store.edges.link_nodes(
                    "changed",
                    node.key,
                    nodes,
                    now=now,
                    confidence=confidence,
                    automatic=True,
                    evidence=f"git {one.sha[:SHORT_SHA]}",
                )

    def _mark_ended(self, node_ids: Sequence[str], ended_at: int | None) -> None:
        """End commits that no branch leads to any more, or take that back."""
        waiting = deque(node_ids)
        while waiting:
            with self._turns.take_turn() as deadline:
                while waiting and time.perf_counter() < deadline:
                    self._mark_node_ended(waiting.popleft(), ended_at)

    def _mark_node_ended(self, node_id: str, ended_at: int | None) -> None:
        node = self._store.nodes.get_node(node_id)
        if node is None or (ended_at is None and "unreachable" not in node.metadata):
            return
        metadata = {name: value for name, value in node.metadata.items() if name != "unreachable"}
        if ended_at is not None:
            metadata["unreachable"] = True
        self._store.nodes.update_node(node_id, now=self._clock(), valid_until=ended_at, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PreparedCommit:
    """A commit as it is to be written; `problem` says why it can't be."""

    sha: str
    text: SanitizedText = NOTHING
    author: str = ""
    date_ms: int = 0
    touched: TouchedNodes = UNTOUCHED
    problem: str | None = None


def _current_branch(root: Path) -> str | None:
    repository = open_repository(root)
    return read_head(repository).branch if repository else None
