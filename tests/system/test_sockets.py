"""Local sockets: for one user, and over what a dead server left."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.system.sockets import is_private_folder, is_same_user, listen_at


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of this user's, with a path short enough for a socket's."""
    found = Path(tempfile.mkdtemp(prefix="hl-"))
    yield found
    shutil.rmtree(found)


def test_a_socket_replaces_what_a_dead_server_left_and_shuts_others_out(folder: Path) -> None:
    address = folder / "1.s"
    listen_at(str(address), 1).close()
    with listen_at(str(address), 1) as listener, socket.socket(socket.AF_UNIX) as visitor:
        assert address.stat().st_mode & 0o777 == 0o600
        assert [entry.name for entry in folder.iterdir()] == ["1.s"]
        visitor.connect(str(address))
        connection, _ = listener.accept()
        with connection:
            assert is_same_user(connection) and is_same_user(visitor)


def test_a_folder_that_others_may_enter_or_a_link_is_not_private(folder: Path) -> None:
    assert is_private_folder(str(folder))
    link = folder / "link"
    link.symlink_to(folder)
    assert not is_private_folder(str(link))
    os.chmod(folder, 0o755)
    assert not is_private_folder(str(folder))
    with pytest.raises(FileNotFoundError):
        is_private_folder(str(folder / "missing"))
