"""The memory of an empty folder goes on in a repository that is begun in it, and in no other's."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.project.clone_token import TOKEN_FILE
from hyperloci.system.folder_mark import read_folder_mark
from tests.test_crossing import REMOTE, git, repository

FACT = "We deploy on Tuesdays"

YEAR_2100 = 4_102_444_800
"""The year 2100: nobody keeps a history from saying so."""


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    """An empty folder in which something was said."""
    made = tmp_path / "rocket"
    made.mkdir()
    if shutil.which("git") is None or read_folder_mark(made) is None:
        pytest.skip("no git, or a file system that keeps no birth")
    remember(settings, made, FACT)
    return made


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A repository of somebody else, whose commits say that they are made in the year 2100."""
    made = repository(tmp_path / "stranger", "theirs")
    date_anew(made, YEAR_2100)
    return made


def date_anew(place: Path, seconds: int) -> None:
    """Have the only commit say another time."""
    lines = [
        f"{line.rsplit(' ', 2)[0]} {seconds} +0000" if line.startswith(("author ", "committer ")) else line
        for line in git(place, "cat-file", "commit", "HEAD").splitlines()
    ]
    (place / "raw").write_text("\n".join(lines) + "\n")
    sha = git(place, "hash-object", "-t", "commit", "-w", "raw")
    (place / "raw").unlink()
    git(place, "update-ref", "refs/heads/main", sha)


def remember(settings: Settings, place: Path, fact: str) -> None:
    with Memory.open(settings, place) as memory:
        memory.remember_fact(fact, category="decision")


def recalled(settings: Settings, place: Path) -> set[str]:
    with Memory.open(settings, place) as memory:
        return {hit.content for hit in memory.latest(50) if hit.subtype == "decision"}


def offered(settings: Settings, place: Path) -> list[str]:
    """Return what speaks for each project that a link is offered to."""
    with Memory.open(settings, place) as memory:
        return [alike.because for alike in memory.describe_place().alike]


@pytest.mark.req("E.02")
def test_an_empty_folder_in_which_a_repository_is_begun_keeps_its_memory(settings: Settings, folder: Path) -> None:
    git(folder, "init", "-q")
    assert recalled(settings, folder) == {FACT}
    remember(settings, folder, "We never deploy on Fridays")
    repository(folder, "first", REMOTE)
    assert recalled(settings, folder) == {FACT, "We never deploy on Fridays"}
    assert offered(settings, folder) == []
    moved = folder.rename(folder.with_name("moved"))
    assert recalled(settings, moved) == {FACT, "We never deploy on Fridays"}


def test_a_repository_that_is_opened_after_its_first_commit_is_known_too(settings: Settings, folder: Path) -> None:
    repository(folder, "first")
    git(folder, "commit", "-q", "--amend", "-m", "first, in better words")
    git(folder, "remote", "add", "origin", REMOTE)
    assert recalled(settings, folder) == {FACT}


def test_a_repository_whose_remote_is_named_before_its_first_commit_is_known_too(
    settings: Settings, folder: Path
) -> None:
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", REMOTE)
    assert recalled(settings, folder) == {FACT}
    (folder / "a.py").write_text("print()\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    assert recalled(settings, folder) == {FACT}


def clone(folder: Path, stranger: Path) -> None:
    git(folder, "clone", "-q", str(stranger), ".")


def clone_and_hide(folder: Path, stranger: Path) -> None:
    git(folder, "clone", "-q", str(stranger), ".")
    git(folder, "remote", "remove", "origin")
    git(folder, "commit", "-q", "--amend", "--allow-empty", "-m", "mine")


def clone_shallow(folder: Path, stranger: Path) -> None:
    git(stranger, "commit", "-q", "--allow-empty", "-m", "more")
    git(folder, "clone", "-q", "--depth", "1", stranger.as_uri(), ".")


def clone_shared(folder: Path, stranger: Path) -> None:
    git(folder, "clone", "-q", "--shared", str(stranger), ".")


def fetch(folder: Path, stranger: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", str(stranger))
    git(folder, "fetch", "-q", "origin")


def fetch_and_check_out(folder: Path, stranger: Path) -> None:
    fetch(folder, stranger)
    git(folder, "checkout", "-q", "main")


def pull(folder: Path, stranger: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "pull", "-q", str(stranger), "main")


def commit_and_merge(folder: Path, stranger: Path) -> None:
    repository(folder, "first")
    git(folder, "pull", "-q", "--no-rebase", "--allow-unrelated-histories", "-X", "ours", str(stranger), "main")


def commit_and_reset(folder: Path, stranger: Path) -> None:
    repository(folder, "first")
    git(folder, "fetch", "-q", str(stranger), "main")
    git(folder, "reset", "-q", "--hard", "FETCH_HEAD")


def take_git_folder(folder: Path, stranger: Path) -> None:
    git(stranger, "clone", "-q", str(stranger), str(stranger.with_name("elsewhere")))
    shutil.copytree(stranger.with_name("elsewhere"), folder, dirs_exist_ok=True)


def keep_no_log(folder: Path, stranger: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "config", "core.logAllRefUpdates", "false")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")


def make_anew(folder: Path, stranger: Path) -> None:
    folder.rmdir()
    repository(folder, "first")


def keep_no_token(folder: Path, stranger: Path) -> None:
    repository(folder, "first")
    (folder / ".git" / TOKEN_FILE).mkdir()


UNSURE: list[Callable[[Path, Path], None]] = [
    clone,
    clone_and_hide,
    clone_shallow,
    clone_shared,
    fetch,
    fetch_and_check_out,
    pull,
    commit_and_merge,
    commit_and_reset,
    take_git_folder,
    keep_no_log,
    make_anew,
    keep_no_token,
]


@pytest.mark.req("E.02")
@pytest.mark.parametrize("become", UNSURE, ids=lambda become: become.__name__)
def test_what_may_be_a_strangers_gets_no_memory_and_the_user_is_asked(
    settings: Settings, folder: Path, stranger: Path, become: Callable[[Path, Path], None]
) -> None:
    become(folder, stranger)
    assert recalled(settings, folder) == set()
    assert offered(settings, folder) == ["it has the path that the other had"]
    with Memory.open(settings, folder) as memory:
        memory.link_place(memory.find_link_target())
    assert recalled(settings, folder) == {FACT}


@pytest.mark.req("E.02")
@pytest.mark.parametrize("begin", [fetch, clone], ids=lambda begin: begin.__name__)
def test_a_clone_that_was_seen_while_it_had_no_commit_yet_gets_no_memory(
    settings: Settings, folder: Path, stranger: Path, begin: Callable[[Path, Path], None]
) -> None:
    git(folder, "init", "-q")  # So does a clone look in its first moments.
    with Memory.open(settings, folder) as running:
        shared = running.project.id
        assert {hit.content for hit in running.latest()} == {FACT}
        if begin is clone:
            git(stranger, "clone", "-q", "--bare", str(stranger), str(folder / "whole"))
            for part in ("objects", "packed-refs"):
                shutil.rmtree(folder / ".git" / part, ignore_errors=True)
                shutil.move(folder / "whole" / part, folder / ".git" / part)
            shutil.rmtree(folder / "whole")
        else:
            begin(folder, stranger)
        running.follow_place()
        assert running.project.id != shared
        assert running.latest() == ()
    assert recalled(settings, folder) == set()
    assert offered(settings, folder) == ["it has the path that the other had"]


@pytest.mark.req("E.02")
def test_a_folder_grows_into_a_repository_once(settings: Settings, folder: Path) -> None:
    repository(folder, "first")
    assert recalled(settings, folder) == {FACT}
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    repository(folder, "second")
    assert recalled(settings, folder) == set()
    assert offered(settings, folder) == ["it has the path that the other had"]


def test_a_repository_linked_before_its_first_commit_stays_linked(
    settings: Settings, folder: Path, stranger: Path, tmp_path: Path
) -> None:
    other = repository(tmp_path / "other", "other")
    remember(settings, other, "We never deploy on Fridays")
    git(folder, "init", "-q")
    with Memory.open(settings, folder) as memory:
        memory.link_place(memory.find_link_target(str(other)))
    git(folder, "pull", "-q", str(stranger), "main")
    assert "We never deploy on Fridays" in recalled(settings, folder)


def test_a_folder_whose_memory_began_before_its_mark_was_kept_grows_into_nothing(
    settings: Settings, folder: Path
) -> None:
    with closing(sqlite3.connect(settings.database)) as connection, connection:
        connection.execute("UPDATE places SET folder_mark = NULL")
    repository(folder, "first")
    assert recalled(settings, folder) == set()


def test_a_commit_that_says_it_is_older_than_the_memory_is_taken_for_a_strangers(
    settings: Settings, folder: Path
) -> None:
    with closing(sqlite3.connect(settings.database)) as connection, connection:
        connection.execute("UPDATE places SET first_seen_at = first_seen_at + 3600000")  # A clock that went back.
    repository(folder, "first")
    assert recalled(settings, folder) == set()


def test_a_repository_below_or_beside_the_folder_is_another_project(
    settings: Settings, folder: Path, tmp_path: Path
) -> None:
    below = repository(folder / "part", "first")
    assert recalled(settings, below) == set()
    shutil.rmtree(below)
    moved = folder.rename(tmp_path / "moved")
    repository(moved, "first")
    assert recalled(settings, moved) == set()


def test_a_folder_made_anew_begins_with_what_is_said_in_it(settings: Settings, folder: Path) -> None:
    (folder / "a.md").write_text("# Notes\n")
    folder.rename(folder.with_name("kept"))
    folder.mkdir()
    remember(settings, folder, "We never deploy on Fridays")
    repository(folder, "first")
    assert recalled(settings, folder) == {"We never deploy on Fridays"}
