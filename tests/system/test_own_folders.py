"""Folders for one user alone: the whole way from the first that is missing."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from hyperloci.system.own_folders import make_own_folders


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
