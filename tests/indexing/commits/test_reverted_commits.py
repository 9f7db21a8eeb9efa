"""Commits that take others back, in real repositories: what is joined, what is said of them, what comes first."""

from __future__ import annotations

from typing import Any

import pytest

from hyperloci.config import Settings
from hyperloci.indexing.commits import commit_indexer
from hyperloci.indexing.commits.commit_indexer import CommitIndexer
from hyperloci.indexing.commits.reverted_commits import named_hashes, named_subject
from hyperloci.memory import Memory
from hyperloci.model.search import Hit
from hyperloci.project.identity import identify_project
from hyperloci.store import Store
from tests.support import FakeClock
from tests.working_tree import WorkingTree

POOL = "Pool connections\n\nThe server closes idle ones after a minute."
SHA = "0123456789abcdef0123456789abcdef01234567"
OTHER = "fedcba9876543210fedcba9876543210fedcba98"


class Reverted:
    """A project's commits, read anew after each change, and what is said of them."""

    def __init__(self, store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree) -> None:
        self.store, self.settings, self.clock, self.tree = store, settings, clock, tree

    def read(self, **options: Any) -> None:
        """Read the history, all of it."""
        project = identify_project(self.tree.root)
        with self.store.transaction():
            scope = self.store.scopes.ensure_scope(project.id, now=self.clock())
        indexer = CommitIndexer(self.store, project, scope, self.clock, **options)
        left = indexer.run().waiting
        while left:
            left = indexer.store_more(1).waiting

    def revert(self, sha: str, *options: str) -> str:
        """Revert a commit and return the hash of the one that does."""
        self.tree.git("revert", "--no-edit", *options, sha)
        return self.tree.git("rev-parse", "HEAD")

    def search(self, query: str) -> list[Hit]:
        with Memory.open(self.settings, self.tree.root, clock=self.clock) as memory:
            return list(memory.search(query, content_type="any").results)

    def notes(self, sha: str) -> list[str]:
        """What a hit says of a commit that is asked for by its hash."""
        return [note for hit in self.search(sha) if hit.source.commit == sha for note in hit.notes]

    def id(self, sha: str) -> str:
        return next(hit.id for hit in self.search(sha) if hit.source.commit == sha)


@pytest.fixture
def past(store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree) -> Reverted:
    return Reverted(store, settings, clock, tree)


@pytest.mark.req("E.02", "B.12")
def test_a_commit_that_was_reverted_says_so_and_stands_behind_the_one_that_did(
    past: Reverted, tree: WorkingTree
) -> None:
    tree.commit("Begin", a_py="a = 1\n")
    pooled = tree.commit(POOL, a_py="a = 2\n")
    reverting = past.revert(pooled)
    past.read()

    assert past.notes(pooled) == [f"reverted by {past.id(reverting)}"]
    assert past.notes(reverting) == []
    order = [hit.source.commit for hit in past.search("idle connections of the server are closed after a minute")]
    assert order.index(reverting) < order.index(pooled)


def test_a_revert_that_was_reverted_takes_nothing_back(past: Reverted, tree: WorkingTree) -> None:
    tree.commit("Begin", a_py="a = 1\n")
    pooled = tree.commit(POOL, a_py="a = 2\n")
    reverting = past.revert(pooled)
    again = past.revert(reverting)
    past.read()

    assert past.notes(pooled) == []
    assert past.notes(reverting) == [f"reverted by {past.id(again)}"]

    past.revert(again)
    past.read()

    assert past.notes(pooled) == [f"reverted by {past.id(reverting)}"]


def test_a_revert_that_no_branch_leads_to_takes_nothing_back(past: Reverted, tree: WorkingTree) -> None:
    tree.commit("Begin", a_py="a = 1\n")
    pooled = tree.commit(POOL, a_py="a = 2\n")
    past.revert(pooled)
    past.read()
    tree.git("reset", "-q", "--hard", pooled)
    past.read()

    assert past.notes(pooled) == []


def test_a_merge_is_reverted_with_what_it_brought(past: Reverted, tree: WorkingTree) -> None:
    tree.commit("Begin", a_py="a = 1\n")
    tree.git("checkout", "-q", "-b", "pool")
    pooled = tree.commit(POOL, b_py="b = 1\n")
    tree.git("checkout", "-q", "main")
    kept = tree.commit("Write a log", c_py="c = 1\n")
    tree.git("merge", "-q", "--no-ff", "-m", "Merge branch 'pool'", "pool")
    merge = tree.git("rev-parse", "HEAD")
    reverting = past.revert(merge, "-m", "1")
    past.read()

    said = [f"reverted by {past.id(reverting)}"]
    assert (past.notes(merge), past.notes(pooled), past.notes(kept)) == (said, said, [])


def test_a_revert_that_names_a_subject_alone_takes_back_the_latest_before_it(past: Reverted, tree: WorkingTree) -> None:
    first = tree.commit("Bump the limit (#7)", a_py="a = 1\n")
    second = tree.commit("Bump the limit (#7)", a_py="a = 2\n")
    reverting = tree.commit('Revert "Bump the limit (#7)" (#9)\n\nReverts ada/pool#7', a_py="a = 3\n")
    third = tree.commit("Bump the limit (#7)", a_py="a = 4\n")
    past.read()

    assert [past.notes(sha) for sha in (first, second, third)] == [[], [f"reverted by {past.id(reverting)}"], []]


def test_a_revert_that_was_read_before_what_it_reverts_is_joined_once_that_is_stored(
    past: Reverted, tree: WorkingTree
) -> None:
    tree.commit("Begin", a_py="a = 1\n")
    pooled = tree.commit(POOL, a_py="a = 2\n")
    reverting = past.revert(pooled)
    past.read(first=1)

    assert past.notes(pooled) == [f"reverted by {past.id(reverting)}"]


def test_reverts_of_a_history_that_an_earlier_version_read_are_joined(
    past: Reverted, tree: WorkingTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooled = tree.commit(POOL, a_py="a = 2\n")
    past.revert(pooled)
    with monkeypatch.context() as earlier:
        earlier.setattr(commit_indexer, "link_reverted", lambda *_: 0)
        earlier.setattr(commit_indexer, "JOINED", 0)
        past.read()
    assert past.notes(pooled) == []

    past.read()

    assert [note.partition(" by ")[0] for note in past.notes(pooled)] == ["reverted"]


@pytest.mark.parametrize(
    ("message", "hashes"),
    [
        (f'Revert "Pool"\n\nThis reverts commit {SHA}.', [SHA]),
        (f"This reverts commit {SHA}, reversing\nchanges made to {OTHER}.", [SHA]),
        (f"Take back the pool. This reverts commits {SHA[:8]}, {OTHER[:9]} and {OTHER}.", [SHA[:8], OTHER[:9], OTHER]),
        (f'This reverts commit\n{SHA[:12]} ("Pool"), it leaks.', [SHA[:12]]),
        (f"Revert {SHA[:7]}: it leaks", [SHA[:7]]),
        (f"This partially reverts commit {SHA}.", []),
        (f"We should not revert {SHA[:10]} yet.", []),
        (f"See {SHA}, which reverts commit messages.", []),
    ],
)
def test_hashes_are_taken_from_what_says_that_it_reverts_them(message: str, hashes: list[str]) -> None:
    assert named_hashes(message) == hashes


@pytest.mark.parametrize(
    ("subject", "named"),
    [
        ('Revert "Pool"', "Pool"),
        ('Revert "Revert "Pool"" (#12)', 'Revert "Pool"'),
        ('Reapply "Pool"', 'Revert "Pool"'),
        ("Revert to the old pool", None),
        ('Explain Revert "Pool"', None),
    ],
)
def test_a_subject_that_quotes_another_names_it(subject: str, named: str | None) -> None:
    assert named_subject(subject) == named
