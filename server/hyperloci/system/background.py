"""Background thread: works beside the requests of this process until it is stopped."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SWITCH_SECONDS: Final = 0.0005
"""How long one thread may keep others from running Python. Indexing is such a thread: with the default of 5 ms a tool's
answer takes twice as long while it runs (p95 of a write: 17 ms, with this 9 ms)."""

_StatusT = TypeVar("_StatusT", bound="DataclassInstance")


class BackgroundThread:
    """A thread that does not keep its process alive. Its methods may be called from any thread.

    Attributes:
        stopping: set once it is told to stop; whatever it does waits on it, and looks at it.
    """

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        """Make it; nothing runs before `start`."""
        self.stopping = threading.Event()
        self._thread = threading.Thread(target=work, name=name, daemon=True)

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start it, unless it was started before."""
        if self._thread.ident is None:
            sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
            self._thread.start()

    def stop(self, timeout: float = 0.0) -> bool:
        """Tell it to stop; return whether it has ended within `timeout` seconds."""
        self.stopping.set()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self.is_running


class StatusBoard(Generic[_StatusT]):
    """The last status of a background thread: a frozen value that other threads read."""

    def __init__(self, status: _StatusT) -> None:
        self._lock = threading.Lock()
        self.current = status

    def update(self, **changes: Any) -> None:
        """Change some fields."""
        with self._lock:
            self.current = replace(self.current, **changes)
