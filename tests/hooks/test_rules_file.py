"""Rules file: written where Git does not see it, taken away without a trace, never over another's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hyperloci_hooks.dialects.rules_file import MARK, remove_rules, write_rules

NAME = ".cursor/rules/hyperloci.mdc"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def test_what_was_written_is_removed_without_a_trace(project: Path) -> None:
    exclude = project / ".git" / "info" / "exclude"
    exclude.write_bytes(b"*.log\r\nno end")
    assert write_rules(project, NAME, "Notes.") and write_rules(project, NAME, "Other notes.")
    assert exclude.read_bytes().count(NAME.encode()) == 1 and "Other notes." in (project / NAME).read_text()
    assert remove_rules(project, NAME)
    assert not (project / ".cursor").exists()
    assert exclude.read_bytes().rstrip(b"\n") == b"*.log\r\nno end"
    assert not remove_rules(project, NAME)


def test_other_rules_stay_and_notes_that_are_over_go(project: Path) -> None:
    other = project / ".cursor" / "rules" / "style.mdc"
    other.parent.mkdir(parents=True)
    other.write_text("Use tabs.")
    write_rules(project, NAME, "Notes.")
    assert not write_rules(project, NAME, "  ")
    assert [path.name for path in other.parent.iterdir()] == ["style.mdc"]


def test_a_file_of_the_same_name_that_is_not_ours_stays(project: Path) -> None:
    (project / NAME).parent.mkdir(parents=True)
    (project / NAME).write_text("Somebody's.")
    assert not write_rules(project, NAME, "Notes.") and not remove_rules(project, NAME)
    assert (project / NAME).read_text() == "Somebody's."


@pytest.mark.parametrize("folder", [".", "part/of it"])
def test_notes_are_written_anew_wherever_in_the_repository_the_client_is(project: Path, folder: str) -> None:
    (project / folder).mkdir(parents=True, exist_ok=True)
    assert write_rules(project / folder, NAME, "Notes.") and write_rules(project / folder, NAME, "Other notes.")
    assert "Other notes." in (project / folder / NAME).read_text()


@pytest.mark.parametrize("folder", [".", "part/of it"])
def test_a_file_that_git_tracks_is_not_written_though_it_says_that_it_is_ours(project: Path, folder: str) -> None:
    path = project / folder / NAME
    path.parent.mkdir(parents=True)
    path.write_text(MARK)
    subprocess.run(["git", "-C", str(project), "add", "-f", str(path)], check=True)
    assert not write_rules(project / folder, NAME, "Notes.") and not remove_rules(project / folder, NAME)
    assert path.read_text() == MARK


@pytest.mark.parametrize("name", [NAME, NAME.replace("hyperloci", "Hyperloci")])
def test_nor_is_one_written_that_git_tracks_and_that_is_gone_or_known_by_other_capitals(
    project: Path, name: str
) -> None:
    path = project / name
    path.parent.mkdir(parents=True)
    path.write_text(MARK)
    subprocess.run(["git", "-C", str(project), "add", "-f", str(path)], check=True)
    path.unlink()
    assert not write_rules(project, NAME, "Notes.")
    assert not (project / NAME).exists()


@pytest.mark.skipif(os.name != "posix", reason="modes as POSIX has them")
def test_notes_are_closed_to_other_users(project: Path) -> None:
    before = os.umask(0)
    try:
        write_rules(project, NAME, "Notes.")
        write_rules(project, NAME, "Other notes.")
    finally:
        os.umask(before)
    assert (project / NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
@pytest.mark.parametrize("link", [".cursor", ".cursor/rules"])
def test_nothing_is_written_through_a_link(project: Path, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / link).parent.mkdir(parents=True, exist_ok=True)
    (project / link).symlink_to(outside)
    assert not write_rules(project, NAME, "Notes.")
    assert list(outside.iterdir()) == []


def test_where_git_would_see_it_nothing_is_written(project: Path) -> None:
    exclude = project / ".git" / "info" / "exclude"
    exclude.unlink(missing_ok=True)
    exclude.mkdir()
    assert not write_rules(project, NAME, "Notes.")
    assert not (project / NAME).exists()


def test_nothing_is_written_into_the_users_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert not write_rules(tmp_path, NAME, "Notes.")
    assert not (tmp_path / ".cursor").exists()


def test_outside_of_repositories_it_is_written_too(tmp_path: Path) -> None:
    assert write_rules(tmp_path, NAME, "Notes.") and MARK in (tmp_path / NAME).read_text()
