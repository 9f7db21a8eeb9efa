"""Entity recognition: people, projects, organizations, places, tools and concepts in a text, by rules (B.10).

A name is found by how it is written (`AuthService`, `remember_fact`, `docs/why.md`, `pip install httpx`), by lists of
well-known names (`text/language/data`), or by a capital where English has none. Rules rather than a model: they cost
microseconds, run in every process, and say why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from hyperloci.knowledge.entities.naming import is_name
from hyperloci.model.kinds import EntityKind
from hyperloci.store.memories.entities import squash_name
from hyperloci.system.late_patterns import compile_late
from hyperloci.system.values import dataclass
from hyperloci.text.language.code_fences import mask_code
from hyperloci.text.language.vocabulary import KnownName, Vocabulary, vocabulary
from hyperloci.text.language.word_tables import word_set

MAX_CHARS: Final = 20_000
"""Characters of a text that are read: the longest fact has as many; a longer turn holds a pasted file or log."""

MAX_NAMES: Final = 40
"""Names of one text: a list of a hundred identifiers is about none of them."""

MAX_NAME_CHARS: Final = 80

_FILE_TYPES: Final = (
    "py|pyi|js|jsx|ts|tsx|mjs|go|rs|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|scala|lua|sh|sql|md|rst|txt|toml|yaml|yml|"
    "json|jsonl|ini|cfg|html|css|ipynb|proto|lock|db|env|xml"
)
_SPAN: Final = compile_late(r"`([^`\n]{1,80})`")
_TOKEN: Final = compile_late(r"[\w@/][\w@/.+#%$:=-]*")
_PATH: Final = compile_late(rf"(?:\.{{0,2}}/)?(?:[\w.-]+/)*[\w-][\w.-]*\.(?:{_FILE_TYPES})")
_IDENTIFIER: Final = compile_late(
    r"(?:_*+[A-Za-z][A-Za-z0-9]*+(?>(?:_[A-Za-z0-9]++)+)|[A-Z][a-z0-9]++[A-Z][A-Za-z0-9]*+"
    r"|[a-z][a-z0-9]*+(?>(?:[A-Z][a-z0-9]++)+)|[A-Z]{2,}+[a-z]++(?>(?:[A-Z][a-z0-9]++)*))(?>(?:\.[A-Za-z_]\w*+)*)"
)
"""No part of it can be read in two ways: a word of base64 that ends in `/` fails at once."""

_CODE_NAME: Final = compile_late(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?")
_ACRONYM: Final = compile_late(r"[A-Z][A-Z0-9]{2,5}(?:-\d{1,5})?")
_PROPER: Final = compile_late(r"[A-ZÀ-ÖØ-ÞА-ЯЁ][\w&'’-]*(?:[ ](?:of (?:the )?)?[A-ZÀ-ÖØ-ÞА-ЯЁ][\w&-]*)*")
_INSTALL: Final = compile_late(
    r"(?:(?:pip3?|uv|pipx|poetry|npm|pnpm|yarn|brew|apt-get|apt|cargo|gem|conda|go)\s+"
    r"(?:pip\s+)?(?:install|add|get)|uvx|npx)\s++(?>(?:-[\w-]{1,40}+\s++){0,8})([A-Za-z@][\w@/.-]*)"
)
_REPOSITORY: Final = compile_late(
    r"(?:github\.com|gitlab\.com|bitbucket\.org)[/:]([\w-]+)/([\w.-]+?)(?:\.git)?(?=[\s/)#\"'>]|$)"
)
_TRAILER_KEY: Final = compile_late(r"^[A-Z][A-Za-z]{1,20}(?:-[a-z]{1,20}){0,2}-[Bb]y:", re.MULTILINE)
"""`Signed-off-by:`, in half the commits of some projects: the key is no thing that they are about."""

_TRAILER: Final = compile_late(
    r"^(?:co-authored|signed-off|reviewed|reported|tested)-by:[ \t]*+([^<\s][^<\n]{1,59}?)[ \t\r]*+(?:<|$)", re.M | re.I
)
_MY_NAME: Final = compile_late(
    r"(?i:my name is|i am called|call me|меня зовут)\s+([A-ZÀ-ÖØ-ÞА-ЯЁ][\w-]+(?:\s[A-ZÀ-ÖØ-ÞА-ЯЁ][\w-]+)?)"
)
_PROJECT: Final = compile_late(
    r"(?i:\bproject|\brepository|\brepo|проект\w{0,12}+)\s+(?:called\s+|named\s+)?[\"'`]?([A-ZÀ-ÖØ-ÞА-ЯЁ][\w-]{2,})"
)
_CUES: Final = (
    (("name is", "call me", "am called", "меня зовут"), _MY_NAME, EntityKind.PERSON),
    (("project", "repo", "проект"), _PROJECT, EntityKind.PROJECT),
)
"""What must stand in a text, in lower case, for its pattern to be worth trying."""

_ORG_ENDING: Final = compile_late(
    r"\b(?:Inc|Ltd|LLC|GmbH|Corp|Corporation|Foundation|University|Institute|Labs|Bank|Group)$"
)
_ORDINARY_SPANS: Final = frozenset({"self", "cls", "true", "false", "none", "null", "main", "args", "kwargs", "todo"})
_VERB_AFTER: Final = compile_late(
    r"\s(?:is|was|has|had|does|did|uses|used|runs|ran|needs|can|will|would|should|supports|handles|stores|keeps|writes|"
    r"reads|sends|and|or|as|for|breaks|fails|works|owns|wants|likes|prefers|said|says)\b"
)
_NUMBER_AFTER: Final = compile_late(r" \d")
MIN_CAMEL_CHARS: Final = 5
"""A shorter word with a capital inside is a unit: `kHz`, `GiB`."""

_SENTENCE_END: Final = '.!?:;\n|>•–—"“(#*[+/='
"""What a capital after it says nothing about."""


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A thing that a text names.

    Attributes:
        name: as it is written there, or as the list of well-known names has it.
        kind: one of the six types.
        sure: whether the text is enough to register it; otherwise it is only linked to an entity already known.
        defined: whether the memory is where it is defined.
    """

    name: str
    kind: EntityKind
    sure: bool = True
    defined: bool = False


@dataclass(frozen=True, slots=True)
class _MentionSpan:
    start: int
    end: int
    named: EntityMention


def extract_entities(text: str, *, author: str | None = None) -> tuple[EntityMention, ...]:
    """Return the things that a text names, each once, in order of appearance; at most `MAX_NAMES`.

    Args:
        text: prose or Markdown; code in fences is passed over, but for what it installs.
        author: the person who wrote it, where that is known (a commit's author).
    """
    text = text[:MAX_CHARS]
    found = list(_find_structural_mentions(text)) if "://" in text or "-by:" in text or "install" in text else []
    found += _find_in_prose(_TRAILER_KEY.sub(lambda key: " " * len(key[0]), mask_code(text)))
    names = [place.named for place in _keep_outermost(found)]
    if author:
        names.insert(0, EntityMention(author, EntityKind.PERSON))
    return _deduplicate(names)


def _find_structural_mentions(text: str) -> Iterator[_MentionSpan]:
    """Yield what is named where its place in the text says nothing: trailers, installed packages, repositories."""
    for match in _TRAILER.finditer(text):
        yield _span_of_group(match, 1, EntityKind.PERSON)
    for match in _INSTALL.finditer(text):
        if len(match[1]) > 2:
            yield _span_of_group(match, 1, EntityKind.TOOL)
    for match in _REPOSITORY.finditer(text):
        yield _span_of_group(match, 1, EntityKind.ORGANIZATION)
        yield _span_of_group(match, 2, EntityKind.PROJECT)


def _span_of_group(match: re.Match[str], group: int, kind: EntityKind) -> _MentionSpan:
    return _MentionSpan(match.start(group), match.end(group), EntityMention(match[group].strip(), kind))


def _find_in_prose(text: str) -> Iterator[_MentionSpan]:
    words = vocabulary()
    yield from _find_in_code_spans(text, words)
    text = _SPAN.sub(lambda span: "`" + " " * len(span[1]) + "`", text)
    yield from _find_in_tokens(text, words)
    lowered = text.lower()
    for cues, pattern, kind in _CUES:
        if any(cue in lowered for cue in cues):
            for match in pattern.finditer(text):
                if words.find_proper(match[1]) is None and not words.is_common(match[1]):
                    yield _span_of_group(match, 1, kind)
    yield from _find_proper_nouns(text, words)


def _find_in_tokens(text: str, words: Vocabulary) -> Iterator[_MentionSpan]:
    """Yield what a single word shows by how it is written, and well-known names."""
    for token in set(_TOKEN.findall(text)):
        bare = token.rstrip(".:-+=/")
        lowered = bare.lower()
        if lowered in words.heads or (head := lowered.partition("-")[0].removesuffix("'s")) in words.heads:
            yield from _find_known_names(text, token, lowered if lowered in words.heads else head, words)
        elif bare.islower() and "_" not in bare and "." not in bare:
            continue
        elif (named := _classify_token(bare, words)) is not None:
            at = text.find(token)
            if len(named.name) < 7 and named.name.isupper() and _is_shouted(text, at, at + len(token)):
                continue
            yield _MentionSpan(at, at + len(bare), named)


def _classify_token(token: str, words: Vocabulary) -> EntityMention | None:
    if _is_abbreviation(token):
        return None
    if "." in token and _PATH.fullmatch(token):
        return EntityMention(token.lstrip("./"), EntityKind.CONCEPT)
    if _IDENTIFIER.fullmatch(token) and len(token) >= MIN_CAMEL_CHARS:
        return EntityMention(token, EntityKind.CONCEPT)
    if token.isupper() and _ACRONYM.fullmatch(token) and not words.is_plain_acronym(token):
        return EntityMention(token, EntityKind.CONCEPT)
    return None


def _find_in_code_spans(text: str, words: Vocabulary) -> Iterator[_MentionSpan]:
    """Yield what is named in `code`: paths, identifiers with a structure, and names that are known."""
    for match in _SPAN.finditer(text):
        code = match[1].strip()
        known = words.find_proper(code)
        if known is not None and (code[0].isupper() or not known.is_ordinary(code)):
            yield _MentionSpan(match.start(), match.end(), _mention_known_name(known))
        elif _PATH.fullmatch(code):
            yield _MentionSpan(match.start(), match.end(), EntityMention(code.lstrip("./"), EntityKind.CONCEPT))
        elif _CODE_NAME.fullmatch(code) and code.lower() not in _ORDINARY_SPANS and len(code) > 2:
            sure = bool(_IDENTIFIER.fullmatch(code.removesuffix("()"))) or code.endswith("()") or "." in code
            yield _MentionSpan(
                match.start(), match.end(), EntityMention(code.removesuffix("()"), EntityKind.CONCEPT, sure)
            )


def _mention_known_name(known: KnownName) -> EntityMention:
    return EntityMention(known.name, known.kind)


def _find_known_names(text: str, token: str, head: str, words: Vocabulary) -> Iterator[_MentionSpan]:
    at = text.find(token)
    while at >= 0:
        if not (at and (text[at - 1].isalnum() or text[at - 1] in "-_")):
            for spelling, known in words.beginning_with(head, text[at : at + MAX_NAME_CHARS].lower(), 0):
                end = at + len(spelling)
                if not known.is_ordinary(spelling) or _is_meant_as_name(text, at, end):
                    yield _MentionSpan(at, end, _mention_known_name(known))
                    return
        at = text.find(token, at + len(token))


def _is_meant_as_name(text: str, start: int, end: int) -> bool:
    """Return whether an ordinary word is written as a name: a capital inside a sentence, or before a verb."""
    if not text[start].isupper():
        return False
    return not _begins_sentence(text, start) or bool(_VERB_AFTER.match(text, end))


def _begins_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 4) : start].rstrip(" \t`*_'\"“(")
    return not before or before[-1] in _SENTENCE_END or before[-1].isdigit() or "\n" in text[max(0, start - 4) : start]


def _is_shouted(text: str, start: int, end: int) -> bool:
    """Return whether a word in capitals stands beside another, as in a heading or a warning."""
    before, after = text[max(0, start - 12) : start].split()[-1:], text[end : end + 12].split()[:1]
    return any(word.isupper() and len(word) > 1 and word.isalpha() for word in (*before, *after))


def _find_proper_nouns(text: str, words: Vocabulary) -> Iterator[_MentionSpan]:
    """Yield runs of capitalised words: people by their given name, else concepts, where a capital says something."""
    for match in _PROPER.finditer(text):
        start, parts = match.start(), match[0].split(" ")
        if start and (text[start - 1].isalnum() or text[start - 1] in "`/.@#$&_-'’\\"):
            continue
        while parts and words.is_common(parts[0]):
            start += len(parts.pop(0)) + 1
        while parts and (words.is_common(parts[-1]) or parts[-1].islower()):
            parts.pop()
        parts = _strip_possessive(parts)
        name = " ".join(parts)
        if not 2 < len(name) <= MAX_NAME_CHARS or name.isupper() or len(parts) > 5 or _is_abbreviation(parts[-1]):
            continue
        kind = _classify_proper_noun(text, start, parts, words)
        if kind is not None:
            yield _MentionSpan(start, start + len(name), EntityMention(name, kind))


def _is_abbreviation(word: str) -> bool:
    """Return whether a word, without its last dot, is short for what is no name: `d.h`, `Mrs`, `Frau Dr`."""
    return word.lower() in word_set("sentences.abbreviations")


def _strip_possessive(parts: Sequence[str]) -> list[str]:
    kept = list(parts)
    for at, part in enumerate(kept):
        bare = re.sub(r"['’](?:s|re|ll|ve|d|m)?$", "", part)
        if bare != part:
            return [*kept[:at], bare] if bare else kept[:at]
    return kept


def _classify_proper_noun(text: str, start: int, parts: Sequence[str], words: Vocabulary) -> EntityKind | None:
    if words.is_given_name(parts[0]) and not (words.is_ordinary_name(parts[0]) and len(parts) == 1):
        # "Claude Fable 5" is a product: nobody has a number.
        return (
            EntityKind.PERSON
            if len(parts) <= 3 and not _NUMBER_AFTER.match(text, start + len(" ".join(parts)))
            else None
        )
    if len(parts) > 1 and _ORG_ENDING.search(parts[-1]):
        return EntityKind.ORGANIZATION
    if _begins_sentence(text, start) or _in_heading(text, start):
        return None
    return EntityKind.CONCEPT if all(part[0].isupper() for part in parts) and is_name(text, start, parts) else None


def _in_heading(text: str, start: int) -> bool:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line.lstrip().startswith(("#", "|", "**")) or "](" in line[-3:]


def _keep_outermost(places: Iterable[_MentionSpan]) -> list[_MentionSpan]:
    """Leave out what lies inside something longer (`Claude` in `Claude Code`); sort by appearance."""
    kept: list[_MentionSpan] = []
    for place in sorted(places, key=lambda place: (place.start, -place.end)):
        if not kept or place.start >= kept[-1].end:
            kept.append(place)
    return kept


def _deduplicate(names: Iterable[EntityMention]) -> tuple[EntityMention, ...]:
    found: dict[str, EntityMention] = {}
    for named in names:
        key = squash_name(named.name)
        if key and (key not in found or (named.sure and not found[key].sure)):
            found[key] = named
    return tuple(found.values())[:MAX_NAMES]
