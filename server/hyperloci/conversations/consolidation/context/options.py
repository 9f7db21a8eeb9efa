"""Options: what a reply offers to choose from, and which of it an answer names: `(b)`, `the second` (B.17)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.conversations.consolidation.context.answer_lists import find_answered_questions
from hyperloci.conversations.consolidation.turn_view import MAX_READ_CHARS, USER, TurnView, find_reply_before
from hyperloci.system.values import dataclass
from hyperloci.text.language.sentences import drop_emphasis, sentence_spans
from hyperloci.text.language.word_tables import phrase_pattern, read_table, word_set

MAX_ANSWER_WORDS: Final = 14
"""In a longer one `first` is a word like any other."""

MAX_PLACE_WORDS: Final = 4
"""Words of an answer that chooses among what is only counted by places (`First: ...`), as steps that were taken are: in
a longer one `first` is a word like any other."""

ORDINALS: Final = 5
"""Ordinal words of each language."""

_OPTION: Final = re.compile(
    r"(?:^[ \t]*+\(?(?P<item>\d{1,2}|[A-Za-z])[.)]|(?<=[ \n])\((?P<inline>[A-Za-z\d])\))[ \t]++"
    r"(?P<text>\S[^\n(]*+(?:(?:(?<![ \n])\(|\((?![A-Za-z\d]\)))[^\n(]*+)*)",
    re.MULTILINE,
)
"""An item of a list, or one in a sentence, up to the next: `(a) refuse (loudly) in f(x), (b) decrypt`."""

_COUNTED: Final = re.compile(
    r"(?<!\S)[*_]{0,2}(?P<mark>[1-9]|[A-Ha-h])(?:\.[*_]{0,2}(?=\s++[^\d\s])|[):][*_]{0,2}|[*_]{2}[.):]?)"
    r"\s++(?:[–—-]\s++)?(?=[^\W_]|[`*\"„“«'])"
)
_NAMED: Final = r"(?<![^\W_])@\s++(?P<mark>[1-9]|[A-Ha-h])\b[.),:]?[*_]{0,2}[.):]?\s++(?:[–—-]\s++)?"
"""A mark that counts, by itself or behind its name: `2) Lightdash`, `**B** – rsync`, `**Option 2:** a queue`."""

_ROWS: Final = ("123456789", "abcdefgh")
"""What options are counted by."""

_BARE_NUMBER: Final = re.compile(r"^\W{0,3}\d{1,2}\W{0,3}$")
_LAST: Final = re.compile(r"(?<=\s)(?P<mark>\d|[A-Ha-h])[^\w?]{0,3}$")
"""The mark that a short answer ends with: `nimm 2`, `la 1`, `b` in `go with b`; none in `why b?`."""

_CLAUSE_END: Final = re.compile(r"[,;:.](?=\s)(?!\s++(?:[^\W_]\b|[^\W\d_]++\s++\d\b))")
"""Where an answer may go on; before one more mark (`take a, b and c`, `do 1. and 2.`) it chooses several."""

_STARS: Final = "**"

_CHOSEN: Final = re.compile(r"^\W{0,3}(?P<mark>\d{1,2}|[A-Za-z])(?=$|[\s.,;:!)])")


@dataclass(frozen=True, slots=True)
class Option:
    """Something that a reply offers, word for word without emphasis, and where it stands in the reply's text."""

    text: str
    start: int


def find_option(answer: str, reply: TurnView) -> Option | None:
    """Return the option of a reply that an answer names by mark or place; None where it names none.

    One that is told by its place alone (`First: ...`) is named only by an answer of that alone.
    """
    found = _find_chosen_option(answer, _list_options(reply.text))
    if found is None and len(answer.split()) <= MAX_PLACE_WORDS:
        found = _find_chosen_option(answer, _list_placed_options(reply.text))
    if found is None:
        return None
    text = _drop_emphasis(found.text, reply.text[reply.text.rfind("\n", 0, found.start) + 1 : found.start])
    return replace(found, text=text) if text else None


def _drop_emphasis(text: str, before: str) -> str:
    """Return a text without emphasis, nor the end of one that began `before` it in its line: `**1. Redis** – fast`."""
    whole = drop_emphasis(text)
    if _STARS not in drop_emphasis(before):
        return whole
    closed = drop_emphasis(f"{_STARS}{whole}")
    return whole if closed.startswith(_STARS) else closed


def find_choice(turns: Sequence[TurnView], at: int) -> Option | None:
    """Return the option that a short turn of the user's chooses of what the assistant offered right before.

    None where it answers several numbered questions (`context.answer_lists`).
    """
    turn, reply = turns[at], find_reply_before(turns, at)
    words = len(turn.text.split())
    if reply is None or turn.speaker != USER or words > MAX_ANSWER_WORDS:
        return None
    if words <= MAX_PLACE_WORDS and turn.text.rstrip().endswith("?"):
        return None  # Who asks about one (`option 2?`) has not chosen it.
    if find_answered_questions(turns, at):
        return None
    return find_option(turn.text, reply)


def names_no_option(answer: str, reply: TurnView) -> bool:
    """Return whether an answer is the bare number of an option that a reply doesn't offer."""
    return _BARE_NUMBER.match(answer) is not None and bool(_list_options(reply.text))


def _list_options(text: str) -> dict[str, Option]:
    """Return what a reply offers to choose from, by its marks; nothing where it offers less than two."""
    options = {
        (match["item"] or match["inline"]).lower(): Option(match["text"].rstrip(), match.start("text"))
        for match in _OPTION.finditer(text)
    }
    return options if len(options) > 1 else _list_counted_options(text)


def _list_counted_options(text: str) -> dict[str, Option]:
    """Return what is counted within a sentence or two: `either 1. Metabase, which you have, or 2) Lightdash`.

    Of the last one its first sentence: behind that the assistant says which it would take.
    """
    read = text[:MAX_READ_CHARS]
    patterns = (phrase_pattern("consolidation.option_names", _NAMED), _COUNTED)
    # Which stands first: behind the offer its options are often weighed by name (`option 2 is there already`).
    found = min(
        filter(None, (_find_row(pattern, read) for pattern in patterns)), key=lambda row: row[0].start(), default=[]
    )
    if not found:
        return {}
    ends = [*(match.start() for match in found[1:]), len(read)]
    told = [read[match.end() : end].partition("\n")[0] for match, end in zip(found, ends, strict=True)]
    told[-1] = next((told[-1][start:end] for start, end in sentence_spans(told[-1])), told[-1])
    return {
        match["mark"].lower(): Option(each.strip(" ,;*_"), match.end()) for match, each in zip(found, told, strict=True)
    }


def _find_row(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the first match of each mark, if they count from the first on; else nothing."""
    marks: dict[str, re.Match[str]] = {}
    for match in pattern.finditer(text):
        marks.setdefault(match["mark"].lower(), match)
    counts = len(marks) > 1 and any(row.startswith("".join(marks)) for row in _ROWS)
    return list(marks.values()) if counts else []


def _list_placed_options(text: str) -> dict[str, Option]:
    """Return what is counted by its place: `First: keep the limit. Second: wait up to 1.5 seconds and no retry.`"""
    found = list(_compile_places().finditer(text[:MAX_READ_CHARS]))
    places = [number % ORDINALS for match in found for number, each in enumerate(match.groups()) if each]
    if len(found) < 2 or places != list(range(len(found))):
        return {}
    ends = [*(match.start() for match in found[1:]), len(text)]
    told = [text[match.end() : end].partition("\n")[0] for match, end in zip(found, ends, strict=True)]
    firsts = [next((each[start:end] for start, end in sentence_spans(each)), each) for each in told]
    return {
        str(place + 1): Option(first.strip(" ,;"), match.end())
        for place, (first, match) in enumerate(zip(firsts, found, strict=True))
    }


@functools.cache
def _compile_places() -> re.Pattern[str]:
    """Return the pattern of ordinals with a colon behind them, a group for each."""
    groups = "|".join(f"({words})" for words in read_table("consolidation.ordinals"))
    return re.compile(rf"(?<![^\W_])(?:{groups}):\s+", re.IGNORECASE)


def _find_chosen_option(answer: str, options: Mapping[str, Option]) -> Option | None:
    if not options:
        return None
    chosen = _CHOSEN.match(answer)
    mark = chosen["mark"].lower() if chosen else None
    if mark not in options and not (mark or "").isdigit() and len(answer.split()) <= MAX_ANSWER_WORDS:
        # `I take the first` begins with no mark.
        named = phrase_pattern("consolidation.option_names", r"\b@\s++(?P<mark>\d{1,2}|[a-z])\b").search(answer)
        if named is None:
            named = next(filter(None, map(_find_last_mark, _list_beginnings(answer))), None)
        mark = named["mark"].lower() if named else None
        mark = mark if mark in options else _read_ordinal(answer, list(options))
    return options.get(mark) if mark else None


def _list_beginnings(answer: str) -> Iterator[str]:
    """Yield the beginnings of an answer that may choose and no more: `la 1` of `la 1, pero con captura manual`."""
    ends = [*(match.start() for match in _CLAUSE_END.finditer(answer)), len(answer)]
    yield from (answer[:end] for end in ends if len(answer[:end].split()) <= MAX_PLACE_WORDS)


def _find_last_mark(answer: str) -> re.Match[str] | None:
    """Return the mark that an answer ends with, where nothing else is before it than who chooses says.

    What is named there counts something else (`at most 3`, `python 3`), and `not 2` chooses none.
    """
    found = _LAST.search(answer)
    before = answer[: found.start()].lower().replace("’", "'").split() if found else ()
    chooses = all(word.strip(",:;!") in word_set("consolidation.choosing_words") for word in before)
    return found if chooses else None


def _read_ordinal(answer: str, marks: Sequence[str]) -> str | None:
    """Return the mark that an answer names by its place: `the second`."""
    for number, words in enumerate(read_table("consolidation.ordinals")):
        if re.search(rf"\b(?:{words})\b", answer, re.IGNORECASE):
            place = number % ORDINALS
            return marks[place] if place < len(marks) else None
    if phrase_pattern("consolidation.last_of_several").search(answer):
        return marks[-1]
    return None
