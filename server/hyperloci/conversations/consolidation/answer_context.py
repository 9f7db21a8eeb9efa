"""Answer context: the words without which a short answer is not understood (B.17).

What it answers, the option it chooses or the question or offer before it; or the line that was written for it: `make it
eighteen` says of nothing, `EXPIRY_MONTHS = 18L` says of what.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final

from hyperloci.conversations.consolidation.actions import EXAMPLES
from hyperloci.conversations.consolidation.referents import (
    MIN_SUBJECT_WORDS,
    count_subject_words,
    has_identifier,
    lacks_subject,
)
from hyperloci.conversations.consolidation.text_similarity import find_numbers, meaningful_words
from hyperloci.conversations.consolidation.turn_view import MAX_READ_CHARS, Sentence, TurnView
from hyperloci.conversations.edited_lines import may_name_secret, read_edit
from hyperloci.text.language.dates import DateText
from hyperloci.text.language.figures import read_figures, read_said_figures
from hyperloci.text.language.sentences import sentence_spans
from hyperloci.text.language.word_tables import phrase_pattern, read_table

MAX_CONTEXT_CHARS: Final = 280
"""A question or an offer in a sentence or two; more buries the answer."""

MAX_BARE_WORDS: Final = 5
"""An answer of more words to what asks nothing, and is about something else, is a remark: `btw the date slipped`."""

REMARK_WORDS: Final = 3
"""Subject words of a short remark that answers nothing, where nothing was asked and no word is shared (`no threads in
the simulation`); with a figure one is enough (`watchdog 4 s`). In the labelled sessions 41 such sayings of three words
or more answer nothing and 7 answer; with a figure and fewer words 15 and 10; with one or two words and no figure 18
and 41."""

MAX_ANSWER_WORDS: Final = 14
"""A longer one answers a question only if it shares a word with it: people pass over `Do you need anything else?`"""

MAX_PLACE_WORDS: Final = 4
"""Words of an answer that chooses among what is only counted by places (`First: ...`), as steps that were taken are: in
a longer one `first` is a word like any other."""

LEAST_CONVERTED: Final = 60.0
"""A figure in another unit from which on it is no chance: a day is 24 hours, and so is much else."""

_SEVERAL: Final = re.compile(r" and \d+ more$")
"""What stands behind the first path of an edit of several files: nobody can tell which of them a line is of."""

ORDINALS: Final = 5
"""Ordinal words of each language."""

_OPTION: Final = re.compile(
    r"(?:^[ \t]*+\(?(?P<item>\d{1,2}|[A-Za-z])[.)]|(?<=[ \n])\((?P<inline>[A-Za-z\d])\))[ \t]++(?P<text>\S[^\n(]*)",
    re.MULTILINE,
)
"""An item of a list, or one in a sentence: `(a) refuse, (b) decrypt`."""

_COUNTED: Final = re.compile(r"(?<=\s)(?P<mark>[1-9])[.)]\s+(?=[^\W\d_`]|`)")
"""A number that counts, and is no figure: `2) Lightdash`, not `2. 5`."""

_LABELLED: Final = re.compile(r"\s*+(?:[-*•#>|]|\d{1,3}[.)]\s)")
"""How an item of a list or a heading begins: one of many, of which no longer remark answers just that one."""

_BARE_NUMBER: Final = re.compile(r"^\W{0,3}\d{1,2}\W{0,3}$")
_CHOSEN: Final = re.compile(r"^\W{0,3}(?P<mark>\d{1,2}|[A-Za-z])(?=$|[\s.,;:!)])")


def find_answer_context(answer: str, reply: TurnView) -> str | None:
    """Return the words of a reply that an answer needs in order to be understood, word for word.

    Args:
        answer: what the user said.
        reply: the assistant's turn before it.
    """
    options = _list_options(reply.text)
    option = _find_option(answer, reply)
    if option is not None:
        return option
    sentence = _find_answered_sentence(answer, reply.sentences)
    if sentence is None or (options and _BARE_NUMBER.match(answer) and not sentence.is_question):
        return None  # A number that none of the options has chooses none of them.
    return _name_subject(sentence, answer, reply) or _shorten(sentence.text)


def chooses_option(answer: str, reply: TurnView) -> bool:
    """Return whether an answer names one of several options of a reply, by mark or place: `(b)`, `the second`."""
    return _find_option(answer, reply) is not None


def _find_option(answer: str, reply: TurnView) -> str | None:
    """Return the option that an answer chooses; one that is told by its place alone only by an answer of that alone."""
    found = _find_chosen_option(answer, _list_options(reply.text))
    if found is None and len(answer.split()) <= MAX_PLACE_WORDS:
        return _find_chosen_option(answer, _list_placed_options(reply.text))
    return found


def find_written_line(quote: str, actions: Sequence[TurnView]) -> tuple[str, TurnView] | None:
    """Return the line that the assistant wrote a figure of a statement into, and the action; None where it needs none.

    Of several lines that hold the figure the first that shares a word with what was said, or the first; a day is no
    figure.
    """
    parts = (quote[start:end] for start, end in sentence_spans(quote))
    bare = " ".join(part for part in parts if _says_how_much(part))
    lines = [(line, action) for action in actions for line in list_written_lines(action.text, bare)] if bare else []
    if len(lines) > 1:
        words = meaningful_words(bare) - read_figures(bare)
        lines = [(line, action) for line, action in lines if words & meaningful_words(line)] or lines[:1]
    return lines[0] if lines else None


def _says_how_much(part: str) -> bool:
    """Return whether a sentence holds a figure, and names too little of what it is about."""
    if count_subject_words(part) >= MIN_SUBJECT_WORDS or has_identifier(part) or not read_figures(part):
        return False
    return next(DateText(part).find(), None) is None


def list_written_lines(action: str, said: str) -> list[str]:
    """Return the lines of an edit that a figure of what was said came into, each with the file's name.

    Converted figures (`five minutes`, 300) only from LEAST_CONVERTED on. None of an example's (a test's), whose value
    was never decided, and none that may name a secret.
    """
    edited = read_edit(action)
    if edited is None or EXAMPLES.search(edited.path) or _SEVERAL.search(edited.path):
        return []
    plain, figures = read_said_figures(said), read_figures(said)
    name = re.split(r"[/\\]", edited.path)[-1]
    return [
        f"{name}: `{new}`"
        for old, new in edited.changes
        if any(
            figure in figures and (figure in plain or float(figure) >= LEAST_CONVERTED)
            for figure in read_figures(new) - read_figures(old)
        )
        and not may_name_secret(new)
    ]


def find_subject(statement: str, reply: TurnView | None, prompt: TurnView | None) -> tuple[str, TurnView] | None:
    """Return words that name what a statement points to, and the turn that they stand in; None where none do.

    Args:
        statement: what the user said, which leans on what was said before (`referents`).
        reply: the assistant's turn before it.
        prompt: the user's turn before that.
    """
    if reply is not None:
        answered = find_answer_context(statement, reply)
        if answered is not None and count_subject_words(answered) >= MIN_SUBJECT_WORDS:
            return answered, reply
    for turn in filter(None, (reply, prompt)):
        for each in reversed(turn.sentences):
            if count_subject_words(each.text) >= MIN_SUBJECT_WORDS:
                return _shorten(each.text), turn
    return None


def _list_options(text: str) -> dict[str, str]:
    """Return what a reply offers to choose from, by its marks; nothing where it offers less than two."""
    options = {(match["item"] or match["inline"]).lower(): match["text"].rstrip() for match in _OPTION.finditer(text)}
    return options if len(options) > 1 else _list_counted_options(text)


def _list_counted_options(text: str) -> dict[str, str]:
    """Return what is counted within a sentence or two: `either 1. Metabase, which you have, or 2) Lightdash`."""
    found = list(_COUNTED.finditer(text))
    if len(found) < 2 or [match["mark"] for match in found] != [str(number + 1) for number in range(len(found))]:
        return {}
    ends = [*(match.start() for match in found[1:]), len(text)]
    return {
        match["mark"]: text[match.end() : end].partition("\n")[0].strip(" ,;")
        for match, end in zip(found, ends, strict=True)
    }


def _list_placed_options(text: str) -> dict[str, str]:
    """Return what is counted by its place: `First: keep the limit. Second: wait up to 1.5 seconds and no retry.`"""
    found = list(_compile_places().finditer(text[:MAX_READ_CHARS]))
    places = [number % ORDINALS for match in found for number, each in enumerate(match.groups()) if each]
    if len(found) < 2 or places != list(range(len(found))):
        return {}
    ends = [*(match.start() for match in found[1:]), len(text)]
    told = [text[match.end() : end].partition("\n")[0] for match, end in zip(found, ends, strict=True)]
    firsts = [next((each[start:end] for start, end in sentence_spans(each)), each) for each in told]
    return {str(place + 1): first.strip(" ,;") for place, first in enumerate(firsts)}


@functools.cache
def _compile_places() -> re.Pattern[str]:
    """Return the pattern of ordinals with a colon behind them, a group for each."""
    groups = "|".join(f"({words})" for words in read_table("consolidation.ordinals"))
    return re.compile(rf"(?<![^\W_])(?:{groups}):\s+", re.IGNORECASE)


def _find_chosen_option(answer: str, options: Mapping[str, str]) -> str | None:
    if not options:
        return None
    chosen = _CHOSEN.match(answer)
    mark = chosen["mark"].lower() if chosen else None
    if mark not in options and not (mark or "").isdigit() and len(answer.split()) <= MAX_ANSWER_WORDS:
        # In a longer one `first` is a word like any other. `I take the first` begins with no mark.
        named = phrase_pattern("consolidation.option_names", r"\b@\s++(?P<mark>\d{1,2}|[a-z])\b").search(answer)
        mark = named["mark"].lower() if named else _read_ordinal(answer, list(options))
    found = options.get(mark) if mark else None
    return None if found is None else _shorten(found)


def _read_ordinal(answer: str, marks: Sequence[str]) -> str | None:
    """Return the mark that an answer names by its place: `the second`."""
    for number, words in enumerate(read_table("consolidation.ordinals")):
        if re.search(rf"\b(?:{words})\b", answer, re.IGNORECASE):
            place = number % ORDINALS
            return marks[place] if place < len(marks) else None
    if phrase_pattern("consolidation.last_of_several").search(answer):
        return marks[-1]
    return None


def _find_answered_sentence(answer: str, sentences: Sequence[Sentence]) -> Sentence | None:
    """Return the last question, if it is answered; without one, the sentence that shares most words with the answer.

    An answer of a few words answers that sentence, or the last, unless it is a remark. A longer one stands by itself if
    it names its subject, by two words or more, and if it shares none: then it is about something else.
    """
    plain = [sentence for sentence in sentences if _LABELLED.match(sentence.text) is None]
    questions = [sentence for sentence in plain if sentence.is_question]
    words = meaningful_words(answer)
    if questions:
        is_short = len(answer.split()) <= MAX_ANSWER_WORDS
        return questions[-1] if is_short or words & meaningful_words(questions[-1].text) else None
    is_bare = len(answer.split()) <= MAX_BARE_WORDS
    shared = [
        (len(words & meaningful_words(sentence.text)), sentence.start, sentence)
        for sentence in (sentences if is_bare else plain)
    ]
    most, _, best = max(shared, key=lambda found: found[:2], default=(0, 0, None))
    return best if most == 1 or (is_bare and (most or not _is_remark(answer))) else None


def _is_remark(answer: str) -> bool:
    """Return whether a few words tell what they are about, so that they need not answer what was said before them."""
    named = count_subject_words(answer)
    return not lacks_subject(answer) and named >= (1 if find_numbers(answer) else REMARK_WORDS)


def _name_subject(sentence: Sentence, answer: str, reply: TurnView) -> str | None:
    """Return a sentence with the one before it, where it names nothing, and the answer little: `OK?`, `Keep it?`.

    None where it needs none, where none is right before it, or where both are too long. Of 507 sentences that are
    answered in the labelled sessions 21 get one: 16 labels have it too, 2 have the question alone.
    """
    named = count_subject_words(sentence.text)
    if named and count_subject_words(f"{sentence.text} {answer}") >= MIN_SUBJECT_WORDS:
        return None
    number = next(number for number, each in enumerate(reply.sentences) if each.start == sentence.start)
    if number == 0 or reply.is_left_out_after(number - 1):
        return None
    before = reply.sentences[number - 1]
    both = reply.text[before.start : sentence.end]
    names_it = _LABELLED.match(before.text) is None and count_subject_words(before.text) >= MIN_SUBJECT_WORDS
    return both if names_it and len(both) <= MAX_CONTEXT_CHARS else None


def _shorten(text: str) -> str:
    """Return a text of a length that a memory has room for, cut at a word."""
    if len(text) <= MAX_CONTEXT_CHARS:
        return text
    return text[:MAX_CONTEXT_CHARS].rsplit(None, 1)[0]
