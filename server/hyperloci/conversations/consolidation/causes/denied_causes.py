"""Denied causes: memories of a cause that ends when somebody says that it was not it (`that wasn't it. turns out ...`).

Nothing that is said then needs to share a word with what it ends, so no comparison of statements finds it: what tells
is that a cause was claimed just before, or is named again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.conversations.consolidation.causes.denials import (
    MAX_TURNS_BACK,
    Denial,
    denies,
    find_denials,
    read_named,
)
from hyperloci.conversations.consolidation.contradiction_resolution import ContradictionResolver, may_end
from hyperloci.conversations.consolidation.findings import FindingKind
from hyperloci.conversations.consolidation.replacement.standing import (
    list_holding,
    read_place,
    read_quote,
    was_said_before,
)
from hyperloci.conversations.consolidation.turn_view import read_sentences
from hyperloci.model.kinds import Origin
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.conversations.consolidations import ConsolidationProgress

SHARED_WORDS: Final = 2
"""Words besides the denied ones that a turn shares with a cause of an older talk: many things have a cache."""

TURNS_TO_SYMPTOM: Final = 3
"""Words of either before a cause of an older talk among which is what it explains."""

REASON_CHARS: Final = 160
"""Characters of what was said that are kept as the reason of an end."""


class DeniedCauses:
    """Ends the causes that turns deny, in one store."""

    def __init__(self, store: Store, contradictions: ContradictionResolver) -> None:
        self._store = store
        self._contradictions = contradictions

    def end_denied_causes(self, progress: ConsolidationProgress, turns: Sequence[Node], made: Sequence[Node]) -> None:
        """End the causes that some turns deny, in favour of the one they name instead. Runs in a transaction.

        Args:
            progress: of their session.
            turns: what was said, in order.
            made: the memories that were made of them.
        """
        for turn in turns:
            if turn.subtype != "episode" or turn.metadata.get("flags"):
                continue
            texts = [sentence.text for sentence in read_sentences(turn.content)]
            for number, denial in find_denials(texts):
                for old in self._list_denied(progress, turn, denial):
                    self._end(old, turn, texts[number], made)

    def _list_denied(self, progress: ConsolidationProgress, turn: Node, denial: Denial) -> list[Node]:
        claims = [
            node
            for node in list_holding(self._store, progress.scope)
            if node.subtype == FindingKind.INSIGHT
            and may_end(node)
            and float(node.metadata.get("trust", node.confidence)) <= turn.confidence
            and was_said_before(node, turn)
        ]
        if not claims or turn.seq is None:
            return []
        said = self._store.consolidations.list_said_before(progress.session_key, turn.seq, MAX_TURNS_BACK + 1)
        if turn.origin is Origin.CLAUDE_RESPONSE and said and _asks(said[-1]):
            return []  # It answers what was asked.
        if denial.names:
            return [node for node in claims if self._is_named(denial, node, turn, said)]
        last = next((one for one in reversed(said) if one.origin is Origin.CLAUDE_RESPONSE), None)
        pointed = [node for node in claims if last is not None and read_place(node) == (turn.session_id, last.seq)]
        return pointed if len(pointed) == 1 else []

    def _is_named(self, denial: Denial, node: Node, turn: Node, said: Sequence[Node]) -> bool:
        """Return whether a denial names a cause of this talk, or of an older one that the turn speaks of."""
        claim, (session, seq) = read_quote(node), read_place(node)
        if session == turn.session_id and any(one.seq == seq for one in said):
            return denies(denial, claim, _find_symptom(said, seq))
        progress = self._store.consolidations.get_progress(session) if session and denies(denial, claim) else None
        if progress is None or not isinstance(seq, int):
            return False
        before = self._store.consolidations.list_said_before(progress.session_key, seq, TURNS_TO_SYMPTOM)
        symptom = read_named(_find_symptom(before, seq))
        shared = (read_named(turn.content) & (read_named(claim) | symptom)) - denial.names
        return len(shared) >= SHARED_WORDS and denial.head not in symptom

    def _end(self, old: Node, turn: Node, passage: str, made: Sequence[Node]) -> None:
        if self._store.nodes.get_by_keys([old.key])[old.key].valid_until is not None:
            return
        reason = f"it was said not to be the cause: {passage[:REASON_CHARS]}"
        # Alone, `that's not the only cause` or `maybe it's not the cache` denies as little as it ends.
        if (instead := next(_list_causes(made, turn), None)) is not None:
            self._contradictions.supersede(old, instead, reason)


def _list_causes(made: Sequence[Node], turn: Node) -> Iterator[Node]:
    """Yield the causes among the memories that were made of a turn."""
    place = (turn.session_id, turn.seq)
    return (node for node in made if node.subtype == FindingKind.INSIGHT and read_place(node) == place)


def _asks(turn: Node) -> bool:
    return turn.origin is Origin.USER_PROMPT and turn.content.rstrip().endswith("?")


def _find_symptom(said: Sequence[Node], claimed: object) -> str:
    """Return the user's last words before a claim, of which the number of the turn is given."""
    before = (one for one in reversed(said) if one.seq is not None and isinstance(claimed, int) and one.seq < claimed)
    return next((one.content for one in before if one.origin is Origin.USER_PROMPT), "")
