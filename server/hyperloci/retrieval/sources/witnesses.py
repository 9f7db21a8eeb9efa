"""Witnesses: what tests, commits and documents say of code that does not say it itself.

Who asks where something is done uses the words of its purpose; the code has those of its mechanism. The test that
checks it, the commit that made it and the page that describes it are written in the words of the purpose, and each is
joined to the code by a relation: what the question finds there counts for that code too, the less the more a witness
speaks of at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.retrieval.sources.question_shape import QuestionShape, find_shape
from hyperloci.retrieval.sources.source_factors import SourceKind, tell_source_kind
from hyperloci.store import Store
from hyperloci.store.memories.nodes import NodeSource

TESTIMONY_SHARE: Final = 0.4
"""Of what the best witness scores, what is added to the code that it speaks of. By words alone 12 of 36 questions for a
place lead with their answer instead of 10; with 0.3 13 do and one fewer has it among five, with 0.6 12
(docs/benchmarks.md, "Questions")."""

MAX_WITNESSES: Final = 20
MAX_TARGETS: Final = 20
"""Witnesses heard, and code that becomes a candidate by what they say; twice as many gain one of 36 places."""

FOCUS: Final = 3.0
"""Pieces of code spoken of at once by which a witness says about half as much of each; 1 does the same."""

WITNESS_KINDS: Final = frozenset({SourceKind.TEST, SourceKind.COMMIT, SourceKind.DOCUMENT})
WITNESS_LABELS: Final = ("tests", "changed", "documents")

Score = Callable[[Sequence[NodeKey]], Mapping[NodeKey, float]]
"""What memories score by a question's meaning and words, 0..1."""


def wants_witnesses(query: str) -> bool:
    """Return whether a question is for a place, which others may tell of."""
    return find_shape(query) is QuestionShape.PLACE


def choose_witnesses(sources: Mapping[NodeKey, NodeSource], likely: Mapping[NodeKey, float]) -> list[NodeKey]:
    """Return the likeliest tests, commits and documents of what was found."""
    among = [key for key, source in sources.items() if tell_source_kind(source) in WITNESS_KINDS]
    return sorted(among, key=lambda key: (-likely[key], key))[:MAX_WITNESSES]


def hear_witnesses(store: Store, witnesses: Sequence[NodeKey], score: Score) -> dict[NodeKey, float]:
    """Return what the best witness of each piece of a project's code adds to its score, the most first."""
    stated = store.edges.list_stated(witnesses, WITNESS_LABELS)
    if not stated:
        return {}
    scores = score(list(dict.fromkeys(item.witness for item in stated)))
    heard: dict[NodeKey, float] = {}
    for item in stated:
        value = scores.get(item.witness, 0.0) * item.confidence * FOCUS / (FOCUS + item.count - 1)
        heard[item.target] = max(value, heard.get(item.target, 0.0))
    sources = store.nodes.get_sources(heard)
    told = [key for key in heard if tell_source_kind(sources[key]) is SourceKind.CODE]
    best = sorted(told, key=lambda key: (-heard[key], key))[:MAX_TARGETS]
    return {key: TESTIMONY_SHARE * heard[key] for key in best}
