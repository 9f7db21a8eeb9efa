"""Which commits wrote the lines of code that stand, and what that does for questions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.indexing.commits import line_authorship
from hyperloci.indexing.commits.line_authorship import LineAuthorship, choose_commits
from hyperloci.indexing.indexer import Indexer
from hyperloci.model.kinds import NodeKey
from hyperloci.project.git import GitRepository, LineRun
from hyperloci.project.identity import identify_project
from hyperloci.store import Store
from hyperloci.store.projects.line_commits import SnippetLines
from tests.support import FakeClock
from tests.working_tree import WorkingTree

ONE = "def pack(data):\n    header = len(data)\n    total = header + 1\n    return total, data\n"
TWO = "def unpack(data):\n    first = data[0]\n    rest = data[1:]\n    return first, rest\n"


class Author:
    """A project whose history and line commits are kept up to date."""

    def __init__(self, store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree) -> None:
        self.store, self.tree = store, tree
        tree.git("init", "-q")
        self.indexer = Indexer(store, settings, identify_project(tree.root), clock)

    def update(self) -> int:
        """Index everything; return how many files had to be looked at."""
        waiting = self.indexer.index_tree().files_waiting
        while self.indexer.continue_history().files_waiting:
            pass
        return waiting

    def subjects(self) -> dict[str, set[str]]:
        """Return by symbol the subjects of the commits behind its lines."""
        rows = self.store.connection.execute(
            "SELECT p.symbol, n.title FROM line_commits l JOIN positions p ON p.node_key = l.node_key"
            " JOIN nodes n ON n.key = l.commit_key"
        ).fetchall()
        return {symbol: {title for other, title in rows if other == symbol} for symbol, _ in rows}


@pytest.fixture
def author(store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree) -> Author:
    return Author(store, settings, clock, tree)


@pytest.mark.req("D.06")
def test_a_snippet_is_joined_to_the_commits_whose_lines_stand(author: Author) -> None:
    author.tree.commit("Squeeze what is sent", a_py=ONE)
    author.tree.commit("Open parcels", a_py=ONE + TWO)
    author.tree.commit("Weigh the parcel", a_py=ONE.replace("+ 1", "+ 2") + TWO)

    assert author.update() == 1
    assert author.subjects() == {
        "pack": {"Squeeze what is sent", "Weigh the parcel"},
        "unpack": {"Open parcels"},
    }


@pytest.mark.req("D.06")
def test_lines_that_git_ends_as_windows_does_have_their_commits_too(author: Author) -> None:
    author.tree.git("config", "core.autocrlf", "true")
    author.tree.commit("Squeeze what is sent", a_py=ONE)
    author.tree.commit("Open parcels", a_py=ONE + TWO)
    author.tree.remove("a.py")
    author.tree.git("checkout", "-q", "--", "a.py")
    assert b"\r\n" in (author.tree.root / "a.py").read_bytes()

    author.update()
    assert author.subjects() == {"pack": {"Squeeze what is sent"}, "unpack": {"Open parcels"}}
    sure = author.store.connection.execute("SELECT DISTINCT confidence FROM hyperedges WHERE label = 'changed'")
    assert 1.0 in {confidence for (confidence,) in sure}


@pytest.mark.req("D.06")
def test_files_are_looked_at_once_for_a_content_and_anew_for_another(author: Author) -> None:
    author.tree.commit("Squeeze what is sent", a_py=ONE, b_py=TWO)
    assert author.update() == 2
    assert author.update() == 0

    author.tree.commit("Rewrite packing", a_py="def pack(blob):\n    size = len(blob)\n    return size, blob\n")
    assert author.update() == 1
    assert author.subjects() == {"pack": {"Rewrite packing"}, "unpack": {"Squeeze what is sent"}}


@pytest.mark.req("D.06")
def test_lines_of_rewritten_commits_are_those_of_the_commits_that_took_their_place(author: Author) -> None:
    author.tree.commit("Begin")
    author.tree.git("checkout", "-q", "-b", "parcels")
    author.tree.commit("wip", a_py=ONE)
    author.update()
    author.tree.git("checkout", "-q", "main")
    author.tree.git("merge", "-q", "--squash", "parcels")
    author.tree.git("commit", "-q", "-m", "Squeeze what is sent")
    author.tree.git("branch", "-q", "-D", "parcels")

    assert author.update() == 1
    assert author.subjects() == {"pack": {"Squeeze what is sent"}}
    assert author.update() == 0


@pytest.mark.req("D.06")
def test_lines_of_a_clone_that_was_deepened_have_the_commits_that_came(
    store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree, tmp_path: Path
) -> None:
    origin = WorkingTree(tmp_path / "origin")
    origin.commit("Squeeze what is sent", a_py=ONE)
    origin.commit("Open parcels", b_py=TWO)
    origin.commit("Say nothing")
    tree.git("clone", "-q", "--depth", "1", f"file://{origin.root}", ".")
    author = Author(store, settings, clock, tree)
    author.update()
    assert author.subjects() == {}

    tree.git("fetch", "-q", "--unshallow")
    assert author.update() == 2
    assert author.subjects() == {"pack": {"Squeeze what is sent"}, "unpack": {"Open parcels"}}
    assert author.update() == 0


@pytest.mark.req("D.06")
def test_what_was_looked_at_in_a_deepened_clone_is_not_looked_at_again_in_the_next_session(
    store: Store,
    settings: Settings,
    clock: FakeClock,
    tree: WorkingTree,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    origin = WorkingTree(tmp_path / "origin")
    origin.commit("Squeeze what is sent", a_py=ONE, b_py=TWO)
    origin.commit("Say nothing")
    tree.git("clone", "-q", "--depth", "1", f"file://{origin.root}", ".")
    author = Author(store, settings, clock, tree)
    author.update()
    tree.git("fetch", "-q", "--unshallow")
    author.indexer.index_tree()
    monkeypatch.setattr(line_authorship, "LOOK_SECONDS", 0.0)
    assert author.indexer.continue_history().files_waiting == 2

    monkeypatch.setattr(line_authorship, "LOOK_SECONDS", 60.0)
    project = identify_project(tree.root)
    scope = store.scopes.find_key(project.id)
    assert scope is not None
    ends = iter([False, True])
    assert LineAuthorship(store, project, scope, cancelled=lambda: next(ends)).find_more() == 1
    assert LineAuthorship(store, project, scope).count_waiting() == 1
    assert author.update() == 1
    assert author.subjects() == {"pack": {"Squeeze what is sent"}, "unpack": {"Squeeze what is sent"}}


@pytest.mark.req("D.06")
def test_where_the_history_begins_with_what_is_checked_out_git_is_not_asked(
    store: Store,
    settings: Settings,
    clock: FakeClock,
    tree: WorkingTree,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    origin = WorkingTree(tmp_path / "origin")
    origin.commit("Squeeze what is sent", a_py=ONE)
    origin.commit("Open parcels", b_py=TWO)
    tree.git("clone", "-q", "--depth", "1", f"file://{origin.root}", ".")
    asked: list[str] = []

    def blame_lines(_: GitRepository, path: str) -> list[LineRun]:
        asked.append(path)
        return []

    monkeypatch.setattr(GitRepository, "blame_lines", blame_lines)
    author = Author(store, settings, clock, tree)

    assert (author.update(), author.update()) == (2, 0)
    assert asked == [] and author.subjects() == {}


@pytest.mark.req("D.06")
def test_what_is_not_committed_yet_is_told_of_nobody(author: Author) -> None:
    author.tree.commit("Squeeze what is sent", a_py=ONE, b_py=TWO)
    author.tree.write("a.py", ONE.replace("header", "heading"))

    author.update()

    assert author.subjects() == {"unpack": {"Squeeze what is sent"}}


@pytest.mark.req("D.06")
def test_without_a_history_there_is_nothing_to_wait_for(
    store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree
) -> None:
    tree.write("a.py", ONE)
    indexer = Indexer(store, settings, identify_project(tree.root), clock)
    assert indexer.index_tree().files_waiting == 0
    assert indexer.continue_history().files_waiting == 0


@pytest.mark.req("D.06")
def test_it_goes_on_where_it_was_left(author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    author.tree.commit("Squeeze what is sent", a_py=ONE, b_py=TWO)
    author.indexer.index_tree()
    author.indexer.continue_history()
    author.tree.commit("Turn both round", a_py=ONE.replace("+ 1", "- 1"), b_py=TWO.replace("[0]", "[9]"))
    monkeypatch.setattr(line_authorship, "LOOK_SECONDS", 0.0)

    assert author.indexer.index_tree().files_waiting == 2
    assert author.indexer.continue_history().files_waiting == 2
    monkeypatch.setattr(line_authorship, "LOOK_SECONDS", 60.0)
    assert author.indexer.continue_history().files_waiting == 0
    assert all("Turn both round" in subjects for subjects in author.subjects().values())


@pytest.mark.req("D.06")
def test_a_withheld_or_forgotten_commit_speaks_for_no_code(author: Author, clock: FakeClock) -> None:
    author.tree.commit("Squeeze what is sent", a_py=ONE)
    author.update()
    ((snippet, commit),) = author.store.connection.execute("SELECT node_key, commit_key FROM line_commits").fetchall()
    assert author.store.line_commits.find_commits([snippet]) == {snippet: [commit]}

    with author.store.transaction():
        author.store.withheld.withhold(NodeKey(commit), now=clock())
    assert author.store.line_commits.find_commits([snippet]) == {}


def test_the_commits_with_the_most_lines_are_chosen_and_those_a_clone_is_cut_off_at_are_not() -> None:
    snippets = [
        SnippetLines(node_key=NodeKey(1), first=1, last=9),
        SnippetLines(node_key=NodeKey(2), first=20, last=21),
    ]
    runs = [LineRun(sha="a", first=1, count=2), LineRun(sha="b", first=3, count=4), LineRun(sha="c", first=7, count=20)]

    assert choose_commits(snippets, runs) == {1: ["b", "c", "a"], 2: ["c"]}
    assert choose_commits(snippets, runs, without=frozenset("c")) == {1: ["b", "a"], 2: []}


@pytest.mark.req("D.06")
@pytest.mark.parametrize("content", [None, "nonsense\n"])
def test_a_list_of_ignored_commits_that_git_can_not_read_hides_no_authors(
    tree: WorkingTree, content: str | None
) -> None:
    tree.git("init", "-q")
    tree.commit("One", a_py=ONE)
    tree.git("config", "blame.ignoreRevsFile", ".git-blame-ignore-revs")
    if content is not None:
        tree.write(".git-blame-ignore-revs", content)

    assert [(run.first, run.count) for run in GitRepository(tree.root).blame_lines("a.py")] == [(1, 4)]


@pytest.mark.req("D.06")
def test_a_commit_that_the_repository_has_blame_ignore_wrote_no_lines(tree: WorkingTree) -> None:
    tree.git("init", "-q")
    tree.commit("One", a_py=ONE)
    tree.commit("Rename all", a_py=ONE.replace("header", "heading"))
    tree.git("config", "blame.ignoreRevsFile", ".git-blame-ignore-revs")
    tree.write(".git-blame-ignore-revs", tree.git("rev-parse", "HEAD"))

    assert len({run.sha for run in GitRepository(tree.root).blame_lines("a.py")}) == 1


@pytest.mark.req("D.06")
def test_blame_runs_nothing_that_a_repository_names(tree: WorkingTree, tmp_path: Path) -> None:
    tree.git("init", "-q")
    tree.commit("One", a_py=ONE)
    tree.write(".gitattributes", "*.py diff=shown filter=shown\n")
    trap = tmp_path / "trap"
    for setting in ("diff.shown.textconv", "filter.shown.clean", "filter.shown.smudge", "core.fsmonitor", "core.pager"):
        tree.git("config", setting, f"touch {trap}; cat")

    assert [(run.first, run.count) for run in GitRepository(tree.root).blame_lines("a.py")] == [(1, 4)]
    assert not trap.exists()
    subprocess.run(["git", "blame", "HEAD", "a.py"], cwd=tree.root, capture_output=True, check=False)
    assert trap.exists()
