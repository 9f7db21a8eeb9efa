"""Turn view: what extraction reads of a turn: who spoke, the text, and where its sentences stand."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from hyperloci.conversations.consolidation.pasted_lines import find_pasted_lines
from hyperloci.conversations.handed_plans import keep_own_words
from hyperloci.model.kinds import Origin
from hyperloci.model.node import Node
from hyperloci.system.values import dataclass
from hyperloci.text.language.code_fences import mask_code
from hyperloci.text.language.questions import first_word
from hyperloci.text.language.sentences import sentence_spans
from hyperloci.text.language.word_tables import phrase_pattern, word_set

MAX_READ_CHARS: Final = 20_000
"""Characters of one turn that are looked through: the rest was pasted."""

MAX_SENTENCE_CHARS: Final = 600
"""A longer one is a paste without full stops."""

MAX_ELEMENT_CHARS: Final = 4_000
"""As far as the end of an element is looked for."""

MIN_TOLD_WORDS: Final = 5
"""What is told before a request in the same sentence; `sorry, but can you` tells nothing."""

REQUEST_FORM: Final = (
    r"(?:[,;:–—]|\s-)\s++(?:(?:and|so|but|also|и|а|но|так что)\s++){0,2}@\b|(?<!\s)\s++(?:and|so|but)\s++@\b"
)
"""Where a request begins within a sentence; `@`: the phrases of `consolidation.requests`."""

_CONDITIONS: Final = frozenset({"if", "when", "once", "unless", "before", "after", "если", "когда"})
"""What begins with these is a part of the request behind it."""

USER: Final = "user"
ASSISTANT: Final = "assistant"
ACTION: Final = "action"

_SPEAKERS: Final = {Origin.USER_PROMPT: USER, Origin.CLAUDE_RESPONSE: ASSISTANT}

_NOISE: Final = re.compile(
    r"""^[ \t]*(?:
        [\w.]*\w(?:Error|Exception)\b | Error: | Traceback[ ] | File[ ]"
        | at[ ](?=[^\s(]{0,200}[./\\<$(]|\S{1,200}[ ]\()[^\s(]{1,200}[ ]?(?:\(.{0,300})?:\d
        | \d{4}-\d\d-\d\d[T ]\d\d: | \[?(?:ERROR|WARN|INFO|DEBUG)\b
        | > | \| | \#(?!\d) | --- | === | \$[ ] | [+-]{3}[ ] | @@[ ]
    )""",
    re.VERBOSE,
)
"""How logs, traces, tables, quotations, headings and diffs begin; `#412` is a ticket."""

_OPENED: Final = re.compile(r"<([a-zA-Z][\w-]{0,40}+)[^<>]{0,400}+>")
_CLOSED: Final = re.compile(r"</([a-zA-Z][\w-]{0,40}+)>")
_QUOTATION: Final = re.compile(r'"[^"]{12,2000}"|“[^”]{12,2000}”|«[^»]{12,2000}»|„[^“”]{12,2000}[“”]')
_CODE_BEGINS: Final = re.compile(
    r"""def[ ]\w+\( | class[ ]\w+\s*(?:[({]|:$) | function[ ]\w*\(
        | import[ ][\w.{*]+\s*(?:$|[;,{]|as[ ]|from[ ]) | from[ ][\w.]+[ ]import\b
        | (?:const|let|var)[ ][\w{\[][^.?!]*= | public[ ](?:static[ ]|class[ ]|void[ ]|\w+[ ]\w+\()
        | SELECT\b.*\bFROM\b | <\w.*>""",
    re.VERBOSE,
)
"""How lines of code begin: people begin with `from`, `import` and `class` too."""

_CODE_ENDS: Final = ("{", "}", "=")
_STATEMENT_ENDS: Final = tuple(f"{before};" for before in ")]}\"'`")
_RETURN: Final = "return "


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a turn, word for word. `start` and `end`: where it stands in the turn's text."""

    text: str
    start: int
    end: int

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark."""
        return self.text.endswith("?")


@dataclass(frozen=True)
class TurnView:
    """A turn as extraction reads it.

    Attributes:
        seq: its number in the session.
        speaker: `user`, `assistant` or `action`.
        text: what was said; an action's line.
        at: when it was said, in milliseconds.
        is_flagged: whether it was suspicious when it was stored: nothing is taken from it.
    """

    seq: int
    speaker: str
    text: str
    at: int = 0
    is_flagged: bool = False

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Return its sentences in order; of what the user says, a request is one of its own, and a plan is none."""
        is_user = self.speaker == USER
        text = keep_own_words(self.text) if is_user else self.text
        sentences = read_sentences(text, with_pastes=not is_user)
        if is_user:
            sentences = [part for sentence in sentences for part in _part_request(sentence)]
        return tuple(sentences)

    @cached_property
    def _quotations(self) -> tuple[tuple[int, int], ...]:
        return tuple(match.span() for match in _QUOTATION.finditer(self.text[:MAX_READ_CHARS]))

    def is_quoted(self, number: int) -> bool:
        """Return whether a sentence stands in a quotation, with most of its words."""
        sentence = self.sentences[number]
        inside = sum(max(0, min(end, sentence.end) - max(start, sentence.start)) for start, end in self._quotations)
        return inside > (sentence.end - sentence.start) / 2

    def is_left_out_after(self, number: int) -> bool:
        """Return whether code, a log, a table or a quotation stands between a sentence and the next one."""
        sentences = self.sentences
        end = sentences[number + 1].start if number + 1 < len(sentences) else min(len(self.text), MAX_READ_CHARS)
        return any(map(str.isalnum, self.text[sentences[number].end : end]))


def view_turn(node: Node) -> TurnView | None:
    """Return the view of a stored turn; None for a node that is not in a session."""
    if node.seq is None:
        return None
    speaker = _SPEAKERS.get(node.origin, ACTION)
    return TurnView(node.seq, speaker, node.content, at=node.event_time, is_flagged=bool(node.metadata.get("flags")))


def find_reply_before(turns: Sequence[TurnView], at: int) -> TurnView | None:
    """Return the assistant's words right before a turn, None where the user spoke last."""
    before = next((turn for turn in reversed(turns[:at]) if turn.speaker != ACTION), None)
    return before if before is not None and before.speaker == ASSISTANT and not before.is_flagged else None


def find_reply_after(turns: Sequence[TurnView], at: int) -> TurnView | None:
    """Return the assistant's first words after a turn; None if the user spoke first."""
    after = next((turn for turn in turns[at + 1 :] if turn.speaker != ACTION), None)
    return after if after is not None and after.speaker == ASSISTANT else None


def find_prompt_before(turns: Sequence[TurnView], at: int) -> TurnView | None:
    """Return the user's last words before a turn."""
    return next((turn for turn in reversed(turns[:at]) if turn.speaker == USER), None)


def find_answer_after(turns: Sequence[TurnView], at: int) -> TurnView | None:
    """Return the user's words right after a turn of the assistant's; None if the assistant went on, or nobody did."""
    after = next((turn for turn in turns[at + 1 :] if turn.speaker != ACTION), None)
    return after if after is not None and after.speaker == USER else None


def find_actions_after(turns: Sequence[TurnView], at: int) -> tuple[TurnView, ...]:
    """Return what was done after a turn of the user's and before the next one."""
    until_next = itertools.takewhile(lambda turn: turn.speaker != USER, turns[at + 1 :])
    return tuple(turn for turn in until_next if turn.speaker == ACTION and not turn.is_flagged)


def read_sentences(text: str, *, with_pastes: bool = True) -> list[Sentence]:
    """Return the sentences of a text in order; what is code, a quotation, a table, a log or markup is left out.

    Args:
        text: what was said.
        with_pastes: whether to read also lines that look as if a machine had written them.
    """
    plain = mask_code(text[:MAX_READ_CHARS])
    plain = _blank_elements(_blank_noise(plain if with_pastes else _blank_pastes(plain)))
    found = []
    for start, end in sentence_spans(plain):
        piece = plain[start:end]
        first = start + len(piece) - len(piece.lstrip())
        last = start + len(piece.rstrip())
        if last - first <= MAX_SENTENCE_CHARS and any(map(str.isalnum, piece)):
            found.append(Sentence(text[first:last], first, last))
    return found


def _part_request(sentence: Sentence) -> Iterator[Sentence]:
    """Yield what a sentence tells and what it asks: `I have 48 guests now, can you book the larger room?`"""
    text = sentence.text
    found = phrase_pattern("consolidation.requests", REQUEST_FORM).search(text)
    told = text[: found.start()] if found else ""
    opener = first_word(text)
    if (
        found is None
        or len(told.split()) < MIN_TOLD_WORDS
        or opener in _CONDITIONS | word_set("summary.question_openers")
    ):
        yield sentence
        return
    ask = found.start() + len(found[0]) - len(found[0].lstrip(" \t\n,;:–—-"))
    yield Sentence(told, sentence.start, sentence.start + len(told))
    yield Sentence(text[ask:], sentence.start + ask, sentence.end)


def _blank_noise(text: str) -> str:
    """Return a text of the same length with blanks for lines of code, logs, tables and quotations."""
    lines = text.split("\n")
    return "\n".join(" " * len(line) if _NOISE.match(line) or _is_code(line.strip()) else line for line in lines)


def _is_code(line: str) -> bool:
    """Tell whether a line without the blanks around it is code: people end with a semicolon too."""
    if line.endswith((*_CODE_ENDS, *_STATEMENT_ENDS)) or _CODE_BEGINS.match(line):
        return True
    return line.endswith(";") and ("=" in line or line.startswith(_RETURN))


def _blank_pastes(text: str) -> str:
    """Return a text of the same length with blanks for lines that were pasted."""
    lines = text.split("\n")
    pasted = find_pasted_lines(lines)
    return "\n".join(" " * len(line) if gone else line for line, gone in zip(lines, pasted, strict=True))


def _blank_elements(text: str) -> str:
    """Return a text of the same length with blanks between a tag and its end, if that is not too far behind it."""
    ends: dict[str, list[int]] = {}
    for match in _CLOSED.finditer(text):
        ends.setdefault(match[1], []).append(match.end())
    kept: list[str] = []
    at = 0
    for opened in _OPENED.finditer(text) if ends else ():
        closings = ends.get(opened[1], ())
        number = bisect_left(closings, opened.end())
        if opened.start() >= at and number < len(closings) and closings[number] <= opened.end() + MAX_ELEMENT_CHARS:
            kept += (text[at : opened.start()], " " * (closings[number] - opened.start()))
            at = closings[number]
    return "".join((*kept, text[at:]))
