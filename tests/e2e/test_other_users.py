"""Another user of the machine: nothing of a memory can be read, written, listed or reached by one.

The modes of all files are looked at everywhere. Where root runs the tests, a process becomes somebody else and tries.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import SOON, House, running_command
from tests.embedder.helpers import wait_for

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of files")

is_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be somebody else")

NOBODY = 65_534

STRANGER = f"""
import os, socket, sys
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
for path in sys.stdin.read().splitlines():
    for way in ("list", "read", "write", "connect", "remove"):
        try:
            if way == "list":
                os.listdir(path)
            elif way == "connect":
                with socket.socket(socket.AF_UNIX) as one:
                    one.connect(path)
            elif way == "remove":
                os.unlink(path)
            else:
                open(path, "rb" if way == "read" else "r+b").close()
        except OSError:
            continue
        print(way, path)
print("tried")
"""
"""A program that becomes nobody and prints what it can do with each path that it is told."""


@pytest.fixture
def house() -> Iterator[House]:
    """A house that everybody can get to: pytest's own folders are closed already, which would prove nothing."""
    before = os.umask(0o022)
    try:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)
            yield House(Path(folder) / "house")
    finally:
        os.umask(before)


@contextmanager
def lived_in(house: House) -> Iterator[list[Path]]:
    """Let a hook, a server and a viewer run, which go on; yield everything that they have made."""
    house.extra |= {"BROWSER": "true %s", "HYPERLOCI_WATCH": "1", "HYPERLOCI_LOG_LEVEL": "DEBUG"}
    hook = [house.command[0], "hook", "UserPromptSubmit"]
    record = b'{"session_id": "s", "prompt": "We decided to use SQLite for the invoices."}'
    subprocess.run(hook, input=record, env=house.environment, cwd=house.project, check=True, timeout=2 * SOON)
    own = {house.root / "stderr.txt", house.home, house.project}
    with house.server() as server:
        server.shake_hands()
        server.call("remember_fact", content="The staging database listens on port 5432.")
        with running_command(house, "view"):
            # The address is printed before the page that leads a browser there is written.
            wait_for(lambda: any(house.root.rglob("view-*.html")))
            yield [path for path in house.root.rglob("*") if path not in own]


def test_no_file_or_folder_of_a_memory_is_open_to_others(house: House) -> None:
    with lived_in(house) as paths:
        modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in paths if path.exists()}
    names = {path.name for path in modes}
    assert {"memory.db", "spool", "hyperloci", "hyperloci.log"} <= names and any(
        name.startswith("view-") for name in names
    )
    assert {str(path): oct(mode) for path, mode in modes.items() if mode & 0o077} == {}


@is_root
def test_a_process_of_another_user_can_do_nothing_with_any_of_them(house: House) -> None:
    with lived_in(house) as paths:
        open_to_all = house.root / "open.txt"
        open_to_all.write_text("x", encoding="utf-8")
        open_to_all.chmod(0o666)
        told = subprocess.run(
            [sys.executable, "-c", STRANGER],
            input="\n".join(map(str, [open_to_all, *paths])),
            capture_output=True,
            text=True,
            check=True,
            timeout=SOON,
        )
    # What is open to all shows that the way there is free and that the stranger tries.
    assert told.stdout.splitlines() == [f"read {open_to_all}", f"write {open_to_all}", "tried"]
