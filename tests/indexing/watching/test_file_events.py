from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from watchdog.observers.api import BaseObserver

from hyperloci.indexing.watching.file_events import HEAVY_FOLDERS, FileWatch, is_on_network, plan_watches
from hyperloci.indexing.watching.git_events import git_watches, is_git_state
from hyperloci.project.git_folder import open_repository
from tests.working_tree import WorkingTree

DEADLINE = 100.0


class Seen:
    """Paths that were seen, and a way to wait for one."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._changed = threading.Condition()

    def __call__(self, path: str) -> None:
        with self._changed:
            self.paths.add(path)
            self._changed.notify_all()

    def has(self, *paths: Path) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: {str(path) for path in paths} <= self.paths, DEADLINE)


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def watch(seen: Seen) -> Iterator[FileWatch]:
    made = FileWatch(seen)
    yield made
    made.stop()


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    folder = tmp_path / "canary"
    folder.mkdir()
    return folder


def ignoring(*names: str) -> Callable[[Path], bool]:
    return lambda folder: folder.name in names


# -- events ----------------------------------------------------------------------------------------------------------


def test_both_ends_of_whatever_happens_are_seen(tree: WorkingTree, watch: FileWatch, seen: Seen, canary: Path) -> None:
    tree.write("a/one.py", "x = 1\n")
    watch.watch_folders([(tree.root, True)], canary)

    tree.write("a/new.py", "x = 2\n")
    assert seen.has(tree.root / "a/new.py")

    tree.rename("a/one.py", "two.py")
    assert seen.has(tree.root / "a/one.py", tree.root / "two.py")

    tree.write("tmp1234", "x = 3\n")
    os.replace(tree.root / "tmp1234", tree.root / "a/saved.py")
    assert seen.has(tree.root / "a/saved.py")

    tree.remove("two.py")
    tree.write("b/deep/er/file.py", "x = 4\n")
    assert seen.has(tree.root / "two.py", tree.root / "b/deep/er/file.py")


def test_reading_a_file_is_no_event(tree: WorkingTree, watch: FileWatch, seen: Seen, canary: Path) -> None:
    path = tree.write("one.py", "x = 1\n")
    watch.watch_folders([(tree.root, True)], canary)

    path.read_text()
    marker = tree.write("marker.py", "x = 1\n")

    assert seen.has(marker) and str(path) not in seen.paths


def test_a_folder_watched_alone_tells_nothing_of_what_is_below(
    tree: WorkingTree, watch: FileWatch, seen: Seen, canary: Path
) -> None:
    tree.write("deep/one.py", "x = 1\n")
    watch.watch_folders([(tree.root, False)], canary)

    below = tree.write("deep/two.py", "x = 1\n")
    marker = tree.write("marker.py", "x = 1\n")

    assert seen.has(marker) and str(below) not in seen.paths


def test_a_folder_that_was_deleted_and_made_again_is_watched_again(
    tree: WorkingTree, watch: FileWatch, seen: Seen, canary: Path
) -> None:
    tree.write("deep/one.py", "x = 1\n")
    plan = [(tree.root, False), (tree.root / "deep", True)]
    watch.watch_folders(plan, canary)
    tree.remove("deep/one.py")
    (tree.root / "deep").rmdir()
    assert seen.has(tree.root / "deep")

    tree.write("deep/one.py", "x = 1\n")
    seen.paths.clear()
    for attempt in range(500):
        watch.watch_folders(plan, canary)
        tree.write(f"deep/again{attempt}.py", "x = 1\n")
        with seen._changed:
            if seen._changed.wait_for(lambda: any("again" in path for path in seen.paths), 0.2):
                return
    pytest.fail("the new folder is not watched")


def test_a_folder_that_another_took_the_place_of_is_watched(
    tree: WorkingTree, watch: FileWatch, seen: Seen, canary: Path
) -> None:
    watch.watch_folders([(tree.root, True)], canary)
    tree.root.rename(tree.root.with_name("away"))
    tree.root.mkdir()

    watch.watch_folders([(tree.root, True)], canary)
    path = tree.write("one.py", "x = 1\n")

    assert seen.has(path)


def test_a_watch_whose_reader_died_is_made_anew(tree: WorkingTree, watch: FileWatch, seen: Seen, canary: Path) -> None:
    watch.watch_folders([(tree.root, True)], canary)
    reader = getattr(watch._observer, "_inotify_fd", None)
    if reader is None:
        pytest.skip("this system has no such reader")
    reader.stop()
    reader.join()

    watch.watch_folders([(tree.root, True)], canary)
    path = tree.write("one.py", "x = 1\n")

    assert seen.has(path)


def test_stopping_leaves_no_thread(tree: WorkingTree, seen: Seen, canary: Path) -> None:
    before = set(threading.enumerate())  # Some of them may end meanwhile.
    watch = FileWatch(seen)
    watch.watch_folders([(tree.root, True)], canary)
    assert set(threading.enumerate()) - before

    watch.stop()
    watch.stop()

    assert set(threading.enumerate()) <= before


def test_a_limit_that_is_reached_leaves_nothing_behind(
    tree: WorkingTree, seen: Seen, canary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(threading.enumerate())
    watch = FileWatch(seen, observer=lambda: full_observer(monkeypatch))

    with pytest.raises(OSError, match="limit"):
        watch.watch_folders([(tree.root, True)], canary)

    assert set(threading.enumerate()) <= before


def full_observer(monkeypatch: pytest.MonkeyPatch) -> BaseObserver:
    """Make a real observer on a system that gives no more watches once it has one."""
    from watchdog.observers import Observer

    observer = Observer()
    schedule = observer.schedule
    given: list[tuple[Any, ...]] = []

    def limited(*arguments: Any, **options: Any) -> Any:
        if given:
            raise OSError(28, "inotify watch limit reached")
        given.append(arguments)
        return schedule(*arguments, **options)

    monkeypatch.setattr(observer, "schedule", limited)
    return observer


# -- the plan --------------------------------------------------------------------------------------------------------


def test_a_plain_tree_needs_one_watch(tree: WorkingTree) -> None:
    tree.write("a/b/c.py", "x = 1\n")
    tree.write("a/__pycache__/c.pyc", "")

    assert plan_watches(tree.root, ignoring("__pycache__"), "linux") == [(tree.root, True)]


def test_a_heavy_ignored_folder_is_left_out(tree: WorkingTree) -> None:
    for i in range(HEAVY_FOLDERS + 1):
        tree.write(f"web/node_modules/p{i}/x.js", "")
    tree.write("web/src/deep/a.js", "")
    tree.write("server/a.py", "")

    plan = plan_watches(tree.root, ignoring("node_modules"), "linux")

    assert sorted(plan) == sorted(
        [(tree.root, False), (tree.root / "web", False), (tree.root / "web/src", True), (tree.root / "server", True)]
    )


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_one_watch_has_it_all(tree: WorkingTree, platform: str) -> None:
    assert plan_watches(tree.root, ignoring(), platform) == [(tree.root, True)]


def test_network_file_systems_are_known_by_their_mount() -> None:
    mounts = (
        "/dev/sda1 / ext4 rw 0 0\nserver:/home /home nfs4 rw 0 0\n/dev/sdb /home/ada/local\\040disk btrfs rw 0 0\n"
        "C:\\134 /mnt/c 9p rw 0 0\n"
    )

    paths = ("/srv", "/home/ada", "/home/ada/local disk/p", "/mnt/c/p")
    found = {path: is_on_network(Path(path), mounts) for path in paths}

    assert found == {"/srv": False, "/home/ada": True, "/home/ada/local disk/p": False, "/mnt/c/p": True}
    assert not is_on_network(Path("/srv"), "")


# -- Git -------------------------------------------------------------------------------------------------------------


def test_git_is_watched_where_its_pointers_are(tree: WorkingTree, tmp_path: Path) -> None:
    tree.commit("one", a_py="x = 1\n")
    tree.git("worktree", "add", "-q", str(tmp_path / "linked"))
    common = tree.root / ".git"
    linked = open_repository(tmp_path / "linked")
    assert linked is not None

    assert set(git_watches(linked)) == {
        (common / "worktrees/linked", False),
        (common, False),
        (common / "refs", True),
        (common / "info", False),
        (common / "worktrees/linked/logs", False),
    }


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("HEAD", True),
        ("logs/HEAD", True),
        ("packed-refs", True),
        ("refs/heads/main", True),
        ("refs/remotes/origin/x", True),
        ("HEAD.lock", False),
        ("refs/heads/main.lock", False),
        ("index", False),
        ("objects/ab/HEAD", False),
        ("COMMIT_EDITMSG", False),
    ],
)
def test_only_pointers_tell_of_git(tree: WorkingTree, path: str, expected: bool) -> None:
    tree.commit("one", a_py="x = 1\n")
    repository = open_repository(tree.root)
    assert repository is not None

    assert is_git_state(repository, tree.root / ".git" / path) is expected
