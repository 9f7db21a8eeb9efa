"""All of the history: newest first, resumable anywhere, whatever the commits are like."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hyperloci.config import Settings
from hyperloci.facts import memory_writer as writer_module
from hyperloci.facts.memory_writer import annotate
from hyperloci.indexing.commits import commit_indexer, commit_writer
from hyperloci.indexing.commits.commit_indexer import CommitIndexer, CommitReport
from hyperloci.indexing.commits.commit_reader import PATIENCE
from hyperloci.indexing.indexer import Indexer
from hyperloci.indexing.retry import retry_set_aside
from hyperloci.memory import Memory
from hyperloci.model.answers import CommitCounts
from hyperloci.model.node import Node
from hyperloci.project.git import CommitDetails, GitError, GitRepository
from hyperloci.project.git_log import Commit
from hyperloci.project.identity import identify_project
from hyperloci.store import Store
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize
from tests.support import FakeClock
from tests.working_tree import WorkingTree, fast_import


class Past:
    """A project with a history, its indexer, and what is stored of it."""

    def __init__(self, store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree) -> None:
        self.store, self.settings, self.clock, self.tree = store, settings, clock, tree
        if not (tree.root / ".git").exists():
            tree.git("init", "-q")

    @property
    def scope(self) -> int:
        project = identify_project(self.tree.root)
        with self.store.transaction():
            return self.store.scopes.ensure_scope(project.id, now=self.clock())

    def indexer(self, **options: Any) -> CommitIndexer:
        return CommitIndexer(
            self.store,
            identify_project(self.tree.root),
            self.scope,
            self.clock,
            **options,
        )

    def run_all(self, **options: Any) -> list[CommitReport]:
        """Run once and go on until nothing waits."""
        indexer = self.indexer(**options)
        reports = [indexer.run()]
        while reports[-1].waiting:
            reports.append(indexer.store_more())
        return reports

    def stored(self) -> set[str]:
        return set(self.store.history.list_commits(self.scope))

    def node(self, sha: str) -> Node:
        node = self.store.nodes.get_node(self.store.history.list_commits(self.scope)[sha])
        assert node is not None
        return node

    def in_git(self, *revisions: str) -> list[str]:
        return self.tree.git("rev-list", "--date-order", *(revisions or ("HEAD",))).splitlines()


@pytest.fixture
def past(store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree) -> Past:
    return Past(store, settings, clock, tree)


@pytest.mark.req("E.02", "W13")
def test_ten_thousand_commits_are_stored_newest_first(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    fast_import(past.tree.root, 10_000)
    monkeypatch.setattr(commit_indexer, "WINDOW", 4_000)  # Walked three times.

    indexer = past.indexer()
    first = indexer.run()
    shas = past.in_git()

    assert (first.added, first.waiting) == (500, 9_500)
    assert past.stored() == set(shas[:500])
    second = indexer.store_more(1_000)
    assert (second.added, second.waiting) == (1_000, 8_500)
    assert past.stored() == set(shas[:1_500])
    while indexer.store_more(2_000).waiting:
        pass
    assert past.stored() == set(shas)
    state = past.store.history.get_state(past.scope)
    assert state is not None and (state.whole_to, state.waiting, state.tips) == (shas[0], 0, (shas[0],))
    assert past.indexer().run().added == 0


def test_after_a_whole_history_only_what_is_new_is_walked(past: Past) -> None:
    fast_import(past.tree.root, 300)
    past.run_all()
    fast_import(past.tree.root, 3, start=300)
    walked: list[str] = []

    class Watched(GitRepository):
        def walk_commits(self, start: str, *, without: Iterable[str] = ()) -> Iterator[str]:
            for sha in super().walk_commits(start, without=without):
                walked.append(sha)
                yield sha

    reports = past.run_all(git=Watched(past.tree.root))

    assert reports[0].added == len(walked) == 3


def test_a_history_cut_off_by_cancelling_goes_on_where_it_was(past: Past) -> None:
    fast_import(past.tree.root, 700)
    for limit in (5, 80, 300):
        answers = iter([False] * limit)
        indexer = past.indexer(cancelled=lambda answers=answers: next(answers, True))
        if indexer.run().waiting:
            indexer.store_more()
    assert 0 < len(past.stored()) < 700

    past.run_all()

    assert past.stored() == set(past.in_git())


KILLED = """
import sys
from pathlib import Path
from hyperloci.config import Settings
from hyperloci.memory import Memory
settings = Settings.from_env(__import__("os").environ, Path.cwd())
with Memory.open(settings, Path.cwd()) as memory:
    memory.index_path()
    memory.index_history(lambda done, total, what: (print(done, total, flush=True), sys.stdin.readline()))
"""


def test_a_process_killed_in_the_middle_loses_nothing(tmp_path: Path, clock: FakeClock) -> None:
    tree = WorkingTree(tmp_path / "project")
    tree.git("init", "-q")
    fast_import(tree.root, 3_000)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "RLM_MEMORY_DB": str(tmp_path / "memory.db"),
        "HYPERLOCI_EMBEDDER": "0",
    }
    settings = Settings.from_env(environment, tree.root)
    counts = []
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED],
            cwd=tree.root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None and process.stdout is not None
        for _ in range(4):
            assert process.stdout.readline()
            # It goes on by one step, in the middle of which the last time kills it.
            process.stdin.write("\n")
            process.stdin.flush()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        with Store.open(settings.database) as store:
            assert store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            counts.append(store.count_everything()["nodes_by_subtype"]["commit"])
    assert counts == sorted(counts) and counts[0] < counts[-1] < 3_000

    with Store.open(settings.database) as store:
        past = Past(store, settings, clock, tree)
        past.run_all()
        assert past.stored() == set(past.in_git())
        assert store.count_everything()["nodes_by_subtype"]["commit"] == 3_000


def test_two_processes_at_the_same_history_store_every_commit_once(past: Past) -> None:
    fast_import(past.tree.root, 900)
    with Store.open(past.store.path, clock=past.clock) as other:
        one, two = past.indexer(), Past(other, past.settings, past.clock, past.tree).indexer()
        one.run(), two.run()
        while one.store_more().waiting + two.store_more().waiting:
            pass

    assert past.stored() == set(past.in_git())
    assert past.store.count_everything()["nodes_by_subtype"]["commit"] == 900


def test_a_bound_keeps_the_newest_and_says_what_is_older(past: Past) -> None:
    fast_import(past.tree.root, 40)
    past.run_all(wanted=25)
    state = past.store.history.get_state(past.scope)

    assert past.stored() == set(past.in_git()[:25])
    assert state is not None and (state.waiting, state.older) == (0, 15)

    past.run_all()
    assert past.stored() == set(past.in_git())


def test_a_rebase_in_the_middle_of_the_history_ends_what_it_replaced(past: Past) -> None:
    fast_import(past.tree.root, 650)
    past.tree.git("checkout", "-q", "main")
    past.tree.git("checkout", "-q", "-b", "side", "HEAD~20")
    old = past.tree.commit("side", a_py="x = 1\n")
    indexer = past.indexer()
    indexer.run()
    past.tree.git("rebase", "-q", "main")

    indexer.store_more()
    reports = past.run_all()

    assert reports[0].ended == 1 and past.node(old).valid_until is not None
    assert past.stored() == {*past.in_git(), old}


def test_a_branch_whose_base_lives_on_is_ended_down_to_that(past: Past) -> None:
    fast_import(past.tree.root, 5)
    past.tree.git("checkout", "-q", "main")
    past.tree.git("checkout", "-q", "-b", "side")
    lost = [past.tree.commit(f"side {i}", a_py=f"x = {i}\n") for i in range(3)]
    past.run_all()
    past.tree.git("branch", "kept", lost[0])
    past.tree.git("checkout", "-q", "main")
    past.tree.git("branch", "-D", "side")
    assert past.run_all()[0].ended == 2
    past.tree.git("branch", "-D", "kept")

    assert past.run_all()[0].ended == 1
    assert all(past.node(sha).valid_until is not None for sha in lost)


def test_a_new_root_is_another_history(past: Past) -> None:
    past.tree.git("remote", "add", "origin", "https://example.org/ada/project.git")
    fast_import(past.tree.root, 5)
    past.run_all()
    before = past.in_git()
    past.tree.git("checkout", "-q", "--orphan", "fresh")
    past.tree.git("branch", "-D", "main")
    root = past.tree.commit("anew", a_py="x = 1\n")

    assert past.run_all()[0].ended == 5
    assert past.stored() == {*before, root} and past.node(root).valid_until is None


def test_a_deepened_clone_gets_what_was_cut_off(
    store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree, tmp_path: Path
) -> None:
    Past(store, settings, clock, tree)
    fast_import(tree.root, 60)
    tree.git("clone", "-q", "--depth", "10", f"file://{tree.root}", str(tmp_path / "clone"))
    past = Past(store, settings, clock, WorkingTree(tmp_path / "clone"))
    past.run_all()
    assert len(past.stored()) == 10

    past.tree.git("fetch", "-q", "--unshallow")
    past.run_all()

    assert len(past.stored()) == 60


def test_grafts_and_replacements_hide_nothing(past: Past) -> None:
    fast_import(past.tree.root, 6)
    shas = past.in_git()
    (past.tree.root / ".git" / "info").mkdir(exist_ok=True)
    (past.tree.root / ".git" / "info" / "grafts").write_text(f"{shas[2]}\n")
    past.tree.git("replace", "--graft", shas[1])

    past.run_all()

    assert past.stored() == set(shas)


def test_an_octopus_is_stored_with_all_its_sides(past: Past) -> None:
    fast_import(past.tree.root, 2)
    past.tree.git("checkout", "-q", "main")
    sides = []
    for number in range(9):
        past.tree.git("checkout", "-q", "-b", f"side{number}", "main")
        sides.append(past.tree.commit(f"side {number}", **{f"s{number}_py": "x = 1\n"}))
    past.tree.git("checkout", "-q", "main")
    past.tree.git("merge", "-q", "--no-ff", "-m", "All of them", *(f"side{number}" for number in range(9)))

    past.run_all()

    assert past.stored() == set(past.in_git()) and set(sides) < past.stored()
    assert past.node(past.tree.git("rev-parse", "HEAD")).content == "All of them"


def write_commit(past: Past, body: bytes, headers: bytes | None = None) -> str:
    """Write a commit object byte by byte onto main, as broken tools do."""
    root = past.tree.root
    tree = past.tree.git("write-tree")
    parents = subprocess.run(["git", "rev-parse", "-q", "--verify", "main"], cwd=root, capture_output=True, text=True)
    parent = f"parent {parents.stdout.strip()}\n".encode() if parents.returncode == 0 else b""
    usual = b"author Ada <ada@example.org> 1600000000 +0000\ncommitter Ada <ada@example.org> 1600000000 +0000\n"
    raw = b"tree " + tree.encode() + b"\n" + parent + (headers or usual) + b"\n" + body
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        cwd=root, input=raw, capture_output=True, check=True,
    )  # fmt: skip
    sha = made.stdout.decode().strip()
    past.tree.git("update-ref", "refs/heads/main", sha)
    return sha


ODD_PEOPLE = b"author %s\ncommitter %s\n"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", None),
        (b"\n\n \n", None),
        (b"Grow" * 20_000, None),
        (b"Subject\n\n" + b"A line of a long message.\n" * 100_000, None),
        (b"Undecodable \xff\xfe\x80 bytes", None),
        (b"Nothing\0 after this", None),
        (b"\0\0\n" + b"a" * 40, None),
        ("Größe".encode("latin-1"), b"encoding ISO-8859-1\n"),
        ("Größe".encode("utf-16"), b"encoding UTF-16\n"),
        (b"Unknown encoding", b"encoding x-none\n"),
        (b"Nobody", ODD_PEOPLE % (b" <> 1600000000 +0000", b" <> 1600000000 +0000")),
        (b"No date", ODD_PEOPLE % (b"Ada <a@b>", b"Ada <a@b>")),
        (b"Before 1970", ODD_PEOPLE % (b"Ada <a@b> -86400 +0000", b"Ada <a@b> -86400 +0000")),
        (b"In 3000", ODD_PEOPLE % (b"Ada <a@b> 32503680000 +0000", b"Ada <a@b> 32503680000 +0000")),
        (b"Never", ODD_PEOPLE % (b"Ada <a@b> 99999999999999999999999 +0000", b"Ada <a@b> 1 +9999")),
        (b"Odd name", ODD_PEOPLE % (b"A\tb\x01<<>> \xf0\x9f\x92\xa9 <a@b> 1 +0000", b"x <y> 1 +0000")),
        (b"Signed", b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----\n"),
    ],
    ids=lambda value: repr(value)[:24],
)  # fmt: skip
def test_a_commit_that_is_odd_costs_no_other(past: Past, body: bytes, headers: bytes | None) -> None:
    usual = b"author Ada <ada@example.org> 1600000000 +0000\ncommitter Ada <ada@example.org> 1600000000 +0000\n"
    past.tree.write("a.txt", "text\n")
    past.tree.git("add", "-A")
    whole = headers if headers is None or headers.startswith(b"author") else usual + headers
    before = write_commit(past, b"Before")
    odd = write_commit(past, body, whole)
    after = write_commit(past, b"After")

    past.run_all()

    assert past.stored() == {before, odd, after}
    assert past.node(after).content.startswith("After") and past.node(before).content.startswith("Before")
    assert len(past.node(odd).content) < 5_000 and 0 <= past.node(odd).event_time <= past.clock.now


def test_a_message_in_another_encoding_is_read(past: Past) -> None:
    past.tree.git("config", "i18n.commitEncoding", "ISO-8859-1")
    headers = b"author Ada <a@b> 1 +0000\ncommitter Ada <a@b> 1 +0000\nencoding ISO-8859-1\n"
    sha = write_commit(past, "Größe".encode("latin-1"), headers)

    past.run_all()

    assert past.node(sha).content == "Größe"


def test_a_huge_commit_is_read_within_a_budget_and_says_so(past: Past) -> None:
    for number in range(3):
        past.tree.write(f"big{number}.txt", "".join(f"{number} line {i} of many\n" for i in range(40_000)))
    past.tree.git("add", "-A")
    past.tree.git("commit", "-q", "-m", "Vendor everything")
    huge = past.tree.git("rev-parse", "HEAD")
    small = past.tree.commit("Small", a_py="def f():\n    return 1\n")

    past.run_all()

    assert past.stored() == {huge, small}
    assert past.node(huge).content.endswith("(of 3 files, the changes in 1 are not looked at)")


def test_a_sweep_over_thousands_of_files_is_told_by_its_count(past: Past) -> None:
    for number in range(412):
        past.tree.write(f"f{number}.txt", "x\n")
    past.tree.git("add", "-A")
    past.tree.git("commit", "-q", "-m", "Sweep")
    sweep = past.tree.git("rev-parse", "HEAD")
    next_one = past.tree.commit("Next", a_py="x = 1\n")

    past.run_all()

    assert past.stored() == {sweep, next_one}
    assert " and 392 more (of 412 files, the changes in 412 are not looked at)" in past.node(sweep).content


def test_submodules_pointers_and_binaries_are_commits_like_others(past: Past) -> None:
    past.tree.write("data.bin", b"\0\1\2" * 100_000)
    past.tree.write("large.psd", "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 9\n")
    past.tree.git("add", "-A")
    past.tree.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    past.tree.git("commit", "-q", "-m", "Odd things")

    past.run_all()

    assert past.node(past.tree.git("rev-parse", "HEAD")).content == "Odd things\n\nChanged: data.bin, large.psd, vendor"


class Failing(GitRepository):
    """Git that can't show some commits with some details."""

    def __init__(self, root: Path, bad: dict[str, CommitDetails | None]) -> None:
        super().__init__(root)
        self.bad = bad
        self.calls = 0

    def read_commits(
        self, shas: Sequence[str], details: CommitDetails = CommitDetails.CHANGES
    ) -> tuple[list[Commit], str | None]:
        self.calls += 1
        levels = list(CommitDetails)
        for place, sha in enumerate(shas):
            if sha in self.bad:
                enough = self.bad[sha]
                if enough is None or levels.index(details) < levels.index(enough):
                    return super().read_commits(shas[:place], details)[0], "fatal: bad object"
        return super().read_commits(shas, details)


def test_a_commit_that_git_cannot_show_costs_itself_alone(past: Past, caplog: pytest.LogCaptureFixture) -> None:
    fast_import(past.tree.root, 20)
    shas = past.in_git()
    git = Failing(past.tree.root, {shas[3]: None, shas[7]: CommitDetails.NAMES, shas[11]: CommitDetails.MESSAGE})

    past.run_all(git=git)

    assert past.stored() == set(shas) - {shas[3]}
    assert past.node(shas[7]).content.endswith("txt") and past.node(shas[11]).content == "Commit number 8"
    assert shas[3][:12] in caplog.text
    calls = git.calls
    past.run_all(git=git)
    assert git.calls == calls


def test_details_that_no_commit_has_are_not_asked_of_each(past: Past) -> None:
    fast_import(past.tree.root, 200)
    git = Failing(past.tree.root, dict.fromkeys(past.in_git(), CommitDetails.NAMES))

    past.run_all(git=git)

    assert len(past.stored()) == 200 and git.calls <= 3 * PATIENCE + 3


def test_a_git_that_fails_altogether_gives_no_commit_up(past: Past) -> None:
    fast_import(past.tree.root, 20)

    class Gone(GitRepository):
        def head_commit(self) -> str | None:
            if self.calls:
                raise GitError("git could not be started")
            return super().head_commit()

        def read_commits(self, shas: object, details: object = None) -> tuple[list[Commit], str | None]:
            self.calls += 1
            return [], "git could not be started"

        calls = 0

    assert past.indexer(git=Gone(past.tree.root)).run().problem == "git could not be started"
    past.run_all()
    assert len(past.stored()) == 20


def test_a_message_that_cannot_be_prepared_costs_itself_alone(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    fast_import(past.tree.root, 20)

    def prepare_unless_seventh(text: str, *, is_cut: bool = False) -> SanitizedText:
        if text.startswith("Commit number 7\n"):
            raise ValueError("unforeseen")
        return sanitize(text, is_cut=is_cut)

    monkeypatch.setattr(commit_writer, "sanitize", prepare_unless_seventh)
    past.run_all()

    assert len(past.stored()) == 19
    assert past.store.set_aside.count_by_kind() == {"commit": 1}


def test_a_commit_that_was_set_aside_is_tried_again_when_asked_and_by_another_program(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast_import(past.tree.root, 20)
    with monkeypatch.context() as patch:
        patch.setattr(commit_writer, "sanitize", lambda text, **_: exec("raise ValueError"))
        past.run_all()
    past.run_all()
    assert (len(past.stored()), past.store.set_aside.count_by_kind()) == (0, {"commit": 20})

    past.store.set_aside._program = "0.0.1"
    past.run_all()
    assert (len(past.stored()), past.store.set_aside.count_by_kind()) == (20, {})


def test_set_aside_commits_are_missing_again_when_everything_is_to_be_tried(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast_import(past.tree.root, 20)
    with monkeypatch.context() as patch:
        patch.setattr(commit_writer, "sanitize", lambda text, **_: exec("raise ValueError"))
        past.run_all()

    assert retry_set_aside(past.store, past.scope) == 20
    past.run_all()
    assert (len(past.stored()), past.store.set_aside.count_by_kind()) == (20, {})


def test_a_commit_that_cannot_be_written_costs_itself_alone(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    fast_import(past.tree.root, 20)

    def annotate_unless_19th(store: Store, node: Node, **rest: Any) -> None:
        annotate(store, node, **rest)
        if node.content.startswith("Commit number 19\n"):
            raise ValueError("unforeseen")

    monkeypatch.setattr(writer_module, "annotate", annotate_unless_19th)
    past.run_all()

    assert len(past.stored()) == 19
    assert past.store.count_everything()["nodes_by_subtype"]["commit"] == 19
    assert [(entity.canonical_name, entity.mention_count) for entity in past.store.entities.find_by_name("Ada")] == [
        ("Ada", 19)
    ]


def test_a_purged_commit_does_not_come_back(past: Past) -> None:
    fast_import(past.tree.root, 700)
    indexer = past.indexer()
    indexer.run()
    gone = past.in_git()[10]
    with past.store.transaction():
        past.store.connection.execute("DELETE FROM nodes WHERE id = ?", (past.node(gone).id,))

    past.run_all()

    assert past.stored() == set(past.in_git()) - {gone}


def test_a_rename_is_followed_back_over_a_cut_off_run(past: Past) -> None:
    code = "def f(total):\n" + "".join(f"    total += {i}\n" for i in range(9)) + "    return total\n"
    past.tree.commit("one", a_py=code)
    sha = past.tree.commit("two", a_py=code.replace("return total", "return -total"))
    past.tree.git("mv", "a.py", "b.py")
    past.tree.commit("three")
    Indexer(past.store, past.settings, identify_project(past.tree.root), past.clock)._bring_up_to_date(
        Indexer(past.store, past.settings, identify_project(past.tree.root), past.clock)._scan_targets([""]), 0.0
    )
    past.indexer(first=1).run()

    past.run_all()

    effects = past.store.edges.list_of_node(past.node(sha).key, "changed")
    assert len(effects) == 1
    assert past.store.history.get_renames(past.scope) == {}


def test_a_git_that_hangs_is_ended(past: Past, tmp_path: Path) -> None:
    fast_import(past.tree.root, 3)
    script = tmp_path / "git.sh"
    script.write_text('#!/bin/sh\ncase "$*" in *--no-walk*) exec sleep 600;; *) exec git "$@";; esac\n')
    script.chmod(0o755)
    git = GitRepository(past.tree.root, executable=str(script), show_seconds=0.3)

    commits, problem = git.read_commits(past.in_git())

    assert commits == [] and problem is not None and "longer than" in problem


def test_who_asks_for_commits_is_told_which_are_not_read_yet(past: Past) -> None:
    fast_import(past.tree.root, 700)
    past.indexer().run()
    memory = Memory(past.store, past.settings, identify_project(past.tree.root), past.clock)

    asked = memory.search("number", content_type="commit")
    assert any(hint.startswith("200 older commits are not read yet") for hint in asked.hints)
    assert memory.get_history_progress() == CommitCounts(stored=500, waiting=200, older=0)
    assert memory.get_history_progress().describe_progress() == "500 of 700 commits, newest first"
    assert not any("older commits" in hint for hint in memory.search("number").hints)

    assert memory.index_history() == 200
    assert not any("older commits" in hint for hint in memory.search("number", content_type="commit").hints)

    told: list[tuple[int, int, str]] = []
    assert memory.index_history(lambda *step: told.append(step)) == 0 and not told
