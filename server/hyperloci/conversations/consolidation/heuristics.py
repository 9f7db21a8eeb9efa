"""Heuristics: find what is worth keeping in a conversation by rules: no model, no network, deterministic (B.17).

Sentence by sentence, the speaker decides what is searched for. The user's statements are searched for every kind; the
assistant's only for decisions, insights and dead ends, never for advice; tool uses for questions to the user and
repeated commands. Quotations, code and logs are skipped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hyperloci.conversations.consolidation import cues
from hyperloci.conversations.consolidation.findings import (
    MAX_CONTENT_CHARS,
    ConsolidationPayload,
    ExtractedFinding,
    FindingKind,
)
from hyperloci.conversations.consolidation.statements import MIN_WORDS, sentences, statements, word_count
from hyperloci.conversations.consolidation.text_similarity import says_same
from hyperloci.model.kinds import Origin
from hyperloci.model.node import Node

KEEP: Final = 0.5
"""Strength from which on a sentence is kept."""

STATEMENT: Final = 0.55
"""Strength of a user's statement about something in particular that no cue marks: true when said, and maybe later."""

PER_ASSISTANT_TURN: Final = 3
"""Findings kept of one answer, the strongest: a summary repeats itself."""

PER_USER_TURN: Final = 8
"""Findings kept of one prompt: a longer list is a specification, which stands in a file."""

ANSWER_WORDS: Final = 20
"""An answer to a question is short; a longer one is looked through like anything else."""

REPEATED: Final = 3
"""A command run so often in one session is how something is done here."""

FAR_PAST: Final = 20_000
"""Characters of one turn that are looked through: the rest was pasted."""

_ORDER: Final = (
    FindingKind.DEAD_END, FindingKind.DECISION, FindingKind.CONSTRAINT,
    FindingKind.PREFERENCE, FindingKind.USER_INFO, FindingKind.PROCEDURE, FindingKind.INSIGHT,
    FindingKind.OPINION, FindingKind.SEMANTIC,
)  # fmt: skip
"""Of equally strong kinds the first counts: dead ends and decisions are searched for most."""

_ASKED: Final = re.compile(r"^Asked: (?P<pairs>.+ -> .+)$", re.DOTALL)
_COMMAND: Final = re.compile(r"^(?:Bash|PowerShell): (?P<command>.+)$", re.DOTALL)
_FAILED: Final = re.compile(r"\((?:exit -?\d+|failed|interrupted)\)")
_TRIVIAL: Final = re.compile(
    r"^(?:cd|ls|cat|pwd|echo|head|tail|grep|rg|find|sed|git (?:status|diff|log|add|show)|which|wc)\b"
)


@dataclass(frozen=True, slots=True)
class _JudgedSentence:
    """A sentence with what was found in it; `reason` is the sentence after it, where that gives the reason."""

    text: str
    kind: FindingKind
    strength: float


def extract(turns: Sequence[Node], before: Node | None = None) -> ConsolidationPayload:
    """Return what is worth keeping of some turns.

    Args:
        turns: turns of one session, in order.
        before: what was said right before them.
    """
    found: list[ExtractedFinding] = []
    previous = before
    for turn in turns:
        if turn.seq is None or turn.metadata.get("flags"):
            previous = turn if turn.subtype == "episode" else previous
            continue
        for finding in _findings_of_turn(turn, previous):
            _add_finding(found, finding)
        if turn.subtype == "episode":
            previous = turn
    for finding in _find_habits(turns):
        _add_finding(found, finding)
    return ConsolidationPayload(findings=tuple(replace(item, place=f"found[{n}]") for n, item in enumerate(found)))


def _add_finding(found: list[ExtractedFinding], finding: ExtractedFinding) -> None:
    """Add a finding, or its source to the one that says the same."""
    for number, other in enumerate(found):
        if says_same(finding.content, other.content):
            sources = tuple(dict.fromkeys((*other.sources, *finding.sources)))
            found[number] = replace(other, sources=sources, confidence=max(other.confidence, finding.confidence))
            return
    found.append(finding)


def _findings_of_turn(turn: Node, previous: Node | None) -> Iterator[ExtractedFinding]:
    if turn.origin is Origin.USER_PROMPT:
        yield from _findings_of_user(turn, previous)
    elif turn.origin is Origin.CLAUDE_RESPONSE:
        yield from _findings_of_assistant(turn)
    elif asked := _ASKED.match(turn.content):
        for pair in asked["pairs"].split("; "):
            question, _, reply = pair.partition(" -> ")
            if question and reply and not _is_empty(reply):
                yield _make_finding(
                    turn, _JudgedSentence(f"{question.strip()} {reply.strip()}", FindingKind.DECISION, 0.9)
                )


def _is_empty(reply: str) -> bool:
    return reply.strip().casefold() in {"none", "n/a", "skip", "other", "-"}


def _findings_of_user(turn: Node, previous: Node | None) -> Iterator[ExtractedFinding]:
    answer = _finding_of_answer(turn, previous)
    if answer is not None:
        yield answer
        return
    spoken = list(_judge_statements(turn.content[:FAR_PAST]))
    for item in _select_strongest(spoken, PER_USER_TURN):
        yield _make_finding(turn, item)


def _finding_of_answer(turn: Node, previous: Node | None) -> ExtractedFinding | None:
    """Return what a short answer settles: the question of the assistant's that it answers, and the answer."""
    said = turn.content.strip()
    if previous is None or previous.seq is None or previous.origin is not Origin.CLAUDE_RESPONSE:
        return None
    if previous.metadata.get("flags") or word_count(said) > ANSWER_WORDS or "?" in said:
        return None
    asked = [sentence for sentence in sentences(previous.content[-FAR_PAST:]) if sentence.endswith("?")]
    if not asked or not cues.leaves_choice(asked[-1]) or not previous.content.rstrip().endswith("?"):
        return None
    if word_count(said) > MIN_WORDS and any(item.strength > STATEMENT for item in _judge_statements(said)):
        return None  # It stands by itself.
    content = f"{asked[-1]} {said}"
    return ExtractedFinding(
        kind=FindingKind.DECISION, content=content, sources=(previous.seq, turn.seq or 0), confidence=0.8
    )


def _judge_statements(text: str) -> Iterator[_JudgedSentence]:
    listed = sentences(text)
    for number, sentence in enumerate(listed):
        following = listed[number + 1] if number + 1 < len(listed) else ""
        corrected = cues.after_correction(sentence)
        for statement in statements(corrected or sentence):
            spoken = _judge_sentence(statement, cues.user_cues())
            if corrected and (spoken is None or spoken.strength < 0.9):
                kind = spoken.kind if spoken else FindingKind.CONSTRAINT
                spoken = _JudgedSentence(statement, kind, 0.9)
            if spoken is None and cues.is_particular(statement):
                spoken = _JudgedSentence(statement, FindingKind.SEMANTIC, STATEMENT)
            if spoken is not None:
                yield _append_reason(spoken, following)


def _findings_of_assistant(turn: Node) -> Iterator[ExtractedFinding]:
    listed = sentences(turn.content[:FAR_PAST])
    spoken = []
    for number, sentence in enumerate(listed):
        if sentence.endswith("?") or word_count(sentence) < MIN_WORDS:
            continue
        item = None if cues.is_advice(sentence) else _judge_sentence(sentence, cues.assistant_cues())
        if item is not None:
            following = listed[number + 1] if number + 1 < len(listed) else ""
            spoken.append(_append_reason(item, following))
    for item in _select_strongest(spoken, PER_ASSISTANT_TURN):
        yield _make_finding(turn, item)


def _judge_sentence(sentence: str, known: Sequence[cues.Cue]) -> _JudgedSentence | None:
    """Return the strongest thing that a sentence says, or None."""
    matched = [cue for cue in known if cue.pattern.search(sentence)]
    if not matched:
        return None
    best = min(matched, key=lambda cue: (-cue.strength, _ORDER.index(cue.kind)))
    return _JudgedSentence(sentence, best.kind, best.strength) if best.strength >= KEEP else None


def _append_reason(spoken: _JudgedSentence, following: str) -> _JudgedSentence:
    """Return what was said together with its reason, where the next sentence gives it."""
    if not following or cues.has_reason(spoken.text) or not cues.begins_with_reason(following):
        return spoken
    text = spoken.text if spoken.text.endswith((".", "!", "…")) else f"{spoken.text}."
    return replace(spoken, text=f"{text} {following}")


def _select_strongest(spoken: Sequence[_JudgedSentence], limit: int) -> list[_JudgedSentence]:
    """Return the strongest few, in the order in which they were said."""
    ranked = sorted(range(len(spoken)), key=lambda number: (-spoken[number].strength, number))[:limit]
    return [spoken[number] for number in sorted(ranked)]


def _make_finding(turn: Node, spoken: _JudgedSentence) -> ExtractedFinding:
    return ExtractedFinding(
        kind=spoken.kind,
        content=spoken.text[:MAX_CONTENT_CHARS],
        sources=(turn.seq or 0,),
        confidence=spoken.strength,
        everywhere=cues.holds_everywhere(spoken.text),
    )


def _find_habits(turns: Sequence[Node]) -> Iterator[ExtractedFinding]:
    """Return the commands that were run again and again, and worked."""
    counts: Counter[str] = Counter()
    places: dict[str, list[int]] = {}
    for turn in turns:
        match = _COMMAND.match(turn.content) if turn.subtype == "action" else None
        if match is None or turn.seq is None or _FAILED.search(turn.content) or turn.metadata.get("flags"):
            continue
        command = " ".join(match["command"].split())
        if "…" not in command and not _TRIVIAL.match(command):
            counts[command] += 1
            places.setdefault(command, []).append(turn.seq)
    for command, count in counts.items():
        if count >= REPEATED:
            content = f"A command run again and again in this project: `{command}`"
            yield ExtractedFinding(
                kind=FindingKind.PROCEDURE, content=content, sources=tuple(places[command][:REPEATED]), confidence=0.6
            )
