"""Claude allowance: how often, and with how much text, the user's own Claude Code may be asked in a day (B.17).

It is the user's subscription that is spent, in the background and unseen. What a call will take is noted before it is
made, in the database, so that all processes together keep to the bounds and a killed one gives nothing back. After a
failure nothing is asked for a while: whoever is not signed in, or has used the subscription up, stays so for a time.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Final

from hyperloci.clock import MS_PER_DAY, Clock
from hyperloci.config import Settings
from hyperloci.conversations.chat_model import ChatError
from hyperloci.store import Store
from hyperloci.system.values import dataclass

USAGE_KEY: Final = "claude_usage"
"""Name of the stored value."""

FIRST_PAUSE_MS: Final = 5 * 60_000
"""After the first failure; each further one in a row doubles it."""

LONGEST_PAUSE_MS: Final = 4 * 3_600_000
"""A subscription's own limits are lifted after hours."""

FULL_CALL_CHARS: Final = 30_000
"""What a call takes at most: `consolidator.LLM_PART_CHARS` of turns, the rules, and one more turn's worth. A day with
less than that left is over, so that no part of a session is tried in vain again and again."""


class AllowanceSpentError(ChatError):
    """Today's calls are used up, or the last one failed a moment ago: the question waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeUsage:
    """What was spent.

    Attributes:
        day: the day it counts for, in days since 1970 (UTC).
        calls: calls begun on that day.
        chars: characters sent with them.
        failures: calls that failed since the last one that did not, on whatever day.
        paused_until: no call before this time, in milliseconds.
        fault: the last failure, in words; '' after a success.
    """

    day: int = 0
    calls: int = 0
    chars: int = 0
    failures: int = 0
    paused_until: int = 0
    fault: str = ""


class ClaudeAllowance:
    """The bounds of one database's calls."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock

    def get_usage(self) -> ClaudeUsage:
        """Return what was spent today."""
        noted = self._store.meta.get(USAGE_KEY)
        usage = ClaudeUsage(**json.loads(noted)) if noted else ClaudeUsage()
        today = self._clock() // MS_PER_DAY
        return usage if usage.day == today else replace(usage, day=today, calls=0, chars=0)

    def has_room(self) -> bool:
        """Whether a call may be made now, as large as calls are."""
        return self._allows(self.get_usage(), FULL_CALL_CHARS)

    def take_call(self, chars: int) -> bool:
        """Note a call of so many characters if it may be made; return whether it may."""
        with self._store.transaction():
            usage = self.get_usage()
            if not self._allows(usage, chars):
                return False
            self._save_usage(replace(usage, calls=usage.calls + 1, chars=usage.chars + chars))
        return True

    def note_success(self) -> None:
        """Note that a call was answered: what failed before counts no more."""
        with self._store.transaction():
            self._save_usage(replace(self.get_usage(), failures=0, paused_until=0, fault=""))

    def note_failure(self, fault: str) -> None:
        """Note that a call failed: for a while none is made."""
        with self._store.transaction():
            usage = self.get_usage()
            pause = min(FIRST_PAUSE_MS << min(usage.failures, 20), LONGEST_PAUSE_MS)
            self._save_usage(
                replace(usage, failures=usage.failures + 1, paused_until=self._clock() + pause, fault=fault)
            )

    def _allows(self, usage: ClaudeUsage, chars: int) -> bool:
        # A clock that was set back must not stop the calls for years.
        pause = usage.paused_until - self._clock()
        return (
            not 0 < pause <= LONGEST_PAUSE_MS
            and usage.calls < self._settings.claude_calls_per_day
            and usage.chars + chars <= self._settings.claude_chars_per_day
        )

    def _save_usage(self, usage: ClaudeUsage) -> None:
        self._store.meta.set(USAGE_KEY, json.dumps(asdict(usage)))
