"""A clone's memory goes where the clone goes, is never another's, and is joined to another only by the user's word."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.memory import Memory
from hyperloci.project.clone_token import TOKEN_FILE
from hyperloci.project.identity import IdentityBasis, identify_project, make_project_id
from hyperloci.project.project_store import identify_known_project
from hyperloci.store import Store
from hyperloci.store.export import export_memory
from hyperloci.store.export_reading import import_memory
from hyperloci.store.integrity import check_integrity, count_violations
from tests.test_crossing import REMOTE, git, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return repository(tmp_path / "rocket", "first", REMOTE)


def remember(settings: Settings, place: Path, fact: str) -> str:
    """Remember a fact at a place, and return the scope that it went to."""
    with Memory.open(settings, place) as memory:
        memory.remember_fact(fact, category="decision")
        return memory.project.id


@pytest.fixture
def notes(settings: Settings, tmp_path: Path) -> Path:
    """A plain folder of which something is remembered."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Notes\n")
    remember(settings, folder, "We deploy on Tuesdays")
    return folder


def recalled(settings: Settings, place: Path) -> set[str]:
    """Return all that is remembered at a place, its files and history left out."""
    with Memory.open(settings, place) as memory:
        return {hit.content for hit in memory.latest(50) if hit.subtype == "decision"}


def told(settings: Settings, place: Path) -> tuple[str, list[str]]:
    """Return why a place is its project, and what speaks for each that looks like it."""
    with Memory.open(settings, place) as memory:
        account = memory.describe_place()
    return account.reason, [alike.because for alike in account.alike]


def test_a_clone_that_moves_takes_its_memory_along(settings: Settings, clone: Path, tmp_path: Path) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    (tmp_path / "elsewhere").mkdir()
    moved = clone.rename(tmp_path / "elsewhere" / "ship")
    assert told(settings, moved) == ("moved", [])
    assert recalled(settings, moved) == {"We deploy on Tuesdays"}
    back = moved.rename(clone)
    assert recalled(settings, back) == {"We deploy on Tuesdays"}
    again = back.rename(tmp_path / "third")
    assert recalled(settings, again) == {"We deploy on Tuesdays"}


def test_a_clone_that_moves_to_another_disk_takes_its_memory_along(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    shutil.copytree(clone, tmp_path / "copy")
    shutil.rmtree(clone)
    assert told(settings, tmp_path / "copy") == ("moved", [])
    assert recalled(settings, tmp_path / "copy") == {"We deploy on Tuesdays"}


def test_all_working_trees_of_a_clone_are_one_project_wherever_they_move(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    git(clone, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    scope = remember(settings, tmp_path / "side", "We deploy on Tuesdays")
    assert remember(settings, clone, "We never deploy on Fridays") == scope
    git(clone, "worktree", "move", str(tmp_path / "side"), str(tmp_path / "other"))
    assert recalled(settings, tmp_path / "other") == {"We deploy on Tuesdays", "We never deploy on Fridays"}


def test_a_copy_of_a_clone_is_asked_about_and_not_joined(settings: Settings, clone: Path, tmp_path: Path) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    copy = Path(shutil.copytree(clone, tmp_path / "copy"))
    assert recalled(settings, copy) == set()
    assert told(settings, copy) == ("place", ["its Git folder is a copy of the other's"])
    remember(settings, copy, "We deploy on Mondays")
    moved = copy.rename(tmp_path / "moved")
    assert recalled(settings, moved) == {"We deploy on Mondays"}
    assert recalled(settings, clone) == {"We deploy on Tuesdays"}


def test_a_copy_of_a_clone_that_moved_has_a_memory_of_its_own(settings: Settings, clone: Path, tmp_path: Path) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    moved = clone.rename(tmp_path / "moved")
    assert recalled(settings, moved) == {"We deploy on Tuesdays"}
    copy = Path(shutil.copytree(moved, tmp_path / "copy"))
    assert recalled(settings, copy) == set()
    remember(settings, copy, "We deploy on Mondays")
    assert recalled(settings, moved) == {"We deploy on Tuesdays"}
    assert told(settings, copy) == ("place", ["its Git folder is a copy of the other's"])


def test_a_clone_that_moved_has_its_memory_though_a_copy_of_it_was_opened_first(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    moved = clone.rename(tmp_path / "moved")
    copy = Path(shutil.copytree(moved, tmp_path / "copy"))
    # It can't be told from a clone that was moved to another disk.
    assert recalled(settings, copy) == {"We deploy on Tuesdays"}
    assert recalled(settings, moved) == {"We deploy on Tuesdays"}
    again = moved.rename(tmp_path / "again")
    assert recalled(settings, again) == {"We deploy on Tuesdays"}


def test_a_clone_that_moved_keeps_its_memory_where_two_processes_open_it_and_a_copy_at_once(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    moved = clone.rename(tmp_path / "moved")
    copy = Path(shutil.copytree(moved, tmp_path / "copy"))
    environ = {
        **os.environ,
        "RLM_MEMORY_DB": str(settings.database),
        "HYPERLOCI_STATE_DIR": str(settings.state_dir),
        "HYPERLOCI_RUNTIME_DIR": str(settings.runtime_dir),
        "HYPERLOCI_CONFIG": os.devnull,
        "HYPERLOCI_EMBEDDER": "false",
    }
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN_WHEN_TOLD, str(place)], env=environ, stdin=subprocess.PIPE, cwd=tmp_path
        )
        for place in (moved, copy, moved, copy)
    ]
    for process in starters:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait(60) for process in starters] == [0, 0, 0, 0]
    assert recalled(settings, moved) == {"We deploy on Tuesdays"}
    # The first that was opened, of those that can't be told apart, shares it.
    assert recalled(settings, copy) in (set(), {"We deploy on Tuesdays"})
    with Store.open(settings.database, backup_dir=settings.backup_dir) as store:
        assert (check_integrity(store), count_violations(store)) == ([], {})


_OPEN_WHEN_TOLD = """
import os, sys
from pathlib import Path
from hyperloci.config import Settings
from hyperloci.memory import Memory
settings, place = Settings.from_env(os.environ), Path(sys.argv[1])
sys.stdin.read()
with Memory.open(settings, place) as memory:
    memory.latest(5)
"""


def test_a_linked_copy_does_not_keep_a_clone_that_moves_from_its_memory(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    copy = Path(shutil.copytree(clone, tmp_path / "copy"))
    remember(settings, copy, "We deploy on Mondays")
    with Memory.open(settings, copy) as memory:
        memory.link_place(memory.find_link_target(str(clone)))
    moved = clone.rename(tmp_path / "moved")
    assert recalled(settings, moved) == {"We deploy on Tuesdays", "We deploy on Mondays"}


def test_a_home_folder_that_is_copied_keeps_its_memories(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    monkeypatch.setenv("HOME", str(old))
    clone = repository(old / "work" / "rocket", "first", REMOTE)
    remember(settings, clone, "We deploy on Tuesdays")
    shutil.copytree(old, new, symlinks=True)
    monkeypatch.setenv("HOME", str(new))
    other = Path(shutil.copytree(clone, new / "work" / "other"))
    assert recalled(settings, new / "work" / "rocket") == {"We deploy on Tuesdays"}
    assert recalled(settings, other) == set()


def test_of_two_copies_that_are_gone_the_one_that_moved_is_known_by_its_inode(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    copy = Path(shutil.copytree(clone, tmp_path / "copy"))
    remember(settings, copy, "We deploy on Mondays")
    moved = copy.rename(tmp_path / "moved")
    shutil.rmtree(clone)
    assert recalled(settings, moved) == {"We deploy on Mondays"}
    third = Path(shutil.copytree(moved, tmp_path / "third"))
    shutil.rmtree(moved)
    assert told(settings, third)[0] == "place"


def test_a_new_clone_in_the_place_of_one_that_was_deleted_is_asked_about(settings: Settings, clone: Path) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    shutil.rmtree(clone)
    repository(clone, "first", REMOTE)
    assert recalled(settings, clone) == set()
    assert told(settings, clone) == ("place", ["it has the path that the other had"])


def test_a_second_clone_of_a_remote_is_asked_about(settings: Settings, clone: Path, tmp_path: Path) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    second = repository(tmp_path / "second", "another", REMOTE)
    git(tmp_path, "clone", "-q", str(clone), "third")
    git(tmp_path / "third", "remote", "remove", "origin")
    assert told(settings, second) == ("place", ["it claims the same remote, github.com/acme/rocket"])
    assert told(settings, tmp_path / "third") == ("place", ["it claims the same first commit"])
    assert told(settings, clone) == ("place", [])
    named = replace(settings, claimed_project="rocket")
    assert told(named, repository(tmp_path / "fourth", "fourth")) == ("place", ["its .hyperloci.toml claims that name"])


def test_a_name_that_the_user_gives_joins_what_it_names(settings: Settings, clone: Path, tmp_path: Path) -> None:
    named = replace(settings, project="ours")
    second = repository(tmp_path / "second", "another")
    assert remember(named, clone, "We deploy on Tuesdays") == make_project_id(IdentityBasis.NAME, "ours")
    assert recalled(named, second) == {"We deploy on Tuesdays"}
    assert recalled(settings, second) == set()
    with Memory.open(named, second) as memory:
        assert memory.describe_place().reason == "named"
        with pytest.raises(BadRequestError, match="known by the name 'ours'"):
            memory.link_place(memory.find_link_target("ours"))


# -- plain folders -----------------------------------------------------------------------------------------------------


def test_a_folder_that_becomes_a_repository_keeps_its_memory(settings: Settings, tmp_path: Path, notes: Path) -> None:
    repository(notes, "first", REMOTE)
    assert recalled(settings, notes) == {"We deploy on Tuesdays"}
    moved = notes.rename(tmp_path / "moved")
    assert recalled(settings, moved) == {"We deploy on Tuesdays"}


def test_a_repository_unpacked_in_the_place_of_a_deleted_folder_is_not_that_folder(
    settings: Settings, tmp_path: Path, notes: Path
) -> None:
    inode = notes.stat().st_ino
    shutil.rmtree(notes)
    for number in range(50):  # Until the number of the deleted folder is given out anew, where it ever is.
        notes.mkdir()
        if notes.stat().st_ino == inode:
            break
        notes.rename(tmp_path / f"other-{number}")
    notes.mkdir(exist_ok=True)
    repository(notes, "first", REMOTE)
    assert recalled(settings, notes) == set()


def test_another_folder_in_the_place_of_a_plain_one_is_asked_about(
    settings: Settings, tmp_path: Path, notes: Path
) -> None:
    notes.rename(tmp_path / "kept")
    notes.mkdir()
    (notes / "a.md").write_text("# Others\n")
    assert recalled(settings, notes) == set()
    assert told(settings, notes) == ("place", ["it has the path that the other had"])
    remember(settings, notes, "We deploy on Mondays")
    assert recalled(settings, notes) == {"We deploy on Mondays"}


def test_a_folder_whose_inode_changes_but_not_its_content_is_the_same(settings: Settings, notes: Path) -> None:
    with closing(sqlite3.connect(settings.database)) as connection, connection:
        connection.execute("UPDATE places SET inode = '1:2'")  # As a network file system may after each mount.
    assert recalled(settings, notes) == {"We deploy on Tuesdays"}


def test_a_git_folder_that_can_not_be_written_goes_by_its_path(settings: Settings, clone: Path) -> None:
    (clone / ".git" / TOKEN_FILE).mkdir()
    remember(settings, clone, "We deploy on Tuesdays")
    assert recalled(settings, clone) == {"We deploy on Tuesdays"}
    (clone / ".git" / TOKEN_FILE).rmdir()
    assert recalled(settings, clone) == {"We deploy on Tuesdays"}
    assert (clone / ".git" / TOKEN_FILE).is_file()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_folder_whose_name_is_no_text_is_a_project_like_any_other(settings: Settings, tmp_path: Path) -> None:
    folder = repository(tmp_path / os.fsdecode(b"caf\xe9"), "first")
    remember(settings, folder, "We deploy on Tuesdays")
    moved = folder.rename(tmp_path / os.fsdecode(b"th\xe9"))
    assert recalled(settings, moved) == {"We deploy on Tuesdays"}
    with Memory.open(settings, moved) as memory:
        memory.index_path()
        started = RecordFactory(memory.project, "session-1", now=1_700_000_000_000).record_start("startup")
        memory.keep(started)
        assert "We deploy on Tuesdays" in memory.get_context_for_record(started)
        assert memory.stats()["project"]["root"].encode().endswith(b"th\\udce9")
        export_memory(memory.store, tmp_path / "export.jsonl")
    with Store.open(tmp_path / "other.db") as other:
        import_memory(other, tmp_path / "export.jsonl")
        assert [project.name for project in other.places.list_projects()] == ["th\\xe9"]


def test_a_memory_that_was_open_before_knows_that_its_folder_is_a_repository_now(
    settings: Settings, notes: Path
) -> None:
    with Memory.open(settings, notes) as running:
        plain = running.project
        repository(notes, "first", REMOTE)
        running.follow_place()
        assert running.project.common_dir == notes / ".git"
        assert (running.project.id, running.project.place_id == plain.place_id) == (plain.id, False)
        shutil.rmtree(notes / ".git")
        running.follow_place()
        assert running.project.id == plain.id
        assert {hit.content for hit in running.latest()} == {"We deploy on Tuesdays"}


@pytest.mark.parametrize(
    "change", ["a repository in the empty folder", "a repository around it", "a broken one around it"]
)
def test_an_open_session_keeps_its_memory_where_the_folder_would_have_another(
    settings: Settings, tmp_path: Path, change: str
) -> None:
    folder = tmp_path / "above" / "notes"
    folder.mkdir(parents=True)
    with Memory.open(settings, folder) as running:
        running.remember_fact("We deploy on Tuesdays", category="decision")
        (folder / "a.md").write_text("# Notes\n")
        if change == "a repository in the empty folder":
            repository(folder, "first", REMOTE)
        elif change == "a repository around it":
            repository(folder.parent, "first", REMOTE)
        else:
            (folder.parent / ".git").write_text("gitdir: /nowhere/there\n")
        before = running.project
        running.follow_place()
        assert running.project == before
        assert {hit.content for hit in running.latest()} == {"We deploy on Tuesdays"}


def test_a_place_that_is_new_is_taken_up_once_nobody_else_writes(settings: Settings, notes: Path) -> None:
    with Memory.open(settings, notes) as running:
        repository(notes, "first", REMOTE)
        with closing(sqlite3.connect(settings.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            running.follow_place()
            assert {hit.content for hit in running.latest()} == {"We deploy on Tuesdays"}
            other.execute("COMMIT")
        running.follow_place()
        assert running.project.common_dir == notes / ".git"


@pytest.mark.req("E.02")
def test_a_repository_that_was_begun_in_a_session_is_known_by_its_claims_later(
    settings: Settings, tmp_path: Path, notes: Path
) -> None:
    with Memory.open(settings, notes) as running:
        git(notes, "init", "-q")
        running.follow_place()
    repository(notes, "first", REMOTE)
    recalled(settings, notes)
    with Memory.open(settings, notes) as memory:
        place = memory.store.places.get_place(memory.project.place_id)
        assert place is not None and place.remote == "github.com/acme/rocket"
        assert place.root_commit == git(notes, "rev-parse", "HEAD")
    theirs = tmp_path / "theirs"
    git(tmp_path, "clone", "-q", str(notes), str(theirs))
    git(theirs, "remote", "set-url", "origin", REMOTE)
    assert told(settings, theirs)[1] == ["it claims the same remote, github.com/acme/rocket"]
    git(theirs, "remote", "remove", "origin")
    assert told(settings, theirs)[1] == ["it claims the same first commit"]


@pytest.mark.req("E.02")
def test_a_session_whose_clone_is_moved_away_and_cloned_anew_goes_on_with_the_new_ones_memory(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    with Memory.open(settings, clone) as running:
        running.remember_fact("We deploy on Tuesdays", category="decision")
        moved = clone.rename(tmp_path / "ship")
        running.follow_place()
        assert {hit.content for hit in running.latest()} == {"We deploy on Tuesdays"}
        git(tmp_path, "clone", "-q", str(moved), str(clone))
        running.follow_place()
        assert {hit.content for hit in running.latest()} == set()
        running.remember_fact("We deploy on Fridays", category="decision")
        anew = running.project
        running.follow_place()
        assert running.project == anew
    assert recalled(settings, moved) == {"We deploy on Tuesdays"}
    assert recalled(settings, clone) == {"We deploy on Fridays"}


def test_a_token_that_can_not_be_read_makes_no_session_switch(settings: Settings, clone: Path, tmp_path: Path) -> None:
    with Memory.open(settings, clone) as running:
        project, token = running.project, clone / ".git" / TOKEN_FILE
        token.rename(tmp_path / "token")
        token.symlink_to(tmp_path / "token")
        running.follow_place()
        assert running.project == project


def test_a_memory_that_can_only_be_read_stays_as_its_folder_becomes_a_repository(
    settings: Settings, notes: Path
) -> None:
    with Store.open(settings.database, read_only=True) as store:
        running = Memory(store, settings, identify_known_project(store, settings, notes, system_clock()))
        repository(notes, "first")
        running.follow_place()
        assert {hit.content for hit in running.latest()} == {"We deploy on Tuesdays"}


@pytest.mark.parametrize("becomes", ["file", "link", "nothing"])
def test_a_folder_that_is_no_longer_there_makes_no_session_switch_to_the_one_around_it(
    settings: Settings, home: Path, becomes: str
) -> None:
    folder = home / "notes"
    folder.mkdir()
    with Memory.open(settings, folder) as running:
        project = running.project
        shutil.rmtree(folder)
        if becomes == "file":
            folder.write_text("x")
        elif becomes == "link":
            folder.symlink_to(home)
        running.follow_place()
        assert running.project == project


# -- what hooks keep before a place is known ---------------------------------------------------------------------------


def test_what_a_hook_spooled_at_a_place_follows_it(settings: Settings, clone: Path, tmp_path: Path) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    moved = clone.rename(tmp_path / "moved")
    early = RecordFactory(identify_project(moved), "session-1", now=1_700_000_000_000).record_prompt(
        "Make the build green", event_id="p"
    )
    assert early is not None
    with Memory.open(settings, tmp_path) as elsewhere:  # A server of another project stores what waits.
        elsewhere.keep(early)
    with Memory.open(settings, moved) as memory:
        assert memory.describe_place().reason == "moved"
        kept = memory.store.nodes.query_nodes("experience", scopes=[memory.project.id])
        assert [node.content for node in kept] == ["Make the build green"]
        assert count_violations(memory.store) == {}
    assert recalled(settings, moved) == {"We deploy on Tuesdays"}


# -- links -------------------------------------------------------------------------------------------------------------


def test_a_link_joins_a_clone_to_a_memory_and_unlinking_gives_each_its_own_back(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    second = repository(tmp_path / "second", "another", REMOTE)
    theirs = remember(settings, clone, "We deploy on Tuesdays")
    remember(settings, second, "The sandbox has no network")
    with Memory.open(settings, second) as memory:
        memory.index_path()
        record = RecordFactory(memory.project, "session-2", now=1_700_000_000_000).record_prompt(
            "Green, please", event_id="p"
        )
        assert record is not None
        memory.keep(record)
        target = memory.find_link_target()
        assert (target.scope, target.memories, target.root) == (theirs, 1, str(clone))
        linked = memory.link_place(target)
        assert (linked.root, linked.project.memories) == (str(second), 3)
    both = {"We deploy on Tuesdays", "The sandbox has no network"}
    assert recalled(settings, clone) == recalled(settings, second) == both
    assert told(settings, second) == ("linked", [])
    with Memory.open(settings, second) as memory:
        memory.index_path()
        assert memory.search("ignite engine", content_type="code").results
        assert [session["id"] for session in memory.list_recent_sessions()] == ["session-2"]
        with pytest.raises(BadRequestError, match="already has the memory of rocket"):
            memory.link_place(target)
    remember(settings, second, "Since then")
    moved = second.rename(tmp_path / "moved")
    assert recalled(settings, moved) == {*both, "Since then"}
    with Memory.open(settings, moved) as memory:
        assert [(link.joined, link.unlinked_at) for link in memory.list_links()] == [(theirs, None)]


def test_what_was_stored_since_a_link_stays_with_the_project_it_was_stored_in(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    second = repository(tmp_path / "second", "another", REMOTE)
    remember(settings, clone, "We deploy on Tuesdays")
    own = remember(settings, second, "The sandbox has no network")
    with Memory.open(settings, second) as memory:
        memory.link_place(memory.find_link_target(str(clone)))
    remember(settings, second, "Since then")
    with Memory.open(settings, second) as memory:
        assert memory.unlink_place().project.scope == own
        assert memory.list_links()[0].unlinked_at is not None
        with pytest.raises(NotFoundError, match="is not linked"):
            memory.unlink_place()
        assert (check_integrity(memory.store), count_violations(memory.store)) == ([], {})
    assert recalled(settings, second) == {"The sandbox has no network"}
    assert recalled(settings, clone) == {"We deploy on Tuesdays", "Since then"}
    with Memory.open(settings, second) as memory:
        memory.link_place(memory.find_link_target("rocket"))
    assert "Since then" in recalled(settings, second)


def test_a_clone_that_moved_brings_its_memory_into_a_link(settings: Settings, clone: Path, tmp_path: Path) -> None:
    second = repository(tmp_path / "second", "another", REMOTE)
    remember(settings, clone, "We deploy on Tuesdays")
    remember(settings, second, "The sandbox has no network")
    moved = second.rename(tmp_path / "moved")
    with Memory.open(settings, moved) as memory:
        memory.link_place(memory.find_link_target())
    assert recalled(settings, clone) == {"We deploy on Tuesdays", "The sandbox has no network"}


def test_what_is_meant_by_a_link_must_be_one_project(settings: Settings, clone: Path, tmp_path: Path) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    other = repository(tmp_path / "other", "other", "git@example.org:else/rocket.git")
    theirs = remember(settings, other, "We never deploy")
    plain = tmp_path / "plain"
    plain.mkdir()
    with Memory.open(settings, plain) as memory:
        with pytest.raises(NotFoundError, match="looks like this one"):
            memory.find_link_target()
        with pytest.raises(NotFoundError, match="matches 'nothing'"):
            memory.find_link_target("nothing")
        with pytest.raises(BadRequestError, match=f"Several projects.*\n  {theirs}  rocket  {other}  1 memory"):
            memory.find_link_target("rocket")
        for said in (theirs, theirs.removeprefix("project:")[:8], str(other), str(other / ".git")):
            assert memory.find_link_target(said).scope == theirs
        assert [project.scope for project in memory.list_projects()][:1] != [memory.project.id]


def test_a_memory_that_was_open_before_follows_a_link_and_its_undoing(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    second = repository(tmp_path / "second", "another", REMOTE)
    remember(settings, clone, "We deploy on Tuesdays")
    remember(settings, second, "The sandbox has no network")
    with Memory.open(settings, second) as running, Memory.open(settings, second) as memory:
        memory.link_place(memory.find_link_target())
        running.follow_place()
        assert "We deploy on Tuesdays" in {hit.content for hit in running.latest()}
        running.remember_fact("Since then", category="decision")
        memory.unlink_place()
        running.follow_place()
        assert {hit.content for hit in running.latest()} == {"The sandbox has no network"}
    assert recalled(settings, clone) == {"We deploy on Tuesdays", "Since then"}


def test_the_user_is_told_once_what_a_place_looks_like(settings: Settings, clone: Path, tmp_path: Path) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    second = repository(tmp_path / "second", "another", REMOTE)
    with Memory.open(settings, second) as memory:
        notice = memory.get_place_notice()
        assert notice.startswith(
            f"Hyperloci: {second} looks like rocket ({clone}, 1 memory): it claims the same remote"
        )
        assert "\n" not in notice
        assert memory.get_place_notice() == ""
    with Memory.open(settings, clone) as memory:
        assert memory.get_place_notice() == ""


# -- databases of older versions ---------------------------------------------------------------------------------------


def as_older_versions_did(settings: Settings, scope: str, root: Path, fact: str, *, remote: str | None = None) -> None:
    """Leave a memory as versions before places did: under an id made of what the repository says."""
    with Store.open(settings.database) as store, store.transaction():
        store.scopes.ensure_scope(scope, now=1, name="rocket", root=str(root), remote=remote)
        for table in ("place_link_rows", "place_links", "places"):
            store.connection.execute(f"DELETE FROM {table}")
        store.connection.execute("INSERT OR IGNORE INTO unplaced_scopes SELECT key FROM scopes WHERE id <> 'global'")
    with Memory.open(replace(settings, project="rocket"), root) as memory:
        memory.project = replace(memory.project, id=scope)
        memory.remember_fact(fact, category="decision", scope="project")


BY_REMOTE = make_project_id(IdentityBasis.REMOTE, "github.com/acme/rocket")


def test_the_clone_that_an_older_version_knew_keeps_its_memory_and_no_other_gets_it(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    as_older_versions_did(settings, BY_REMOTE, clone, "We deploy on Tuesdays", remote="github.com/acme/rocket")
    second = repository(tmp_path / "second", "another", REMOTE)
    assert recalled(settings, second) == set()
    assert told(settings, second)[1] == ["it claims the same remote, github.com/acme/rocket"]
    assert recalled(settings, clone) == {"We deploy on Tuesdays"}
    assert told(settings, clone) == ("adopted", [])
    moved = clone.rename(tmp_path / "moved")
    assert recalled(settings, moved) == {"We deploy on Tuesdays"}
    repository(clone, "hostile", REMOTE)
    assert recalled(settings, clone) == set()


def test_what_an_older_version_knew_is_taken_over_once(settings: Settings, clone: Path) -> None:
    as_older_versions_did(settings, BY_REMOTE, clone, "We deploy on Tuesdays", remote="github.com/acme/rocket")
    assert recalled(settings, clone) == {"We deploy on Tuesdays"}
    shutil.rmtree(clone)
    repository(clone, "hostile", REMOTE)
    assert recalled(settings, clone) == set()


@pytest.mark.parametrize("by", ["first commit", "path", "name"])
def test_every_id_of_older_versions_is_taken_over_where_it_was_made(
    settings: Settings, tmp_path: Path, by: str
) -> None:
    clone = repository(tmp_path / "rocket", "first")
    ids = {
        "first commit": make_project_id(IdentityBasis.ROOT_COMMIT, git(clone, "rev-parse", "HEAD")),
        "path": make_project_id(IdentityBasis.PATH, str(clone)),
        "name": make_project_id(IdentityBasis.NAME, "mine"),
    }
    as_older_versions_did(settings, ids[by], clone, "We deploy on Tuesdays")
    if by == "name":
        settings = replace(settings, claimed_project="mine")
    assert recalled(settings, clone) == {"We deploy on Tuesdays"}
    assert told(settings, clone)[0] == "adopted"
    copy = Path(shutil.copytree(clone, tmp_path / "copy"))
    assert recalled(settings, copy) == set()


def test_the_memory_of_a_working_tree_that_an_older_version_knew_is_its_clones(
    settings: Settings, clone: Path, tmp_path: Path
) -> None:
    git(clone, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    as_older_versions_did(settings, BY_REMOTE, tmp_path / "side", "We deploy on Tuesdays")
    assert recalled(settings, clone) == {"We deploy on Tuesdays"}


def test_a_folder_without_git_keeps_the_id_it_always_had(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    as_older_versions_did(settings, make_project_id(IdentityBasis.PATH, str(folder)), folder, "We deploy on Tuesdays")
    assert recalled(settings, folder) == {"We deploy on Tuesdays"}
    assert identify_project(folder).id == make_project_id(IdentityBasis.PATH, str(folder))


def test_a_place_of_an_older_version_with_another_repository_in_it_is_asked_about(
    settings: Settings, clone: Path
) -> None:
    as_older_versions_did(settings, BY_REMOTE, clone, "We deploy on Tuesdays")
    git(clone, "remote", "set-url", "origin", "git@example.org:other/thing.git")
    assert recalled(settings, clone) == set()
    assert told(settings, clone) == ("place", ["it has the path that the other had"])


def test_a_database_that_can_only_be_read_knows_its_places(settings: Settings, clone: Path, tmp_path: Path) -> None:
    remember(settings, clone, "We deploy on Tuesdays")
    second = repository(tmp_path / "second", "another", REMOTE)
    with Store.open(settings.database, read_only=True) as store:
        from hyperloci.project.places import describe_place, make_notice
        from hyperloci.project.project_store import identify_known_project

        project = identify_known_project(store, settings, clone, now=2)
        assert describe_place(store, project).reason == "place"
        new = identify_known_project(store, settings, second, now=2)
        assert (describe_place(store, new).reason, make_notice(store, new, now=2)) == ("new", "")
        assert os.path.basename(describe_place(store, new).alike[0].project.root or "") == "rocket"
