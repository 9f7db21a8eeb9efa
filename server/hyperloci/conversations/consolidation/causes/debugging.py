"""Debugging: chains of symptom, cause and fix among the turns of a session, by a linear scorer over what turns show.

Somebody reports a failure (or a command fails), somebody looks, the assistant says what it comes from, the user
confirms, something is changed. A diagnosis that nobody confirmed and no passing command bears out is a guess, and no
cause. The weights are data (`data/debugging.toml`).
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hyperloci.conversations.consolidation.text_similarity import meaningful_words
from hyperloci.conversations.consolidation.turn_phrases import holds_phrase
from hyperloci.model.kinds import Origin
from hyperloci.model.node import Node
from hyperloci.system.values import dataclass
from hyperloci.text.action_line import read_action_line
from hyperloci.text.language.questions import is_question
from hyperloci.text.language.sentences import split_sentences
from hyperloci.text.language.word_tables import phrase_pattern

MAX_TURNS_BETWEEN: Final = 8
"""Turns from a symptom to its diagnosis: what comes later answers something else."""

MAX_TURNS_TO_FIX: Final = 6
MAX_EVIDENCE_CHARS: Final = 300
MAX_SHARED: Final = 3
FREE_DISTANCE: Final = 2

_FILE: Final = Path(__file__).parent / "data" / "debugging.toml"
_PARTICULAR: Final = re.compile(r"\d|`|\w[_.]\w|[a-z][A-Z]")


@dataclass(frozen=True, slots=True)
class DebuggingChain:
    """The turns of a chain; `fix` is None where nothing was changed for it, `evidence` what the diagnosis says."""

    symptom: Node
    diagnosis: Node
    fix: Node | None
    evidence: str


@functools.cache
def _load() -> Mapping[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def find_chains(turns: Sequence[Node]) -> list[DebuggingChain]:
    """Return the chains among the turns of a session: of each symptom the diagnosis that fits it best."""
    best: dict[int, tuple[float, int]] = {}
    for at, turn in enumerate(turns):
        if _may_diagnose(turn):
            scored = [(_score_chain(turns, start, at), start) for start in range(max(0, at - MAX_TURNS_BETWEEN), at)]
            worth, start = max(scored, default=(0.0, 0))
            if worth >= max(_load()["threshold"], best.get(start, (0.0, 0))[0]):
                best[start] = (worth, at)
    return [_make_chain(turns, start, at) for start, (_, at) in sorted(best.items())]


def _make_chain(turns: Sequence[Node], start: int, at: int) -> DebuggingChain:
    symptom, diagnosis = turns[start], turns[at]
    return DebuggingChain(symptom, diagnosis, _find_fix(turns, at), _choose_evidence(diagnosis, symptom))


def _may_diagnose(turn: Node) -> bool:
    return turn.subtype == "episode" and turn.origin is Origin.CLAUDE_RESPONSE and not turn.metadata.get("flags")


def _score_chain(turns: Sequence[Node], start: int, at: int) -> float:
    """Return what the weights of a symptom, a diagnosis and what follows come to; 0 where there is no symptom."""
    symptom = list(_list_symptom_features(turns[start]))
    if not symptom or turns[start].metadata.get("flags"):
        return 0.0
    weights: Mapping[str, float] = _load()["weights"]
    shared = len(meaningful_words(turns[start].content) & meaningful_words(turns[at].content))
    features = (*symptom, *_list_diagnosis_features(turns, start, at), *_list_outcome_features(turns, start, at))
    return (
        sum(weights[name] for name in features)
        + weights["shared"] * min(shared, MAX_SHARED)
        + weights["distance"] * max(0, at - start - FREE_DISTANCE)
    )


def _list_symptom_features(turn: Node) -> Iterator[str]:
    if turn.subtype == "action":
        if read_action_line(turn.content).has_failed:
            yield "failed"
        return
    if turn.origin is Origin.USER_PROMPT and holds_phrase(turn.content, "complaint"):
        yield "complaint"
        if "```" in turn.content:
            yield "pasted"
        if holds_phrase(turn.content, "asks_reason"):
            yield "asks_reason"
        elif holds_phrase(turn.content, "restated"):
            yield "explained"


def _list_diagnosis_features(turns: Sequence[Node], start: int, at: int) -> Iterator[str]:
    text = turns[at].content
    between = [turn for turn in turns[start + 1 : at] if turn.subtype == "action"]
    if between or turns[start].subtype == "action":
        yield "looked"
    if any(map(_is_edit, between)):
        yield "changed"
    if holds_phrase(text, "reasons"):
        yield "reasons"
    if _PARTICULAR.search(text):
        yield "particular"
    if phrase_pattern("summary.advice").search(text):
        yield "advice"
    first = _first_sentence(text)
    if phrase_pattern("summary.intent").search(first) and not holds_phrase(first, "reasons"):
        yield "intent"
    if is_question(text):
        yield "asks"


def _first_sentence(text: str) -> str:
    return next(iter(split_sentences(text)), text)


def _list_outcome_features(turns: Sequence[Node], start: int, at: int) -> Iterator[str]:
    reply = next((turn for turn in turns[at + 1 :] if turn.subtype == "episode"), None)
    if reply is not None and reply.origin is Origin.USER_PROMPT and not is_question(_first_sentence(reply.content)):
        if holds_phrase(reply.content, "confirmed"):
            yield "confirmed"
        if holds_phrase(reply.content, "restated"):
            yield "restated"
    if turns[start].subtype == "action" and _passes_later(turns[start], turns[at + 1 :]):
        yield "passes"


def _passes_later(failed: Node, later: Sequence[Node]) -> bool:
    """Return whether the command that failed is run again, and does not fail."""
    called = read_action_line(failed.content).called
    actions = (read_action_line(turn.content) for turn in later if turn.subtype == "action")
    again = next((action for action in actions if action.called == called), None)
    return again is not None and not again.has_failed


def _find_fix(turns: Sequence[Node], at: int) -> Node | None:
    """Return what was changed first after a diagnosis; else what the assistant says it did."""
    later = turns[at + 1 : at + 1 + MAX_TURNS_TO_FIX]
    edits = filter(_is_edit, later)
    done = phrase_pattern("session.done")
    said = (
        turn for turn in later if _may_diagnose(turn) and done.search(turn.content) and not is_question(turn.content)
    )
    return next(edits, None) or next(said, None)


def _is_edit(turn: Node) -> bool:
    return turn.subtype == "action" and read_action_line(turn.content).is_edit


def _choose_evidence(diagnosis: Node, symptom: Node) -> str:
    """Return a short diagnosis whole; of a long one the sentence that tells a reason and shares most."""
    whole = " ".join(diagnosis.content.split())
    if len(whole) <= MAX_EVIDENCE_CHARS:
        return whole
    words = meaningful_words(symptom.content)
    sentences = split_sentences(diagnosis.content) or [diagnosis.content]
    return max(
        sentences, key=lambda each: (holds_phrase(each, "reasons"), len(words & meaningful_words(each)), len(each))
    )[:MAX_EVIDENCE_CHARS]
