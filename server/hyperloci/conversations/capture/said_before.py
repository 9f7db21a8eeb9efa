"""Said before: whether a statement only repeats one that was shown already."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final, Self

from hyperloci.store.keywords.analysis import analyse_text
from hyperloci.system.values import dataclass
from hyperloci.text.language.negation import count_negations

_SAME_SHARE: Final = 0.85
"""The share of a statement's words that stand in another, in the same order, from which on it repeats that one."""


class SaidBefore:
    """Statements, to ask whether another one repeats one of them."""

    def __init__(self) -> None:
        self._said: list[Wording] = []
        self._with_word: dict[str, list[int]] = {}

    def add_unless_repeated(self, text: str) -> bool:
        """Add a statement; return False if it only repeats one that is there."""
        wording = Wording.of_text(text)
        if any(wording.repeats(self._said[place]) for place in self._find_alike(wording)):
            return False
        for word in wording.distinct:
            self._with_word.setdefault(word, []).append(len(self._said))
        self._said.append(wording)
        return True

    def _find_alike(self, wording: Wording) -> set[int]:
        """Return which statements may share enough words: what lacks few lacks not all of its rarest ones."""
        most_lacking = int((1 - _SAME_SHARE) * len(wording.distinct))
        rarest = sorted(wording.distinct, key=lambda word: len(self._with_word.get(word, ())))
        return {place for word in rarest[: most_lacking + 1] for place in self._with_word.get(word, ())}


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a statement, each of them once, and how often it denies."""

    words: tuple[str, ...]
    distinct: frozenset[str]
    negations: int

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Return the wording of a text."""
        words = tuple(analyse_text(text))
        return cls(words, frozenset(words), count_negations(text))

    def repeats(self, other: Wording) -> bool:
        """Tell whether it only repeats another: the same words in the same order, the same numbers, denied as often."""
        mine, theirs = self.distinct, other.distinct
        if not mine or len(mine & theirs) < _SAME_SHARE * len(mine) or self.negations != other.negations:
            return False
        if any(any(map(str.isdigit, word)) for word in mine - theirs):
            return False
        blocks = SequenceMatcher(None, self.words, other.words, autojunk=False).get_matching_blocks()
        return sum(block.size for block in blocks) >= _SAME_SHARE * len(self.words)
