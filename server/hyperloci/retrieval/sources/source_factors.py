"""Source factors: what code, tests, documents, settings and commits are worth to a question, by how it is asked.

Who asks where something is done wants the code that does it, not its tests nor the page that mentions it; who asks why,
the commit; who asks how to set something, a document or a file of settings. What people said or had remembered is
preferred by nothing here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.retrieval.sources.question_shape import QuestionShape, find_shape
from hyperloci.store.memories.nodes import NodeSource
from hyperloci.text.chunking.file_kinds import is_changelog_path
from hyperloci.text.chunking.programming_languages import is_test_path

_TEST_SYMBOL: Final = re.compile(r"(?:^|\.)(?:tests?(?:$|\.)|test_)")
"""Tests beside the code that they test, in its own file, as in Rust."""

_ASIDE: Final = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|docs?|documentation|bench(?:marks?|suite)?|vendor|third_party)/"
)
"""Folders whose code and settings show, measure or are copied into a program, but are none of its own."""


class SourceKind(StrEnum):
    """What shows a part of a project."""

    CODE = "code"
    TEST = "test"
    SAMPLE = "sample"
    DOCUMENT = "document"
    CHANGELOG = "changelog"
    SETTINGS = "settings"
    COMMIT = "commit"


FACTORS: Final[Mapping[QuestionShape, Mapping[SourceKind, float]]] = MappingProxyType(
    {
        QuestionShape.PLACE: {
            SourceKind.TEST: 0.6,
            SourceKind.SAMPLE: 0.6,
            SourceKind.DOCUMENT: 0.7,
            SourceKind.CHANGELOG: 0.6,
            SourceKind.SETTINGS: 0.8,
            SourceKind.COMMIT: 0.6,
        },
        QuestionShape.REASON: {
            SourceKind.CODE: 0.65,
            SourceKind.TEST: 0.45,
            SourceKind.SAMPLE: 0.45,
            SourceKind.DOCUMENT: 0.65,
            SourceKind.CHANGELOG: 0.65,
            SourceKind.SETTINGS: 0.65,
        },
        QuestionShape.SETUP: {
            SourceKind.CODE: 0.9,
            SourceKind.TEST: 0.6,
            SourceKind.SAMPLE: 0.9,
            SourceKind.CHANGELOG: 0.6,
            SourceKind.COMMIT: 0.7,
        },
        QuestionShape.TESTS: {
            SourceKind.CODE: 0.85,
            SourceKind.SAMPLE: 0.85,
            SourceKind.DOCUMENT: 0.85,
            SourceKind.CHANGELOG: 0.6,
            SourceKind.SETTINGS: 0.85,
            SourceKind.COMMIT: 0.65,
        },
        QuestionShape.OPEN: {SourceKind.TEST: 0.8, SourceKind.SAMPLE: 0.8, SourceKind.COMMIT: 0.9},
    }
)
"""What a kind of source is worth to a question, where not 1; chosen on the questions of `python -m bench questions
--half tuning` (docs/benchmarks/questions.md, "Questions"), where a tenth or two more or less moves no kind of question
by more than one of its 24 to 36. Commits have 0.9 for an open question, as of a bare word (`electron`) every hit was a
commit with it in its subject; 0.85 does the same. None is above 1: what was said or remembered on purpose is not pushed
down by what a file says."""

SHORTEST_CODE_FACTOR: Final = 0.7
LONG_CODE_CHARS: Final = 1_000
"""Where something is done is asked of code that does much: a getter or a type of one line that has the word of the
question in its name lies nearest in meaning and shows nothing. From the one factor to 1 at so many characters: 29
instead of 23 of 36 questions for a place are answered among five, 18 instead of 12 at once; 0.6 and 1,200 do the same.
It helps no other shape."""

OUTSIDE_FACTOR: Final = 0.8
"""Of code that stands in no symbol, where a place is asked for: the licence and the imports above a file, a script's
lines, a table. Its path and its comments have the words of the question, and of 101 answers on nine repositories one
stands there. Of 65 questions on five of them 49 instead of 47 are answered among five, 30 instead of 28 at once, and
none loses a place; 0.7 does the same, 0.9 wins one less (docs/benchmarks/questions.md, "Questions"). A long script
without functions still comes before a page."""

LINE_COMMIT_WEIGHTS: Final[Mapping[QuestionShape, float]] = MappingProxyType({QuestionShape.PLACE: 0.2})
"""What the nearest in meaning of the commits that wrote its lines adds to code. Of a place, 0.1 to 0.3 find 31 or 32 of
36 among five instead of 29; of an open question 0.1 loses two of 24 that were held out, and who asks for a setting is
led astray by them: 0.15 costs two of 27 (docs/benchmarks/questions.md, "Questions")."""


def tell_source_kind(source: NodeSource) -> SourceKind | None:
    """Return what kind of source a memory shows; None for what people said or had remembered."""
    if source.subtype == "commit":
        return SourceKind.COMMIT
    if source.path is None:
        return None
    if source.subtype == "code":
        kind = _tell_code_kind(source.path)
        return SourceKind.TEST if kind is SourceKind.CODE and _TEST_SYMBOL.search(source.symbol or "") else kind
    if source.subtype == "text":
        # An example's manifest says nothing of the project, and there are many of them.
        kind = _tell_code_kind(source.path)
        return SourceKind.SETTINGS if kind is SourceKind.CODE else kind
    return SourceKind.CHANGELOG if is_changelog_path(source.path) else SourceKind.DOCUMENT


@functools.lru_cache(maxsize=4_096)
def _tell_code_kind(path: str) -> SourceKind:
    if is_test_path(path):
        return SourceKind.TEST
    return SourceKind.SAMPLE if _ASIDE.search(path) else SourceKind.CODE


def find_source_factors(query: str, sources: Mapping[NodeKey, NodeSource]) -> dict[NodeKey, float]:
    """Return the factor of each memory's score for a question."""
    shape = find_shape(query)
    return {key: _factor_of(shape, source) for key, source in sources.items()}


def _factor_of(shape: QuestionShape, source: NodeSource) -> float:
    kind = tell_source_kind(source)
    if kind is None:
        return 1.0
    factor = FACTORS[shape].get(kind, 1.0)
    if shape is QuestionShape.PLACE and kind is SourceKind.CODE:
        factor *= SHORTEST_CODE_FACTOR + (1 - SHORTEST_CODE_FACTOR) * min(1.0, source.chars / LONG_CODE_CHARS)
        factor *= 1.0 if source.symbol else OUTSIDE_FACTOR
    return factor
