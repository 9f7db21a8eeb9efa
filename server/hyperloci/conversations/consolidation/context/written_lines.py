"""Written lines: what the assistant wrote for a statement that only says how much (B.17).

`make it eighteen` says of nothing, `EXPIRY_MONTHS = 18L` says of what.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.conversations.consolidation.actions import EXAMPLES
from hyperloci.conversations.consolidation.text_similarity import meaningful_words
from hyperloci.conversations.consolidation.turn_view import TurnView
from hyperloci.conversations.edited_lines import may_name_secret
from hyperloci.conversations.referents import MIN_SUBJECT_WORDS, count_subject_words, has_identifier
from hyperloci.text.action_line import read_action_line
from hyperloci.text.language.dates import DateText
from hyperloci.text.language.figures import read_figures, read_said_figures
from hyperloci.text.language.sentences import sentence_spans

LEAST_CONVERTED: Final = 60.0
"""A figure in another unit from which on it is no chance: a day is 24 hours, and so is much else."""


def find_written_line(quote: str, actions: Sequence[TurnView]) -> tuple[str, TurnView] | None:
    """Return the line that the assistant wrote a figure of a statement into, and the action; None where it needs none.

    Of several lines that hold the figure the first that shares a word with what was said, or the first; a day is no
    figure. Who says both figures (`five is too stressful, make it eight`) means the line in which the one became the
    other, whatever else is said of it.
    """
    parts = (quote[start:end] for start, end in sentence_spans(quote))
    bare = " ".join(part for part in parts if _says_how_much(part))
    lines = [(line, action) for action in actions for line in list_written_lines(action.text, bare)] if bare else []
    if len(lines) > 1:
        words = meaningful_words(bare) - read_figures(bare)
        lines = [(line, action) for line, action in lines if words & meaningful_words(line)] or lines[:1]
    return lines[0] if lines else _find_exchange(quote, actions)


def _find_exchange(quote: str, actions: Sequence[TurnView]) -> tuple[str, TurnView] | None:
    """Return the one line in which a figure that was said became another that was said too; None where it is named."""
    plain = read_said_figures(quote)
    lines = [
        (line, action)
        for action in actions
        for old, new, line in _list_set_lines(action.text)
        if plain & (read_figures(old) - read_figures(new)) and plain & (read_figures(new) - read_figures(old))
    ]
    named = has_identifier(quote) or (lines and meaningful_words(quote) & meaningful_words(lines[0][0]) - plain)
    return lines[0] if len(lines) == 1 and not named else None


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
    plain, figures = read_said_figures(said), read_figures(said)
    return [
        line
        for old, new, line in _list_set_lines(action)
        if any(
            figure in figures and (figure in plain or float(figure) >= LEAST_CONVERTED)
            for figure in read_figures(new) - read_figures(old)
        )
    ]


def _list_set_lines(action: str) -> Iterator[tuple[str, str, str]]:
    """Yield the lines that an edit changed: what each was and became, and how it is told, with the file's name."""
    edited = read_action_line(action).edited
    if edited is None or edited.is_one_of_several or EXAMPLES.search(edited.path):
        return
    name = re.split(r"[/\\]", edited.path)[-1]
    yield from ((old, new, f"{name}: `{new}`") for old, new in edited.changes if not may_name_secret(new))
