from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyperloci.config import Settings
from hyperloci.indexing.file_work import FileWork, WriteStep
from hyperloci.indexing.indexer import Indexer
from hyperloci.indexing.watching.event_queue import ChangeInbox
from hyperloci.indexing.watching.file_events import HEAVY_FOLDERS, FileWatch
from hyperloci.indexing.watching.watch_worker import WatchPace
from hyperloci.indexing.watching.watcher import ProjectWatcher
from hyperloci.indexing.write_throttle import WriteTurn
from hyperloci.memory import Memory
from hyperloci.model.answers import IndexReport
from hyperloci.project.identity import identify_project
from hyperloci.store import Store
from tests.working_tree import WorkingTree, fast_import

DEADLINE = 100.0

QUICK = WatchPace(quiet=0.05, longest=0.5)

WATCHING = """
import sys, threading
from pathlib import Path
from hyperloci.config import Settings
from hyperloci.project.identity import identify_project
from hyperloci.indexing.watching.watcher import ProjectWatcher
folder = Path(sys.argv[1])
settings = Settings(database=folder / "memory.db", state_dir=folder / "state", runtime_dir=folder, embedder=False)
watchers = ProjectWatcher(settings, identify_project(Path(sys.argv[2])), retry_seconds=0.1)
watchers.start()
while not watchers.status()["owner"]:
    threading.Event().wait(0.02)
print("owner", flush=True)
sys.stdin.read()
watchers.stop()
"""

START = Callable[..., ProjectWatcher]


@pytest.fixture
def watching(settings: Settings) -> Settings:
    return replace(settings, watch=True)


@pytest.fixture
def start(watching: Settings, tree: WorkingTree) -> Iterator[START]:
    started: list[ProjectWatcher] = []

    def make(
        on_change: Callable[[IndexReport], None] | None = None, root: Path = tree.root, **options: Any
    ) -> ProjectWatcher:
        defaults: dict[str, Any] = {"pace": QUICK, "retry_seconds": 0.05, "back_off_seconds": 0.05}
        watchers = ProjectWatcher(watching, identify_project(root), on_change=on_change, **(defaults | options))
        started.append(watchers)
        watchers.start()
        return watchers

    yield make
    assert [watchers for watchers in started if not watchers.stop(DEADLINE)] == []
    assert not [thread for thread in threading.enumerate() if thread.name == "hyperloci-watch"]


@pytest.fixture
def indexed(watching: Settings) -> Iterator[Callable[[], set[str]]]:
    """What is indexed now: symbols, and the subjects of commits."""
    with Store.open(watching.database) as store:

        def look() -> set[str]:
            nodes = store.nodes.query_nodes(limit=1_000)
            places = store.positions.get_positions(node.key for node in nodes)
            symbols = {place.symbol for place in places.values() if place.symbol}
            return symbols | {node.content.split("\n")[0] for node in nodes if node.subtype == "commit"}

        yield look


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition, under a deadline."""
    deadline, pause = time.monotonic() + DEADLINE, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        pause.wait(0.02)


def function(name: str) -> str:
    return f"def {name}(value):\n    return value + 1\n"


def test_what_is_there_is_indexed_at_the_start(
    start: START, tree: WorkingTree, indexed: Callable[[], set[str]]
) -> None:
    tree.write("a.py", function("one"))

    start()

    until(lambda: indexed() == {"one"})


@pytest.mark.req("E.02", "W13")
def test_older_commits_follow_in_the_background_and_files_go_first(start: START, tree: WorkingTree) -> None:
    tree.git("init", "-q")
    fast_import(tree.root, 1_000)
    tree.git("checkout", "-q", "main")
    reports: list[IndexReport] = []
    project = identify_project(tree.root)
    watchers = start(reports.append)

    with Store.open(watchers._settings.database) as store:
        until(lambda: len(reports) > 1)
        tree.write("a.py", function("one"))
        until(lambda: store.history.count_commits(store.scopes.find_key(project.id) or 0) == 1_000)
        until(lambda: any(report.added for report in reports[1:]))
        # A batch can be read before it is reported.
        until(lambda: sum(report.commits for report in reports) == 1_000)

    assert (reports[0].commits, reports[0].commits_waiting) == (500, 500)


def test_a_saved_file_is_indexed_and_told(start: START, tree: WorkingTree, indexed: Callable[[], set[str]]) -> None:
    tree.write("a.py", function("one"))
    reports: list[IndexReport] = []
    watchers = start(reports.append)
    until(lambda: len(reports) == 1)

    tree.write("a.py", function("one") + "\n\n" + function("two"))
    until(lambda: "two" in indexed())
    # A look at the half-written file is reported as well.
    until(lambda: len(reports) >= 2 and reports[-1].added)

    status = watchers.status()
    assert (status["running"], status["owner"], status["polling"], status["last_error"]) == (True, True, None, None)
    assert status["last_event"] and status["last_run"]


def test_every_way_of_changing_a_tree_is_followed(
    start: START, tree: WorkingTree, indexed: Callable[[], set[str]]
) -> None:
    tree.write("a.py", function("one"))
    start()
    until(lambda: indexed() == {"one"})

    tree.write("tmp4913", function("saved"))
    os.replace(tree.root / "tmp4913", tree.root / "a.py")
    until(lambda: indexed() == {"saved"})

    tree.write("deep/er/b.py", function("two"))
    until(lambda: indexed() == {"saved", "two"})

    tree.rename("deep", "lib")
    tree.write("lib/er/c.py", function("three"))
    until(lambda: indexed() == {"saved", "two", "three"})

    tree.remove("a.py")
    until(lambda: indexed() == {"two", "three"})

    tree.write(".gitignore", "c.py\n")
    until(lambda: indexed() == {"two"})


@pytest.mark.req("D.01")
def test_what_git_excludes_here_alone_is_left_out_at_once(
    start: START, tree: WorkingTree, indexed: Callable[[], set[str]]
) -> None:
    tree.git("init", "-q")
    tree.write("a.py", function("one"))
    tree.write("b.py", function("two"))
    start()
    until(lambda: indexed() == {"one", "two"})

    tree.write(".git/info/exclude", "b.py\n")
    until(lambda: indexed() == {"one"})

    tree.write(".git/info/exclude", "")
    until(lambda: indexed() == {"one", "two"})


@pytest.mark.req("D.01")
@pytest.mark.parametrize("mark", ["CACHEDIR.TAG", "pyvenv.cfg"])
def test_a_folder_that_is_marked_as_a_cache_is_left_out_at_once_and_taken_in_without_the_mark(
    start: START, tree: WorkingTree, indexed: Callable[[], set[str]], mark: str
) -> None:
    tree.write("a.py", function("one"))
    tree.write("kept/b.py", function("two"))
    start()
    until(lambda: indexed() == {"one", "two"})

    tree.write(f"kept/{mark}", "")
    until(lambda: indexed() == {"one"})

    tree.remove(f"kept/{mark}")
    until(lambda: indexed() == {"one", "two"})

    tree.write("kept/b.py", function("three"))
    until(lambda: indexed() == {"one", "three"})


def test_ignored_folders_wake_nobody(
    start: START, tree: WorkingTree, indexed: Callable[[], set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[str] = []
    note = ChangeInbox.add_paths

    def add_paths(inbox: ChangeInbox, *paths: str) -> None:
        noted.extend(paths)
        note(inbox, *paths)

    monkeypatch.setattr(ChangeInbox, "add_paths", add_paths)
    tree.write("node_modules/x/index.js", "var x\n")
    watchers = start()
    until(lambda: watchers.status()["last_run"])

    tree.write("node_modules/x/index.js", "var y\n")
    tree.write("node_modules/y/index.js", "var y\n")
    tree.write("a.py", function("one"))
    until(lambda: indexed() == {"one"})

    assert noted and not [path for path in noted if "node_modules" in path]


def test_a_commit_a_switch_and_a_rebase_are_followed(
    start: START, tree: WorkingTree, indexed: Callable[[], set[str]]
) -> None:
    tree.commit("first", a_py=function("one"))
    start()
    until(lambda: indexed() == {"one", "first"})

    tree.commit("second", b_py=function("two"))
    until(lambda: indexed() == {"one", "two", "first", "second"})

    tree.git("checkout", "-q", "-b", "side", "HEAD~1")
    until(lambda: indexed() == {"one", "first", "second"})

    tree.commit("third", c_py=function("three"))
    tree.git("rebase", "-q", "main")
    until(lambda: indexed() == {"one", "two", "three", "first", "second", "third"})


@pytest.mark.req("E.02", "W13")
@pytest.mark.parametrize("is_watched_whole", [True, False])
def test_a_folder_that_becomes_a_repository_has_its_history_followed(
    watching: Settings, start: START, tree: WorkingTree, indexed: Callable[[], set[str]], is_watched_whole: bool
) -> None:
    tree.write("a.py", function("one"))
    if not is_watched_whole:
        tree.write(".gitignore", "node_modules/\n")
        for number in range(HEAVY_FOLDERS + 1):
            (tree.root / "node_modules" / str(number)).mkdir(parents=True)
    with Memory.open(watching, tree.root) as memory:
        scope = memory.project.id
    watchers = start()
    until(lambda: "one" in indexed())

    tree.git("init", "-q")
    tree.commit("first", b_py=function("two"))
    until(lambda: {"first", "two"} <= indexed())
    tree.commit("second", c_py=function("three"))
    until(lambda: {"second", "three"} <= indexed())

    assert watchers._project.id == scope
    assert watchers._project.common_dir == tree.root / ".git"


@pytest.mark.req("E.02", "W13")
def test_what_is_written_into_a_git_folder_that_is_none_yet_costs_no_look_at_the_tree(
    watching: Settings,
    start: START,
    tree: WorkingTree,
    indexed: Callable[[], set[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planned: list[Path] = []
    runs: list[str] = []
    tree.write("a.py", function("one"))
    tree.write("old.py", function("old"))
    with Memory.open(watching, tree.root):
        pass  # By what was there then, the repository is known to be this folder's.

    def plan(root: Path, is_ignored: Callable[[Path], bool]) -> list[tuple[Path, bool]]:
        planned.append(root)
        return [(root, False)]

    monkeypatch.setattr("hyperloci.indexing.watching.watch_worker.plan_watches", plan)
    update_history = Indexer.update_history

    def update(indexer: Indexer) -> IndexReport:
        runs.append("history")
        return update_history(indexer)

    monkeypatch.setattr(Indexer, "update_history", update)
    watches: list[FileWatch] = []

    def make_watch(seen: Callable[[str], None]) -> FileWatch:
        watches.append(FileWatch(seen))
        return watches[-1]

    watchers = start(make_watch=make_watch)
    until(lambda: "one" in indexed())
    (tree.root / ".git").mkdir()
    until(lambda: (tree.root / ".git", False) in watches[0]._watches)
    before = len(planned)

    def write_and_wait(name: str) -> None:
        seen = watchers.status()["last_event"]
        (tree.root / ".git" / name).write_text("x")
        until(lambda: watchers.status()["last_event"] != seen)

    for name in ("one", "two", "three"):
        write_and_wait(name)
    tree.write("a.py", function("two"))
    until(lambda: "two" in indexed())
    assert (len(planned), runs) == (before, [])

    # Git does the rest, and only the watch of its folder shows it.
    tree.git("init", "-q")
    until(lambda: watchers._project.common_dir)


@pytest.mark.req("E.02")
def test_a_folder_that_was_linked_before_it_is_watched_is_indexed_for_the_project_it_is(
    watching: Settings, start: START, tree: WorkingTree, indexed: Callable[[], set[str]], tmp_path: Path
) -> None:
    other = WorkingTree(tmp_path / "other")
    tree.write("a.py", function("one"))
    with Memory.open(watching, other.root) as theirs:
        theirs.remember_fact("We deploy on Tuesdays")
    with Memory.open(watching, tree.root) as memory:
        own = memory.project.id
        memory.link_place(memory.find_link_target(str(other.root)))

    start()  # For the project that the folder was.
    until(lambda: "one" in indexed())

    with Store.open(watching.database) as store:
        assert not store.files.list_files(store.scopes.find_key(own) or 0)


@pytest.mark.req("E.02")
def test_a_repository_that_goes_away_and_comes_back_is_watched_by_events_all_along(
    start: START, tree: WorkingTree, indexed: Callable[[], set[str]], tmp_path: Path
) -> None:
    tree.git("init", "-q")
    tree.commit("first", a_py=function("one"))
    watches: list[FileWatch] = []

    def make_watch(seen: Callable[[str], None]) -> FileWatch:
        watches.append(FileWatch(seen))
        return watches[-1]

    watchers = start(make_watch=make_watch)
    until(lambda: indexed() == {"one", "first"})

    kept = (tree.root / ".git").rename(tmp_path / "kept")
    until(lambda: tree.root / ".git" not in {folder for folder, _ in watches[0]._watches})
    tree.write("b.py", function("two"))
    until(lambda: indexed() == {"one", "first", "two"})
    # Events and a comparison come one after the other.
    until(lambda: not watchers.status()["indexing"])
    assert watchers.status()["polling"] is None

    kept.rename(tree.root / ".git")
    tree.commit("second", c_py=function("three"))
    until(lambda: indexed() == {"one", "first", "two", "second", "three"})
    assert watchers.status()["polling"] is None


@pytest.mark.parametrize("reason", ["limit", "network", "watches"])
def test_without_events_the_tree_is_polled(
    start: START,
    tree: WorkingTree,
    indexed: Callable[[], set[str]],
    monkeypatch: pytest.MonkeyPatch,
    reason: str,
) -> None:
    tree.commit("first", a_py=function("one"))
    # A poll that took seconds on a busy machine would be followed by a minute's rest.
    monkeypatch.setattr("hyperloci.indexing.watching.watch_worker.POLL_SHARE", 1.0)
    options: dict[str, Any] = {"pace": replace(QUICK, poll=0.05)}
    if reason == "limit":
        options["make_watch"] = lambda seen: FileWatch(seen, observer=no_observer)
    elif reason == "network":
        monkeypatch.setattr("hyperloci.indexing.watching.watch_worker.is_on_network", lambda path: True)
    else:
        monkeypatch.setattr("hyperloci.indexing.watching.watch_worker.MAX_WATCHES", 0)
    watchers = start(**options)
    until(lambda: indexed() == {"one", "first"})
    until(lambda: watchers.status()["polling"])

    tree.commit("second", a_py=function("changed"))

    until(lambda: indexed() == {"changed", "first", "second"})


def no_observer() -> Any:
    raise OSError(24, "inotify instance limit reached")


def test_everything_is_compared_now_and_then(start: START, tree: WorkingTree, indexed: Callable[[], set[str]]) -> None:
    class Deaf(FileWatch):
        def __init__(self, seen: Callable[[str], None]) -> None:
            super().__init__(lambda path: None)

    tree.write("a.py", function("one"))
    start(make_watch=Deaf, pace=replace(QUICK, reconcile=0.1))
    until(lambda: indexed() == {"one"})

    tree.write("a.py", function("two"))

    until(lambda: indexed() == {"two"})


def test_a_failure_is_told_and_tried_again(start: START, tree: WorkingTree, indexed: Callable[[], set[str]]) -> None:
    tree.write("a.py", function("one"))
    watchers = start(pace=replace(QUICK, reconcile=0.1))
    until(lambda: indexed() == {"one"})

    tree.root.rename(tree.root.with_name("away"))
    until(lambda: watchers.status()["failures"] >= 2)
    assert "does not exist" in watchers.status()["last_error"] and watchers.status()["running"]
    assert indexed() == {"one"}

    tree.root.with_name("away").rename(tree.root)
    tree.write("a.py", function("two"))
    until(lambda: indexed() == {"two"})
    until(lambda: watchers.status()["last_error"] is None)


def test_a_failing_listener_does_not_end_the_watch(
    start: START, tree: WorkingTree, indexed: Callable[[], set[str]], caplog: pytest.LogCaptureFixture
) -> None:
    def fail(report: IndexReport) -> None:
        raise ValueError("nobody listens")

    tree.write("a.py", function("one"))
    start(fail)
    # In the log it stays; the status forgets it at the next comparison.
    until(lambda: "nobody listens" in caplog.text)

    tree.write("a.py", function("two"))

    until(lambda: indexed() == {"two"})


def test_watching_that_is_ruled_out_starts_nothing(settings: Settings, tree: WorkingTree) -> None:
    off = ProjectWatcher(settings, identify_project(tree.root))
    broad = ProjectWatcher(replace(settings, watch=True), identify_project(tree.root, home=tree.root))
    for watchers, reason in ((off, "switched off"), (broad, "too broad")):
        watchers.start()
        assert not watchers.status()["running"] and reason in watchers.status()["last_error"]
        assert watchers.stop()


def test_stopping_in_the_middle_of_a_run_ends_it_soon(
    watching: Settings, tree: WorkingTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    run_steps = FileWork.run_steps

    def run_once_told(work: FileWork, turn: WriteTurn, run: Callable[[WriteStep], None]) -> bool:
        begun.set()
        assert go_on.wait(DEADLINE)
        return run_steps(work, turn, run)

    monkeypatch.setattr(FileWork, "run_steps", run_once_told)
    for i in range(300):
        tree.write(f"m{i}.py", "\n\n".join(function(f"f{i}_{j}") for j in range(10)))
    watchers = ProjectWatcher(watching, identify_project(tree.root), pace=QUICK)
    watchers.start()
    assert begun.wait(DEADLINE)

    with ThreadPoolExecutor(1) as threads:
        stopped = threads.submit(watchers.stop, DEADLINE)
        until(watchers._thread.stopping.is_set)
        go_on.set()
        assert stopped.result()

    with Store.open(watching.database) as store:
        assert len(store.nodes.query_nodes(limit=5_000)) < 3_000
    assert watchers.status()["running"] is watchers.status()["owner"] is False


def test_only_one_of_two_watches_and_the_other_follows(
    start: START, tree: WorkingTree, indexed: Callable[[], set[str]]
) -> None:
    first = start()
    until(lambda: first.status()["owner"])
    second = start()
    tree.write("a.py", function("one"))
    until(lambda: indexed() == {"one"})
    assert not second.status()["owner"] and second.status()["running"]

    first.stop()
    until(lambda: second.status()["owner"])
    tree.write("a.py", function("two"))

    until(lambda: indexed() == {"two"})


@pytest.mark.req("E.02")
def test_a_folder_that_is_linked_is_watched_again_once_it_is_unlinked(
    watching: Settings, start: START, tree: WorkingTree, indexed: Callable[[], set[str]], tmp_path: Path
) -> None:
    other = WorkingTree(tmp_path / "other")
    tree.write("a.py", function("one"))
    other.write("b.py", function("two"))
    with Memory.open(watching, other.root) as theirs:
        theirs.remember_fact("We deploy on Tuesdays")
    linked, joined = start(), start(root=other.root)
    until(lambda: indexed() == {"one", "two"})
    until(lambda: linked.status()["owner"] and joined.status()["owner"])

    with Memory.open(watching, tree.root) as memory:
        memory.link_place(memory.find_link_target(str(other.root)))
    tree.write("c.py", function("three"))
    until(lambda: linked._project.id == joined._project.id)
    until(lambda: not linked.status()["owner"])
    other.write("d.py", function("four"))
    until(lambda: "four" in indexed())
    assert "two" in indexed() and joined.status()["owner"]

    with Memory.open(watching, tree.root) as memory:
        memory.unlink_place()
    until(lambda: linked.status()["owner"])
    until(lambda: {"one", "two", "three", "four"} == indexed())
    assert joined.status()["owner"]


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")
def test_a_killed_owner_is_followed_within_seconds(
    start: START, tree: WorkingTree, indexed: Callable[[], set[str]], tmp_path: Path
) -> None:
    tree.write("a.py", function("one"))
    owner = subprocess.Popen(
        [sys.executable, "-c", WATCHING, str(tmp_path), str(tree.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert owner.stdout is not None and owner.stdout.readline() == "owner\n"
        until(lambda: indexed() == {"one"})
        heir = start()
        assert not heir.status()["owner"]
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.communicate(timeout=60)

    until(lambda: heir.status()["owner"])
    tree.write("a.py", function("two"))

    until(lambda: indexed() == {"two"})


def test_a_process_whose_input_ends_leaves_nothing_running(tree: WorkingTree, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHING, str(tmp_path), str(tree.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "owner\n"

    process.communicate(timeout=60)

    assert process.returncode == 0


def test_what_indexes_is_loaded_only_by_the_session_that_watches(tmp_path: Path, tree: WorkingTree) -> None:
    loaded = "print(*{'watchdog.observers', 'hyperloci.indexing.indexer'}.intersection(sys.modules))"
    made, _, rest = WATCHING.partition("watchers.start()\n")
    script = f"{made}{loaded}\nwatchers.start()\n{rest}{loaded}"
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path, tree.root],
        input="",
        capture_output=True,
        text=True,
        check=True,
        timeout=DEADLINE,
    )
    assert done.stdout.splitlines()[:2] == ["", "owner"]
