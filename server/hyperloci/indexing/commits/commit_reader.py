"""Commit reader: reads commits in as much detail as the repository has, and makes the text that is remembered."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from hyperloci.project.git import CommitDetails, GitRepository
from hyperloci.project.git_log import Commit
from hyperloci.text.commit_text import CHANGED
from hyperloci.text.cutting import cut_text

PATIENCE: Final = 3
"""Commits whose details can't be read, one after another, until those of no further one are tried: a partial clone."""

MAX_SUBJECT_CHARS: Final = 500
"""Of a message's first paragraph."""

MAX_BODY_CHARS: Final = 2_000
"""Of a commit's message; generated ones (dependency bumps with their changelogs) go on for pages."""

MAX_NAMED_FILES: Final = 20
"""Files named in a commit's text."""


class CommitReader:
    """Reads commits with as many details as can be had."""

    def __init__(self, git: GitRepository) -> None:
        self._git = git
        self._details = CommitDetails.CHANGES
        self._failed = 0

    def iter_commits(self, shas: Sequence[str]) -> Iterator[tuple[str, Commit | str]]:
        """Yield commits in their order; of one that can't be read at all the reason.

        Raises:
            GitError: Git can read nothing here any more.
        """
        left = list(shas)
        while left:
            commits, problem = self._git.read_commits(left, self._details)
            if commits:
                self._failed = 0
            for commit in commits:
                yield commit.sha, commit
            left = left[len(commits) :]
            if left and (problem is not None or not commits):
                first = left.pop(0)
                yield first, self._read_alone(first, problem or "git shows nothing for it")

    def _read_alone(self, sha: str, problem: str) -> Commit | str:
        """Read a commit that failed among others, with ever fewer details."""
        levels = list(CommitDetails)
        for details in levels[levels.index(self._details) :]:
            commits, fault = self._git.read_commits([sha], details)
            if commits:
                self._note_details(details)
                return commits[0]
            problem = fault or problem
        self._git.head_commit()  # Raises where it is not the commit's fault.
        return problem

    def _note_details(self, details: CommitDetails) -> None:
        self._failed += details is not self._details
        if self._failed >= PATIENCE:
            self._details, self._failed = details, 0


def commit_text(commit: Commit) -> str:
    """Return what is remembered of a commit: its message and the names of its files."""
    subject, body = cut_text(commit.subject, MAX_SUBJECT_CHARS), cut_text(commit.body, MAX_BODY_CHARS)
    paths = [file.path for file in commit.files]
    named = ", ".join(paths[:MAX_NAMED_FILES])
    more = commit.changed - min(len(paths), MAX_NAMED_FILES)
    rest = f" and {more} more" if more > 0 else ""
    unread = commit.changed - commit.read
    note = f" (of {commit.changed} files, the changes in {unread} are not looked at)" if unread > 0 else ""
    message = "\n\n".join(part for part in (subject, body) if part)
    return f"{message}{CHANGED}{named}{rest}{note}".lstrip() if paths else message


def is_message_cut(commit: Commit) -> bool:
    """Tell whether not all of a commit's message is remembered."""
    return len(commit.subject) > MAX_SUBJECT_CHARS or len(commit.body) > MAX_BODY_CHARS


def shallow_commits(common_dir: Path | None) -> frozenset[str]:
    """Return the commits that a shallow clone is cut off at: it has them, and nothing before them."""
    try:
        return frozenset((common_dir / "shallow").read_text().split()) if common_dir else frozenset()
    except OSError:
        return frozenset()


def mark_of_cut(common_dir: Path | None) -> str:
    """Return a mark of where a shallow clone is cut off, which changes as it is deepened; empty for a whole history."""
    commits = ",".join(sorted(shallow_commits(common_dir)))
    return hashlib.sha256(commits.encode()).hexdigest()[:16] if commits else ""
