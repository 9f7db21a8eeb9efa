"""Checkpoint: empties the write-ahead log after the server that left it has ended.

The server starts it as `python -I -m hyperloci.store.database.checkpoint DATABASE`.

SQLite brings the write-ahead log into the file when its last connection is closed. A server that must end has a
fifth of a second, and its threads may be busy: the kernel then closes what they leave open, and the log stays. So a
server that leaves a log behind starts this process, which waits for the server to end.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from hyperloci.errors import HyperlociError
from hyperloci.store.database.database_files import LOG, connect_to_files

WAIT_SECONDS: Final = 3.0
"""How long to try: the embedder of a session that was killed takes a moment to follow."""

PAUSE_SECONDS: Final = 0.05


def measure_log(database: Path) -> int:
    """Return how much lies in the write-ahead log beside a database."""
    try:
        return os.stat(f"{os.path.realpath(database)}{LOG}").st_size
    except OSError:
        return 0


def empty_log_after_exit(database: Path) -> None:
    """Have the log brought into the file as soon as this process has ended, if there is anything in it."""
    if not measure_log(database):
        return
    with contextlib.suppress(OSError):
        # Its stdin ends when this process does, however it does.
        subprocess.Popen(
            (sys.executable, "-I", "-m", "hyperloci.store.database.checkpoint", os.path.realpath(database)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
        )


def empty_log(database: Path) -> bool:
    """Bring all that the log holds into the file; return whether nothing is left to be brought.

    A database that is gone, or was cut to nothing, is left as it is.
    """
    try:
        if not measure_log(database) or not os.stat(database).st_size:
            return True
        connection, _ = connect_to_files(os.path.realpath(database), "mode=rw", timeout=PAUSE_SECONDS)
        with contextlib.closing(connection):
            return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except (sqlite3.Error, HyperlociError, OSError):
        return False


def main() -> None:
    """Wait until the process that started this one has ended, then tidy up after it."""
    sys.stdin.buffer.read()
    deadline = time.monotonic() + WAIT_SECONDS
    while not empty_log(Path(sys.argv[1])) and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main()
