"""Sessions: start, end and turns of a conversation (E.10, B.01, B.02, B.16).

A turn arrives in two ways: a hook reports it at once, and later it is in the transcript. Each way gives it a different
id; equal text joins the two, so that a turn is stored once, in whatever order and however often it arrives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Final

from hyperloci.clock import MS_PER_DAY
from hyperloci.conversations.capture.turn_text import prepare_turn_text
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.model.kinds import TRUST, NodeType, Origin, Tier
from hyperloci.model.node import NewNode, Node
from hyperloci.model.position import Position
from hyperloci.model.record import CLAUDE_CODE
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.store import Store
from hyperloci.store.conversations.sessions import CLOCK_SKEW_MS, StoredSession
from hyperloci.store.conversations.turns import SameTurn, TurnRows
from hyperloci.system.values import dataclass
from hyperloci.text.action_line import read_action_line
from hyperloci.text.language.relative_dates import find_relative_dates
from hyperloci.text.sanitize.sanitizer import SanitizedText

PREVIOUS_TURN_CHARS: Final = 300
"""How much of the turn before helps to find a turn: 8 points of recall on LoCoMo; all of a long one costs BEAM two
points of MRR (docs/benchmarks/ranking.md, "Fusion")."""

SAME_TURN_MS: Final = 10 * 60_000
"""A hook and the transcript date one turn seconds apart; the same words an hour later are said anew."""

SAME_MOMENT_MS: Final = 2_000
"""A session's end and its last turn are told by two processes, each with its own look at the clock."""

ACTIVE_FOR_MS: Final = 30 * 60 * 1_000
"""A session that has not ended and spoke so recently may still run."""

ABANDONED_AFTER_MS: Final = MS_PER_DAY
"""A session without an end and without a sign of life for so long was killed."""

_ORIGIN: Final = {Speaker.USER: Origin.USER_PROMPT, Speaker.ASSISTANT: Origin.CLAUDE_RESPONSE}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn about to be stored.

    Attributes:
        role, text: who said what; an action's line for an action.
        at: when, in milliseconds.
        kind: words or action.
        uuid: its id in the transcript (of an action: the tool use's), if it comes from there.
        ref: the id of the hook's record, if it comes from one.
        path: the file an action changed.
        flags: what was suspicious about the text before it was made storable.
        client, client_version: the program the session is held in, if that is known.
        is_late: whether it is read after the session: an ended one is not reopened by it.
    """

    role: Speaker
    text: str
    at: int
    kind: TurnKind = TurnKind.TEXT
    uuid: str | None = None
    ref: str | None = None
    path: str | None = None
    flags: tuple[str, ...] = ()
    client: str | None = None
    client_version: str | None = None
    is_late: bool = False


def start_session(
    store: Store,
    session_id: str,
    scope: str,
    *,
    now: int,
    told_at: int | None = None,
    source: str = "",
    transcript: str | None = None,
    client: str | None = None,
    client_version: str | None = None,
    parents: Sequence[str] = (),
) -> StoredSession:
    """Register a session, or note that a known one goes on, and where its transcript lies. Runs in a transaction.

    A start that is told after the session's end doesn't reopen it.

    Args:
        store: where it is stored.
        session_id: the client's id of it.
        scope: the project it is held in.
        now: when it started or went on, in milliseconds.
        told_at: when that is told; None: at once.
        source: the client's word for why it started.
        transcript: where its transcript lies.
        client, client_version: the program it is held in.
        parents: the processes that started the hook which tells it: that program's, and what stands between.
    """
    known = store.sessions.get_session(session_id)
    session = store.sessions.note_seen(
        session_id,
        store.scopes.ensure_scope(scope, now=now),
        now=now,
        client=client,
        client_version=client_version,
        reopen=known is None or not _ended_after(known, now, now if told_at is None else told_at),
    )
    facts = {"source": source, "transcript": transcript, "parents": list(parents)}
    store.sessions.merge_metadata(session_id, **{name: value for name, value in facts.items() if value})
    return session


def _ended_after(session: StoredSession, time: int, told_at: int) -> bool:
    """Tell whether a session ended after a time; an end in the future was dated by a clock that was set back since."""
    return session.ended_at is not None and time < session.ended_at <= told_at + CLOCK_SKEW_MS


def add_turns(
    store: Store,
    session_id: str,
    scope: str,
    turns: Iterable[Turn],
    *,
    now: int,
    client: str = CLAUDE_CODE,
    are_late: bool = False,
) -> int:
    """Store a transcript's turns and return how many were new; one that fails is set aside. Runs in a transaction.

    A turn that is dated after `now` was said by now: the clock was set back, or the transcript comes from elsewhere.
    With its own date the session would live in the future, and its end would be taken for one that is told late.
    """
    scope_key, new = store.scopes.ensure_scope(scope, now=now), 0
    for turn in turns:
        saying = NewTurn(
            role=turn.role,
            text=turn.text,
            at=now if turn.timestamp_ms is None else min(turn.timestamp_ms, now),
            kind=turn.kind,
            uuid=turn.uuid,
            path=turn.path,
            client=client,
            is_late=are_late,
        )
        with store.set_aside.attempt_piece(
            scope_key, SetAsideKind.TRANSCRIPT_LINE, f"{session_id}:{turn.uuid}", now=now
        ):
            new += add_turn(store, session_id, scope, saying, now=now) is not None
    return new


def drop_stored_actions(store: Store, session_id: str, turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return a transcript's turns without the actions that hooks reported: an action has the same id both ways."""
    places = {turn: f"{session_id}:{turn.uuid}" for turn in turns if turn.kind is TurnKind.ACTION}
    session = store.sessions.get_session(session_id)
    if session is None or not places:
        return tuple(turns)
    stored = store.turns.find_places(session.key, places.values())
    return tuple(turn for turn in turns if places.get(turn) not in stored)


def set_lines_aside(store: Store, session_id: str, scope: str, failed: Iterable[tuple[int, str]], *, now: int) -> None:
    """Note lines of a transcript that could not be read: where each begins, and why. Runs in a transaction."""
    scope_key = store.scopes.ensure_scope(scope, now=now)
    for place, reason in failed:
        store.set_aside.add_failure(scope_key, SetAsideKind.TRANSCRIPT_LINE, f"{session_id}:{place}", reason, now=now)


def add_turn(store: Store, session_id: str, scope: str, saying: NewTurn, *, now: int) -> Node | None:
    """Store a turn with its place in the session; None where it was known or nothing of it may be stored."""
    prepared = prepare_turn_text(saying.text, saying.kind)
    if prepared is None:
        return None
    session = _find_session(store, session_id, scope, saying, now)
    twins = _find_twins(store.turns, store.scopes.ensure_scope(scope, now=now), saying.text, prepared.text)
    if _is_known_turn(store.turns, session, saying, twins):
        return None
    previous = store.turns.get_last(session.key)
    seq = store.sessions.take_sequence_number(session.key)
    node = MemoryWriter(store).write_event(
        _make_turn_node(session, scope, saying, prepared, seq, previous),
        now=now,
        place=f"{session.id}:{saying.uuid or saying.ref or seq}",
        session_key=session.key,
    )
    if saying.kind is TurnKind.TEXT:
        store.turns.add_spoken_times(node.key, map(astuple, find_relative_dates(prepared.text, saying.at)))
    if previous is not None and saying.kind is TurnKind.TEXT:
        store.edges.link_nodes("follows", node.key, [previous.key], now=now)
    return node


def _find_session(store: Store, session_id: str, scope: str, saying: NewTurn, now: int) -> StoredSession:
    """Return the session; a late report on an ended one doesn't reopen it."""
    known = store.sessions.get_session(session_id)
    if known is not None and known.ended_at is not None and (saying.is_late or saying.at <= known.ended_at):
        return known
    return store.sessions.note_seen(
        session_id,
        store.scopes.ensure_scope(scope, now=now),
        now=saying.at,
        client=saying.client,
        client_version=saying.client_version,
    )


def _find_twins(rows: TurnRows, scope_key: int, told: str, text: str) -> list[SameTurn]:
    """Return the stored turns with a text; earlier versions stored it with the blank space that it was told with."""
    before, _, after = told.partition(told.strip())
    twins = rows.find_same_text(scope_key, text)
    return [*twins, *rows.find_same_text(scope_key, f"{before}{text}{after}")] if before or after else twins


def _is_known_turn(rows: TurnRows, session: StoredSession, saying: NewTurn, twins: list[SameTurn]) -> bool:
    """Tell whether a turn is stored, and note by which id it is known now."""
    if saying.kind is TurnKind.ACTION:
        # Its line may differ by a word from what the other way made of it: the tool use's id is what counts.
        return saying.uuid is not None and (
            any(twin.uuid == saying.uuid for twin in twins)
            or rows.has_place(session.key, f"{session.id}:{saying.uuid}")
        )
    if any((saying.uuid and twin.uuid == saying.uuid) or (saying.ref and twin.ref == saying.ref) for twin in twins):
        return True
    mine = [twin for twin in twins if twin.session_key == session.key and twin.role == saying.role]
    for twin in mine:
        taken = twin.uuid if saying.uuid else twin.ref
        if taken is None and abs(twin.event_time - saying.at) <= SAME_TURN_MS and (saying.uuid or saying.ref):
            rows.set_ids(twin.key, uuid=saying.uuid, ref=saying.ref)
            return True
    return False


def _make_turn_node(
    session: StoredSession, scope: str, saying: NewTurn, prepared: SanitizedText, seq: int, previous: Node | None
) -> NewNode:
    action = saying.kind is TurnKind.ACTION
    origin = Origin.HOOK if action else _ORIGIN[saying.role]
    flags = list(dict.fromkeys((*saying.flags, *prepared.flags)))
    metadata = {"role": str(saying.role), "uuid": saying.uuid, "ref": saying.ref, "flags": flags}
    return NewNode(
        type=NodeType.EXPERIENCE,
        subtype="action" if action else "episode",
        content=prepared.text,
        tier=Tier.TASK,
        confidence=TRUST[origin],
        decay_rate=0.0,
        provenance=f"session {session.id}",
        origin=origin,
        scope=scope,
        seq=seq,
        event_time=saying.at,
        valid_from=saying.at,
        metadata={name: value for name, value in metadata.items() if value},
        extra_terms=previous.content[:PREVIOUS_TURN_CHARS] if previous else "",
        position=_make_position(saying.path, prepared.text if action else ""),
    )


def _make_position(path: str | None, line: str) -> Position | None:
    """Return the file that was changed, or the page that was fetched; None for anything else."""
    if path:
        return Position(path=path)
    address = read_action_line(line).address
    return Position(url=address) if address else None


def end_session(
    store: Store, session_id: str, *, now: int, reason: str = "", status: str = "completed"
) -> tuple[str, ...]:
    """Note that a session ended and move what it leaves worth keeping to tier `session`; return the ids that moved.

    A late end of a session that has gone on since changes nothing. Runs in a transaction.
    """
    session = store.sessions.get_session(session_id)
    if session is None or session.last_seen_at > now + SAME_MOMENT_MS:
        return ()
    store.sessions.end_session(session_id, now=max(now, session.last_seen_at), status=status)
    store.openings.drop_openings_about(session.key)
    if reason:
        store.sessions.merge_metadata(session_id, end_reason=reason)
    kept = store.turns.list_worth_keeping(session.key)
    if kept:
        store.turns.move_to_session(kept, now=now)
        why = f"session {session_id} ended: it was recalled or extracted"
        store.log.add_entry("tier", kept, now=now, from_tier=Tier.TASK, to_tier=Tier.SESSION, reasoning=why)
    return tuple(kept)


def close_abandoned(store: Store, scope: str, *, now: int) -> tuple[str, ...]:
    """End the sessions that were left without an end, and return their ids. Runs in a transaction.

    Each ends at its last sign of life: one that ended only now would be the project's last session.
    """
    idle = store.sessions.list_idle(scope, before=now - ABANDONED_AFTER_MS)
    for session in idle:
        end_session(store, session.id, now=session.last_seen_at, reason="idle", status="abandoned")
    return tuple(session.id for session in idle)
