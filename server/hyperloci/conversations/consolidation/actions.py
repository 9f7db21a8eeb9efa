"""Actions: what the assistant did after the user spoke: what its edits changed, and what its commands took away (B.17).

`make it 45` says little; that `SESSION_LIFETIME=20` became `SESSION_LIFETIME=45` says the rest.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Final

from hyperloci.conversations.consolidation.statement_features import split_words
from hyperloci.conversations.consolidation.text_similarity import meaningful_words
from hyperloci.system.values import dataclass
from hyperloci.text.action_line import read_action_line
from hyperloci.text.language.figures import read_figures

_REMOVING: Final = frozenset({"rm", "uninstall", "remove", "delete", "purge", "unlink", "drop", "destroy", "disable"})
"""Words of a command that takes something away, of whichever program."""

EXAMPLES: Final = re.compile(
    r"(?:^|[/\\_.-])(?:tests?|specs?|fixtures?|mocks?|e2e)(?:[/\\_.-]|$)|[a-z](?:Test|Spec)s?\b"
)
"""A file whose values are examples: what is changed there was never decided."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an edit changed.

    Attributes:
        gone: figures that it took out.
        came: figures that it put in.
        gone_words: words that it took out.
        came_words: words that it put in.
        words: all of its words, those of the file's path too.
    """

    gone: frozenset[str]
    came: frozenset[str]
    gone_words: frozenset[str]
    came_words: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: what edits changed, and the words of what commands took away."""

    changes: tuple[Change, ...]
    removed: frozenset[str]


@functools.lru_cache(maxsize=64)  # The same actions stand beside all that holds, by words and once more by meaning.
def read_actions(lines: tuple[str, ...]) -> Done:
    """Return what the lines of some actions say was done."""
    changes = []
    removed: set[str] = set()
    for line in lines:
        action = read_action_line(line)
        edited = action.edited
        path = frozenset() if edited is None else meaningful_words(edited.path)
        for old, new in () if edited is None or EXAMPLES.search(edited.path) else edited.changes:
            before, after = read_figures(old), read_figures(new)
            words, others = meaningful_words(old), meaningful_words(new)
            changes.append(
                Change(
                    before - after,
                    after - before,
                    _wordy(words - others),
                    _wordy(others - words),
                    words | others | path,
                )
            )
        if action.command is not None and not _REMOVING.isdisjoint(split_words(action.command)):
            removed |= meaningful_words(action.command)
    return Done(tuple(changes), frozenset(removed))


def _wordy(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in words if not word.isdigit())
