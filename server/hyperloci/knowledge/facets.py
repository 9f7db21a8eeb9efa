"""Facet rules: classify a memory by cue words; the words are data (`knowledge/data/facets.toml`) (D.07).

A facet is told by evidence or left open: what holds of nearly all memories says nothing of any. A cue that means other
things as often (`model`, `default`) is weak: alone it tells nothing, nor do two forms of it. Of a document the prose is
read, not the code between fences; its file's name tells a changelog, its folder a tutorial or a reference. What a text
is for, and for whom, its title says: the rest of it mentions such words in passing.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from hyperloci.model.chunk import TextChunk
from hyperloci.model.facets import ConfidenceLevel, Diataxis, Facets, Persona, SourceType
from hyperloci.model.kinds import TRUST, Origin
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.file_kinds import is_changelog_path
from hyperloci.text.chunking.programming_languages import is_test_path
from hyperloci.text.chunking.section_types import SectionType, infer_purpose, infer_section_type, is_label
from hyperloci.text.language.code_fences import mask_code

MAX_CHARS: Final = 4_000
"""Characters of a text that are read: its beginning shows what it is."""

LONG_WORDS: Final = 80
"""Of so many different words, one cue says nothing of the domain; two do."""

MAX_TAGS: Final = 5

WEAK_CUE: Final = 0.5
"""What a weak cue counts."""

TELLING: Final = 1.0
"""Cues that tell a facet: a strong one, or two weak ones."""

SURE: Final = TELLING + WEAK_CUE
"""Cues that tell what a text is for, or whom it speaks to: a text about newcomers need not speak to them. By one cue 12
of 45 were right that were read (docs/benchmarks/structure.md, "Facets")."""

_ADDRESS: Final = re.compile(r"https?://\S+|\]\([^()\s]*\)")
"""Where a link leads says nothing of the text: `https` is no API, and `/blob/master/docs` no documentation."""

_DOCUMENT_PLACE: Final = re.compile(r"(?<![^/\s])(?:documentation/|(?:readme|changelog)(?![^.\s]))", re.I)
"""That a document stands among the documents, or is a readme, says nothing of what it is about."""

_LEADS_ELSEWHERE: Final = frozenset({"documentation"})
"""A document that speaks of the documentation mostly leads there; a commit has changed it."""

_OF_THE_MOMENT: Final = re.compile(r"\b(?:as\s+soon\s+as|currently\s+(?=\w+ing\b))")
"""What is so while something runs ("the currently executing thread") will be so next year too."""

_BEFORE_COMMIT: Final = re.compile(r"\b(?:currently|at\s+the\s+moment)\b")
"""What a commit says is so at the moment, it ends."""

_MERGE: Final = re.compile(r"\AMerge (?:remote-tracking )?(?:branch|pull request|tag|commit)[^\n]*")
"""The subject of a merge names branches, and says nothing of what is in them."""

_STATED: Final = frozenset({Origin.TOOL, Origin.EXTRACTION, Origin.IMPORT, Origin.TEAMMATE})
"""Channels through which somebody says how sure a statement is."""

CUE_MARGIN: Final = 2
"""So many more cues of one side than of the other make a text sound sure, or unsure."""

_WORD: Final = re.compile(r"[\w'-]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_./\\-]+")
_Read = tuple[frozenset[str], str]
"""The words of a text, and all of it in lower case."""

_Value = TypeVar("_Value", Diataxis, Persona)
_FILE: Final = Path(__file__).parent / "data" / "facets.toml"

_SOURCES: Final[Mapping[Origin, SourceType]] = {
    Origin.CODE: SourceType.CODE,
    Origin.MARKDOWN: SourceType.DOCS,
    Origin.COMMIT: SourceType.COMMIT,
    Origin.TOOL: SourceType.FACT,
    Origin.IMPORT: SourceType.EXTERNAL,
    Origin.TEAMMATE: SourceType.EXTERNAL,
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
class _CueSet:
    """What speaks for one value: single words, weak ones among them, and phrases."""

    words: frozenset[str]
    weak: frozenset[str]
    phrases: tuple[str, ...]

    @classmethod
    def from_phrases(cls, cues: Sequence[str]) -> _CueSet:
        strong = [cue for cue in cues if not cue.startswith("?")]
        return cls(
            frozenset(cue for cue in strong if _WORD.fullmatch(cue)),
            frozenset(cue[1:] for cue in cues if cue.startswith("?")),
            tuple(cue for cue in strong if not _WORD.fullmatch(cue)),
        )

    def weigh(self, words: frozenset[str], lowered: str) -> float:
        """Return what the cues in a text count together."""
        strong = {_find_root(word) for word in self.words & words}
        weak = {_find_root(word) for word in self.weak & words} - strong
        return len(strong) + WEAK_CUE * len(weak) + self.count_phrases(lowered)

    def count_strong(self, words: frozenset[str], lowered: str) -> int:
        """Return how many cues that are not weak a text has."""
        return len({_find_root(word) for word in self.words & words}) + self.count_phrases(lowered)

    def weigh_purpose(self, text: _Read, title: _Read) -> float:
        """Return what the cues count for what a text is for: none without a strong one, one in its title twice."""
        counted = self.weigh(*text)
        if counted < TELLING or not self.count_strong(*text):
            return 0.0
        return counted + self.count_strong(*title)

    def count_phrases(self, lowered: str) -> int:
        """Return how many phrases a text has."""
        return sum(phrase in lowered for phrase in self.phrases)


@dataclass(frozen=True, slots=True)
class _FacetRules:
    sections: Mapping[str, Diataxis | None]
    diataxis: Mapping[Diataxis, _CueSet]
    persona: Mapping[Persona, _CueSet]
    certain: _CueSet
    uncertain: _CueSet
    time_sensitive: _CueSet
    domains: Mapping[str, _CueSet]
    domains_of_word: Mapping[str, Mapping[str, float]]


@functools.cache
def _load_rules() -> _FacetRules:
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return _FacetRules(
        sections={name: Diataxis(value) if value else None for name, value in data["diataxis"]["sections"].items()},
        diataxis={value: _CueSet.from_phrases(data["diataxis"][value]) for value in Diataxis},
        persona={value: _CueSet.from_phrases(data["persona"][value]) for value in Persona},
        certain=_CueSet.from_phrases(data["confidence"]["high"]),
        uncertain=_CueSet.from_phrases(data["confidence"]["low"]),
        time_sensitive=_CueSet.from_phrases(data["time_sensitive"]["cues"]),
        domains={name: _CueSet.from_phrases(cues) for name, cues in data["domains"].items()},
        domains_of_word=_index_domains_by_word(data["domains"]),
    )


def _index_domains_by_word(domains: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """Return what each word counts for which domains."""
    found: dict[str, dict[str, float]] = {}
    for name, cues in domains.items():
        told = _CueSet.from_phrases(cues)
        for word in told.words | told.weak:
            found.setdefault(word, {})[name] = 1.0 if word in told.words else WEAK_CUE
    return found


def list_domains() -> tuple[str, ...]:
    """Return the domain tags that rules give."""
    return tuple(_load_rules().domains)


def classify_facets(
    text: str,
    origin: Origin,
    *,
    confidence: float = 1.0,
    section_type: str | None = None,
    use_words: str = "",
    title: str | None = None,
) -> Facets:
    """Return the facets of a text.

    Args:
        text: what it says.
        origin: the channel it came through.
        confidence: how sure who stored it was, 0..1.
        section_type: what its section is for, if it stands in one.
        use_words: what else tells its domain: its path, its symbol.
        title: the heading above it; without one its first line counts as such.
    """
    is_document = origin in (Origin.MARKDOWN, Origin.IMPORT)
    told = text[:MAX_CHARS]
    if is_document:
        told = mask_code(told)
    elif origin is Origin.COMMIT:
        told = _MERGE.sub("", told)
    rules, lowered = _load_rules(), _ADDRESS.sub(" ", told).lower()
    words = frozenset(_WORD.findall(lowered))
    source = _SOURCES.get(origin, SourceType.CONVERSATION)
    settled = section_type in rules.sections
    is_list = settled and rules.sections[section_type or ""] is None
    text_read = words, lowered
    title_read = _read(lowered.strip().partition("\n")[0] if title is None else title.lower())
    tag_words = words | frozenset(_split_path(use_words))
    if is_document:
        tag_words -= _LEADS_ELSEWHERE - title_read[0]
    return Facets(
        diataxis=rules.sections[section_type or ""]
        if settled
        else _choose_value({value: cues.weigh_purpose(text_read, title_read) for value, cues in rules.diataxis.items()})
        if is_document
        else None,
        persona=_choose_value(
            {value: cues.weigh(*text_read) for value, cues in rules.persona.items() if cues.weigh(*title_read)}
        )
        if is_document and not is_list
        else None,
        confidence_level=_confidence_level(origin, confidence, rules, words, lowered),
        section_type=section_type,
        source_type=source,
        authority=_AUTHORITY.get(source, TRUST[origin]),
        time_sensitive=_is_time_sensitive(rules, origin, words, lowered),
        domain_tags=_domain_tags(rules, tag_words, lowered),
    )


def classify_chunk_facets(chunk: TextChunk) -> Facets:
    """Return the facets of a piece of a file; of code only what its place and its names say."""
    place = " ".join(part for part in (chunk.position.path, chunk.position.symbol) if part)
    if chunk.code is None:
        about = _DOCUMENT_PLACE.sub("", place)
        titles = chunk.position.section_path
        section = _tell_section(chunk.position.path or "", chunk.section_type, titles)
        title = titles[-1] if titles else ""
        found = classify_facets(chunk.text, Origin.MARKDOWN, section_type=section, use_words=about, title=title)
        return found if section in _load_rules().sections else replace(found, section_type=chunk.section_type)
    words = frozenset(_split_path(place))
    # `spec/thor_spec.rb`: each language has its own word for tests.
    if chunk.position.path is not None and is_test_path(chunk.position.path):
        words |= {"test"}
    return _facets_of_code(_domain_tags(_load_rules(), words, ""))


@functools.lru_cache(maxsize=1_024)
def _facets_of_code(domain_tags: tuple[str, ...]) -> Facets:
    return Facets(source_type=SourceType.CODE, authority=_AUTHORITY[SourceType.CODE], domain_tags=domain_tags)


def _tell_section(path: str, own: str | None, titles: Sequence[str]) -> str | None:
    """Return the type of a section: its own where that settles what it is for, else that of its file or folder."""
    if is_changelog_path(path) or (titles and infer_section_type(titles[0]) is SectionType.CHANGELOG):
        return SectionType.CHANGELOG.value
    settling = _load_rules().sections
    if titles:
        own = next((kind.value for kind in _list_purposes(titles) if kind is not SectionType.UNKNOWN), None)
    if own in settling:
        return own
    folders = (_CAMEL.sub(" ", folder) for folder in reversed(path.split("/")[:-1]))
    return next((found.value for found in map(infer_section_type, folders) if found.value in settling), own)


def _read(lowered: str) -> _Read:
    return frozenset(_WORD.findall(lowered)), lowered


def _list_purposes(titles: Sequence[str]) -> Iterator[SectionType]:
    """Yield what the titles above a piece say it is for, its own first.

    Labels hold for what stands below them ("Cookbook"), but for those of explanations: below "Architecture", as below
    "How to contribute", stand parts, each for something else.
    """
    for depth, title in enumerate(reversed(titles)):
        kind = infer_purpose(title)
        if depth == 0 or (kind is not SectionType.EXPLANATION and is_label(title)):
            yield kind


def _split_path(place: str) -> list[str]:
    return [part.lower() for word in place.split() for part in _CAMEL.split(word) if part]


def _find_root(word: str) -> str:
    """Return what a cue's forms have in common: `flag` and `flags` are one cue, and so are `retry` and `retries`."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "ches", "shes")):
        return word[:-2]
    return word if word.endswith("ss") else word.removesuffix("s")


def _choose_value(counts: Mapping[_Value, float]) -> _Value | None:
    """Return the value that most cues speak for; none on a tie, or where they are too few to be sure."""
    best = sorted(counts, key=lambda value: counts[value], reverse=True)[:2]
    if not best or counts[best[0]] < SURE or (len(best) > 1 and counts[best[0]] == counts[best[1]]):
        return None
    return best[0]


def _confidence_level(
    origin: Origin, stated: float, rules: _FacetRules, words: frozenset[str], lowered: str
) -> ConfidenceLevel | None:
    """Return how sure a text is: as was said with it, less if its words doubt; else as its words tell."""
    level = next(level for least, level in _LEVELS if stated >= least) if origin in _STATED else None
    unsure = rules.uncertain.weigh(words, lowered) - rules.certain.weigh(words, lowered)
    # A statement is doubted by one word; in a page or a commit "maybe" names a choice, or a class.
    one_is_enough = origin not in (Origin.MARKDOWN, Origin.COMMIT) and len(words) < LONG_WORDS
    if unsure >= (TELLING if one_is_enough else CUE_MARGIN):
        return ConfidenceLevel.LOW if level is None else _LOWER.get(level, level)
    return ConfidenceLevel.HIGH if level is None and -unsure >= CUE_MARGIN else level


def _is_time_sensitive(rules: _FacetRules, origin: Origin, words: frozenset[str], lowered: str) -> bool:
    if rules.time_sensitive.weigh(words, lowered) < TELLING:
        return False
    told = _OF_THE_MOMENT.sub(" ", lowered)
    if origin is Origin.COMMIT:
        told = _BEFORE_COMMIT.sub(" ", told)
    return rules.time_sensitive.weigh(*_read(told)) >= TELLING


def _domain_tags(rules: _FacetRules, words: frozenset[str], lowered: str) -> tuple[str, ...]:
    least = 2 * TELLING if len(words) > LONG_WORDS else TELLING
    counts: dict[str, float] = {}
    cues: dict[tuple[str, str], float] = {}
    for word in words & rules.domains_of_word.keys():
        for name, count in rules.domains_of_word[word].items():
            cue = name, _find_root(word)
            cues[cue] = max(count, cues.get(cue, 0.0))
    for (name, _), count in cues.items():
        counts[name] = counts.get(name, 0.0) + count
    if lowered:
        for name, told in rules.domains.items():
            counts[name] = counts.get(name, 0.0) + told.count_phrases(lowered)
    best = sorted((name for name, count in counts.items() if count >= least), key=lambda name: (-counts[name], name))
    return tuple(sorted(best[:MAX_TAGS]))
