"""A process that stores what waits in the spool: `python -m hyperloci_hooks.drain FOLDER`.

Not the server itself: a record that takes for ever, or ends the process, must cost neither its tools nor its session.
It prints how many records it stored; when a batch takes too long, the kernel ends it.
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
    """Have the spool's records stored by another process; return how many were, and what went wrong, '' for nothing.

    Raises:
        OSError: no process can be started.
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
    fault = done.stderr.strip().rpartition("\n")[2] or f"the process that stores them ended with {done.returncode}"
    return stored, fault


def main(project_path: Path) -> int:
    """Store what waits, and return the exit code."""
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
    """Return a function to be called before each batch, from which on the kernel counts anew."""
    if not hasattr(signal, "setitimer"):
        return lambda: True
    signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def restart_timer() -> bool:
        signal.setitimer(signal.ITIMER_REAL, BATCH_SECONDS)
        return True

    return restart_timer


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
