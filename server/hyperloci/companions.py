"""What runs beside the tools in a server's process: the hooks' leftovers, the embedder's owner, watchers, upkeep.

They are started after the client has been answered, in a thread, and import what they need only then. None is needed
for the tools to work: what cannot start says so in `memory_stats`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from hyperloci.config import Settings
from hyperloci.errors import HyperlociError

if TYPE_CHECKING:
    from hyperloci.embedder.owner import EmbedderOwner
    from hyperloci.embedder.takeover import Takeover
    from hyperloci.ingest.watch import Watchers
    from hyperloci.lifecycle.keeper import Keeper
    from hyperloci.memory import Memory

_log = logging.getLogger(__name__)

STOP_SECONDS: Final = 0.25
"""How long the watchers may take to end: they stop between two transactions, and the next session goes on there."""


class Companion(Protocol):
    """Something that runs beside the tools. Its methods may block, and are called from threads."""

    name: str

    def start(self) -> None:
        """Begin; returns when it has."""

    def nudge(self) -> None:
        """Make sure that it still runs: a tool was called."""

    def stop(self) -> None:
        """End, promptly; safe to call when not started."""

    def status(self) -> Mapping[str, Any]:
        """Tell how it is, without blocking."""


class EmbedderCompanion:
    """Keeps an embedder running while this session is in use; it ends by itself when idle, and with this process."""

    name = "embedder_process"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._owner: EmbedderOwner | None = None
        self._takeover: Takeover | None = None
        self._fault: str | None = None

    def start(self) -> None:
        """Start an embedder, unless another session has one; take over from that when it dies."""
        from hyperloci.embedder.owner import EmbedderOwner
        from hyperloci.embedder.takeover import Takeover

        self._owner = EmbedderOwner(self._settings)
        self.nudge()
        self._takeover = Takeover(self._settings, self.nudge)
        self._takeover.start()

    def nudge(self) -> None:
        """Start it again if it went idle, or if the session that owned it has gone."""
        if self._owner is None:
            return
        try:
            self._owner.ensure_running()
            self._fault = None
        except (HyperlociError, OSError) as error:
            if str(error) != self._fault:
                _log.warning("no embedder, so no vectors: %s", error)
            self._fault = str(error)

    def stop(self) -> None:
        """End this session's embedder."""
        if self._takeover is not None:
            self._takeover.close()
        if self._owner is not None:
            self._owner.close()

    def status(self) -> Mapping[str, Any]:
        """Tell the process id of this session's own embedder, or what keeps it from having one."""
        pid = None if self._owner is None else self._owner.pid
        return {"pid": pid, "error": self._fault}

    def kick(self) -> None:
        """Tell the embedder that there are memories without vectors."""
        from hyperloci.embedder.client import EmbedderClient

        self.nudge()
        EmbedderClient(self._settings).kick(self._settings.database)


class WatchCompanion:
    """Keeps the memory in step with the project's files and history."""

    name = "watchers"

    def __init__(self, settings: Settings, project_path: Path, changed: Callable[[], None] | None = None) -> None:
        """Make it; `changed` is called when an index run changed something."""
        self._settings = settings
        self._project_path = project_path
        self._changed = changed
        self._watchers: Watchers | None = None

    def start(self) -> None:
        """Find the project and watch it."""
        from hyperloci.ingest.watch import Watchers
        from hyperloci.memory import Memory

        with Memory.open(self._settings, self._project_path) as memory:
            project = memory.project
        on_change = None if self._changed is None else _without_report(self._changed)
        self._watchers = Watchers(self._settings, project, on_change=on_change)
        self._watchers.start()

    def nudge(self) -> None:
        """Do nothing: the watchers keep themselves running."""

    def stop(self) -> None:
        """End the watches."""
        if self._watchers is not None:
            self._watchers.stop(STOP_SECONDS)

    def status(self) -> Mapping[str, Any]:
        """Return the watchers' own account."""
        return {"running": False} if self._watchers is None else self._watchers.status()


class HookCompanion:
    """Stores what hooks left for later: their spool, and the turns of transcripts that no hook told of."""

    name = "hooks"

    def __init__(self, settings: Settings, project_path: Path) -> None:
        self._settings = settings
        self._project_path = project_path
        self._stored = 0
        self._fault: str | None = None

    def start(self) -> None:
        """Store what waits."""
        from hyperloci.memory import Memory

        with self._noted(), Memory.open(self._settings, self._project_path) as memory:
            self._stored += self._drain(memory)
            self._stored += memory.catch_up()

    def nudge(self) -> None:
        """Store what hooks have left since; cheap where nothing waits."""
        from hyperloci_hooks.spool import waiting

        if waiting(self._settings.spool_dir):
            from hyperloci.memory import Memory

            with self._noted(), Memory.open(self._settings, self._project_path) as memory:
                self._stored += self._drain(memory)

    def _drain(self, memory: Memory) -> int:
        from hyperloci_hooks.spool import drain_spool

        return drain_spool(memory)

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
            self._fault = None
        except (HyperlociError, OSError) as error:
            _log.warning("what hooks left is not stored yet: %s", error)
            self._fault = str(error)

    def stop(self) -> None:
        """Do nothing: what is not stored yet waits for the next session."""

    def status(self) -> Mapping[str, Any]:
        """Tell how much was stored, and what keeps the rest from it."""
        return {"stored": self._stored, "error": self._fault}


class UpkeepCompanion:
    """Looks after the memory while nobody asks for anything: sessions, decay, and what else is due."""

    name = "upkeep"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._keeper: Keeper | None = None

    def start(self) -> None:
        """Start looking for work, in a thread of its own."""
        from hyperloci.lifecycle.keeper import Keeper

        self._keeper = Keeper(self._settings)
        self._keeper.requested()
        self._keeper.start()

    def nudge(self) -> None:
        """Let the assistant go first."""
        if self._keeper is not None:
            self._keeper.requested()

    def stop(self) -> None:
        """End: what is not done yet is done by the next session."""
        if self._keeper is not None:
            self._keeper.stop(STOP_SECONDS)

    def status(self) -> Mapping[str, Any]:
        """Return the keeper's own account."""
        return {"running": False} if self._keeper is None else self._keeper.status()


def _without_report(changed: Callable[[], None]) -> Callable[[object], None]:
    return lambda _: changed()


def make_companions(settings: Settings, project_path: Path) -> list[Companion]:
    """Return what runs beside the tools under these settings."""
    companions: list[Companion] = [HookCompanion(settings, project_path)]
    changed = None
    if settings.embedder:
        embedder = EmbedderCompanion(settings)
        companions.append(embedder)
        changed = embedder.kick
    if settings.watch:
        companions.append(WatchCompanion(settings, project_path, changed))
    if settings.upkeep:
        companions.append(UpkeepCompanion(settings))
    return companions
