"""Releases: whether that has come until which an older statement holds (B.17).

`nothing gets merged until #431 is in` ends with `#431 went in last night`, which replaces nothing and is no memory by
itself. A logistic regression over the words that both share and those of the newer tells it from talk about the same
thing (`#431 needs a rebase`); its weights are data (`data/release_scorer.json`), trained by
`python -m bench train_releases` on statements written for it.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

from hyperloci.conversations.consolidation.statement_features import is_asking, read_cues, split_words
from hyperloci.conversations.consolidation.text_similarity import meaningful_words
from hyperloci.conversations.consolidation.turn_view import USER, TurnView
from hyperloci.knowledge.logistic import weigh_values

RELEASED: Final = 0.7
"""Probability from which on it has come: of writers nothing was learned from 115 of 321 are told, with 16 of 461
passages on the same thing and 3 of 4,280 on others (docs/benchmarks/changed-minds.md, "Until something comes")."""

MAX_SENTENCES: Final = 12
"""Sentences of a turn that are looked at: whoever tells that it has come says so early, or among few."""

MAX_CONDITION: Final = 200
"""Characters of a condition."""

BEGINS: Final = "begins shared"
"""The feature that a passage begins with a word of the statement."""

MAX_SHARED: Final = 3
"""More shared words tell no more."""

_CONDITION: Final = re.compile(
    r"\b(?:until|till|til|as long as|so ?lange|bis(?! (?:dahin|jetzt)\b)|jusqu\w{0,3}|tant que|hasta|mientras|пока)\b"
    rf"(?P<clause>.{{1,{MAX_CONDITION}}})",
    re.IGNORECASE | re.DOTALL,
)
_CLAUSE_END: Final = re.compile(r"[.!?…,]\s|\n|\.\.")
_WEIGHTS_FILE: Final = Path(__file__).parent / "data" / "release_scorer.json"


def read_condition(statement: str) -> str | None:
    """Return the words that say until what a statement holds; None if it holds for good."""
    found = _CONDITION.search(statement)
    return found["clause"] if found else None


def find_release(statement: str, turn: str) -> str | None:
    """Return the words of a turn that tell that a statement's condition has come; None if none do.

    Args:
        statement: what was said before, with a condition (`read_condition`).
        turn: what the user says now.
    """
    for passage in split_passages(turn):
        features = read_release_features(statement, passage)
        # Whoever tells that it has come begins with what has: without that 11 of 4,280 other passages are told.
        if BEGINS in features and _weigh(features) >= RELEASED:
            return passage
    return None


def split_passages(turn: str) -> list[str]:
    """Return each sentence of a turn with the one after it."""
    sentences = [sentence.text for sentence in TurnView(0, USER, turn).sentences[: MAX_SENTENCES + 1]]
    return [" ".join(sentences[at : at + 2]) for at in range(min(len(sentences), MAX_SENTENCES))]


def read_release_features(statement: str, passage: str) -> dict[str, float]:
    """Return what tells whether a passage releases a statement.

    Counts of words that it shares with the statement and with its condition, where it begins to; its words and pairs of
    words, once more apart by whether it speaks of the condition; its cues; whether it asks; how long it is.
    """
    words, stems = split_words(passage), _read_stems(passage)
    condition = _read_stems(read_condition(statement) or "")
    shared, met = stems & _read_stems(statement), stems & condition
    opening = _CLAUSE_END.split(passage, maxsplit=1)[0]
    begins = _read_stems(opening)
    speaks = "+" if met or len(shared) > 1 else "-"
    found = dict.fromkeys(_name_counts("shared", len(shared)), 1.0) | dict.fromkeys(_name_counts("met", len(met)), 1.0)
    found["share met"] = len(met) / max(1, len(condition))
    found["length"] = min(len(words), 40) / 20
    signs = {
        BEGINS: begins & shared,
        "begins met": begins & condition,
        "has condition": condition,
        "question": passage.rstrip().endswith("?"),
        "asks": is_asking(opening),
    }
    found.update((name, 1.0) for name, is_there in signs.items() if is_there)
    found.update((f"{kind}:{word}", 1.0) for word in set(words) for kind in ("w", f"w{speaks}"))
    found.update((f"b:{one} {other}", 1.0) for one, other in pairwise(words))
    found.update((f"{kind}:{cue}", 1.0) for cue in read_cues(words) for kind in ("c", f"c{speaks}"))
    found.update((f"^{word}", 1.0) for word in split_words(opening)[:2])
    return found


def _name_counts(name: str, count: int) -> Iterator[str]:
    yield from (f"{name}>={number}" for number in range(1, min(count, MAX_SHARED) + 1))


@functools.lru_cache(maxsize=512)  # A statement is put beside each sentence of a turn.
def _read_stems(text: str) -> frozenset[str]:
    return meaningful_words(text)


def _weigh(features: Mapping[str, float]) -> float:
    return weigh_values(load_release_weights(), features)


@functools.cache
def load_release_weights() -> Mapping[str, float]:
    """Return the trained weights; the intercept under ''."""
    found: Mapping[str, float] = json.loads(_WEIGHTS_FILE.read_text(encoding="utf-8"))
    return found
