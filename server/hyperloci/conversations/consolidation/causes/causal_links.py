"""Causal links: which turns of a session tell the cause of what others report, or brought them about (B.18)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.conversations.consolidation.causes.debugging import (
    MAX_EVIDENCE_CHARS,
    MAX_TURNS_BETWEEN,
    DebuggingChain,
    find_chains,
)
from hyperloci.conversations.consolidation.finding_writer import FindingWriter
from hyperloci.conversations.consolidation.findings import CausalClaim
from hyperloci.conversations.consolidation.text_similarity import meaningful_words
from hyperloci.conversations.consolidation.turn_view import read_sentences
from hyperloci.jobs import MaintenanceContext
from hyperloci.model.kinds import Origin
from hyperloci.model.node import Node
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store.conversations.consolidations import ConsolidationProgress, Consolidations
from hyperloci.text.language.word_tables import phrase_pattern

SHARED_WORDS: Final = 2
"""Words that both turns must share: `because` alone ties a turn to anything."""

SESSIONS_PER_RUN: Final = 50
"""Sessions that one run takes up; those that come later wait for the next."""


def infer_causes(turns: Sequence[Node]) -> list[CausalClaim]:
    """Return the causes among turns: confirmed diagnoses, failures and their fixes, turns that say that they follow.

    A diagnosis is the cause of its symptom, so that who asks why finds it from what was reported, and of its fix.
    """
    said = [turn for turn in turns if turn.subtype == "episode" and turn.seq is not None]
    stated = (_infer_cause(cause, effect) for cause, effect in itertools.pairwise(said))
    chained = (claim for chain in find_chains(turns) for claim in _claims_of_chain(chain))
    found = [claim for claim in (*stated, *chained) if claim is not None]
    return list({(claim.cause, claim.effect): claim for claim in found}.values())


def _claims_of_chain(chain: DebuggingChain) -> Iterator[CausalClaim]:
    for effect in (chain.symptom, chain.fix):
        if effect is not None:
            yield CausalClaim(chain.diagnosis.seq or 0, effect.seq or 0, chain.evidence)


def _infer_cause(cause: Node, effect: Node) -> CausalClaim | None:
    if cause.metadata.get("flags") or effect.metadata.get("flags"):
        return None
    if len(meaningful_words(cause.content) & meaningful_words(effect.content)) < SHARED_WORDS:
        return None
    evidence = _find_sentence(effect, "consolidation.follows")
    mended = cause.origin is Origin.USER_PROMPT and phrase_pattern("consolidation.failures").search(cause.content)
    if evidence is None and mended and effect.origin is Origin.CLAUDE_RESPONSE:
        evidence = _find_sentence(effect, "consolidation.repairs")
    return None if evidence is None else CausalClaim(cause.seq or 0, effect.seq or 0, evidence)


def _find_sentence(turn: Node, table: str) -> str | None:
    pattern = phrase_pattern(table)
    found = next((found.text for found in read_sentences(turn.content) if pattern.search(found.text)), None)
    return None if found is None else found[:MAX_EVIDENCE_CHARS]


def infer_session_causes(context: MaintenanceContext) -> int:
    """Look through the sessions that are over for causes; `causal_inference_batch_size` pairs at most in a run."""
    progress = context.store.consolidations
    write = FindingWriter(context.store, context.settings, context.clock)
    left, added = context.settings.causal_inference_batch_size, 0
    for session in progress.list_without_causes(SESSIONS_PER_RUN):
        if left <= 0:
            break
        context.yield_to_others()
        looked_at, found = _infer_from_pairs(progress, write, context, session, left)
        left -= looked_at
        added += found
    return added


def _infer_from_pairs(
    progress: Consolidations,
    write: FindingWriter,
    context: MaintenanceContext,
    session: ConsolidationProgress,
    pairs: int,
) -> tuple[int, int]:
    """Look at some pairs of a session, in one transaction; return how many, and how many causes were new."""
    turns = progress.list_turns(session.session_key, session.causes_seq, pairs + 1)
    is_rest = len(turns) <= pairs
    # The last turns of a part are the first of the next: what reaches across the cut counts too.
    again = min(MAX_TURNS_BETWEEN, (len(turns) - 1) // 2)
    through = session.next_seq if is_rest else int(turns[-1 - again].seq or 0)
    by_seq = {int(turn.seq): turn for turn in turns if turn.seq is not None}
    added, now = 0, context.clock()
    scope_key = context.store.scopes.ensure_scope(session.scope, now=now)
    with context.store.transaction():
        with context.store.set_aside.attempt_piece(
            scope_key, SetAsideKind.MEMORY, f"causes {session.session_id}", now=now
        ):
            added = write.save_causal_edges(infer_causes(turns), by_seq, strategy="heuristic")
        progress.advance_causes(session.session_key, through, now=now)
    return max(1, len(turns) - 1), added
