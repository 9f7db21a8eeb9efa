"""A folder's birth stays what it was, whatever is done in it, and is later for one that takes its place."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hyperloci.system.folder_birth import read_birth_ns


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "rocket"
    made.mkdir()
    if read_birth_ns(made) is None:
        pytest.skip("this file system keeps no birth")
    return made


def test_what_is_made_in_a_folder_leaves_its_birth(folder: Path) -> None:
    born = read_birth_ns(folder)
    (folder / "a.txt").write_text("a")
    folder.chmod(0o700)
    assert read_birth_ns(folder) == born
    assert born is not None and abs(born - time.time_ns()) < 60 * 1_000_000_000


def test_a_folder_that_moves_keeps_its_birth(folder: Path) -> None:
    born = read_birth_ns(folder)
    assert read_birth_ns(folder.rename(folder.with_name("moved"))) == born


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert read_birth_ns(tmp_path / "nothing") is None
