"""A folder's mark stays what it was, whatever is done in it, and is another one's that takes its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.system.folder_mark import read_folder_mark


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "rocket"
    made.mkdir()
    if read_folder_mark(made) is None:
        pytest.skip("this file system keeps no birth")
    return made


def test_what_is_made_in_a_folder_leaves_its_mark(folder: Path) -> None:
    mark = read_folder_mark(folder)
    (folder / "a.txt").write_text("a")
    folder.chmod(0o700)
    assert read_folder_mark(folder) == mark


def test_a_folder_that_moves_keeps_its_mark(folder: Path) -> None:
    mark = read_folder_mark(folder)
    assert read_folder_mark(folder.rename(folder.with_name("moved"))) == mark


def test_a_folder_made_anew_has_another_mark(folder: Path) -> None:
    mark = read_folder_mark(folder)
    folder.rmdir()
    folder.mkdir()
    assert read_folder_mark(folder) != mark


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert read_folder_mark(tmp_path / "nothing") is None
