"""Consolidation offer: a line that tells the assistant how many turns wait for it, under `consolidation = "host"`.

It stands behind what a new session is told, at most once a day in a project, and only if enough waits. Not at the end
of a turn: whatever a hook says there makes Claude Code go on, and the user wait.
"""

from __future__ import annotations

from typing import Final

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.model.record import FRESH_START_SOURCES
from hyperloci.store import Store

MIN_TURNS: Final = 60
"""Two or three working sessions: below that an interruption costs more than it brings."""

OFFER: Final = (
    "Hyperloci: {turns} turns of {sessions} earlier sessions wait to be made into memories. When the user's own request"
    " is done, or in a subagent, call save_consolidation without arguments and do what it says, a session at a time."
)

_NOTE: Final = "consolidation_offer."
"""Before the project's id: the name under which the time of its last offer is kept."""


def make_offer(store: Store, settings: Settings, scope: str, *, source: str, now: int) -> str:
    """Return the line for a session that begins, '' for none, and note that it was made.

    Args:
        store: where the turns wait.
        settings: those in force.
        scope: the project.
        source: Claude Code's word for how the session begins.
        now: the time, in milliseconds.
    """
    if settings.consolidation != "host" or source not in FRESH_START_SOURCES:
        return ""
    with store.transaction():
        last = store.meta.get(_NOTE + scope)
        if last is not None and 0 <= now - int(last) < MS_PER_DAY:
            return ""
        waiting = store.consolidations.count_waiting(scope)
        if waiting.turns < MIN_TURNS:
            return ""
        store.meta.set(_NOTE + scope, str(now))
    return OFFER.format(turns=waiting.turns, sessions=waiting.sessions)
