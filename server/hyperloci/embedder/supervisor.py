"""Owner: a session's side of the embedder process; elects, starts, supervises, restarts and ends it.

Whoever holds the lock beside the socket owns the embedder; the others only talk to it. The owner keeps a thread for as
long as its child lives. That thread starts the child, since Linux ties `PR_SET_PDEATHSIG` to the thread that did, and
holds the only write end of the pipe whose end is the child's end.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final, Self

from filelock import FileLock, Timeout

from hyperloci.config import Settings
from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.startup_config import StartupConfig
from hyperloci.embedder.transport import find_embedder_address, prepare_address
from hyperloci.errors import HyperlociError
from hyperloci.system.own_folders import make_own_folders, open_own_file
from hyperloci.system.values import dataclass

logger = logging.getLogger(__name__)

COMMAND: Final = (sys.executable, "-P", "-m", "hyperloci.embedder.process.main")
"""`-P` keeps the working folder off the import path: a project's own `queue.py` or `torch.py` must not run here."""

_UNREACHABLE: Final = -1
"""In place of the exit status of a child that still runs, at an address that is gone."""

_NO_CONSOLE_WINDOW: Final = 0x08000000
"""CREATE_NO_WINDOW of the Windows API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisionPolicy:
    """Timeouts for the supervision of the child, in seconds unless stated otherwise.

    Attributes:
        check_every: interval between two health checks.
        check_timeout: time limit of one check; a busy machine needs a while.
        checks_missed: how many checks in a row it may miss before it is killed.
        stuck_after: how long one request may keep the model busy before the child is killed.
        first_delay: pause before the first restart after a crash; doubled at each further one.
        longest_delay: where the doubling ends.
        crashes: number in a row before the lock is given up for `longest_delay`.
        sound_after: a child that lived so long was no failed start.
        end_within: how long a child may take to end when told to.
    """

    check_every: float = 15.0
    check_timeout: float = 5.0
    checks_missed: int = 3
    stuck_after: float = 120.0
    first_delay: float = 0.5
    longest_delay: float = 60.0
    crashes: int = 5
    sound_after: float = 60.0
    end_within: float = 2.0


class EmbedderSupervisor:
    """Keeps an embedder running while this session needs one. Thread-safe; closing it ends the child."""

    def __init__(
        self,
        settings: Settings,
        *,
        transport: str | None = None,
        command: Sequence[str] = COMMAND,
        policy: SupervisionPolicy | None = None,
    ) -> None:
        """Create it; nothing is started before `ensure_running`.

        Args:
            settings: passed to the embedder.
            transport: `unix`, `loopback`, or None for the platform's own.
            command: starts the child.
            policy: timeouts of its supervision.
        """
        self._settings = settings
        self._handover = StartupConfig(settings=settings, transport=transport)
        self._command = command
        self._policy = policy or SupervisionPolicy()
        self._place = find_embedder_address(settings, transport)
        self._client = EmbedderClient(settings, transport=transport, insistent=True)
        self._mutex = threading.Lock()
        self._lock = FileLock(self._place.lock_path, timeout=0, thread_local=False, mode=0o600)
        self._locked: os.stat_result | None = None
        self._closing = threading.Event()
        self._keeper: threading.Thread | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._not_before = 0.0

    @property
    def pid(self) -> int | None:
        """The process id of this session's own embedder, None while another session's serves, or none."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def ensure_running(self) -> bool:
        """Ensure that an embedder runs or is being started, here or in another session; returns at once.

        False means that there will be none for now: embeddings are switched off, this owner is closed, or the embedder
        crashed too often a short while ago.

        Raises:
            ConfigurationError: the runtime folder cannot be used.
        """
        with self._mutex:
            if self._closing.is_set() or not self._settings.embedder:
                return False
            if self._keeper is not None:
                return True
            if time.monotonic() < self._not_before:
                return False
            if self._acquire_lock():
                self._keeper = threading.Thread(target=self._supervise_child, name="embedder-owner", daemon=True)
                self._keeper.start()
            return True

    def close(self) -> None:
        """End this session's embedder, if it has one, and let another session start its own."""
        with self._mutex:
            self._closing.set()
            keeper, child = self._keeper, self._child
        if child is not None:
            _end_child(child, self._policy.end_within)
        if keeper is not None:
            keeper.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _acquire_lock(self) -> bool:
        prepare_address(self._place)
        with contextlib.suppress(Timeout):
            self._lock.acquire()
            self._locked = self._place.lock_path.stat()
        return bool(self._lock.is_locked)

    def _holds_place(self) -> bool:
        """Return whether the lock is still the file at its path: where that was removed, another may hold a new one."""
        try:
            return self._locked is not None and os.path.samestat(self._locked, self._place.lock_path.stat())
        except OSError:
            return False

    # -- the supervisor thread -----------------------------------------------------------------------------------------

    def _supervise_child(self) -> None:
        crashes = 0
        try:
            while not self._closing.is_set():
                born = time.monotonic()
                status = self._run_child_once()
                if status == 0 or self._closing.is_set():
                    return
                if not self._holds_place():
                    logger.warning("the embedder's folder was removed: who needs one next starts it in a new one")
                    return
                crashes = 1 if time.monotonic() - born > self._policy.sound_after else crashes + 1
                if not self._pause_after(crashes, status):
                    return
        except (OSError, HyperlociError):
            logger.exception("the embedder cannot be started")
            self._not_before = time.monotonic() + self._policy.longest_delay
        finally:
            with self._mutex:
                self._keeper = None
                self._lock.release()

    def _pause_after(self, crashes: int, status: int) -> bool:
        """Wait out the back-off after a crash; return whether to start again."""
        if crashes >= self._policy.crashes:
            logger.error("the embedder ended %d times in a row (status %d): see %s", crashes, status, self._log_file)
            self._not_before = time.monotonic() + self._policy.longest_delay
            return False
        delay = min(self._policy.first_delay * 2 ** (crashes - 1), self._policy.longest_delay)
        logger.warning("the embedder ended with status %d; starting it again in %.1f s", status, delay)
        return not self._closing.wait(delay)

    def _run_child_once(self) -> int:
        """Start a child, supervise it and return its exit status, or `_UNREACHABLE`."""
        child = self._start_child()
        try:
            with self._mutex:
                self._child = child
            return 0 if self._closing.is_set() else self._watch_child(child)
        finally:
            _end_child(child, self._policy.end_within)

    def _start_child(self) -> subprocess.Popen[bytes]:
        with self._open_log() as log:
            child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._place.folder,
                start_new_session=True,
                creationflags=_NO_CONSOLE_WINDOW if sys.platform == "win32" else 0,
            )
        assert child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(self._handover.to_line())
            child.stdin.flush()
        return child

    def _open_log(self) -> BinaryIO:
        """Open the file for what the child says; where it can't be written (a read-only disk), that is lost."""
        try:
            make_own_folders(self._log_file.parent)
            return open(self._log_file, "ab", opener=open_own_file)
        except OSError as error:
            logger.debug("what the embedder says is lost: %s", error)
            return open(os.devnull, "wb")

    def _watch_child(self, child: subprocess.Popen[bytes]) -> int:
        missed = 0
        while True:
            try:
                return child.wait(self._policy.check_every)
            except subprocess.TimeoutExpired:
                if not self._holds_place():
                    return _UNREACHABLE
                missed = 0 if self._is_child_healthy() else missed + 1
            if missed >= self._policy.checks_missed:
                logger.warning("the embedder (pid %d) does not answer: killing it", child.pid)
                child.kill()

    def _is_child_healthy(self) -> bool:
        status = self._client.status(self._policy.check_timeout)
        return status is not None and status.busy_seconds < self._policy.stuck_after

    @property
    def _log_file(self) -> Path:
        return self._settings.log_file


def _end_child(child: subprocess.Popen[bytes], within: float) -> None:
    """Close the pipe that keeps a child alive, and wait for its end."""
    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.close()
    try:
        child.wait(within)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
