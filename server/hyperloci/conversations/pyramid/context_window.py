"""Context window: a conversation within a token budget: latest turns, relevant older ones, summaries (C.06)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hyperloci.clock import format_day
from hyperloci.model import compact_turn_format
from hyperloci.model.kinds import NodeId, NodeKey
from hyperloci.model.node import Node
from hyperloci.model.pyramid import ChunkStage, ContextWindow, PyramidChunk, WindowPart
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.store import Store
from hyperloci.store.conversations.chunks import turn_from_node
from hyperloci.system.values import dataclass
from hyperloci.text.tokens import count_tokens

DEFAULT_SHARE: Final = 0.4
"""Of the raw turns' tokens, where no budget is given (C.06)."""

HOT_SHARE: Final = 0.45
"""The latest turns' share when older ones are wanted too; what they leave goes to those."""

SUMMARY_SHARE: Final = 0.15
"""Kept for summaries; what they leave goes to the turns that are relevant to the question."""

HEADS: Final = {
    "summary": "Earlier in this conversation (quoted summaries; expand_chunk gives the turns):",
    "warm": "Earlier turns that are relevant to the question:",
    "hot": "The latest turns:",
}


@dataclass(frozen=True, slots=True)
class RelevantTurns:
    """Turns by relevance, best first, how they were found and what was done without."""

    keys: Sequence[NodeKey]
    mode: str
    degraded: str | None = None


Find = Callable[[str, str], RelevantTurns]
"""Called with the question and the session's id; finds the relevant turns of the session."""


def build_context_window(
    store: Store, session_key: int, max_tokens: int | None, query: str | None, find: Find
) -> ContextWindow:
    """Return a session's conversation at no more than `max_tokens` (two fifths of all its turns, if None)."""
    turns = store.chunks.list_turns(session_key, 0, _ALL, forgotten=False)
    known = store.chunks.count_tokens_of(turn.key for turn in turns)
    costs = {turn.key: known.get(turn.key) or count_tokens(turn.content) for turn in turns}
    raw = sum(costs.values())
    budget = int(DEFAULT_SHARE * raw) if max_tokens is None else max_tokens
    chunks = store.chunks.list_of_session(session_key)
    hot_from = min(
        (chunk.first_seq for chunk in chunks if chunk.stage is ChunkStage.HOT), default=_first_uncovered(chunks)
    )
    hot = [turn for turn in turns if (turn.seq or 0) >= hot_from]
    older = [turn for turn in turns if (turn.seq or 0) < hot_from]
    if raw <= budget - _OVERHEAD - _ROW * len(turns):
        hot, older = turns, []
    relevant = find(query, chunks[0].session_id) if query and older else RelevantTurns((), "recency")
    filling = _WindowBuilder(budget, costs)
    filling.add_turns("hot", hot[::-1], HOT_SHARE if older else 1.0)
    by_key = {turn.key: turn for turn in older}
    wanted = [by_key[key] for key in relevant.keys if key in by_key]
    filling.add_turns("warm", wanted, 1.0, keep=SUMMARY_SHARE)
    filling.add_summaries(store, _select_summaries(chunks, older))
    # What is left: more of the latest turns, then more of the relevant ones.
    filling.add_turns("hot", hot[::-1], 1.0)
    filling.add_turns("warm", wanted or older[::-1], 1.0)
    parts, text, tokens = filling.build()
    return ContextWindow(
        text=text,
        tokens=tokens,
        parts=parts,
        raw_tokens=raw,
        mode=relevant.mode,
        degraded=relevant.degraded,
    )


_ALL: Final = 2**62
_OVERHEAD: Final = 40
_ROW: Final = 7
"""What a heading and a row's role and time cost, to decide whether all turns fit."""


def _first_uncovered(chunks: Sequence[PyramidChunk]) -> int:
    return max((chunk.last_seq + 1 for chunk in chunks), default=0)


def _select_summaries(chunks: Sequence[PyramidChunk], older: Sequence[Node]) -> list[PyramidChunk]:
    """Return the largest chunks with a summary that cover the older turns, each turn once, in order."""
    last = older[-1].seq or 0 if older else -1
    found: list[PyramidChunk] = []
    for level in (PyramidLevel.MACRO, PyramidLevel.MINI, PyramidLevel.MICRO):
        for chunk in chunks:
            covered = any(chunk.first_seq <= other.last_seq and other.first_seq <= chunk.last_seq for other in found)
            if chunk.level is level and chunk.node_key is not None and chunk.first_seq <= last and not covered:
                found.append(chunk)
    return sorted(found, key=lambda chunk: chunk.first_seq)


class _WindowBuilder:
    """Puts turns and summaries into a budget, and knows what they cost."""

    def __init__(self, budget: int, costs: Mapping[NodeKey, int]) -> None:
        self._budget = budget
        self._costs = costs
        self._spent = 0
        self._turns: dict[str, dict[NodeKey, Node]] = {"hot": {}, "warm": {}}
        self._summaries: list[tuple[PyramidChunk, str]] = []
        self._order: list[tuple[str, NodeKey]] = []

    def add_turns(self, kind: str, wanted: Sequence[Node], share: float, *, keep: float = 0.0) -> None:
        """Take turns as long as they fit, in the order given: into a share of the budget, or all but what is kept."""
        limit = min(self._spent + int(share * self._budget), int((1 - keep) * self._budget))
        taken = self._turns[kind]
        others = self._turns["warm" if kind == "hot" else "hot"]
        for turn in wanted:
            if turn.key in taken or turn.key in others:
                continue
            cost = self._costs[turn.key] + _row_overhead(turn.content) + (0 if taken else _HEAD_COST[kind])
            if self._spent + cost > limit:
                if kind == "hot":
                    break  # No hole in the latest turns.
                continue
            taken[turn.key] = turn
            self._order.append((kind, turn.key))
            self._spent += cost

    def add_summaries(self, store: Store, chunks: Sequence[PyramidChunk]) -> None:
        """Take summaries as long as they fit, the latest first."""
        nodes = store.nodes.get_by_keys([chunk.node_key for chunk in chunks if chunk.node_key is not None])
        for chunk in reversed(chunks):
            node = nodes.get(chunk.node_key) if chunk.node_key is not None else None
            if node is None or node.deleted_at is not None:
                continue
            day = format_day(chunk.started_at)
            text = f"[turns {chunk.first_seq}-{chunk.last_seq}, {day}, {chunk.id}] {node.content}"
            cost = count_tokens(text) + (0 if self._summaries else count_tokens(HEADS["summary"]))
            if self._spent + cost <= self._budget:
                self._summaries.append((chunk, text))
                self._spent += cost

    def build(self) -> tuple[tuple[WindowPart, ...], str, int]:
        """Return what was taken, as text, and its tokens; what was estimated too low goes, the last taken first."""
        while True:
            parts = self._ordered_parts()
            tokens = sum(part.tokens for part in parts)
            if tokens <= self._budget:
                return parts, "\n".join(part.text for part in parts), tokens
            if self._order:
                kind, key = self._order.pop()
                del self._turns[kind][key]
            else:
                self._summaries.pop()

    def _ordered_parts(self) -> tuple[WindowPart, ...]:
        """Return what was taken, in the order of the conversation."""
        made = []
        if self._summaries:
            lines = [HEADS["summary"], *(text for _, text in reversed(self._summaries))]
            made.append(_make_part("summary", "\n".join(lines), [chunk.id for chunk, _ in reversed(self._summaries)]))
        for kind in ("warm", "hot"):
            taken = sorted(self._turns[kind].values(), key=lambda turn: turn.seq or 0)
            if taken:
                rows = compact_turn_format.encode_turns(
                    [turn_from_node(turn) for turn in taken], compact_turn_format.TOLD_FIELDS
                )
                made.append(_make_part(kind, f"{HEADS[kind]}\n{rows}", [turn.id for turn in taken]))
        return tuple(made)


def _make_part(kind: str, text: str, ids: Sequence[NodeId]) -> WindowPart:
    return WindowPart(kind=kind, text=text, tokens=count_tokens(text), ids=tuple(ids))


def _row_overhead(text: str) -> int:
    """Return what a turn's row costs beside its text: role, time and what is written for line breaks and the like."""
    return _ROW + text.count("\n") + 2 * (text.count("\t") + text.count("\\"))


_HEADER: Final = "#CTF v1 turns=99999 fields=role,time,content from=2026-01-15T10:00:00.000+00:00"
_HEAD_COST: Final = {kind: count_tokens(f"{head} {_HEADER}") for kind, head in HEADS.items()}
