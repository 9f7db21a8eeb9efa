"""Hook statistics: the outcome log of hooks as numbers and as messages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Self

from hyperloci.clock import MS_PER_DAY, system_clock
from hyperloci.system.values import dataclass
from hyperloci_hooks import outcome_log

DAYS: Final = 7
"""How many days back are counted."""

GONE_AFTER_MS: Final = 900_000
"""A process that has not reported its outcome for this long must have been killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStatistics:
    """Hook statistics of one database over the last days.

    Attributes:
        outcomes: how many events had which outcome (`outcome_log`).
        under_way: events handed to a separate process that has not reported its outcome yet.
        lost: those of them whose process must have been killed before their record was stored.
        times: for each event, the median and the 95th percentile, in milliseconds.
    """

    outcomes: Mapping[str, int] = field(default_factory=dict)
    under_way: int = 0
    lost: int = 0
    times: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def read_log(cls, folder: str, now: int | None = None) -> Self:
        """Read the outcome log of a spool's folder."""
        moment = system_clock() if now is None else now
        outcomes: Counter[str] = Counter()
        times: defaultdict[str, list[float]] = defaultdict(list)
        began: dict[str, int] = {}
        for at, event, outcome, took, mark in outcome_log.read_lines(folder):
            if moment - int(at) > DAYS * MS_PER_DAY:
                continue
            outcomes[outcome] += 1
            if outcome == outcome_log.BEGAN:
                began[mark] = int(at)
            elif outcome in (outcome_log.ENDED, outcome_log.SPOOLED, outcome_log.DROPPED):
                began.pop(mark, None)
            if outcome in (outcome_log.SERVED, outcome_log.OWN, outcome_log.LATE):
                times[event].append(float(took))
        lost = sum(moment - at > GONE_AFTER_MS for at in began.values())
        ends = {event: _median_and_p95(found) for event, found in times.items()}
        return cls(outcomes=outcomes, under_way=len(began), lost=lost, times=ends)

    @property
    def event_count(self) -> int:
        """How many hooks ran."""
        return sum(self.outcomes.get(outcome, 0) for outcome in (outcome_log.SERVED, outcome_log.OWN, outcome_log.LATE))

    def list_problems(self) -> list[tuple[str, str]]:
        """Return each problem, with a fix."""
        count, found = self.outcomes.get, []
        if late := count(outcome_log.LATE, 0):
            found.append(
                (
                    f"{late} of {self.event_count} hooks of the last {DAYS} days ran out of time: what they saw was"
                    " stored, but their sessions got no context",
                    "keep a session open, so that its server answers hooks; close programs that keep the CPU busy",
                )
            )
        if spooled := count(outcome_log.SPOOLED, 0):
            found.append(
                (
                    f"{_count(spooled, 'record')} of the last {DAYS} days could not be stored at once and waited in the"
                    " spool",
                    "if this goes on, see what is said of the database above: it may be busy, full or damaged",
                )
            )
        if dropped := count(outcome_log.DROPPED, 0) + self.lost:
            found.append(
                (
                    f"{_count(dropped, 'event')} of the last {DAYS} days got lost: too large (over 16 MB), no writable"
                    " folder, or the process was killed",
                    "see hyperloci.log; free memory and disk",
                )
            )
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            f"last_{DAYS}_days": {**self.outcomes, "lost": self.lost} if self.outcomes else {},
            "ms_median_p95": {event: list(pair) for event, pair in self.times.items()},
            "problems": [f"{message}; {mend}" for message, mend in self.list_problems()],
        }


def _count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else f'{noun}s'}"


def _median_and_p95(times: list[float]) -> tuple[float, float]:
    ordered = sorted(times)
    return ordered[len(ordered) // 2], ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]
