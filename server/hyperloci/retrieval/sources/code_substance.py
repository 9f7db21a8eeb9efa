"""Code substance: whether a piece of code does something, or declares and describes what others do.

Who asks where something is done wants the code that decides it. The type that names its parts, the table of options and
the builder of a command line are documented in the words of the question, and stand before it by words and by meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import SearchCandidate
from hyperloci.retrieval.sources.question_shape import QuestionShape, find_shape

LEAST_BRANCHING: Final = 0.9
ENOUGH_BRANCHES: Final = 3
"""From the one factor to 1 at so many words of control."""

COMMENTED: Final = 0.15
"""What code loses that is all comment, of a part as much of it. With both 81 of 101 questions for a place on nine
repositories are answered among five instead of 77, 49 at once instead of 40; 0.85 to 0.95, 1 to 6 words, 0 to 0.3 are
within one among five; 0.8 or 0.9 for types alone answers none more (docs/benchmarks/questions.md, "Questions")."""

_CONTROL: Final = (
    "if|elif|else|for|while|match|switch|case|return|catch|except|rescue|raise|throw|await|yield|unless|when"
)
"""Words that decide or hand on, in the languages that are read; one that a language lacks stands nowhere in it."""

_LEXEMES: Final = re.compile(
    # A comment: of two kinds to the end of the line, a block, a text in triple quotes.
    r"(?P<comment>//[^\n]*+|(?<!\S)#[ \t][^\n]*+|/\*(?>(?:[^*]++|\*(?!/))*)(?>(?:\*/)?)"
    r'|"""(?>(?:[^"\\]++|\\.|"(?!""))*)(?>(?:""")?))'
    # A string, in which words of control are text. A quote that begins none (a lifetime in Rust) is not followed far.
    r'|"(?>(?:[^"\\\n]++|\\.)*)"?+' + r"|'(?>(?:[^'\\\n]|\\.){0,120})'|`(?>(?:[^`\\]++|\\.)*)`?+"
    rf"|\b(?P<control>{_CONTROL})\b",
    re.DOTALL,
)


def weigh_substance(code: str) -> float:
    """Return the factor of a piece of code that is asked for as a place: 1 for what decides and is no comment."""
    commented = branches = 0
    for found in _LEXEMES.finditer(code):
        if found.lastgroup == "comment":
            commented += found.end() - found.start()
        elif found.lastgroup == "control":
            branches += 1
    branching = LEAST_BRANCHING + (1 - LEAST_BRANCHING) * min(1.0, branches / ENOUGH_BRANCHES)
    return branching * (1 - COMMENTED * commented / max(1, len(code)))


def find_substance_factors(query: str, nodes: Mapping[NodeKey, SearchCandidate]) -> dict[NodeKey, float]:
    """Return the factors of the code among candidates; none where no place is asked for."""
    if find_shape(query) is not QuestionShape.PLACE:
        return {}
    return {key: weigh_substance(node.content) for key, node in nodes.items() if node.subtype == "code"}
