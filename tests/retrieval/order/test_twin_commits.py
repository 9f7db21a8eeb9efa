"""Commits that say no more than another: merges and picked ones."""

from __future__ import annotations

import pytest

from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import Node
from hyperloci.retrieval.order.hit_order import fold_twin_commits
from tests.support import NOW, FakeClock, add
from tests.working_tree import WorkingTree

REASON = "Pool connections\n\nThe server closes idle ones after a minute."


def commit(memory: Memory, content: str, subtype: str = "commit", at: int = NOW) -> Node:
    """Store a commit, or another decision, without a repository."""
    return add(memory.store, content, type=NodeType.DECISION, subtype=subtype, event_time=at)


@pytest.mark.req("E.02")
def test_a_merge_gives_its_place_to_the_commit_that_it_brought(memory: Memory) -> None:
    merge = commit(memory, "Merge pull request #993 from ada/pool\n\nPool connections (#993)")
    other = commit(memory, "Close the pool\n\nChanged: a.py")
    brought = commit(memory, f"{REASON}\n\nChanged: b.py")

    assert fold_twin_commits([merge, other, brought]) == [brought, other]
    assert fold_twin_commits([other, brought, merge]) == [other, brought]
    assert fold_twin_commits([merge, other]) == [merge, other]


@pytest.mark.req("E.02")
def test_a_picked_commit_is_shown_once(memory: Memory) -> None:
    first = commit(memory, f"{REASON}\n\nChanged: a.py")
    picked = commit(memory, f"{REASON}\n\n(cherry picked from commit {'0' * 40})\n\nChanged: a.py")

    again = commit(memory, f"{REASON}\n\nChanged: a.py", at=NOW + 1)

    assert fold_twin_commits([picked, again, first]) == [picked, again]


@pytest.mark.parametrize(
    "content",
    [
        "Merge pull request #993 from ada/pool\n\nPool connections\n\nIt was 40 ms a call.",
        "Merge branch 'pool'",
        "Pool connections",
        "Pool connections\n\nThe proxy closes idle ones after a minute.",
    ],
)
def test_what_says_something_else_stays(memory: Memory, content: str) -> None:
    nodes = [commit(memory, f"{REASON}\n\nChanged: b.py"), commit(memory, content)]

    assert fold_twin_commits(nodes) == nodes


def test_only_commits_are_twins(memory: Memory) -> None:
    nodes = [commit(memory, f"{REASON}\n\nChanged: b.py"), commit(memory, REASON, subtype="decision")]

    assert fold_twin_commits(nodes) == nodes


@pytest.mark.req("E.02")
def test_a_search_shows_what_was_merged_and_not_the_merge(memory: Memory, clock: FakeClock, tree: WorkingTree) -> None:
    tree.commit("Begin", a_py="a = 1\n")
    tree.git("checkout", "-q", "-b", "pool")
    brought = tree.commit("Pool the connections of the proxy", b_py="b = 1\n")
    tree.git("checkout", "-q", "main")
    merge_message = "Merge pull request #7 from ada/pool\n\nPool the connections of the proxy"
    tree.git("merge", "-q", "--no-ff", "-m", merge_message, "pool")
    merge = tree.git("rev-parse", "HEAD")
    with Memory.open(memory.settings, tree.root, clock=clock) as there:
        there.index_path()
        found = [hit.source.commit for hit in there.search("pool the connections of the proxy").results]

    assert brought in found
    assert merge not in found
