"""Services: what runs beside the tools in a server: hook events, the embedder's owner, watchers, maintenance.

They are started in a thread after the client has been answered, and import what they need only then. The tools work
without them: a service that cannot start says so in `memory_stats`.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from hyperloci.config import Settings
from hyperloci.errors import HyperlociError, StoreError
from hyperloci.system.background import BackgroundThread

if TYPE_CHECKING:
    from hyperloci.embedder.failover import EmbedderFailover
    from hyperloci.embedder.supervisor import EmbedderSupervisor
    from hyperloci.indexing.watching.watcher import ProjectWatcher
    from hyperloci.maintenance.scheduler import MaintenanceScheduler
    from hyperloci_hooks.hook_server import HookServer

_log = logging.getLogger(__name__)

STOP_SECONDS: Final = 0.25
"""How long a service may take to stop: it stops between two transactions, and the next session continues there."""


LEFTOVERS_SECONDS: Final = 5.0
"""Between two checks of the spool, where hooks leave events that they could not store."""


class BackgroundService(Protocol):
    """Something that runs beside the tools. Its methods may block, and are called from threads."""

    name: str

    def start(self) -> None:
        """Begin; returns when it has."""

    def ensure_running(self) -> None:
        """Make sure that it still runs: a tool was called."""

    def stop(self) -> None:
        """End, promptly; safe to call when not started."""

    def status(self) -> Mapping[str, Any]:
        """Return its state, without blocking."""


class EmbedderService:
    """Keeps an embedder running while this session is in use; it ends by itself when idle, and with this process."""

    name = "embedder_process"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._owner: EmbedderSupervisor | None = None
        self._takeover: EmbedderFailover | None = None
        self._fault: str | None = None

    def start(self) -> None:
        """Start an embedder, unless another session has one; take over from that when it dies."""
        from hyperloci.embedder.failover import EmbedderFailover
        from hyperloci.embedder.supervisor import EmbedderSupervisor

        self._owner = EmbedderSupervisor(self._settings)
        self.ensure_running()
        self._takeover = EmbedderFailover(self._settings, self.ensure_running)
        self._takeover.start()

    def ensure_running(self) -> None:
        """Start it again if it stopped when idle, or if the session that owned it has ended."""
        if self._owner is None:
            return
        try:
            self._owner.ensure_running()
            self._fault = None
        except (HyperlociError, OSError) as error:
            if str(error) != self._fault:
                _log.warning("no embedder is running, so no vectors are made: %s", error)
            self._fault = str(error)

    def stop(self) -> None:
        """End this session's embedder."""
        if self._takeover is not None:
            self._takeover.stop()
        if self._owner is not None:
            self._owner.close()

    def status(self) -> Mapping[str, Any]:
        """Return the process id of this session's own embedder, or why it has none."""
        pid = None if self._owner is None else self._owner.pid
        return {"pid": pid, "error": self._fault}

    def notify(self) -> None:
        """Notify the embedder that there are memories without vectors."""
        from hyperloci.embedder.client import EmbedderClient

        self.ensure_running()
        EmbedderClient(self._settings).notify(self._settings.database)


class WatchService:
    """Keeps the memory up to date with the project's files and history."""

    name = "watchers"

    def __init__(self, settings: Settings, project_path: Path, changed: Callable[[], None] | None = None) -> None:
        """Make it; `changed` is called when an index run changed something."""
        self._settings = settings
        self._project_path = project_path
        self._changed = changed
        self._watchers: ProjectWatcher | None = None

    def start(self) -> None:
        """Find the project and watch it."""
        from hyperloci.indexing.watching.watcher import ProjectWatcher
        from hyperloci.memory import Memory

        with Memory.open(self._settings, self._project_path) as memory:
            project = memory.project
        on_change = None if self._changed is None else _ignore_report(self._changed)
        self._watchers = ProjectWatcher(self._settings, project, on_change=on_change)
        self._watchers.start()

    def ensure_running(self) -> None:
        """Do nothing: the watchers keep themselves running."""

    def stop(self) -> None:
        """End the watches."""
        if self._watchers is not None:
            self._watchers.stop(STOP_SECONDS)

    def status(self) -> Mapping[str, Any]:
        """Return the watchers' status."""
        return {"running": False} if self._watchers is None else self._watchers.status()


class HookService:
    """Serves the hooks, and stores what they left: their spool, and turns that no hook reported."""

    name = "hooks"

    def __init__(self, settings: Settings, project_path: Path) -> None:
        self._settings = settings
        self._project_path = project_path
        self._desk: HookServer | None = None
        self._stored = 0
        self._caught_up = False
        self._deaf: str | None = None
        self._fault: str | None = None
        self._due = threading.Event()
        self._thread = BackgroundThread("hook-leftovers", self._store_leftovers)

    def start(self) -> None:
        """Listen for hooks, and begin to store what is waiting."""
        from hyperloci_hooks.hook_server import HookServer

        desk = self._desk = HookServer(self._settings, self.ensure_running)
        try:
            desk.open()
        except (HyperlociError, OSError) as error:
            _log.warning("cannot serve hooks; each stores its own events: %s", error)
            self._deaf = str(error)
        self._thread.start()

    def ensure_running(self) -> None:
        """Store what hooks have left since, soon."""
        self._due.set()

    def _store_leftovers(self) -> None:
        from hyperloci.memory import Memory

        with self._record_fault():
            self._drain_spool()
            with Memory.open(self._settings, self._project_path) as memory:
                self._stored += memory.catch_up()
                self._caught_up = True
        while not self._thread.stopping.is_set():
            self._due.wait()
            self._due.clear()
            with self._record_fault():
                self._drain_spool()
            self._thread.stopping.wait(LEFTOVERS_SECONDS)

    def _drain_spool(self) -> None:
        from hyperloci_hooks.drain import drain_in_subprocess
        from hyperloci_hooks.spool import has_work

        if has_work(self._settings):
            stored, fault = drain_in_subprocess(self._settings, self._project_path)
            self._stored += stored
            if fault:
                raise StoreError(fault)

    @contextlib.contextmanager
    def _record_fault(self) -> Iterator[None]:
        try:
            yield
            self._fault = None
        except (HyperlociError, OSError, subprocess.TimeoutExpired) as error:
            if str(error) != self._fault:
                _log.warning("could not store the spooled hook events yet: %s", error)
            self._fault = str(error)

    def stop(self) -> None:
        """Stop: hooks that were not answered store their events themselves; the rest waits in the spool."""
        self._thread.stopping.set()
        self._due.set()
        if self._desk is not None:
            self._desk.close()

    def status(self) -> Mapping[str, Any]:
        """Return how many hooks were served, what is stored, whether what sessions left is too, and the last error."""
        from hyperloci_hooks.outcome_statistics import HookStatistics

        desk = self._desk
        return {
            "listening": desk is not None and desk.is_listening,
            "served": 0 if desk is None else desk.served,
            "stored": self._stored,
            "caught_up": self._caught_up,
            "error": self._deaf or self._fault,
            **HookStatistics.read_log(self._settings.installation_paths.spool).as_dict(),
        }


class MaintenanceService:
    """Runs maintenance jobs while the server is idle."""

    name = "upkeep"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._keeper: MaintenanceScheduler | None = None

    def start(self) -> None:
        """Start looking for work, in a thread of its own."""
        from hyperloci.maintenance.scheduler import MaintenanceScheduler

        self._keeper = MaintenanceScheduler(self._settings)
        self._keeper.note_request()
        self._keeper.start()

    def ensure_running(self) -> None:
        """Note a request: maintenance waits."""
        if self._keeper is not None:
            self._keeper.note_request()

    def stop(self) -> None:
        """Stop: the next session does what is left."""
        if self._keeper is not None:
            self._keeper.stop(STOP_SECONDS)

    def status(self) -> Mapping[str, Any]:
        """Return the scheduler's status."""
        return {"running": False} if self._keeper is None else self._keeper.status()


def _ignore_report(changed: Callable[[], None]) -> Callable[[object], None]:
    return lambda _: changed()


def make_services(settings: Settings, project_path: Path) -> list[BackgroundService]:
    """Return the services that these settings ask for."""
    companions: list[BackgroundService] = [HookService(settings, project_path)]
    changed = None
    if settings.embedder:
        embedder = EmbedderService(settings)
        companions.append(embedder)
        changed = embedder.notify
    if settings.watch:
        companions.append(WatchService(settings, project_path, changed))
    if settings.upkeep:
        companions.append(MaintenanceService(settings))
    return companions
