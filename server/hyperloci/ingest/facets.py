"""Telling a memory's facets by rules; the rules are data (`ingest/data/facets.toml`) (D.07)."""

from __future__ import annotations

import functools
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from hyperloci.model.chunk import TextChunk
from hyperloci.model.facets import ConfidenceLevel, Diataxis, Facets, Persona, SourceType
from hyperloci.model.kinds import TRUST, Origin

MAX_CHARS: Final = 4_000
"""Of a text, what is looked at: what it is shows in its beginning."""

LONG_WORDS: Final = 80
"""Of so many different words, one cue says nothing of the domain; two do."""

MAX_TAGS: Final = 5

SURE_OF_WORDS: Final = 2
"""So many more cues of one side than of the other make a text sound sure, or unsure."""

_WORD: Final = re.compile(r"[\w'-]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_./\\-]+")
_Value = TypeVar("_Value", Diataxis, Persona)
_FILE: Final = Path(__file__).parent / "data" / "facets.toml"

_SOURCES: Final[Mapping[Origin, SourceType]] = {
    Origin.CODE: SourceType.CODE,
    Origin.MARKDOWN: SourceType.DOCS,
    Origin.COMMIT: SourceType.COMMIT,
    Origin.TOOL: SourceType.FACT,
    Origin.IMPORT: SourceType.EXTERNAL,
}
_AUTHORITY: Final[Mapping[SourceType, float]] = {SourceType.CODE: 1.0, SourceType.DOCS: 0.9, SourceType.COMMIT: 0.8}
"""What the code says is so, documents mostly; of the rest it depends on who says it (`model.kinds.TRUST`)."""

_LEVELS: Final = (
    (0.9, ConfidenceLevel.HIGH),
    (0.7, ConfidenceLevel.MODERATE),
    (0.5, ConfidenceLevel.LOW),
    (0.0, ConfidenceLevel.UNCERTAIN),
)
_LOWER: Final[Mapping[ConfidenceLevel, ConfidenceLevel]] = {
    ConfidenceLevel.HIGH: ConfidenceLevel.LOW,
    ConfidenceLevel.MODERATE: ConfidenceLevel.LOW,
}


@dataclass(frozen=True, slots=True)
class _Cues:
    """What speaks for one value: single words, and phrases."""

    words: frozenset[str]
    phrases: tuple[str, ...]

    @classmethod
    def of(cls, cues: Sequence[str]) -> _Cues:
        return cls(
            frozenset(cue for cue in cues if _WORD.fullmatch(cue)),
            tuple(cue for cue in cues if not _WORD.fullmatch(cue)),
        )

    def count(self, words: frozenset[str], lowered: str) -> int:
        return len(self.words & words) + sum(phrase in lowered for phrase in self.phrases)


@dataclass(frozen=True, slots=True)
class _Rules:
    sections: Mapping[str, Diataxis]
    diataxis: Mapping[Diataxis, _Cues]
    persona: Mapping[Persona, _Cues]
    sure: _Cues
    unsure: _Cues
    time_sensitive: _Cues
    domains: Mapping[str, _Cues]
    domains_of_word: Mapping[str, tuple[str, ...]]


@functools.cache
def _rules() -> _Rules:
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return _Rules(
        sections={name: Diataxis(value) for name, value in data["diataxis"]["sections"].items()},
        diataxis={value: _Cues.of(data["diataxis"][value]) for value in Diataxis},
        persona={value: _Cues.of(data["persona"][value]) for value in Persona},
        sure=_Cues.of(data["confidence"]["high"]),
        unsure=_Cues.of(data["confidence"]["low"]),
        time_sensitive=_Cues.of(data["time_sensitive"]["cues"]),
        domains={name: _Cues.of(cues) for name, cues in data["domains"].items()},
        domains_of_word=_by_word(data["domains"]),
    )


def _by_word(domains: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, cues in domains.items():
        for word in _Cues.of(cues).words:
            found[word] = (*found.get(word, ()), name)
    return found


def facets_of(
    text: str,
    origin: Origin,
    *,
    confidence: float = 1.0,
    section_type: str | None = None,
    words_too: str = "",
) -> Facets:
    """Return the facets of a text.

    Args:
        text: what it says.
        origin: the channel it came through.
        confidence: how sure who stored it was, 0..1.
        section_type: what its section is for, if it stands in one.
        words_too: what else tells its domain: its path, its symbol.
    """
    rules, lowered = _rules(), text[:MAX_CHARS].lower()
    words = frozenset(_WORD.findall(lowered))
    source = _SOURCES.get(origin, SourceType.CONVERSATION)
    known = rules.sections.get(section_type or "")
    return Facets(
        diataxis=known or _best(rules.diataxis, words, lowered),
        persona=_best(rules.persona, words, lowered),
        confidence_level=_level(confidence, rules, words, lowered),
        section_type=section_type,
        source_type=source,
        authority=_AUTHORITY.get(source, TRUST[origin]),
        time_sensitive=rules.time_sensitive.count(words, lowered) > 0,
        domain_tags=_tags(rules, words | frozenset(_parts(words_too)), lowered),
    )


def facets_of_chunk(chunk: TextChunk) -> Facets:
    """Return the facets of a piece of a file; of code only what its place and its names say."""
    place = " ".join(part for part in (chunk.position.path, chunk.position.symbol) if part)
    if chunk.code is None:
        return facets_of(chunk.text, Origin.MARKDOWN, section_type=chunk.section_type, words_too=place)
    rules = _rules()
    return Facets(
        confidence_level=ConfidenceLevel.HIGH,
        source_type=SourceType.CODE,
        authority=_AUTHORITY[SourceType.CODE],
        domain_tags=_tags(rules, frozenset(_parts(place)), ""),
    )


def _parts(place: str) -> list[str]:
    return [part.lower() for word in place.split() for part in _CAMEL.split(word) if part]


def _best(rules: Mapping[_Value, _Cues], words: frozenset[str], lowered: str) -> _Value | None:
    """Return the value that most cues speak for; none on a tie, or without any."""
    counts = sorted(((cues.count(words, lowered), value) for value, cues in rules.items()), reverse=True)
    (most, value), (next_most, _) = counts[:2]
    return value if most > next_most else None


def _level(confidence: float, rules: _Rules, words: frozenset[str], lowered: str) -> ConfidenceLevel:
    level = next(level for least, level in _LEVELS if confidence >= least)
    unsure = rules.unsure.count(words, lowered) - rules.sure.count(words, lowered)
    if unsure >= SURE_OF_WORDS or (unsure > 0 and len(words) < LONG_WORDS):
        return _LOWER.get(level, level)
    return level


def _tags(rules: _Rules, words: frozenset[str], lowered: str) -> tuple[str, ...]:
    least = 2 if len(words) > LONG_WORDS else 1
    counts: Counter[str] = Counter()
    for word in words & rules.domains_of_word.keys():
        counts.update(rules.domains_of_word[word])
    if lowered:
        for name, cues in rules.domains.items():
            counts[name] += sum(phrase in lowered for phrase in cues.phrases)
    best = sorted((name for name, count in counts.items() if count >= least), key=lambda name: (-counts[name], name))
    return tuple(sorted(best[:MAX_TAGS]))
