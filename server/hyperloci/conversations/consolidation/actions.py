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
from hyperloci.conversations.edited_lines import may_name_secret, read_edit
from hyperloci.system.values import dataclass
from hyperloci.text.language.figures import read_figures, read_said_figures

_REMOVING: Final = frozenset({"rm", "uninstall", "remove", "delete", "purge", "unlink", "drop", "destroy", "disable"})
"""Words of a command that takes something away, of whichever program."""

_TESTS: Final = re.compile(r"(?:^|[/\\_.-])(?:tests?|specs?|fixtures?|mocks?|e2e)(?:[/\\_.-]|$)|[a-z](?:Test|Spec)s?\b")
"""A file whose values are examples: what is changed there was never decided."""

LEAST_CONVERTED: Final = 60.0
"""A figure in another unit from which on it is no chance: a day is 24 hours, and so is much else."""

_SEVERAL: Final = re.compile(r" and \d+ more$")
"""What stands behind the first path of an edit of several files: nobody can tell which of them a line is of."""

_SHELLS: Final = frozenset({"Bash", "PowerShell"})


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


def list_written_lines(action: str, said: str) -> list[str]:
    """Return the lines of an edit that a figure of what was said came into, each with the file's name.

    Converted figures (`five minutes`, 300) only from LEAST_CONVERTED on. None of an example's (a test's), whose value
    was never decided, and none that may name a secret.
    """
    edited = read_edit(action)
    if edited is None or _TESTS.search(edited.path) or _SEVERAL.search(edited.path):
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


@functools.lru_cache(maxsize=64)  # The same actions stand beside all that holds, by words and once more by meaning.
def read_actions(lines: tuple[str, ...]) -> Done:
    """Return what the lines of some actions say was done."""
    changes = []
    removed: set[str] = set()
    for line in lines:
        edited = read_edit(line)
        path = frozenset() if edited is None else meaningful_words(edited.path)
        for old, new in () if edited is None or _TESTS.search(edited.path) else edited.changes:
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
        name, _, command = line.partition(": ")
        if name in _SHELLS and not _REMOVING.isdisjoint(split_words(command)):
            removed |= meaningful_words(command)
    return Done(tuple(changes), frozenset(removed))


def _wordy(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in words if not word.isdigit())
