"""Parts: how likely a statement that changes an older one changes only a part of it (B.17, B.19).

`Retries: keep 5, backoff 200 ms, jitter always on` and `make it 3, the rest stays`: the older one must not end, or the
rules that still hold are lost with it. A logistic regression over what the two share (`features`), how much the older
one says besides, and the words of the newer tells it; its weights are data (`data/part_scorer.json`), trained by
`python -m bench train_parts` on changes in the labelled sessions.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hyperloci.conversations.consolidation.replacement.features import (
    ComparedStatement,
    WordRarity,
    compare_statements,
)
from hyperloci.conversations.consolidation.replacement.surroundings import Surroundings
from hyperloci.conversations.consolidation.text_similarity import meaningful_words
from hyperloci.knowledge.logistic import weigh_values
from hyperloci.text.language.sentences import sentence_spans

PART: Final = 0.75
"""Probability from which on only a part changes, so that both stand, the newer first: in cross-validation over projects
four of five that are told so are in part, a fifth of all that are. From .6 on more past statements stay than rules that
hold are saved (docs/benchmarks/changed-minds.md, "What a change leaves")."""

MOST: Final = 6
"""Clauses and figures are counted so far."""

WORD: Final = "word:"
"""Features of single words of the newer statement."""

WORD_VALUE: Final = 0.5
"""What a single word counts beside the other features, which say more."""

_LEFT_OUT: Final = ("w:", "b:", "before1:", "before2:", "after:")
"""Features of single words of both that `features` makes for the scorer of replacements."""

ITEMS: Final = 3
"""So many things side by side are a list."""

ITEM_WORDS: Final = 3
"""A thing of a list has no more words: what has is a clause, which `score_part` weighs."""

_BETWEEN_ITEMS: Final = re.compile(r",\s*(?:(?:and|und|и)\s)?|\s(?:and|und|и)\s")
_CLAUSE_END: Final = re.compile(r"[.!?]\s+|;\s*|,\s+|\s(?:and|but|und|aber|и|но)\s|\n")
_WEIGHTS_FILE: Final = Path(__file__).parent / "data" / "part_scorer.json"


def score_part(new: ComparedStatement, old: ComparedStatement, around: Surroundings) -> float:
    """Return how likely a newer statement, which changes an older one, leaves the rest of it as it was.

    Args:
        new, old: the two.
        around: what the assistant said right before and after the newer one, and what it did.
    """
    return weigh_values(load_part_weights(), read_part_features(new, old, around))


def names_some_items(new: ComparedStatement, old: ComparedStatement) -> bool:
    """Return whether an older statement lists things, and a newer one speaks of some of them and not of the others.

    `we use Redis, Celery and Flower` and `RabbitMQ instead of Redis`: the others go on.
    """
    items = _list_items(old.quote)
    named = [not new.all_words.isdisjoint(meaningful_words(item)) for item in items]
    return len(items) >= ITEMS and any(named) and not all(named)


def _list_items(text: str) -> list[str]:
    """Return the things that one sentence lists, without the words before the first and after the last; else none."""
    if len(list(sentence_spans(text))) > 1:
        return []
    pieces = [piece.split() for piece in _BETWEEN_ITEMS.split(text.strip().rstrip("."))]
    if not all(pieces) or any(len(piece) > ITEM_WORDS for piece in pieces[1:-1]):
        return []
    return [pieces[0][-1], *map(" ".join, pieces[1:-1]), pieces[-1][0]]


def read_part_features(new: ComparedStatement, old: ComparedStatement, around: Surroundings) -> dict[str, float]:
    """Return what tells whether a part is left: the features of the pair, the clauses of the older one that the newer
    says nothing of, figures and lengths, and the newer one's words."""
    [pair] = compare_statements(new, [old], WordRarity.of([old, new]), None, around)
    clauses = _split_clauses(old.quote)
    untouched = sum(1 for clause in clauses if new.all_words.isdisjoint(meaningful_words(clause)))
    return {
        **{name: value for name, value in pair.items() if not name.startswith(_LEFT_OUT)},
        "clauses": min(MOST, len(clauses)) / MOST,
        "untouched": min(MOST, untouched) / MOST,
        "new clauses": min(MOST, len(_split_clauses(new.quote))) / MOST,
        "figures": min(MOST, len(old.numbers)) / MOST,
        "figures left": min(MOST, len(old.numbers - new.numbers)) / MOST,
        "new figures": min(MOST, len(new.numbers)) / MOST,
        "length": math.log1p(len(old.tokens)) / MOST,
        "new length": math.log1p(len(new.tokens)) / MOST,
        **{f"{WORD}{token}": WORD_VALUE for token in set(new.tokens)},
    }


def _split_clauses(text: str) -> list[str]:
    """Return the pieces of a text that say something by themselves: two words or more."""
    return [piece for piece in _CLAUSE_END.split(text) if len(piece.split()) > 1]


@functools.cache
def load_part_weights() -> Mapping[str, float]:
    """Return the trained weights; the intercept under ''."""
    found: Mapping[str, float] = json.loads(_WEIGHTS_FILE.read_text(encoding="utf-8"))
    return found
