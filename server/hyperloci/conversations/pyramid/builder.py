"""Pyramid builder: cuts a session into chunks, demotes, summarises and archives them (C.01, C.05).

Each step is one transaction, or is found unfinished and repeated: a process may die anywhere. Summaries, which take
time, are made before the transaction, which then checks that the turns are still those that were read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

from hyperloci.clock import MS_PER_DAY, Clock
from hyperloci.config import Settings
from hyperloci.conversations.pyramid.archiving import TurnArchiver
from hyperloci.conversations.pyramid.chunk_turns import describe_range, load_turns, log_chunks, turns_state
from hyperloci.conversations.pyramid.summary import Summariser
from hyperloci.conversations.pyramid.summary_nodes import Digester
from hyperloci.errors import StoreCorruptError
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.model.pyramid import ChunkStage, PyramidChunk
from hyperloci.model.pyramid_levels import SIZES, PyramidLevel
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store
from hyperloci.store.conversations.chunks import PyramidProgress
from hyperloci.store.projects.set_aside import describe_failure, is_fault_of_content
from hyperloci.system.values import dataclass
from hyperloci.text.tokens import count_tokens

logger = logging.getLogger(__name__)

CLOSE_AFTER_MS: Final = MS_PER_DAY
"""A session that ended so long ago is not resumed any more, as a rule: its last chunks are closed, however short."""

MINIS_OF_MACRO: Final = SIZES[PyramidLevel.MACRO] // SIZES[PyramidLevel.MINI]
FEWEST_MINIS: Final = 2
"""A closed session of two minis gets a macro too; one alone would repeat its mini."""

Breathe = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PyramidBuilder:
    """Brings the pyramids of one store up to date.

    Attributes:
        store, settings, clock: the database, what is to stay hot and for how long, the time.
        summarise: makes digests; the heuristic one, or one that asks a model.
        fallback: stands in where `summarise` can't.
        yield_to_others: called between transactions.
    """

    store: Store
    settings: Settings
    clock: Clock
    summarise: Summariser
    fallback: Summariser
    yield_to_others: Breathe = lambda: None

    def advance_all(self) -> int:
        """Advance every session that has something to do and return how many things were done."""
        return sum(
            self._try_advance(progress) for progress in self.store.chunks.find_unfinished() if self._is_due(progress)
        )

    def _try_advance(self, progress: PyramidProgress) -> int:
        """Advance a session; one that fails by itself keeps no other from its turn, and is left until it grows."""
        subject, content = f"pyramid {progress.session_key}", str(progress.next_seq)
        scope_key = self.store.scopes.ensure_scope(GLOBAL_SCOPE, now=self.clock())
        if self.store.set_aside.is_set_aside(scope_key, SetAsideKind.MEMORY, subject, content):
            return 0
        try:
            return self.advance_session(progress)
        except StoreCorruptError as error:
            logger.error("a session's pyramid is not built further: %s", error)
            return 0
        except Exception as error:
            if not is_fault_of_content(error):
                raise
            reason = describe_failure(error)
            logger.warning("a session's pyramid is not built further: %s", reason)
            with self.store.transaction():
                self.store.set_aside.add_failure(
                    scope_key, SetAsideKind.MEMORY, subject, reason, now=self.clock(), content=content
                )
            return 0

    def advance_session(self, progress: PyramidProgress) -> int:
        """Advance one session's pyramid as far as it goes and return how many things were done."""
        session, done = progress.session_key, 0
        for work in (
            self._make_micros,
            self._demote_hot,
            self._make_minis,
            self._make_macros,
            self._renew_summaries,
            self._make_archiver.archive_chunks,
        ):
            present = self.store.chunks.find_unfinished(session)[0]
            done += work(present)
            self.yield_to_others()
        return done

    def expire_archives(self, now: int) -> int:
        """Delete the archive files that are older than their time; see `archiving.TurnArchiver`."""
        return self._make_archiver.expire_archives(now)

    @property
    def _make_digester(self) -> Digester:
        return Digester(self.store, self.clock, self.summarise, self.fallback)

    @property
    def _make_archiver(self) -> TurnArchiver:
        return TurnArchiver(self.store, self.settings, self.clock, self.yield_to_others)

    def _is_due(self, progress: PyramidProgress) -> bool:
        """Tell whether there may be something to do: a look at numbers, no turn is read."""
        closed = self._is_closed(progress)
        waiting = progress.next_seq - progress.micro
        apart = progress.micro - progress.mini
        return bool(
            waiting >= SIZES[PyramidLevel.MICRO]
            or (closed and (waiting or progress.hot))
            or progress.hot > self.settings.hot_chunks
            or progress.unfrozen
            or progress.unsummarised
            or apart >= (SIZES[PyramidLevel.MICRO] + 1 if closed else SIZES[PyramidLevel.MINI])
            or progress.mini - progress.macro
            >= (FEWEST_MINIS * SIZES[PyramidLevel.MINI] if closed else SIZES[PyramidLevel.MACRO])
        )

    def _is_closed(self, progress: PyramidProgress) -> bool:
        if progress.ended_at is None:
            return False
        return self.clock() - max(progress.ended_at, progress.last_seen_at) >= CLOSE_AFTER_MS

    # -- hot -----------------------------------------------------------------------------------------------------------

    def _make_micros(self, progress: PyramidProgress) -> int:
        """Make micro-chunks of the turns at the end that are in none."""
        turns = self.store.chunks.list_turns(progress.session_key, progress.micro, progress.next_seq)
        tokens = [count_tokens(turn.content) for turn in turns]
        made = 0
        while size := self._micro_size(tokens, closed=self._is_closed(progress)):
            with self.store.transaction():
                key = self.store.chunks.create_chunk(
                    PyramidLevel.MICRO, progress.session_key, turns[:size], tokens[:size], now=self.clock()
                )
            if not self.settings.defer_summarization:
                self._make_digester.make_digest(self.store.chunks.get_by_keys([key])[0])
            turns, tokens, made = turns[size:], tokens[size:], made + 1
            self.yield_to_others()
        return made

    def _micro_size(self, tokens: Sequence[int], *, closed: bool) -> int:
        """Return how many turns the next micro-chunk has, 0 for none yet."""
        whole = tokens[: SIZES[PyramidLevel.MICRO]]
        spent = 0
        for size, cost in enumerate(whole, start=1):
            spent += cost
            if spent > self.settings.hot_max_tokens:
                return size
        return len(whole) if closed or len(whole) == SIZES[PyramidLevel.MICRO] else 0

    def _demote_hot(self, progress: PyramidProgress) -> int:
        """Pack the oldest hot micro-chunks until those that stay are few enough and short enough."""
        chunks = self.store.chunks.list_of_session(progress.session_key, PyramidLevel.MICRO)
        hot = [chunk for chunk in chunks if chunk.stage is ChunkStage.HOT]
        made = 0
        while hot and self._is_too_hot(hot, progress):
            if not self._pack_chunk(hot.pop(0)):
                break
            made += 1
            self.yield_to_others()
        return made

    def _is_too_hot(self, hot: Sequence[PyramidChunk], progress: PyramidProgress) -> bool:
        if self._is_closed(progress) or len(hot) > self.settings.hot_chunks:
            return True
        tail = self.store.chunks.list_turns(progress.session_key, progress.micro, progress.next_seq)
        spent = sum(chunk.tokens for chunk in hot) + sum(count_tokens(turn.content) for turn in tail)
        return spent > self.settings.hot_max_tokens

    def _pack_chunk(self, chunk: PyramidChunk) -> bool:
        """Hot to warm; False if the turns changed meanwhile."""
        turns = load_turns(self.store, chunk)
        state = turns_state(self.store, turns)
        digest = None if chunk.node_key is not None else self._make_digester.digest_turns(chunk, turns)
        with self.store.transaction():
            if turns_state(self.store, load_turns(self.store, chunk)) != state:
                return False
            if digest is not None:
                self._make_digester.store_digest(chunk, digest)
            self.store.chunks.pack_turns(chunk, turns, self.store.chunks.get_paths(turn.key for turn in turns))
            log_chunks(
                self.store,
                "demote",
                [chunk],
                f"{ChunkStage.HOT} to {ChunkStage.WARM}: {describe_range(chunk)}",
                now=self.clock(),
            )
        return True

    # -- summaries -----------------------------------------------------------------------------------------------------

    def _make_minis(self, progress: PyramidProgress) -> int:
        """Make a mini-chunk of each 25 turns whose micro-chunks are warm; of a closed session's rest, a shorter one."""
        closed, made = self._is_closed(progress), 0
        hot = [
            chunk
            for chunk in self.store.chunks.list_of_session(progress.session_key, PyramidLevel.MICRO)
            if chunk.stage is ChunkStage.HOT
        ]
        end = hot[0].first_seq if hot else progress.micro
        seqs = self.store.chunks.list_sequence_numbers(progress.session_key, progress.mini, end - 1)
        while len(seqs) >= SIZES[PyramidLevel.MINI] or (closed and not hot and len(seqs) > SIZES[PyramidLevel.MICRO]):
            part = seqs[: SIZES[PyramidLevel.MINI]]
            made += self._make_chunk(PyramidLevel.MINI, progress.session_key, part[0], part[-1])
            seqs = seqs[len(part) :]
        return made

    def _make_macros(self, progress: PyramidProgress) -> int:
        """Make a macro-chunk of each four mini-chunks; of a closed session's rest, a shorter one."""
        closed, made = self._is_closed(progress), 0
        minis = [
            chunk
            for chunk in self.store.chunks.list_of_session(progress.session_key, PyramidLevel.MINI)
            if chunk.first_seq >= progress.macro
        ]
        while len(minis) >= MINIS_OF_MACRO or (closed and len(minis) >= FEWEST_MINIS):
            part = minis[:MINIS_OF_MACRO]
            made += self._make_chunk(PyramidLevel.MACRO, progress.session_key, part[0].first_seq, part[-1].last_seq)
            minis = minis[len(part) :]
        return made

    def _make_chunk(self, level: PyramidLevel, session_key: int, first: int, last: int) -> int:
        turns = self.store.chunks.list_turns(session_key, first, last)
        known = self.store.chunks.count_tokens_of(turn.key for turn in turns)
        tokens = [known.get(turn.key, 0) for turn in turns]
        with self.store.transaction():
            key = self.store.chunks.create_chunk(level, session_key, turns, tokens, now=self.clock())
            chunk = self.store.chunks.get_by_keys([key])[0]
            self.store.chunks.set_stage(chunk, ChunkStage.WARM if level is PyramidLevel.MINI else ChunkStage.COLD)
        self._make_digester.make_digest(chunk)
        self.yield_to_others()
        return 1

    def _renew_summaries(self, progress: PyramidProgress) -> int:
        """Make the summaries that are missing, or that were made of turns which are gone or withheld since."""
        if not progress.unsummarised:
            return 0
        stale = self.store.chunks.find_stale(progress.session_key)
        return sum(self._make_digester.make_digest(chunk) for chunk in stale)
