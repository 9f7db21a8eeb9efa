"""Shown memories: which memories a session was shown, when and with what, so that nothing is shown twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from hyperloci.store import Store
from hyperloci.store.conversations.sessions import StoredSession
from hyperloci.system.values import dataclass

MAX_SHOWN: Final = 400
"""Ids of shown memories that are kept with a session: more than two days of work fill."""

MAX_INJECTIONS: Final = 20
"""Injections that are told of one session, the latest; their ids are among the shown ones for longer."""


@dataclass(frozen=True, slots=True)
class Injection:
    """One time that a session was shown memories.

    Attributes:
        record: id of the event's record.
        event: how it came to be: `session start` or `prompt`.
        at: when, in milliseconds.
        ids: the memories, in their order.
        mark: the hook's run that was to hand them over; '' where none is known.
    """

    record: str
    event: str
    at: int
    ids: tuple[str, ...]
    mark: str = ""


def load_shown_ids(session: StoredSession | None) -> frozenset[str]:
    """Return the ids of the memories that a session was shown since it last lost its context."""
    shown = session.metadata.get("shown") if session else None
    return frozenset(map(str, shown)) if isinstance(shown, list) else frozenset()


def list_injections(session: StoredSession | None) -> list[Injection]:
    """Return the latest times that a session was shown memories, oldest first."""
    told = session.metadata.get("injections") if session else None
    return [_read_injection(one) for one in told if isinstance(one, dict)] if isinstance(told, list) else []


def save_injection(store: Store, session: StoredSession, injection: Injection, *, anew: bool) -> None:
    """Note what a session was shown; `anew` forgets what it was shown before. Runs in a transaction."""
    # Another hook of the session may have noted more since it was read.
    session = store.sessions.get_session(session.id) or session
    before = [] if anew else [str(id) for id in session.metadata.get("shown") or ()]
    shown = list(dict.fromkeys((*before, *injection.ids)))[-MAX_SHOWN:]
    changes: dict[str, Any] = {"shown": shown} if shown != before or anew else {}
    if injection.ids:
        injections = [*list_injections(session), injection][-MAX_INJECTIONS:]
        changes["injections"] = [asdict(one) for one in injections]
    if anew:
        changes["shown_since"] = injection.at
    if changes:
        store.sessions.merge_metadata(session.id, **changes)


def take_back_injections(store: Store, session_id: str, marks: Collection[str]) -> None:
    """Forget what a session was not shown after all. Runs in a transaction.

    Args:
        store: where the session is.
        session_id: the session.
        marks: of runs of hooks that stopped waiting before they had an answer.
    """
    session = store.sessions.get_session(session_id)
    noted = list_injections(session)
    delivered = [one for one in noted if not one.mark or one.mark not in marks]
    # What was handed over before the session lost its context is not there any more.
    since = int(session.metadata.get("shown_since") or 0) if session else 0
    kept = {id for one in delivered if one.at >= since for id in one.ids}
    lost = {id for one in noted if one not in delivered for id in one.ids} - kept
    shown = [str(id) for id in (session.metadata.get("shown") if session else None) or () if id not in lost]
    store.sessions.merge_metadata(session_id, shown=shown, injections=[asdict(one) for one in delivered])


def describe_recall(kinds: Sequence[str]) -> str:
    """Return in one line what was recalled, by kind: `Hyperloci recalled: 2 decisions, 1 dead end`."""
    counts = Counter(_KIND_WORDS.get(kind, kind.replace("_", " ")) for kind in kinds)
    return f"Hyperloci recalled: {', '.join(f'{n} {word}{_plural(n)}' for word, n in counts.items())}"


_KIND_WORDS: Final[Mapping[str, str]] = {"semantic": "fact", "user_info": "fact", "insight": "fact", "episode": "turn"}
"""Words for kinds whose names say nothing to a person."""


def _plural(count: int) -> str:
    return "" if count == 1 else "s"


def _read_injection(told: Mapping[str, Any]) -> Injection:
    ids: Iterable[Any] = told.get("ids") or ()
    return Injection(
        record=str(told.get("record")),
        event=str(told.get("event")),
        at=int(told.get("at") or 0),
        ids=tuple(map(str, ids)),
        mark=str(told.get("mark") or ""),
    )
