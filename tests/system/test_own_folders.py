"""Folders and files for one user alone: the whole way from the first that is missing."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from hyperloci.system.own_folders import make_own_folders, open_own_file


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_every_folder_that_is_made_is_this_users_alone_and_what_was_there_stays_as_it_was(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    before = os.umask(0o022)
    try:
        make_own_folders(shared / "hyperloci" / "spool" / "a")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (shared, *sorted(shared.rglob("*")))]
    assert modes == [0o755, 0o700, 0o700, 0o700]
    make_own_folders(shared)
    make_own_folders(str(shared / "hyperloci"))


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("x", encoding="utf-8")
    for way in ("taken", "taken/below"):
        with pytest.raises(FileExistsError):
            make_own_folders(tmp_path / way)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_a_file_is_closed_to_others_even_if_it_was_open_to_them(tmp_path: Path) -> None:
    old = tmp_path / "old.log"
    old.write_text("before\n", encoding="utf-8")
    old.chmod(0o644)
    before = os.umask(0)
    try:
        for path in (old, tmp_path / "new.log"):
            with open(path, "a", encoding="utf-8", opener=open_own_file) as file:
                file.write("after\n")
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert old.read_text("utf-8") == "before\nafter\n"
