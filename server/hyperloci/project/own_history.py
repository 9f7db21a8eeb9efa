"""Own history: whether a repository was begun in its folder, or came there from elsewhere.

What a history says of itself can be written by anyone, its dates too. What Git noted here when HEAD moved can't be: a
clone begins it with `clone:`, a checkout of what was fetched with another word, a commit made here with `commit
(initial)`. Whatever is in doubt is a stranger's.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Final

from hyperloci.project.git_folder import find_external_storage, is_shallow
from hyperloci.project.identity import GIT_TIMEOUT_SECONDS, Project

_BEGUN: Final = "commit (initial)"
_MADE: Final = (_BEGUN, "commit (amend)")


class HistoryOrigin(StrEnum):
    """Where a repository's history comes from."""

    NONE = "none"
    OWN = "own"
    STRANGE = "strange"


def may_have_history(project: Project) -> bool:
    """Whether a repository may have commits, as far as plain files tell; where branches are kept elsewhere, it may."""
    return project.head is not None or project.branch is None or _has_fetched(project)


def judge_history(project: Project, began_at: int, timeout: float = GIT_TIMEOUT_SECONDS) -> HistoryOrigin:
    """Tell whether all of a repository's history began in its folder, and none of it before a time.

    Args:
        project: a repository.
        began_at: milliseconds.
        timeout: seconds that Git may take for each of two answers.
    """
    # Only where a repository is new in a known folder, and these imports take milliseconds.
    from hyperloci.project.git import GitError, list_roots, read_head_log

    folder = project.common_dir
    if folder is None or folder != project.root / ".git" or find_external_storage(folder) or is_shallow(folder):
        return HistoryOrigin.STRANGE
    if not may_have_history(project):
        return HistoryOrigin.NONE
    try:
        if project.head is None and not list_roots(project.root, timeout):
            return HistoryOrigin.STRANGE if _has_fetched(project) else HistoryOrigin.NONE
        moves = read_head_log(project.root, timeout)
        if not moves or not moves[-1][1].startswith(_BEGUN):
            return HistoryOrigin.STRANGE
        made_here = {sha for sha, words in moves if words.startswith(_MADE)}
        roots = list_roots(project.root, timeout)
    except (GitError, ValueError):
        return HistoryOrigin.STRANGE
    # Git's times are whole seconds.
    is_own = all(sha in made_here and seconds * 1_000 + 999 >= began_at for sha, seconds in roots.items())
    return HistoryOrigin.OWN if roots and is_own else HistoryOrigin.STRANGE


def _has_fetched(project: Project) -> bool:
    return project.common_dir is not None and os.path.lexists(project.common_dir / "FETCH_HEAD")
