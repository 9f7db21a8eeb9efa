from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from hyperloci.config import Settings
from hyperloci.indexing.commits.changed_symbols import MAX_EFFECTS, blob_id
from hyperloci.indexing.commits.commit_indexer import CommitIndexer, CommitReport
from hyperloci.indexing.commits.commit_reader import commit_text
from hyperloci.indexing.commits.commit_writer import NAMESAKE_CONFIDENCE, UNTOUCHED, prepare_commit
from hyperloci.indexing.indexer import Indexer
from hyperloci.model.answers import IndexReport
from hyperloci.model.kinds import NodeType, Origin, Role, Tier
from hyperloci.model.node import Node
from hyperloci.project.git import GitRepository
from hyperloci.project.git_log import ChangedFile, Commit
from hyperloci.project.identity import identify_project
from hyperloci.store import Store
from tests.support import FakeClock
from tests.working_tree import WorkingTree

PADDING = "".join(f"    total += weight_{i} * value_{i}\n" for i in range(8))
CODE = f"def first(total):\n{PADDING}    return total\n\n\ndef second(total):\n{PADDING}    return -total\n"


class History:
    """A project with a repository, its indexer, and what the commits became."""

    def __init__(self, store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree) -> None:
        self.store, self.settings, self.clock, self.tree = store, settings, clock, tree

    def index(self) -> IndexReport:
        self.clock.advance(1_000)
        return Indexer(self.store, self.settings, identify_project(self.tree.root), self.clock).index_tree()

    def run(self, **options: Any) -> CommitReport:
        project = identify_project(self.tree.root)
        with self.store.transaction():
            scope = self.store.scopes.ensure_scope(project.id, now=self.clock())
        return CommitIndexer(self.store, project, scope, self.clock, **options).run()

    def node(self, sha: str) -> Node:
        scope = self.store.scopes.find_key(identify_project(self.tree.root).id) or 0
        node = self.store.nodes.get_node(self.store.history.list_commits(scope)[sha])
        assert node is not None
        return node

    def count(self) -> int:
        """How many commits the project is said to have."""
        scope = self.store.scopes.find_key(identify_project(self.tree.root).id) or 0
        return self.store.history.count_commits(scope)

    def changed(self, sha: str) -> set[tuple[str | None, str | None]]:
        """Path and symbol of what a commit is joined to."""
        edges = self.store.edges.list_of_node(self.node(sha).key, "changed")
        assert len(edges) <= 1
        effects = [member.node for edge in edges for member in edge.members if member.role is Role.EFFECT]
        return {(place.path, place.symbol) for place in self.store.positions.get_positions(effects).values()}


@pytest.fixture
def history(store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree) -> History:
    return History(store, settings, clock, tree)


@pytest.mark.req("E.02")
def test_commits_of_one_second_are_told_in_the_order_of_the_history(
    history: History, tree: WorkingTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "_ticks", itertools.repeat(1_770_000_000))
    made = [tree.commit(f"Step {number}", a_py=f"step = {number}\n") for number in range(4)]
    history.index()
    made += [tree.commit("Step 4", a_py="step = 4\n")]
    history.index()

    latest = history.store.history.list_latest([identify_project(tree.root).id])
    assert latest == [history.node(sha).key for sha in reversed(made)]


@pytest.mark.req("E.02")
def test_a_commit_that_was_picked_from_another_branch_is_the_latest(history: History, tree: WorkingTree) -> None:
    base = tree.commit("Begin", a_py="a = 1\n")
    picked = tree.commit("Old work", b_py="b = 1\n")
    tree.git("reset", "-q", "--hard", base)
    others = [tree.commit(f"Step {number}", a_py=f"step = {number}\n") for number in range(2)]
    tree.git("cherry-pick", picked)
    latest = tree.git("rev-parse", "HEAD")
    history.index()

    keys = [history.node(sha).key for sha in (latest, *reversed(others), base)]
    assert history.store.history.list_latest([identify_project(tree.root).id]) == keys
    assert history.node(latest).event_time < history.node(others[0]).event_time


@pytest.mark.req("E.02")
def test_a_commit_becomes_a_decision_with_its_source(history: History, tree: WorkingTree) -> None:
    sha = tree.commit("Pool connections\n\nThe server closes idle ones after a minute.", a_py=CODE)

    assert history.index().commits == 1

    node = history.node(sha)
    assert (node.type, node.subtype, node.origin, node.tier) == (
        NodeType.DECISION, "commit", Origin.COMMIT, Tier.LONGTERM,
    )  # fmt: skip
    assert node.content == "Pool connections\n\nThe server closes idle ones after a minute.\n\nChanged: a.py"
    assert node.title == "Pool connections"
    assert node.provenance == f"git {sha[:12]}" and (node.confidence, node.decay_rate) == (1.0, 0.0)
    assert node.metadata == {"sha": sha, "author": "Ada", "branch": "main"}
    assert node.event_time == node.valid_from < node.created_at


def test_a_commit_is_stored_once(history: History, tree: WorkingTree) -> None:
    tree.commit("one", a_py=CODE)
    history.index()
    before = history.store.connection.total_changes

    assert history.index().commits == 0
    assert history.store.connection.total_changes == before


def test_a_commit_is_joined_once_to_what_its_lines_touched(history: History, tree: WorkingTree) -> None:
    tree.commit("one", a_py=CODE, b_py="x = 1\n")
    sha = tree.commit("two", a_py=CODE.replace("return -total", "return 0"))
    history.index()

    assert history.changed(sha) == {("a.py", "second")}
    edge = history.store.edges.list_of_node(history.node(sha).key, "changed")[0]
    assert (edge.type, edge.automatic, edge.confidence) == ("causation", True, 1.0)


def test_an_older_commit_is_joined_by_the_names_that_git_shows(history: History, tree: WorkingTree) -> None:
    tree.commit("one", a_py=CODE)
    sha = tree.commit("two", a_py=CODE.replace("return -total", "return 0"))
    tree.commit("three", a_py="import os\n\n\n" + CODE.replace("return -total", "return 0"))
    history.index()

    assert history.changed(sha) == {("a.py", "second")}
    assert history.store.edges.list_of_node(history.node(sha).key, "changed")[0].confidence < 1.0


def test_a_renamed_file_is_followed_back(history: History, tree: WorkingTree) -> None:
    tree.commit("one", a_py=CODE)
    sha = tree.commit("two", a_py=CODE.replace("return -total", "return 0"))
    tree.git("mv", "a.py", "b.py")
    tree.commit("three")
    history.index()

    assert history.changed(sha) == {("b.py", "second")}


def test_a_name_that_two_symbols_of_a_file_bear_joins_each_less_surely(history: History, tree: WorkingTree) -> None:
    def classes(value: int) -> str:
        return "\n\n".join(f"class {n}:\n    def run(self):\n        return {value}\n" + PADDING for n in ("A", "B"))

    tree.commit("one", a_py=classes(1))
    sha = tree.commit("two", a_py=classes(2))
    tree.commit("three", a_py="import os\n\n\n" + classes(2))
    history.index()

    edges = history.store.edges.list_of_node(history.node(sha).key, "changed")
    places = {
        (place.symbol, edge.confidence)
        for edge in edges
        for place in history.store.positions.get_positions(
            m.node for m in edge.members if m.role is Role.EFFECT
        ).values()
    }
    assert {("A.run", NAMESAKE_CONFIDENCE), ("B.run", NAMESAKE_CONFIDENCE)} <= places


def test_a_commit_of_many_symbols_is_joined_to_so_many_only(history: History, tree: WorkingTree) -> None:
    code = "\n\n".join(f"def f{i}(total):\n{PADDING}    return {i}\n" for i in range(MAX_EFFECTS + 10))
    sha = tree.commit("one", a_py=code)
    history.index()

    assert len(history.changed(sha)) == MAX_EFFECTS


@pytest.mark.req("SPEC-02.34")
def test_a_secret_in_a_message_is_redacted(history: History, tree: WorkingTree) -> None:
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    sha = tree.commit(f"Use {token}", a_py=CODE)
    history.index()

    assert token not in history.node(sha).content and "[redacted:" in history.node(sha).content


def test_a_switch_of_branches_ends_no_commit(history: History, tree: WorkingTree) -> None:
    base = tree.commit("base", a_py=CODE)
    tree.git("checkout", "-q", "-b", "side")
    side = tree.commit("side", b_py=CODE)
    history.index()

    tree.git("checkout", "-q", "main")
    history.index()

    assert history.node(side).valid_until is None and history.node(base).valid_until is None
    assert history.node(side).metadata["branch"] == "side"


def test_an_amended_commit_is_ended_and_kept(history: History, tree: WorkingTree) -> None:
    tree.commit("base", a_py=CODE)
    old = tree.commit("tpyo", a_py=CODE + "\nX = 1\n")
    history.index()
    tree.git("commit", "-q", "--amend", "-m", "typo")
    new = tree.git("rev-parse", "HEAD")

    history.index()

    node = history.node(old)
    assert node.metadata["unreachable"] is True and node.valid_until == history.clock.now
    assert node.deleted_at is None and node.tier is Tier.LONGTERM
    assert history.node(new).valid_until is None


@pytest.mark.req("B.18")
def test_what_an_amended_commit_said_is_in_no_summary(history: History, tree: WorkingTree) -> None:
    old = tree.commit("PostgreSQL holds the harbour dues", a_py=CODE)
    history.index()
    entities = history.store.entities
    [entity] = [one for one in entities.list_of_node(history.node(old).key) if one.canonical_name == "PostgreSQL"]
    with history.store.transaction():
        entities.set_summary(entity.node_key, history.node(old).content, now=history.clock.now)
    tree.git("commit", "-q", "--amend", "-m", "Hold the dues elsewhere")

    history.index()

    summarised = entities.get_entity(entity.node_key)
    assert summarised is not None and summarised.summary is None


@pytest.mark.req("E.02")
def test_a_commit_that_no_branch_leads_to_is_not_counted_until_one_does_again(
    history: History, tree: WorkingTree
) -> None:
    tree.commit("base", a_py=CODE)
    old = tree.commit("tpyo", a_py=CODE + "\nX = 1\n")
    tree.git("commit", "-q", "--amend", "-m", "typo")
    history.index()
    tree.git("reset", "-q", "--hard", old)
    history.index()

    assert history.count() == 2

    tree.git("branch", "again", "HEAD@{1}")
    history.index()

    assert history.count() == 3


def test_commits_that_git_has_cleared_away_are_ended(history: History, tree: WorkingTree) -> None:
    base = tree.commit("base", a_py=CODE)
    old = [tree.commit(f"draft {number}", a_py=CODE + f"\nX = {number}\n") for number in range(2)]
    history.index()
    tree.git("reset", "-q", "--hard", base)
    new = tree.commit("whole", a_py=CODE + "\nX = 2\n")
    tree.git("reflog", "expire", "--expire=now", "--all")
    tree.git("gc", "-q", "--prune=now")

    history.index()

    assert all(history.node(sha).metadata["unreachable"] is True for sha in old)
    assert history.node(base).valid_until is None and history.node(new).valid_until is None


def test_a_commit_that_comes_back_holds_again(history: History, tree: WorkingTree) -> None:
    tree.commit("base", a_py=CODE)
    sha = tree.commit("lost", b_py=CODE)
    history.index()
    tree.git("reset", "-q", "--hard", "HEAD~1")
    history.index()
    assert history.node(sha).valid_until is not None

    tree.git("branch", "found", sha)
    history.index()

    assert history.node(sha).valid_until is None and "unreachable" not in history.node(sha).metadata
    assert history.index().commits == 0


def test_a_commit_whose_objects_are_gone_stays_ended(history: History, tree: WorkingTree) -> None:
    tree.commit("base", a_py=CODE)
    sha = tree.commit("lost", b_py=CODE)
    history.index()
    tree.git("reset", "-q", "--hard", "HEAD~1")
    history.index()
    tree.git("reflog", "expire", "--expire=now", "--all")
    tree.git("gc", "-q", "--prune=now")

    history.index()

    assert history.node(sha).valid_until is not None


def test_a_rebase_ends_what_it_replaced(history: History, tree: WorkingTree) -> None:
    tree.commit("base", a_py=CODE)
    tree.git("checkout", "-q", "-b", "side")
    old = tree.commit("side", b_py=CODE)
    tree.git("checkout", "-q", "main")
    tree.commit("main", c_py="x = 1\n")
    tree.git("checkout", "-q", "side")
    history.index()
    tree.git("rebase", "-q", "main")

    report = history.index()

    assert report.commits == 2 and history.node(old).valid_until is not None
    assert history.node(tree.git("rev-parse", "HEAD")).content.startswith("side")


def test_history_that_was_cut_off_is_finished_without_gaps(history: History, tree: WorkingTree) -> None:
    shas = [tree.commit(f"commit {i}", a_py=CODE + f"\nX = {i}\n") for i in range(6)]
    for i in range(0, 14, 2):
        answers = iter([False] * i)
        history.run(cancelled=lambda answers=answers: next(answers, True))
    history.run()

    scope = history.store.scopes.find_key(identify_project(tree.root).id) or 0
    assert set(history.store.history.list_commits(scope)) == set(shas)


def test_the_oldest_commit_of_a_shallow_clone_touches_nothing_until_it_is_deepened(
    store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree, tmp_path: Path
) -> None:
    tree.commit("one", a_py=CODE)
    cut = tree.commit("two", a_py=CODE.replace("-total", "0"))
    last = tree.commit("three", a_py=CODE.replace("-total", "1"))
    tree.git("clone", "-q", "--depth", "2", f"file://{tree.root}", str(tmp_path / "clone"))
    history = History(store, settings, clock, WorkingTree(tmp_path / "clone"))

    assert history.index().commits == 2
    assert history.node(cut).content == "two"
    assert history.changed(cut) == set() and history.changed(last) == {("a.py", "second")}

    before = history.node(cut)
    history.tree.git("fetch", "-q", "--unshallow")
    history.index()
    after = history.node(cut)
    assert (after.id, after.content) == (before.id, "two\n\nChanged: a.py")
    assert history.changed(cut) == {("a.py", "second")}
    assert "cut_off" in before.metadata and "cut_off" not in after.metadata


def test_a_partial_clone_gives_messages_and_names_and_fetches_nothing(
    store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree, tmp_path: Path
) -> None:
    tree.commit("one", a_py=CODE)
    last = tree.commit("two", a_py=CODE.replace("-total", "0"))
    tree.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    tree.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{tree.root}", str(clone))
    before = sorted((clone / ".git" / "objects").rglob("*"))

    report = History(store, settings, clock, WorkingTree(clone)).index()

    assert report.commits == 2 and not [entry for entry in report.skipped if entry.path == ".git"]
    assert History(store, settings, clock, WorkingTree(clone)).node(last).content == "two\n\nChanged: a.py"
    assert sorted((clone / ".git" / "objects").rglob("*")) == before


def test_a_folder_without_git_has_no_history_and_no_complaint(history: History, tree: WorkingTree) -> None:
    tree.write("a.py", CODE)

    report = history.index()

    assert report.commits == 0 and not report.skipped


def test_a_damaged_repository_is_told_and_the_files_are_indexed(history: History, tree: WorkingTree) -> None:
    tree.commit("one", a_py=CODE)
    for path in (tree.root / ".git" / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"damage")

    report = history.index()

    assert report.added > 0 and report.skipped[0].path == ".git"


def test_a_missing_git_is_told(history: History, tree: WorkingTree) -> None:
    tree.commit("one", a_py=CODE)

    report = history.run(git=GitRepository(tree.root, executable="no-such-git"))

    assert report.problem is not None and "could not be started" in report.problem


def test_a_private_part_of_a_message_that_ends_beyond_the_cut_is_not_kept() -> None:
    body = f"`<private>` {'hunter2 ' * 400} `</private>`"
    commit = Commit(
        sha="a", parents=(), author="", date_ms=0, committed_ms=0, subject="s", body=body, files=(), changed=0, read=0
    )
    prepared = prepare_commit("a", commit, {"a": UNTOUCHED})
    assert prepared.text.text == "s\n\n`[private]"


def test_a_long_list_of_files_is_told_by_its_beginning() -> None:
    files = tuple(ChangedFile(path=f"f{i}") for i in range(25))
    commit = Commit(
        sha="a",
        parents=(),
        author="",
        date_ms=0,
        committed_ms=0,
        subject="s",
        body="",
        files=files,
        changed=412,
        read=3,
    )

    assert commit_text(commit).endswith("f19 and 392 more (of 412 files, the changes in 409 are not looked at)")


def test_the_id_of_a_content_is_the_one_that_git_gives(tree: WorkingTree) -> None:
    path = tree.write("a.txt", "text\n")
    tree.git("init", "-q")

    assert blob_id(b"text\n") == tree.git("hash-object", str(path))
