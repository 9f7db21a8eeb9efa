"""Building a session's pyramid: cutting chunks, demoting them, summing them up, archiving them (C.01, C.05).

Each step is one transaction, or is found undone and done again: a process may die anywhere. What takes time (summaries)
is made before the transaction, which then makes sure that the turns are still those that were read. Texts go to the
archive inside the transaction that drops them from the database, after they were synced and read back: a turn that is
purged meanwhile waits for the lock, and finds them where they are.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hyperloci.clock import MS_PER_DAY, Clock, to_iso
from hyperloci.config import Settings
from hyperloci.errors import HyperlociError, StoreCorruptError
from hyperloci.lifecycle.pyramid.summary import Summariser
from hyperloci.model.kinds import NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import NewNode, Node
from hyperloci.model.pyramid import SIZES, SUBTYPES, Chunk, Digest, Level, Stage
from hyperloci.store import Store
from hyperloci.store.archive import Archive
from hyperloci.store.chunks import Progress, as_turn
from hyperloci.store.nodes import content_hash
from hyperloci.tokens import count_tokens

logger = logging.getLogger(__name__)

CLOSE_AFTER_MS: Final = MS_PER_DAY
"""A session that ended so long ago is not resumed any more, as a rule: its last chunks are closed, however short."""

MINIS_OF_MACRO: Final = SIZES[Level.MACRO] // SIZES[Level.MINI]
FEWEST_MINIS: Final = 2
"""A closed session of two minis gets a macro too; one alone would repeat its mini."""

FREEZE_AT_ONCE: Final = 10
"""Micro-chunks archived in one transaction: those of a macro."""

CONFIDENCE: Final = 0.6
"""Of a summary: that of what was extracted."""

Breathe = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """Brings the pyramids of one store up to date.

    Attributes:
        store, settings, clock: the database, what is to stay hot and for how long, the time.
        summarise: makes digests; the heuristic one, or one that asks a model.
        fallback: stands in where `summarise` can't.
        breathe: called between transactions.
    """

    store: Store
    settings: Settings
    clock: Clock
    summarise: Summariser
    fallback: Summariser
    breathe: Breathe = lambda: None

    def run(self) -> int:
        """Advance every session that has something to do and return how many things were done."""
        return sum(self.advance(progress) for progress in self.store.chunks.progress() if self._is_due(progress))

    def advance(self, progress: Progress) -> int:
        """Advance one session's pyramid as far as it goes and return how many things were done."""
        session, done = progress.session_key, 0
        for work in (self._cut, self._demote, self._make_minis, self._make_macros, self._mend, self._freeze):
            present = self.store.chunks.progress(session)[0]
            done += work(present)
            self.breathe()
        return done

    def _is_due(self, progress: Progress) -> bool:
        """Tell whether there may be something to do: a look at numbers, no turn is read."""
        closed = self._closed(progress)
        waiting = progress.next_seq - progress.micro
        apart = progress.micro - progress.mini
        return bool(
            waiting >= SIZES[Level.MICRO]
            or (closed and (waiting or progress.hot))
            or progress.hot > self.settings.hot_chunks
            or progress.unfrozen
            or progress.unsummarised
            or apart >= (SIZES[Level.MICRO] + 1 if closed else SIZES[Level.MINI])
            or progress.mini - progress.macro >= (FEWEST_MINIS * SIZES[Level.MINI] if closed else SIZES[Level.MACRO])
        )

    def _closed(self, progress: Progress) -> bool:
        if progress.ended_at is None:
            return False
        return self.clock() - max(progress.ended_at, progress.last_seen_at) >= CLOSE_AFTER_MS

    # -- hot -----------------------------------------------------------------------------------------------------------

    def _cut(self, progress: Progress) -> int:
        """Make micro-chunks of the turns at the end that are in none."""
        turns = self.store.chunks.turns(progress.session_key, progress.micro, progress.next_seq)
        tokens = [count_tokens(turn.content) for turn in turns]
        made = 0
        while size := self._micro_size(tokens, closed=self._closed(progress)):
            with self.store.transaction():
                key = self.store.chunks.create(
                    Level.MICRO, progress.session_key, turns[:size], tokens[:size], now=self.clock()
                )
            if not self.settings.defer_summarization:
                self._summarise(self.store.chunks.by_keys([key])[0])
            turns, tokens, made = turns[size:], tokens[size:], made + 1
            self.breathe()
        return made

    def _micro_size(self, tokens: Sequence[int], *, closed: bool) -> int:
        """Return how many turns the next micro-chunk has, 0 for none yet."""
        whole = tokens[: SIZES[Level.MICRO]]
        spent = 0
        for size, cost in enumerate(whole, start=1):
            spent += cost
            if spent > self.settings.hot_max_tokens:
                return size
        return len(whole) if closed or len(whole) == SIZES[Level.MICRO] else 0

    def _demote(self, progress: Progress) -> int:
        """Pack the oldest hot micro-chunks until those that stay are few enough and short enough."""
        chunks = self.store.chunks.of_session(progress.session_key, Level.MICRO)
        hot = [chunk for chunk in chunks if chunk.stage is Stage.HOT]
        made = 0
        while hot and self._too_hot(hot, progress):
            if not self._pack(hot.pop(0)):
                break
            made += 1
            self.breathe()
        return made

    def _too_hot(self, hot: Sequence[Chunk], progress: Progress) -> bool:
        if self._closed(progress) or len(hot) > self.settings.hot_chunks:
            return True
        tail = self.store.chunks.turns(progress.session_key, progress.micro, progress.next_seq)
        spent = sum(chunk.tokens for chunk in hot) + sum(count_tokens(turn.content) for turn in tail)
        return spent > self.settings.hot_max_tokens

    def _pack(self, chunk: Chunk) -> bool:
        """Hot to warm; False if the turns changed meanwhile."""
        turns = self._turns(chunk)
        digest = None if chunk.node_key is not None else self._digest(chunk, turns)
        with self.store.transaction():
            if _state(self._turns(chunk)) != _state(turns):
                return False
            if digest is not None:
                self._store_digest(chunk, digest)
            self.store.chunks.pack(chunk, turns, self.store.chunks.paths(turn.key for turn in turns))
            self._log("demote", [chunk], f"{Stage.HOT} to {Stage.WARM}: {_range(chunk)}")
        return True

    # -- summaries -----------------------------------------------------------------------------------------------------

    def _make_minis(self, progress: Progress) -> int:
        """Make a mini-chunk of each 25 turns whose micro-chunks are warm; of a closed session's rest, a shorter one."""
        closed, made = self._closed(progress), 0
        hot = [
            chunk
            for chunk in self.store.chunks.of_session(progress.session_key, Level.MICRO)
            if chunk.stage is Stage.HOT
        ]
        end = hot[0].first_seq if hot else progress.micro
        seqs = self.store.chunks.seqs(progress.session_key, progress.mini, end - 1)
        while len(seqs) >= SIZES[Level.MINI] or (closed and not hot and len(seqs) > SIZES[Level.MICRO]):
            part = seqs[: SIZES[Level.MINI]]
            made += self._make(Level.MINI, progress.session_key, part[0], part[-1])
            seqs = seqs[len(part) :]
        return made

    def _make_macros(self, progress: Progress) -> int:
        """Make a macro-chunk of each four mini-chunks; of a closed session's rest, a shorter one."""
        closed, made = self._closed(progress), 0
        minis = [
            chunk
            for chunk in self.store.chunks.of_session(progress.session_key, Level.MINI)
            if chunk.first_seq >= progress.macro
        ]
        while len(minis) >= MINIS_OF_MACRO or (closed and len(minis) >= FEWEST_MINIS):
            part = minis[:MINIS_OF_MACRO]
            made += self._make(Level.MACRO, progress.session_key, part[0].first_seq, part[-1].last_seq)
            minis = minis[len(part) :]
        return made

    def _make(self, level: Level, session_key: int, first: int, last: int) -> int:
        turns = self.store.chunks.turns(session_key, first, last)
        known = self.store.chunks.tokens(turn.key for turn in turns)
        tokens = [known.get(turn.key, 0) for turn in turns]
        with self.store.transaction():
            key = self.store.chunks.create(level, session_key, turns, tokens, now=self.clock())
            chunk = self.store.chunks.by_keys([key])[0]
            self.store.chunks.set_stage(chunk, Stage.WARM if level is Level.MINI else Stage.COLD)
        self._summarise(chunk)
        self.breathe()
        return 1

    def _mend(self, progress: Progress) -> int:
        """Make the summaries that are missing, or that were made of turns which were forgotten or purged since."""
        if not progress.unsummarised:
            return 0
        stale = self.store.chunks.stale(progress.session_key)
        return sum(self._summarise(chunk) for chunk in stale)

    def _summarise(self, chunk: Chunk) -> int:
        turns = self._turns(chunk)
        digest = self._digest(chunk, turns)
        if digest is None:
            return 0
        with self.store.transaction():
            if _state(self._turns(chunk)) != _state(turns):
                return 0
            self._store_digest(chunk, digest)
        return 1

    def _digest(self, chunk: Chunk, turns: Sequence[Node]) -> Digest | None:
        living = [as_turn(turn) for turn in turns if turn.deleted_at is None]
        if not living:
            return None
        parts = [] if chunk.level is Level.MICRO else self._parts(chunk)
        try:
            return self.summarise(chunk.level, living, parts)
        except HyperlociError as error:
            logger.warning("chunk %s is summarised without a model: %s", chunk.id, error)
            return self.fallback(chunk.level, living, parts)

    def _parts(self, chunk: Chunk) -> list[Digest]:
        below = Level.MINI if chunk.level is Level.MACRO else Level.MICRO
        inside = [part for part in self._inside(chunk, below) if part.node_key is not None]
        nodes = self.store.nodes.by_keys([part.node_key for part in inside if part.node_key is not None])
        return [
            Digest(nodes[part.node_key].content, part.key_facts, part.themes)
            for part in inside
            if part.node_key in nodes
        ]

    def _inside(self, chunk: Chunk, level: Level) -> list[Chunk]:
        """Return the chunks of a level that lie within another as a whole."""
        return [
            part
            for part in self.store.chunks.of_session(chunk.session_key, level)
            if chunk.first_seq <= part.first_seq and part.last_seq <= chunk.last_seq
        ]

    def _store_digest(self, chunk: Chunk, digest: Digest) -> None:
        now = self.clock()
        present = self.store.chunks.by_keys([chunk.key])[0]
        known = None if present.node_key is None else self.store.nodes.by_key(present.node_key)
        if known is not None:
            self.store.nodes.update_node(known.id, now=now, content=digest.summary)
        else:
            scope = self.store.chunks.scope_of(chunk.session_key)
            node = self.store.nodes.create_node(
                _new_node(chunk, digest, scope), now=now, place=_place(chunk), session_key=chunk.session_key
            )
            self.store.chunks.give_node(chunk, node)
            members = self._members(chunk)
            if members:
                self.store.edges.link("contains", node.key, members, now=now, automatic=True)
        self.store.chunks.note_digest(chunk, digest, now=now)

    def _members(self, chunk: Chunk) -> list[NodeKey]:
        """Return what a chunk contains: of chunks those that lie within it as a whole, and the turns beside them."""
        if chunk.level is Level.MACRO:
            return [part.node_key for part in self._inside(chunk, Level.MINI) if part.node_key is not None]
        inside = [] if chunk.level is Level.MICRO else self._inside(chunk, Level.MICRO)
        inside = [part for part in inside if part.node_key is not None]
        found = [(part.first_seq, part.node_key) for part in inside if part.node_key is not None]
        for turn in self.store.chunks.turns(chunk.session_key, chunk.first_seq, chunk.last_seq, forgotten=False):
            seq = turn.seq or 0
            if not any(part.first_seq <= seq <= part.last_seq for part in inside):
                found.append((seq, turn.key))
        return [key for _, key in sorted(found)]

    # -- cold ----------------------------------------------------------------------------------------------------------

    def _freeze(self, progress: Progress) -> int:
        """Move the texts of micro-chunks under a macro-chunk into the archive (warm to cold)."""
        if not progress.unfrozen:
            return 0
        warm = [
            chunk
            for chunk in self.store.chunks.of_session(progress.session_key, Level.MICRO)
            if chunk.stage is Stage.WARM and chunk.last_seq < progress.macro
        ]
        for start in range(0, len(warm), FREEZE_AT_ONCE):
            self._freeze_some(warm[start : start + FREEZE_AT_ONCE])
            self.breathe()
        return len(warm)

    def _freeze_some(self, chunks: Sequence[Chunk]) -> None:
        with self.store.transaction():
            if self.settings.archive_cold_content:
                day = day_of(self.clock())
                places = Archive.beside(self.store.path).append(
                    day, [self._line(chunk) for chunk in chunks], known_end=self.store.chunks.archive_end(day)
                )
                for chunk, place in zip(chunks, places, strict=True):
                    self.store.chunks.freeze(chunk, place)
            else:
                for chunk in chunks:
                    self.store.chunks.set_stage(chunk, Stage.COLD)
            self._log("demote", chunks, f"{Stage.WARM} to {Stage.COLD}: {', '.join(map(_range, chunks))}")

    def _line(self, chunk: Chunk) -> dict[str, object]:
        """Return what is archived of a chunk: its turns by their places, each compared with its hash.

        Raises:
            StoreCorruptError: a turn's text isn't what was said; nothing is moved then.
        """
        places = self.store.chunks.places(chunk)
        hashes = self.store.chunks.hashes(chunk)
        nodes = {places[turn.key]: turn for turn in self._turns(chunk) if turn.key in places}
        paths = self.store.chunks.paths(places)
        for turn in nodes.values():
            if content_hash(turn.content) != hashes[turn.key]:
                raise StoreCorruptError(
                    f"The text of turn {turn.id} differs from its hash: chunk {chunk.id} stays here."
                )
        turns = [nodes.get(place) for place in range(max(nodes, default=-1) + 1)]
        return {
            "chunk": chunk.id,
            "session": chunk.session_id,
            "level": chunk.level.value,
            "turns": [None if turn is None else _archived(turn, paths.get(turn.key)) for turn in turns],
        }

    def expire(self) -> int:
        """Delete the archive files that are older than their time and return how many chunks lost their texts.

        Summaries, key facts, vectors, keywords and the beginnings of the turns stay.
        """
        archive = Archive.beside(self.store.path)
        if not self.settings.cold_retention_days:
            return 0
        limit = day_of(self.clock() - self.settings.cold_retention_days * MS_PER_DAY)
        lost = 0
        for day in [day for day in archive.days() if day < limit]:
            with self.store.transaction():
                gone = self.store.chunks.archived_on(day)
                self.store.chunks.expire(day)
                self._log("expire", gone, f"archived on {day}, kept {self.settings.cold_retention_days} days")
            archive.drop(day)
            lost += len(gone)
            self.breathe()
        return lost

    def _turns(self, chunk: Chunk) -> list[Node]:
        return self.store.chunks.turns(chunk.session_key, chunk.first_seq, chunk.last_seq)

    def _log(self, operation: str, chunks: Sequence[Chunk], why: str) -> None:
        if chunks:
            self.store.log.add(operation, [chunk.id for chunk in chunks], now=self.clock(), reasoning=why)


def day_of(now: int) -> str:
    """Return the day of a time in milliseconds, UTC."""
    return dt.date.fromisoformat(to_iso(now)[:10]).isoformat()


def _state(turns: Sequence[Node]) -> list[tuple[NodeKey, str, int | None]]:
    return [(turn.key, turn.content, turn.deleted_at) for turn in turns]


def _range(chunk: Chunk) -> str:
    return f"turns {chunk.first_seq}-{chunk.last_seq}"


def _place(chunk: Chunk) -> str:
    return f"{chunk.session_id}:{chunk.level}:{chunk.first_seq}"


def _archived(turn: Node, path: str | None) -> dict[str, object]:
    return {
        "id": turn.id,
        "role": turn.metadata.get("role"),
        "kind": "action" if turn.subtype == "action" else "text",
        "at": turn.event_time,
        "path": path,
        "text": turn.content,
    }


def _new_node(chunk: Chunk, digest: Digest, scope: str) -> NewNode:
    return NewNode(
        type=NodeType.SNIPPET,
        subtype=SUBTYPES[chunk.level],
        content=digest.summary,
        tier=Tier.SESSION,
        confidence=CONFIDENCE,
        decay_rate=0.0,
        provenance=f"session {chunk.session_id}, {_range(chunk)}",
        origin=Origin.EXTRACTION,
        scope=scope,
        event_time=chunk.ended_at,
        valid_from=chunk.started_at,
        metadata={"first_seq": chunk.first_seq, "last_seq": chunk.last_seq, "turns": chunk.turns},
        extra_terms=" ".join(digest.themes),
    )
