"""Provenance text: a memory's history in sentences: where it came from, who said it, what happened to it (B.15).

The sentences contain ids, and reasons in quotation marks on one line, but never a memory's own text.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from hyperloci.clock import MS_PER_DAY, format_day, from_iso
from hyperloci.maintenance.decay import days_until_pruned
from hyperloci.model.answers import LogLine
from hyperloci.model.decay import decay_factor
from hyperloci.model.kinds import Origin
from hyperloci.model.node import Node

MAX_REASON_CHARS: Final = 200

MAX_NAMED: Final = 10
"""Memories that one sentence names: who wants to see more has them beside it, whole."""

_STRATEGY: Final = {
    "heuristic": "by rules",
    "llm": "by a language model",
    "host": "by the assistant, on request",
}
_SPEAKERS: Final = {
    Origin.USER_PROMPT: "the user",
    Origin.CLAUDE_RESPONSE: "the assistant",
    Origin.HOOK: "a tool's use",
}
_STORED: Final = {
    Origin.USER_PROMPT: "The user said it",
    Origin.CLAUDE_RESPONSE: "The assistant said it",
    Origin.HOOK: "It records the use of a tool",
    Origin.TOOL: "It was remembered on purpose",
    Origin.COMMIT: "It is a commit of the project's history",
    Origin.MARKDOWN: "It is in a document",
    Origin.CODE: "It is in the code",
    Origin.IMPORT: "It was imported from another memory",
    Origin.EXTRACTION: "It was extracted from a session",
    Origin.TEAMMATE: "It came from a teammate",
}


def describe_provenance(
    node: Node,
    *,
    sources: Sequence[Node],
    supersedes: Sequence[Node],
    superseded_by: Node | None,
    scopes: Collection[str],
    log: Sequence[LogLine],
    now: int,
    threshold: float,
) -> tuple[str, ...]:
    """Return the history of a memory in sentences, in order.

    Args:
        node: the memory.
        sources: what it was made of.
        supersedes: what it replaced, the newest first.
        superseded_by: what replaced it.
        scopes: whose memories are named by their ids.
        log: what happened to it, oldest first.
        now: the time.
        threshold: the confidence below which it is forgotten.
    """
    return (
        _describe_origin(node, sources),
        *_describe_replaced(node, supersedes, superseded_by, scopes),
        *_describe_events(log, _name_succession(supersedes, superseded_by)),
        *_describe_recalls(node),
        _describe_confidence(node, now, threshold),
    )


def _describe_origin(node: Node, sources: Sequence[Node]) -> str:
    word = (node.subtype or node.type).replace("_", " ")
    kind = f"{'an' if word[0] in 'aeio' else 'a'} {word}"
    where = f" in session {node.session_id}" if node.session_id else ""
    if node.origin is not Origin.EXTRACTION or not sources:
        who = f", {node.author} as claimed," if node.origin is Origin.TEAMMATE else ""
        how = f" through {node.agent}" if node.agent else ""
        return f"{_STORED[node.origin]}{who}{how}{where} on {format_day(node.event_time)}, as {kind}."
    how = _STRATEGY.get(str(node.metadata.get("strategy")), "by maintenance")
    said = "; ".join(_describe_source(source) for source in sources)
    return f"It was extracted {how} as {kind}{where}, from {said}."


def _describe_source(source: Node) -> str:
    who = _SPEAKERS.get(source.origin, str(source.origin))
    place = "" if source.seq is None else f", turn {source.seq} of session {source.session_id}"
    return f"what {who} said on {format_day(source.event_time)}{place} (id {source.id})"


def _describe_replaced(
    node: Node, supersedes: Sequence[Node], superseded_by: Node | None, scopes: Collection[str]
) -> Iterator[str]:
    if supersedes:
        ids = ", ".join(f"id {old.id}" for old in supersedes[:MAX_NAMED])
        more = f", and {len(supersedes) - MAX_NAMED} more" if len(supersedes) > MAX_NAMED else ""
        yield f"It replaced {ids}" + (f", the latest first{more}." if len(supersedes) > 1 else ".")
    if superseded_by is not None:
        yield describe_end(node, superseded_by, scopes)


def describe_end(node: Node, superseded_by: Node | None, scopes: Collection[str]) -> str:
    """Return that a memory no longer holds, since when, and the id of what replaced it, if that is of some scopes."""
    since = "" if node.valid_until is None else f" since {format_day(node.valid_until)}"
    if superseded_by is None:
        return f"It has not been valid{since}."
    newer = f"id {superseded_by.id}" if superseded_by.scope in scopes else "another project's memory"
    return f"It has not been valid{since}: {newer} replaced it."


def _name_succession(supersedes: Sequence[Node], superseded_by: Node | None) -> str:
    """Return what `supersede` in the log, which does not say which side it was on, means for such a memory."""
    replaced, was_replaced = "replaced another memory", "was replaced"
    if bool(supersedes) == (superseded_by is not None):
        return f"{replaced} or {was_replaced}"
    return replaced if supersedes else was_replaced


def _describe_events(log: Sequence[LogLine], succession: str) -> Iterator[str]:
    """Describe what the log holds besides the origin."""
    for line in log:
        day, why = format_day(from_iso(line.time)), _format_reason(line.reason)
        match line.operation:
            case "tier":
                yield f"On {day} it moved from {line.from_tier} to {line.to_tier}{why}."
            case "confirm":
                yield f"On {day} it was confirmed, and has been protected from fading since."
            case "tell":
                yield f"On {day} it was remembered on purpose, in the same words{why}."
            case "supersede":
                yield f"On {day} it {succession}{why}."
            case "prune":
                yield f"On {day} it was forgotten because it had faded{why}."
            case "expire":
                yield f"On {day} its time was over{why}."
            case "forget":
                yield f"On {day} it was forgotten on request{why}."
            case "restore":
                yield f"On {day} it was restored{why}."
            case "settle":
                yield f"On {day} a dispute about it was settled{why}."
            case "withhold":
                yield f"On {day} it was withheld from searches and sessions{why}."
            case "release":
                yield f"On {day} it was no longer withheld."
            case "clear":
                yield f"On {day} it was cleared of suspicion{why}."
            case _:
                continue


def _format_reason(reason: str | None) -> str:
    if not reason:
        return ""
    line = " ".join(reason.split())
    return f": {json.dumps(line[:MAX_REASON_CHARS], ensure_ascii=False)}"


def _describe_recalls(node: Node) -> Iterator[str]:
    if node.access_count:
        times = "once" if node.access_count == 1 else f"{node.access_count} times"
        yield f"It was recalled {times}, most recently on {format_day(node.last_accessed)}."
    if node.seen_count > 1:
        yield f"It was said {node.seen_count} times in all."


def _describe_confidence(node: Node, now: int, threshold: float) -> str:
    if node.deleted_at is not None:
        return "It is forgotten now."
    age = max(0, now - node.last_accessed)
    confidence = node.confidence * decay_factor(node.decay_rate, age)
    days = days_until_pruned(node, threshold)
    if days is None or node.valid_until is not None:
        return f"Its confidence is {confidence:.2f}, and it does not fade."
    left = max(0.0, days - age / MS_PER_DAY)
    return f"Its confidence is {confidence:.2f} and fades: it is forgotten in {left:.0f} days unless it is recalled."
