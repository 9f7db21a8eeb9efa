"""Commit indexer: stores Git's history as memories: one node per commit, joined to the symbols that it changed.

The newest commits are stored with the files; the rest follow batch by batch, newest first, over as many runs as it
takes. Commits are identified by hash, so a run may be interrupted anywhere, and history may be rewritten between two.

A commit whose branch was rebased, amended or deleted is no longer in any history. Its node stays, with
`unreachable` in its metadata and an end to its validity, so that searches leave it out and questions about the past
still find it; should the commit come back (a reflog rescue, another clone), so does the node. Switching branches ends
nothing: commits are looked for under every branch, tag and working tree.
"""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock, system_clock
from hyperloci.indexing.commits.changed_symbols import CommitEffects, TouchedNodes
from hyperloci.indexing.commits.commit_reader import CommitReader, mark_of_cut, shallow_commits
from hyperloci.indexing.commits.commit_writer import CommitWriter, prepare_commit
from hyperloci.indexing.commits.reverted_commits import link_reverted
from hyperloci.indexing.link_queue import due_counter_name
from hyperloci.indexing.write_throttle import WriteThrottle
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.project.git import GitError, GitRepository, never_cancelled
from hyperloci.project.git_folder import BrokenRepositoryError, open_repository, read_head
from hyperloci.project.git_log import Commit
from hyperloci.project.identity import Project
from hyperloci.store import Store
from hyperloci.store.projects.git_history import CommitHistoryState
from hyperloci.system.values import dataclass

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

JOINED: Final = 1
"""Raised when commits are joined to more than before, so that histories which are stored whole are gone through."""

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
        self._writer = CommitWriter(store, project, scope_key, clock)
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
            self._complete_deepened()
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
        lost = self._git.commits_lost_by(tips) | dict.fromkeys(self._find_cleared_away(tips), ())
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

    def _find_cleared_away(self, tips: Sequence[str]) -> set[str]:
        """Return the stored commits that the repository has no more: Git clears away what nothing leads to.

        A shallow clone lacks others too, which are as reachable as before where it was cloned from.
        """
        if not set(tips) - self._git.existing_commits(tips) or shallow_commits(self._project.common_dir):
            return set()
        stored = self._store.history.list_commits(self._scope_key)
        return stored.keys() - self._git.existing_commits(stored)

    def _requeue_outdated(self) -> None:
        """Have those commits tried again that an earlier version of the program failed on."""
        if outdated := self._store.set_aside.list_outdated_subjects(self._scope_key, SetAsideKind.COMMIT):
            with self._store.transaction():
                self._store.history.mark_missing(self._scope_key, outdated)
                self._store.set_aside.clear_subjects(self._scope_key, SetAsideKind.COMMIT, outdated)

    def _complete_deepened(self) -> None:
        """Say what those commits changed that the clone was cut off at before it was deepened."""
        state = self._store.history.get_state(self._scope_key)
        if state is None or state.basis == self._history_basis():
            return
        cut_off = self._store.history.list_cut_off(self._scope_key)
        deepened = [sha for sha in cut_off if sha not in shallow_commits(self._project.common_dir)]
        commits = dict(self._reader.iter_commits(deepened))
        touched = self._find_touched([commit for commit in commits.values() if isinstance(commit, Commit)], ())
        for sha, commit in commits.items():
            self._writer.complete_commit(cut_off[sha], prepare_commit(sha, commit, touched))

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
            self._link_reverted()
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
        """Return what a whole history rests on: deeper clones and larger wishes have more, later versions join more."""
        return f"{mark_of_cut(self._project.common_dir) or 'whole'}:{self._wanted}:{JOINED}"

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
            self._writer.forget_undone()
            raise
        # What an older commit's revert names is found once that is stored too.
        if not self._count_waiting or added >= self._first:
            self._link_reverted()
        if not self._count_waiting:
            self._mark_history_whole()
        return added

    def _store_batch(self, missing: Sequence[_MissingCommit], branch: str | None) -> int:
        commits = dict(self._reader.iter_commits([one.sha for one in missing]))
        cut_off = shallow_commits(self._project.common_dir)
        for sha in commits.keys() & cut_off:
            if isinstance(commit := commits[sha], Commit):
                # It is shown as if it had added every file.
                commits[sha] = replace(commit, files=(), changed=0, read=0)
        touched = self._find_touched([commit for commit in commits.values() if isinstance(commit, Commit)], missing)
        ready = deque(
            replace(prepare_commit(sha, commit, touched), is_cut_off=sha in cut_off) for sha, commit in commits.items()
        )
        added = 0
        while ready:
            if self._cancelled():
                self._window.clear()
                self._unlisted += len(ready)
                return added
            with self._turns.take_turn() as turn:
                before = len(ready)
                while ready and not turn.is_over():
                    one = ready.pop()  # The oldest first: of one second, as after a rebase, the later key is the later.
                    if not self._store.files.has_commit(self._scope_key, one.sha):
                        added += self._writer.store_commit(one, branch)
                self._store.history.reduce_waiting(self._scope_key, before - len(ready))
        return added

    def _link_reverted(self) -> None:
        if not self._cancelled():
            link_reverted(self._store, self._scope_key, self._git, self._turns, self._clock)

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

    def _mark_ended(self, node_ids: Sequence[str], ended_at: int | None) -> None:
        """End commits that no branch leads to any more, or take that back."""
        waiting = deque(node_ids)
        while waiting:
            with self._turns.take_turn() as turn:
                while waiting and not turn.is_over():
                    self._writer.mark_ended(waiting.popleft(), ended_at)


def _current_branch(root: Path) -> str | None:
    repository = open_repository(root)
    return read_head(repository).branch if repository else None
