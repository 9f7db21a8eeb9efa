"""Reverted commits: joins a commit that takes others back to them (`reverts`), as its message says.

Git writes `This reverts commit <hash>.` into the message; who merges by a button may have the subject in quotes alone.
A revert that is taken back in turn is one that is reverted: what it took back holds again.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from hyperloci.clock import Clock
from hyperloci.indexing.write_throttle import WriteThrottle
from hyperloci.knowledge.reverts import REVERTS_LABEL
from hyperloci.project.git import GitError, GitRepository
from hyperloci.store import Store
from hyperloci.store.projects.git_history import StoredCommit
from hyperloci.text.commit_text import message_of

MAX_MERGED: Final = 50
"""Commits of a merge that are reverted with it; a merge of more is about a whole branch, not about any of them."""

MAX_REVERTED: Final = 20
"""Commits that one message names."""

# At the beginning of a sentence: `this partially reverts` and `don't revert` don't. What follows a merge's hash,
# `reversing changes made to <hash>`, is where it led.
_HASHES: Final = re.compile(
    r"(?:^|[.;:]\s)\s{0,4}(?:This\s{1,4}(?:(?:commit|change|patch)\s{1,4})?)?reverts?:?\s{1,4}(?:commits?:?\s{1,4})?"
    r"([0-9a-f]{7,64}(?:(?:,|,?\s{1,4}and)\s{1,4}[0-9a-f]{7,64}){0,19})\b",
    re.IGNORECASE | re.MULTILINE,
)
_HASH: Final = re.compile(r"[0-9a-f]{7,64}")
_SUBJECT: Final = re.compile(r'(?:Revert "(?P<reverted>.+)"|Reapply "(?P<again>.+)")(?:\s+\(#\d+\))?')


def named_hashes(message: str) -> list[str]:
    """Return the hashes of the commits that a message says it reverts, or their beginnings."""
    found = itertools.chain.from_iterable(_HASH.findall(match[1].lower()) for match in _HASHES.finditer(message))
    return list(dict.fromkeys(found))[:MAX_REVERTED]


def named_subject(subject: str) -> str | None:
    """Return the subject of the commit that one reverts, as its own subject quotes it."""
    match = _SUBJECT.fullmatch(subject.strip())
    if match is None:
        return None
    return match["reverted"] or f'Revert "{match["again"]}"'


def link_reverted(store: Store, scope_key: int, git: GitRepository, turns: WriteThrottle, clock: Clock) -> int:
    """Join the commits of a project that revert others, and are not joined yet, to these; return how many were.

    A commit that is not stored is looked for again the next time.
    """
    reverting = store.history.list_reverting(scope_key, REVERTS_LABEL)
    if not reverting:
        return 0
    named = {commit.sha: named_hashes(message_of(commit.content)) for commit in reverting}
    by_hash = store.history.find_by_hash(scope_key, {one for hashes in named.values() for one in hashes})
    found = {
        commit.sha: [known for one in named[commit.sha] if (known := by_hash.get(one)) and known.key != commit.key]
        for commit in reverting
    }
    for commit, target in _find_by_subject(store, scope_key, [one for one in reverting if not found[one.sha]]):
        found[commit.sha] = [target]
    joined = 0
    for commit in reverting:
        targets = dict.fromkeys(one.key for one in _with_merged(store, scope_key, git, found[commit.sha]))
        targets.pop(commit.key, None)
        if not targets:
            continue
        with turns.take_turn():
            store.edges.link_nodes(
                REVERTS_LABEL, commit.key, targets, now=clock(), automatic=True, evidence="its message says so"
            )
        joined += 1
    return joined


def _find_by_subject(
    store: Store, scope_key: int, commits: Sequence[StoredCommit]
) -> Iterator[tuple[StoredCommit, StoredCommit]]:
    """Yield commits whose subject quotes that of an earlier one, with the latest such."""
    quoted = {commit.sha: subject for commit in commits if (subject := named_subject(commit.title)) is not None}
    bearers: Mapping[str, list[StoredCommit]] = (
        store.history.find_by_title(scope_key, set(quoted.values())) if quoted else {}
    )
    for commit in commits:
        earlier = [one for one in bearers.get(quoted.get(commit.sha, ""), ()) if one.date <= commit.date]
        if earlier:
            yield commit, max(earlier, key=lambda one: (one.date, one.key))


def _with_merged(
    store: Store, scope_key: int, git: GitRepository, targets: Iterable[StoredCommit]
) -> Iterator[StoredCommit]:
    """Yield commits, and after a merge those that it brought."""
    for target in targets:
        yield target
        if not target.title.startswith("Merge "):
            continue
        try:
            brought = list(itertools.islice(git.walk_commits(target.sha, without=[f"{target.sha}^1"]), MAX_MERGED + 2))
        except GitError:
            continue
        if len(brought) <= MAX_MERGED + 1:
            yield from store.history.find_by_hash(scope_key, brought).values()
