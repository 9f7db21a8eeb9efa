"""Progress display of a long command: a bar on a terminal, otherwise a line now and then."""

from __future__ import annotations

import time
from typing import Final, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from hyperloci.cli.common import errors

LINE_SECONDS: Final = 10.0
"""Seconds between two lines: few enough to keep an hour's log short."""


class StepDisplay:
    """Progress on stderr. The command sets `interrupted` when it was interrupted."""

    def __init__(self, *, quiet: bool) -> None:
        """Create it; `quiet` prints nothing."""
        self.interrupted = False
        self._quiet = quiet
        self._bar = Progress(
            TextColumn("{task.description:<40.40}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=errors,
            disable=quiet or not errors.is_terminal,
            transient=True,
        )
        self._task: TaskID | None = None
        self._said_at = time.monotonic()
        self._said = ""

    def __enter__(self) -> Self:
        """Begin to show."""
        self._bar.start()
        self._task = self._bar.add_task("reading", total=None)
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop showing."""
        self._bar.stop()

    def show_step(self, done: int, total: int, what: str) -> None:
        """Show that `done` of `total` are done, and the current step."""
        if self._task is not None:
            self._bar.update(self._task, completed=done, total=total, description=what)
        now = time.monotonic()
        if not self._quiet and not errors.is_terminal and now - self._said_at >= LINE_SECONDS:
            said, self._said_at = f"{done:,} of {total:,}  {what}", now
            if said != self._said:
                errors.print(said)
            self._said = said
