"""Opening memories: which statements a session begins with, in which order, each as one short line.

What holds now, and nothing twice: what was remembered on purpose before the user's words, those before what else was
extracted; the surer, newer and more often said first. What a later memory may have replaced stands after it, and says
so. Bare questions and empty words are nobody's statement.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.clock import MS_PER_DAY, format_day, read_day_end
from hyperloci.conversations.capture.injection_format import (
    SHOWN_ID_CHARS,
    InjectedItem,
    InjectedSection,
    mark_client,
    to_plain_line,
)
from hyperloci.conversations.capture.said_before import SaidBefore
from hyperloci.conversations.capture.told_memories import find_end, is_past, name_source, read_due
from hyperloci.knowledge.exceptions import describe_exceptions
from hyperloci.knowledge.graph.anchors import describe_code_changes
from hyperloci.knowledge.successors import describe_possible_successors
from hyperloci.model.decay import decay_factor
from hyperloci.model.kinds import NodeKey, Origin
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.conversations.openings import Rivalry
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.system.values import dataclass
from hyperloci.text.language.sentences import sentence_spans

SECTIONS: Final = (
    InjectedSection("The user, and what they want", ("user_info", "preference"), 0.12),
    InjectedSection("Deadlines ahead", ("deadline",), 0.06),
    InjectedSection("Constraints", ("constraint",), 0.17),
    InjectedSection("Decisions", ("decision",), 0.17),
    InjectedSection("Dead ends: tried, and failed", ("dead_end",), 0.14),
    InjectedSection("How things are done", ("procedure",), 0.1),
    InjectedSection("Known", ("insight", "semantic"), 0.06),
)
"""In the order in which they are read. The shares leave a quarter for what needs settling and for the last session;
what a section does not use goes to the most valuable lines of all."""

MAX_CANDIDATES: Final = 400
"""Memories that are considered: those remembered on purpose, then the newest; ten times what there is room for."""

MAX_IN_SECTION: Final = 40
"""More than the whole budget holds."""

LINE_CHARS: Final = 400
"""A memory that is said in two or three sentences is shown whole; of a longer one they are the beginning. Of 158
statements of six projects nobody trained on all are shorter; cut at 220, one in five lost its end, and who tells a
story decides there."""

MIN_ABOUT_CHARS: Final = 40
"""Of what a long answer answers: fewer characters tell nothing."""

ANSWERS: Final = " → "
"""Between what is answered and the answer (`ExtractedFinding.statement`)."""

MAX_SETTLED: Final = 5
"""Pairs of memories that the assistant is asked about at once."""

MIN_KNOWN_CONFIDENCE: Final = 0.5
"""What the assistant or a rule found out, and has half forgotten, is found by a search when it matters."""

SETTLING: Final = InjectedSection(
    "What needs settling (ask when it bears on the work; then correct_fact or forget the one that no longer holds)",
    (),
    0.05,
)

_ORIGIN_VALUES: Final[Mapping[Origin, float]] = {
    Origin.TOOL: 1.2,
    Origin.USER_PROMPT: 0.7,
    Origin.IMPORT: 0.7,
    Origin.TEAMMATE: 0.7,
}
_SPEAKER_VALUES: Final[Mapping[str, float]] = {"user": 0.7, "assistant": 0.3}
_OTHER_VALUE: Final = 0.5
"""Somebody who calls a tool to keep a thing means it, whatever was said since; the user's words are what was said; the
assistant's are its own. Where it is not told who spoke, it is in between. A teammate meant it too, and is not the
user."""

_TOLD: Final = frozenset({Origin.TOOL, Origin.TEAMMATE})
"""Statements that somebody stored on purpose."""

_RECENCY_VALUE: Final = 0.4
_RECENCY_DAYS: Final = 30.0
"""Half of it is gone after a month: less than the step from the user's words to the assistant's."""

_REPETITION_VALUE: Final = 0.1
_MAX_REPETITION: Final = 0.3
"""For each doubling of how often it was said or recalled: what comes up again matters again."""

_SETTLING_VALUE: Final = 0.3
"""What contradicts another memory is shown with it."""


@dataclass(frozen=True, slots=True)
class OpeningMemory:
    """A memory that may be shown.

    Attributes:
        node: the memory.
        value: how useful it is to show it, as a sum of what speaks for it; about 0.5 to 3.
        due: for a deadline, its day ahead, as ISO 8601; None where it has no date.
        newer: ids of memories that may have replaced it.
        exception: where it holds in all projects and this one decided otherwise, that, in words.
        outdated: what changed in the code that it is about, in words.
    """

    node: Node
    value: float
    due: str | None = None
    newer: tuple[str, ...] = ()
    exception: str = ""
    outdated: str = ""


@dataclass(frozen=True, slots=True)
class StandingMemories:
    """What holds now, as lines.

    Attributes:
        sections: the lines of each section, most valuable first.
        holds_until: when time alone makes one of them wrong, in milliseconds; None where nothing does.
    """

    sections: tuple[tuple[InjectedSection, list[InjectedItem]], ...]
    holds_until: int | None


def collect_memories(store: Store, scopes: Sequence[str], now: int) -> StandingMemories:
    """Return what a project's session should know that holds now, with what needs settling last.

    Args:
        store: where the memories are.
        scopes: the project, and `global`.
        now: the time, in milliseconds.
    """
    wanted = [subtype for part in SECTIONS for subtype in part.subtypes]
    nodes = store.openings.list_standing(wanted, scopes, limit=MAX_CANDIDATES)
    rated = {node.key: _rate_memory(node, now) for node in nodes if _may_be_shown(node, now)}
    rivalries, rivals = _find_rivalries(store, rated, scopes)
    _raise_rivals(rated, rivalries, rivals)
    for key, note in describe_exceptions(store, rated, scopes, chars=SHOWN_ID_CHARS).items():
        rated[key] = replace(rated[key], exception=note)
    for key, change in describe_code_changes(store, rated).items():
        rated[key] = replace(rated[key], outdated=change)
    kept = _drop_repeated(sorted(rated.values(), key=_order_by_value))
    sections = [(part, _make_lines(part, memories)) for part, memories in kept.items()]
    sections.append((SETTLING, [_describe_rivalry(one, rivals, rated) for one in rivalries[:MAX_SETTLED]]))
    return StandingMemories(tuple(sections), _find_first_end(kept.values()))


# -- which -------------------------------------------------------------------------------------------------------------


def _may_be_shown(node: Node, now: int) -> bool:
    """Tell whether a memory is somebody's statement, safe to show, and not past."""
    if node.metadata.get("flags") or not is_statement(node) or is_past(node, now):
        return False
    told = node.origin in _TOLD or node.was_told or node.metadata.get("speaker") == "user"
    return node.subtype not in ("insight", "semantic") or told or _present_confidence(node, now) >= MIN_KNOWN_CONFIDENCE


def is_statement(node: Node) -> bool:
    """Tell whether a memory says something by itself: it is neither only a question nor an empty word."""
    if node.origin in _TOLD:
        return not node.content.rstrip().endswith("?")
    said = str(node.metadata.get("quote") or node.content)
    if not (told := drop_questions(said)):
        return False
    return bool(node.metadata.get("about")) or len(analyse_query(told)) > 1 or len(told.split()) > 2


def drop_questions(text: str) -> str:
    """Return a text without the sentences that only ask."""
    pieces = (text[start:end].strip() for start, end in sentence_spans(text))
    return " ".join(piece for piece in pieces if piece and not piece.rstrip("\"'”’»)*_").endswith(("?", "？")))


def _find_first_end(memories: Iterable[Iterable[OpeningMemory]]) -> int | None:
    ends = [end for each in memories for memory in each if (end := _find_end(memory)) is not None]
    return min(ends, default=None)


def _find_end(memory: OpeningMemory) -> int | None:
    """Return when time alone makes a memory past, or has a deadline count down to its next day."""
    ends = (find_end(memory.node), read_day_end(memory.due))
    return min((end for end in ends if end is not None), default=None)


def _present_confidence(node: Node, now: int) -> float:
    return node.confidence * decay_factor(node.decay_rate, now - node.last_accessed)


# -- in which order ----------------------------------------------------------------------------------------------------


def _rate_memory(node: Node, now: int) -> OpeningMemory:
    """Return a memory with its value: who said it, how sure, how new, how often."""
    speaker = _SPEAKER_VALUES.get(str(node.metadata.get("speaker")), _OTHER_VALUE)
    age = max(now - node.event_time, 0) / MS_PER_DAY
    often = math.log2(node.seen_count + node.access_count) if node.seen_count + node.access_count > 1 else 0.0
    value = (
        _ORIGIN_VALUES.get(Origin.TOOL if node.was_told else node.origin, speaker)
        + _present_confidence(node, now)
        + _RECENCY_VALUE * 0.5 ** (age / _RECENCY_DAYS)
        + min(_MAX_REPETITION, _REPETITION_VALUE * often)
    )
    return OpeningMemory(node, value, read_due(node, now) if node.subtype == "deadline" else None)


def _order_by_value(memory: OpeningMemory) -> tuple[float, int, str]:
    return -memory.value, -memory.node.created_at, memory.node.id


def _find_rivalries(
    store: Store, rated: Mapping[NodeKey, OpeningMemory], scopes: Collection[str]
) -> tuple[list[Rivalry], Mapping[NodeKey, Node]]:
    """Return what may be settled among memories, and the nodes that take part.

    What is suspicious has no say, nor has another project's memory in what holds in all of them.
    """
    found = store.openings.list_rivalries(rated)
    nodes = store.nodes.get_by_keys({key for one in found for key in (one.newer, one.older)})
    pairs: dict[frozenset[NodeKey], Rivalry] = {}
    for one in found:
        sides = [nodes[key] for key in (one.newer, one.older)]
        if all(side.scope in scopes and not side.metadata.get("flags") for side in sides):
            pairs.setdefault(frozenset((one.newer, one.older)), one)
    return list(pairs.values()), nodes


def _raise_rivals(
    rated: dict[NodeKey, OpeningMemory], rivalries: Iterable[Rivalry], nodes: Mapping[NodeKey, Node]
) -> None:
    """Give what may replace another memory, and both sides of a contradiction, at least the other's value."""
    for one in rivalries:
        newer, older = rated.get(one.newer), rated.get(one.older)
        most = max((memory.value for memory in (newer, older) if memory is not None), default=0.0) + _SETTLING_VALUE
        if newer is not None:
            rated[one.newer] = replace(newer, value=most + 0.01)
        if older is not None:
            after = (nodes[one.newer].id,) if one.label == "updates" else ()
            rated[one.older] = replace(older, value=most, newer=(*older.newer, *after))


def _drop_repeated(memories: Iterable[OpeningMemory]) -> Mapping[InjectedSection, list[OpeningMemory]]:
    """Return the best memories of each section, without those that say what a better one says."""
    said = SaidBefore()
    kept: dict[InjectedSection, list[OpeningMemory]] = {part: [] for part in SECTIONS}
    for memory in memories:
        part = next(part for part in SECTIONS if memory.node.subtype in part.subtypes)
        if len(kept[part]) < MAX_IN_SECTION and said.add_unless_repeated(memory.node.content):
            kept[part].append(memory)
    return kept


# -- as lines ----------------------------------------------------------------------------------------------------------


def _make_lines(part: InjectedSection, memories: Iterable[OpeningMemory]) -> list[InjectedItem]:
    """Return a section's lines, kind by kind: deadlines by their day, others by their value."""
    chosen = sorted(memories, key=lambda memory: part.subtypes.index(str(memory.node.subtype)))
    if part.subtypes == ("deadline",):
        chosen.sort(key=lambda memory: (memory.due is None, memory.due))
    mixed = len(part.subtypes) > 1
    return [
        InjectedItem(
            memory.node.id, format_memory(memory, with_kind=mixed), memory.value, to_plain_line(memory.node.content)
        )
        for memory in _put_newer_first(chosen)
    ]


def _put_newer_first(memories: Sequence[OpeningMemory]) -> list[OpeningMemory]:
    """Return memories in their order, but what may have replaced one before it, at its place."""
    waiting = {str(memory.node.id): memory for memory in memories}
    ordered: list[OpeningMemory] = []
    for memory in memories:
        newer = [waiting.pop(id) for id in memory.newer if memory.node.id in waiting and id in waiting]
        ordered += newer
        if waiting.pop(memory.node.id, None) is not None:
            ordered.append(memory)
    return ordered


def format_memory(memory: OpeningMemory, *, with_kind: bool) -> str:
    """Return a memory as one line: its kind where its heading doesn't tell, id, day, who said it, and its words."""
    node = memory.node
    kind = f"{node.subtype} " if with_kind else ""
    day = f"due {memory.due}" if memory.due is not None else format_day(node.event_time)
    notes = [day, f"{name_source(node)}{mark_client(node.agent)}"]
    if memory.newer:
        notes.append(describe_possible_successors(memory.newer, chars=SHOWN_ID_CHARS))
    if memory.exception:
        notes.append(memory.exception)
    if memory.outdated:
        notes.append(f"outdated: {to_plain_line(memory.outdated)}")
    return f"- {kind}{node.id[:SHOWN_ID_CHARS]} ({', '.join(notes)}): {_quote_statement(node)}"


def _quote_statement(node: Node) -> str:
    """Return what a memory says in quotation marks; where that is too long, of what it answers only what fits."""
    about, said = (to_plain_line(str(node.metadata.get(name) or "")) for name in ("about", "quote"))
    if not about or not said or len(to_plain_line(node.content)) <= LINE_CHARS:
        return quote_briefly(node.content)
    room = LINE_CHARS - len(said) - len(ANSWERS)
    shown = cut_at_sentence(about, room) if room >= MIN_ABOUT_CHARS else "…"
    return quote_briefly(f"{shown}{ANSWERS}{said}", LINE_CHARS + len(shown) + len(ANSWERS))


def quote_briefly(text: str, limit: int = LINE_CHARS) -> str:
    """Return a text in quotation marks, on one line; of a long one the first sentences that fit."""
    return json.dumps(cut_at_sentence(to_plain_line(text), limit), ensure_ascii=False)


def cut_at_sentence(line: str, limit: int) -> str:
    """Return a line of at most `limit` characters: its first sentences, or its first words; `…` where it was cut."""
    if len(line) <= limit:
        return line
    ends = [end for _, end in sentence_spans(line, 0, 4 * limit) if end < limit]
    if ends and ends[-1] >= limit // 3:
        return f"{line[: ends[-1]].rstrip()} …"
    return f"{line[: limit - 1].rpartition(' ')[0] or line[: limit - 1]}…"


def _describe_rivalry(
    one: Rivalry, nodes: Mapping[NodeKey, Node], shown: Mapping[NodeKey, OpeningMemory]
) -> InjectedItem:
    """Return a line about two memories of which one may no longer hold; it quotes what is shown nowhere else."""
    verb = "may replace" if one.label == "updates" else "contradicts"
    sides = [
        nodes[key].id[:SHOWN_ID_CHARS]
        if key in shown
        else f"{nodes[key].id[:SHOWN_ID_CHARS]} ({quote_briefly(nodes[key].content, 100)})"
        for key in (one.newer, one.older)
    ]
    # The reason of a rule only repeats the verb.
    reason = f": {quote_briefly(one.reason, 120)}" if one.reason and verb not in one.reason else ""
    return InjectedItem(one.edge_id, f"- {sides[0]} {verb} {sides[1]}{reason}", 3.0)
