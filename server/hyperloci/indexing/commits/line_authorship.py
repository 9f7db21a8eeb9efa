"""Line authorship: which commits wrote the lines of code that stand, file by file, once the history is stored.

A commit says what its lines are for in words that the code may lack. A file is looked at where what is indexed is what
is checked out, and again only when another content is, when its commits were rewritten (a rebase, a squash), or when
more of the history is there (a clone that was deepened).
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from hyperloci.indexing.commits.changed_symbols import possible_blobs
from hyperloci.indexing.commits.commit_reader import mark_of_cut, shallow_commits
from hyperloci.indexing.file_reader import hash_bytes, read_file
from hyperloci.indexing.write_throttle import WriteThrottle
from hyperloci.model.kinds import NodeKey
from hyperloci.project.git import GitError, GitRepository, LineRun, never_cancelled
from hyperloci.project.git_folder import BrokenRepositoryError
from hyperloci.project.identity import Project
from hyperloci.store import Store
from hyperloci.store.projects.line_commits import CodeFile, SnippetLines

MAX_COMMITS: Final = 5
"""Commits of a snippet, those with the most of its lines; with two or all of them as many places are found."""

LOOK_SECONDS: Final = 1.0
"""How long a look at more files takes about, as a batch of commits does; a file takes some ten milliseconds."""


class LineAuthorship:
    """Finds the commits behind the lines of one project's code.

    Args:
        store: the open store; each file is a transaction.
        project: whose code.
        scope_key: the project's scope.
        cancelled: asked between files; True ends what is going on early.
    """

    def __init__(
        self, store: Store, project: Project, scope_key: int, *, cancelled: Callable[[], bool] = never_cancelled
    ) -> None:
        self._store = store
        self._project = project
        self._scope_key = scope_key
        self._cancelled = cancelled
        self._git = GitRepository(project.root)
        self._turns = WriteThrottle(store)
        self._head: str | None = None
        self._cut_off = ""
        self._is_deepened = False
        self._waiting: deque[tuple[CodeFile, str]] = deque()

    def count_waiting(self) -> int:
        """Return how many files may have to be looked at: 0 where another commit has not been checked out since."""
        return len(self._waiting) if self._is_outdated() else 0

    def find_more(self) -> int:
        """Look at some of the files that wait; return how many are left."""
        if not self._is_outdated():
            return 0
        if self._is_deepened:
            with self._turns.take_turn():
                self._store.line_commits.forget_files(self._scope_key, self._cut_off)
            self._is_deepened = False
        ends = time.perf_counter() + LOOK_SECONDS
        while self._waiting and not self._cancelled() and time.perf_counter() < ends:
            self._look_at_file(*self._waiting.popleft())
        if not self._waiting and self._head is not None:
            with self._turns.take_turn():
                self._store.line_commits.set_head(self._scope_key, self._head, self._cut_off)
        return len(self._waiting)

    def _is_outdated(self) -> bool:
        """Tell whether another commit is checked out than the one that was looked at; list its files if need be."""
        if self._project.common_dir is None:
            return False
        try:
            head, cut_off = self._git.head_commit(), mark_of_cut(self._project.common_dir)
            known, known_cut = self._store.line_commits.get_head(self._scope_key)
            if head is None or (head, cut_off) == (known, known_cut):
                return False
            if (head, cut_off) != (self._head, self._cut_off):
                self._is_deepened = cut_off != known_cut
                self._waiting = deque(self._list_waiting(anew=self._is_deepened))
                self._head, self._cut_off = head, cut_off
        except (GitError, BrokenRepositoryError):
            return False
        return True

    def _list_waiting(self, *, anew: bool) -> Iterator[tuple[CodeFile, str]]:
        """Yield the files whose content is another than the one that was looked at, or all, with Git's id of it."""
        blobs = self._git.list_blobs()
        for file in self._store.line_commits.list_code_files(self._scope_key):
            blob = blobs.get(file.path)
            if blob is not None and (anew or blob != file.blob):
                yield file, blob

    def _look_at_file(self, file: CodeFile, blob: str) -> None:
        if not self._is_checked_out(file, blob):
            return  # Once it is, another commit is.
        snippets = self._store.line_commits.list_snippets(file.key)
        cut_off = shallow_commits(self._project.common_dir)
        try:
            # Of a history of one commit, no line can be told.
            runs = [] if self._head in cut_off else self._git.blame_lines(file.path)
        except GitError:
            runs = []  # It took too long, or its past lies elsewhere; it would the next time, too.
        found = choose_commits(snippets, runs, without=cut_off)
        with self._turns.take_turn():
            self._store.line_commits.put_file(file, blob, found, self._scope_key)

    def _is_checked_out(self, file: CodeFile, blob: str) -> bool:
        """Tell whether a file on disk is what is indexed, and what is checked out."""
        try:
            data = read_file(self._project.root / file.path).data
        except OSError:
            return False
        return hash_bytes(data) == file.content_hash and blob in possible_blobs(data, len(blob))


def choose_commits(
    snippets: Sequence[SnippetLines], runs: Sequence[LineRun], *, without: frozenset[str] = frozenset()
) -> dict[NodeKey, list[str]]:
    """Return by snippet the commits with the most of its lines; none where nobody is told to have written any.

    Args:
        snippets: of a file.
        runs: who wrote its lines.
        without: commits that a history is cut off at: they seem to have written all that is older.
    """
    written: dict[int, str] = {}
    for run in runs:
        if run.sha not in without:
            written |= dict.fromkeys(range(run.first, run.first + run.count), run.sha)
    answer = {}
    for snippet in snippets:
        counts = Counter(written[line] for line in range(snippet.first, snippet.last + 1) if line in written)
        answer[snippet.node_key] = [sha for sha, _ in counts.most_common(MAX_COMMITS)]
    return answer
