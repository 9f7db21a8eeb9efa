"""E2, E3, E4: questions that only time can tell apart."""

from __future__ import annotations

import random
from collections.abc import Sequence

from bench.spots.material import real_sentences
from bench.spots.model import DAY_MS, HOUR_MS, NOW_MS, NoteKind, SpotCase, SpotNote, SpotSlice

SUBJECTS = 110
REPEATS = 9
"""Each statement was made nine times, with another value: five of nine is what a guess recalls."""

_KEPT = (
    "nightly job",
    "review rota",
    "release branch",
    "staging cluster",
    "error budget",
    "import queue",
    "canary group",
)
_TEAMS = ("billing", "search", "checkout", "identity", "reports", "mobile", "catalogue", "payments", "support", "maps",
          "mail", "ledger", "audit", "media", "quota", "export")  # fmt: skip
_FACTS = (
    ("The {what} of {team} is owned by {value}.", "Who owns the {what} of {team} now?"),
    ("{value} looks after the {what} of {team}.", "Who looks after the {what} of {team} at the moment?"),
    ("For {team}, the {what} went to {value}.", "What is the latest: who has the {what} of {team}?"),
    ("{team} moved its {what} to {value}.", "Where is the {what} of {team} currently?"),
)
_VALUES = ("Ana", "Bruno", "Chen", "Dalia", "Edgar", "Farah", "Goran", "Hana", "Igor", "Jana", "Kofi", "Lena", "Milo",
           "Nina", "Omar", "Petra")  # fmt: skip


def recency_slice() -> SpotSlice:
    """E2: the same statement at nine dates, the newest of them wanted."""
    rng = random.Random(2)
    found = SpotSlice("e2")
    pairs = [(what, team) for team in _TEAMS for what in _KEPT][:SUBJECTS]
    for number, (what, team) in enumerate(pairs):
        statement, question = _FACTS[number % len(_FACTS)]
        ages = sorted(rng.sample(range(2, 700), REPEATS))
        rng_values = rng.sample(_VALUES, REPEATS)
        notes = [
            SpotNote(
                id=f"e2-{number}-{place}",
                kind=NoteKind.FACT,
                text=_statement_of(statement.format(what=what, team=team, value=value)),
                time=NOW_MS - age * DAY_MS,
            )
            for place, (age, value) in enumerate(zip(ages, rng_values, strict=True))
        ]
        found.notes += rng.sample(notes, REPEATS)
        found.cases.append(SpotCase(query=question.format(what=what, team=team), wanted=frozenset({notes[0].id})))
    return found


def _statement_of(text: str) -> str:
    return text[:1].upper() + text[1:]


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PARTS = (("in the morning", 9), ("in the afternoon", 15), ("in the evening", 20))
_TOPICS = ("the slow import", "the flaky login test", "the disk alerts", "the search ranking", "the nightly backup",
           "the payment retries", "the cache warm-up", "the schema change")  # fmt: skip
_DID = (
    "looked at",
    "worked on",
    "discussed",
    "went back to",
    "spent an hour on",
    "was asked about",
    "wrote up",
    "paused",
)


def rhythm_slice() -> SpotSlice:
    """E3: a topic worked on at fifteen times of the week; the question names the day and part of day."""
    rng = random.Random(3)
    found = SpotSlice("e3")
    slots = [(day, part) for day in range(7) for part in range(len(_PARTS))]
    extra = iter(rng.sample([line for line in real_sentences() if len(line.split()) <= 14], 8 * 15))
    for topic_number, topic in enumerate(_TOPICS):
        for day, part in rng.sample(slots, 15):
            name, hour = _PARTS[part]
            monday = NOW_MS - 12 * HOUR_MS - 7 * DAY_MS * rng.randrange(1, 20)
            time = monday + day * DAY_MS + hour * HOUR_MS + rng.randrange(-60, 60) * 60_000
            id = f"e3-{topic_number}-{day}-{part}"
            text = f"{rng.choice(_DID).capitalize()} {topic}. {next(extra)}"
            found.notes.append(SpotNote(id=id, kind=NoteKind.FACT, text=text, time=time))
            query = f"What about {topic} on {_DAYS[day]} {name}?"
            found.cases.append(SpotCase(query=query, wanted=frozenset({id})))
    return found


_SESSIONS = 12
_TURNS = 16
_AFTER = ("What came right after: {turn}?", "what happened after {turn}", "What did we do next after {turn}?")
_BEFORE = ("What came right before: {turn}?", "what happened before {turn}", "What did we do just before {turn}?")


def sequence_slice() -> SpotSlice:
    """E4: turns that have nothing in common but their order; what stands beside one of them is wanted."""
    rng = random.Random(4)
    found = SpotSlice("e4")
    lines = [line for line in real_sentences() if 10 <= len(line.split()) <= 22]
    chosen = iter(rng.sample(lines, _SESSIONS * _TURNS))
    for session in range(_SESSIONS):
        turns = [_turn_note(session, place, next(chosen)) for place in range(_TURNS)]
        found.notes += turns
        for place in range(1, _TURNS - 1):
            after = (session + place) % 2 == 0
            form = (_AFTER if after else _BEFORE)[place % 3]
            gist = " ".join(turns[place].text.rstrip(".").split()[:9])
            beside = turns[place + (1 if after else -1)]
            found.cases.append(SpotCase(query=form.format(turn=gist), wanted=frozenset({beside.id})))
    return found


def _turn_note(session: int, place: int, text: str) -> SpotNote:
    start = NOW_MS - (session + 2) * DAY_MS
    name = f"blind-spots-{session}"
    return SpotNote(
        id=f"{name}:{place}", kind=NoteKind.TURN, text=text, time=start + place * 90_000, session=name, seq=place
    )


def temporal_slices() -> Sequence[SpotSlice]:
    """Return all three."""
    return (recency_slice(), rhythm_slice(), sequence_slice())
