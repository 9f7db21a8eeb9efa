"""Drain: a process that stores the records waiting in the spool (`python -m hyperloci_hooks.drain FOLDER`).

It is separate from the server, because a record that takes for ever or kills the process must not stop the server. It
prints how many records it stored; if a batch takes too long, a kernel timer ends the process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hyperloci.config import Settings
from hyperloci.errors import HyperlociError

BATCH_SECONDS: Final = 60
"""How long a batch may take: one may be the turns of a transcript of a hundred megabytes."""

MOST_SECONDS: Final = 900.0
"""How long a server waits for the process at most."""


def drain_in_subprocess(settings: Settings, project_path: Path) -> tuple[int, str]:
    """Store the spool's records in a separate process; return how many were stored, and the error ('' for none).

    Raises:
        OSError: the process can't be started.
    """
    done = subprocess.run(
        [sys.executable, "-m", "hyperloci_hooks.drain", str(project_path)],
        env={
            **os.environ,  # noqa: TID251 - handed on as it is
            "RLM_MEMORY_DB": str(settings.database),
            "HYPERLOCI_STATE_DIR": str(settings.state_dir),
            "HYPERLOCI_RUNTIME_DIR": str(settings.runtime_dir),
            "OPENBLAS_NUM_THREADS": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=MOST_SECONDS,
        check=False,
    )
    words = done.stdout.split()
    stored = sum(int(word) for word in words if word.isdigit())
    if done.returncode == 0:
        return stored, ""
    fault = done.stderr.strip().rpartition("\n")[2] or f"the process that stores records ended with {done.returncode}"
    return stored, fault


def main(project_path: Path) -> int:
    """Store the waiting records and return the exit code."""
    from hyperloci.memory import Memory
    from hyperloci_hooks.spool import drain_spool

    try:
        settings = Settings.from_env(os.environ, project_path)  # noqa: TID251 - a process's entry point
        with Memory.open(settings, project_path) as memory:
            sys.stdout.write(f"{drain_spool(memory, may_go_on=_make_batch_timer())}\n")
    except (HyperlociError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _make_batch_timer() -> Callable[[], bool]:
    """Return a function to call before each batch; it restarts the kernel's timer."""
    if not hasattr(signal, "setitimer"):
        return lambda: True
    signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def restart_timer() -> bool:
        signal.setitimer(signal.ITIMER_REAL, BATCH_SECONDS)
        return True

    return restart_timer


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
