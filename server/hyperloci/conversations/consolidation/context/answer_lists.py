"""Answer lists: which of several numbered questions each item of an answer answers (B.17).

Agents ask five things at once, and are told `1. yes` to `5. show all three`: alone such an item says nothing.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from hyperloci.conversations.consolidation.turn_view import ASSISTANT, MAX_READ_CHARS, USER, TurnView
from hyperloci.conversations.referents import read_words
from hyperloci.system.values import dataclass
from hyperloci.text.language.sentences import drop_emphasis, sentence_spans

QUESTION_CHARS: Final = 140
"""Of each question: five of them introduce five answers of a few words."""

ASKING_CHARS: Final = 600
"""How far a question may go on below its first line, with what there is to choose from."""

MAX_REPLIES: Final = 3
"""Messages of the assistant's that are looked through, from the last on."""

JOINT: Final = " … "
"""Between two questions, the heading of one and what it asks, what introduces a list and the item that is told."""

_ITEM: Final = re.compile(
    r"^(?P<indent>[ \t]*+)(?:#{1,6}[ \t]++)?[*_]{0,2}\(?(?P<mark>\d{1,2}|[A-Za-z])[*_]{0,2}[.):][*_]{0,2}[ \t]++"
    r"(?P<text>\S[^\n]*+)",
    re.MULTILINE,
)
"""An item of a numbered list, or a numbered heading: `2) sort by day`, `### 4. **Admin views**`."""

_INLINE: Final = re.compile(r"(?<![^\s(])(?P<mark>\d|[A-Za-z])(?P<sign>[.):]?)[ \t]+(?=[^\s\d])")
"""A mark within a line: `1 yes. 2 no, CI only compiles`, `Before I begin: 1. which part hurts? 2. is there a test?`."""

_FIRST: Final = frozenset({"1", "a"})
"""What a list begins with."""

_EMPTY_LINE: Final = re.compile(r"\n[ \t]*+\r?\n")
"""Ends the last item: what follows answers no question (`3. old ones`, then `Thanks!`)."""

_BULLET: Final = re.compile(r"^[-*•]\s+")


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A numbered question, the turn that asks it, and where its answer begins and ends in the user's turn."""

    text: str
    turn: TurnView
    start: int
    end: int


def find_answered_questions(turns: Sequence[TurnView], at: int) -> tuple[AnsweredQuestion, ...]:
    """Return what the numbered items of a user's turn answer, in order; nothing where they answer no such questions.

    They do where there are two or more, each with the mark of an item of one list that the assistant told right before,
    and where half of those items ask. Other lists are of the user's own: steps, wishes.
    """
    turn = turns[at]
    given = _list_items(turn.text[:MAX_READ_CHARS]) if turn.speaker == USER else ()
    for reply in _list_replies(turns[:at]) if given else ():
        asked = _match_lists(tuple(mark for mark, _ in given), reply.text[:MAX_READ_CHARS])
        if asked:
            over = _EMPTY_LINE.search(turn.text, given[-1][1])
            ends = [*(start for _, start in given[1:]), over.start() if over else len(turn.text)]
            return tuple(
                AnsweredQuestion(text, reply, start, end)
                for text, (_, start), end in zip(asked, given, ends, strict=True)
            )
    return ()


def _list_replies(before: Sequence[TurnView]) -> Iterator[TurnView]:
    """Yield what the assistant said since the user spoke last, the last first: behind its questions it may go on."""
    since = itertools.takewhile(lambda turn: turn.speaker != USER, reversed(before))
    yield from itertools.islice((turn for turn in since if turn.speaker == ASSISTANT), MAX_REPLIES)


@functools.lru_cache(maxsize=1)  # Each sentence of a turn asks for it.
def _list_items(answer: str) -> tuple[tuple[str, int], ...]:
    """Return the marks of an answer's items and where they begin; nothing where they don't count on."""
    given = [(item["mark"].lower(), item.start()) for item in _ITEM.finditer(answer)]
    if len(given) < 2:
        given = _list_inline_items(answer)
    counts = all(_place(one) < _place(other) for (one, _), (other, _) in pairwise(given))
    return tuple(given) if len(given) > 1 and counts else ()


def _list_inline_items(answer: str) -> list[tuple[str, int]]:
    """Return the items that an answer counts within a line: one begins it, and each of the others is the next.

    None where one of them says nothing: who takes `1 and 2` chooses among options.
    """
    given: list[tuple[str, int]] = []
    for item in _INLINE.finditer(answer):
        mark = item["mark"].lower()
        if not given and answer[: item.start()].strip():
            return []
        if not given or _follows(given[-1][0], mark):
            given.append((mark, item.start()))
    texts = [answer[start:end].split()[1:] for (_, start), (_, end) in pairwise([*given, ("", len(answer))])]
    joins = read_words("connectives")
    return given if all(any(word.strip(".,").lower() not in joins for word in text) for text in texts) else []


@functools.lru_cache(maxsize=MAX_REPLIES)
def _match_lists(marks: tuple[str, ...], reply: str) -> tuple[str, ...]:
    """Return the questions of a reply with some marks: of its lists that have them all the one that asks most."""
    best: dict[str, str] = {}
    most = len(marks) / 2
    for questions in _list_questions(reply):
        asked = sum("?" in questions.get(mark, "") for mark in marks)
        if asked >= most and all(mark in questions for mark in marks):
            best, most = questions, asked
    return tuple(f"{mark}. {_shorten(best[mark])}" for mark in marks) if best else ()


def _place(mark: str) -> tuple[bool, int]:
    """Return the place of a mark in its row; letters come before numbers, and a row of both is none."""
    return mark.isdigit(), int(mark) if mark.isdigit() else ord(mark)


def _list_questions(reply: str) -> list[dict[str, str]]:
    """Return the lists of a reply, each with what stands under a mark: the item, and below it what belongs to it."""
    rows: list[list[re.Match[str]]] = []
    inline = _list_inline_questions(reply)
    awaiting: dict[tuple[str, bool, int], list[list[re.Match[str]]]] = defaultdict(list)
    """The lists that an item would go on, by its indent and its place: of several it goes on the last."""
    for item in _ITEM.finditer(reply):
        indent, (is_number, number) = item["indent"], _place(item["mark"].lower())
        if going_on := awaiting[indent, is_number, number]:
            row = going_on.pop()
        elif item["mark"].lower() in _FIRST:
            rows.append(row := [])
        else:
            continue
        row.append(item)
        awaiting[indent, is_number, number + 1].append(row)
    return inline + [
        {
            item["mark"].lower(): reply[item.start("text") : min(end, item.end() + ASKING_CHARS)]
            for item, end in zip(row, [*(other.start() for other in row[1:]), len(reply)], strict=True)
        }
        for row in rows
        if len(row) > 1
    ]


def _list_inline_questions(reply: str) -> list[dict[str, str]]:
    """Return the lists that a reply counts within a line, each question up to its question mark."""
    rows: list[list[re.Match[str]]] = []
    for item in _INLINE.finditer(reply):
        mark = item["mark"].lower()
        if not item["sign"]:
            continue
        if rows and _follows(rows[-1][-1]["mark"].lower(), mark):
            rows[-1].append(item)
        elif mark in _FIRST:
            rows.append([item])
    found = []
    for row in rows:
        ends = [*(other.start() for other in row[1:]), len(reply)]
        told = [reply[item.end() : end].partition("\n")[0] for item, end in zip(row, ends, strict=True)]
        asked = [text[: text.find("?") + 1] or text for text in told]
        found.append({item["mark"].lower(): text for item, text in zip(row, asked, strict=True)})
    return [questions for questions in found if len(questions) > 1]


def _follows(mark: str, other: str) -> bool:
    """Return whether one mark is the next after another in its row."""
    is_number, number = _place(mark)
    return _place(other) == (is_number, number + 1)


def _shorten(question: str) -> str:
    """Return the first line of a question, with what it asks where that stands below."""
    line, _, below = question.partition("\n")
    text = drop_emphasis(line).strip(" \t*_#")
    if "?" not in line:
        parts = (_BULLET.sub("", below[start:end].strip()) for start, end in sentence_spans(below))
        asked = next((part for part in map(drop_emphasis, parts) if part.endswith("?")), "")
        text += f"{JOINT}{asked}" if asked else ""
    return text if len(text) <= QUESTION_CHARS else text[:QUESTION_CHARS].rsplit(None, 1)[0]
