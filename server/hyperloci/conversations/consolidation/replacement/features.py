"""Replacement features: what a new statement and an older one share, their kinds, and what the new one says (B.17).

A changed mind names its subject by a word or two, or means it without naming it, and tells a new value or a change.
What these features weigh is in `scorer`.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from hyperloci.conversations.consolidation.findings import FindingKind
from hyperloci.conversations.consolidation.replacement.action_features import add_actions
from hyperloci.conversations.consolidation.replacement.surroundings import (
    NOTHING_HEARD,
    Surroundings,
    add_surroundings,
)
from hyperloci.conversations.consolidation.statement_features import (
    NUMBER_SIGN,
    read_cues,
    read_kind_features,
    split_raw_words,
    split_words,
)
from hyperloci.conversations.consolidation.statement_scorer import load_weights
from hyperloci.conversations.consolidation.statement_values import find_choices, find_cue_places, find_values
from hyperloci.conversations.consolidation.text_similarity import STEM_CHARS, find_numbers, meaningful_words
from hyperloci.knowledge.contradictions.pair_judge import score_contradiction
from hyperloci.system.values import dataclass

LEAST_STATEMENTS: Final = 12
"""A word that two of three statements share tells as much as one that two of twelve share: a young project has few."""

_UNIT: Final = re.compile(
    r"\d\s?(ms|s|sec|min|h|hours?|days?|weeks?|months?|%|[kmgt]b|€|\$|px|hz|khz|mhz|v|ma)\b", re.IGNORECASE
)

_MAX_RANK: Final = 3

USUAL_LIVING: Final = 30
"""Statements that hold in a young project. Among more, one that is near by chance is nearer: so many count."""

SHORT_WORDS: Final = 12
"""Words of a short statement. Those of a longer one count less each, so that a story does not add up to a change."""

BRIEF_WORDS: Final = 20
"""Words of a statement that says one thing. Two stories share words and name other days by chance: what longer ones
share and where they differ counts less."""

COSINE_SCALE: Final = 3.0
"""Cosines of statements differ by some tenths: as large as the other features, regularisation treats them alike."""


BESIDE: Final = 6
"""Words before and after a shared one that may speak of it; in a long story the rest speaks of something else."""

AROUND: Final = 3
"""Words before and after one that both statements share, which tell how it is meant."""

NEAR: Final = 4
"""Words between what both statements share and a word of an ending, at most: in a longer story another thing ends."""

CHANGE_CUES: Final = frozenset({"change", "withdrawal", "settled", "moment", "failure"})
"""Cues of `data/statement_cues.toml` that tell whether something is otherwise now."""

MOST_ODDS: Final = 3.0
"""Log-odds of the judge of contradictions end here: surer it is not."""

JUDGE_SURE: Final = 0.6
"""Its probability from which on it says more than its odds do."""

WORDING: Final = 0.3
"""What single words and pairs of words count. There are hundreds of them and some 160 changed minds to learn from: with
less weight, regularisation takes them for what they are. With that and the judge's word, in cross-validation over
projects average precision by words is .58, not .56 (`bench train_replacements`)."""

KindShares = Mapping[FindingKind, float]
"""How likely a statement is of each kind; together 1."""


class ComparedStatement:
    """A statement as it is compared with others.

    `quote` is what was said, `about` the words that it is told with, `kinds` how likely it is of which kind.
    """

    def __init__(self, quote: str, *, about: str = "", kinds: KindShares | None = None) -> None:
        self.quote = quote
        self.text = f"{about} → {quote}" if about else quote
        self.tokens = split_words(quote)
        self.stems = [
            raw.replace(",", "").strip(".:") if token == NUMBER_SIGN else _stem_word(token)
            for raw, token in zip(split_raw_words(quote), self.tokens, strict=True)
        ]
        self.words = meaningful_words(quote)
        self.context = meaningful_words(about) - self.words
        self.kinds = estimate_kinds(quote) if kinds is None else kinds
        self.numbers = find_numbers(quote)
        self.units = {unit.lower() for unit in _UNIT.findall(quote)}
        self.values = find_values(f"{about} {quote}" if about else quote)
        self.choices = find_choices(split_raw_words(f"{about} {quote}"))
        self.cues = read_cues(self.tokens) & CHANGE_CUES
        self.ends = find_cue_places(self.tokens, "ending")
        self.sets = find_cue_places(self.tokens, "setting")
        self.points = find_cue_places(self.tokens, "pointing")

    @property
    def sorts(self) -> frozenset[str]:
        """Which sorts of values it names."""
        return frozenset(f"<{sort}>" for sort in self.values)

    @property
    def all_words(self) -> frozenset[str]:
        """Its own words and those that it answers."""
        return self.words | self.context


@functools.lru_cache(maxsize=2_048)  # The same living statements are compared again and again.
def read_statement(quote: str, about: str = "") -> ComparedStatement:
    """Return a statement as it is compared with others."""
    return ComparedStatement(quote, about=about)


@functools.lru_cache(maxsize=8_192)
def _stem_word(word: str) -> str:
    """Return a word as `meaningful_words` has it; one that it leaves out, as it begins."""
    return min(meaningful_words(word), default=word[:STEM_CHARS])


@functools.lru_cache(maxsize=2_048)
def estimate_kinds(quote: str) -> KindShares:
    """Return how likely a statement is of each kind."""
    return load_weights().weigh_kinds(read_kind_features(quote))


@dataclass(frozen=True, slots=True)
class WordRarity:
    """How much a word tells among some statements: its inverse document frequency."""

    counts: Mapping[str, int]
    total: int

    @classmethod
    def of(cls, statements: Sequence[ComparedStatement]) -> WordRarity:
        """Return the rarity of words among some statements."""
        names = (word for statement in statements for word in statement.all_words | statement.sorts)
        return cls(Counter(names), len(statements))

    def add(self, words: frozenset[str]) -> float:
        """Return how much some words tell together."""
        total = max(self.total, LEAST_STATEMENTS) + 1
        return math.fsum(math.log(total / (self.counts.get(word, 0) + 0.5)) for word in words)


def compare_statements(
    new: ComparedStatement,
    living: Sequence[ComparedStatement],
    rarity: WordRarity,
    cosines: Sequence[float] | None = None,
    around: Surroundings = NOTHING_HEARD,
) -> list[dict[str, float]]:
    """Return the features of a new statement with each of the living ones, which are in the order they were made.

    Args:
        new: the new statement.
        living: those that hold.
        rarity: how much words tell among all of them.
        cosines: of the new statement with each of the living ones in E1, where they are known.
        around: what the assistant said right before and after the new statement, and what it did.
    """
    rows = [dict(_pair_features(new, old, rarity)) for old in living]
    crowd = max(0.0, math.log((len(living) + 1) / USUAL_LIVING))
    telling = 1.0 - 1.0 / (len(living) + 1)
    for ago, row in enumerate(reversed(rows)):
        row["crowd"] = crowd
        row.update(_place_features(new, ago, telling))
    shares = [row["share old"] + row["told shared"] for row in rows]
    _add_ranks(rows, "rank", shares)
    for at in sorted(range(len(rows)), key=lambda at: -shares[at])[:_MAX_RANK]:
        rows[at].update(_judge_features(new, living[at]))
    add_surroundings(rows, new, living, rarity, around)
    add_actions(rows, new, living, rarity, around.done)
    if cosines is not None:
        _add_ranks(rows, "near", cosines)
        for row, cosine in zip(rows, cosines, strict=True):
            row["cosine"] = COSINE_SCALE * cosine
    return rows


def _add_ranks(rows: Sequence[dict[str, float]], name: str, values: Sequence[float]) -> None:
    for rank, at in enumerate(sorted(range(len(rows)), key=lambda at: -values[at])):
        rows[at][f"{name}={min(rank, _MAX_RANK)}"] = 1.0


def _judge_features(new: ComparedStatement, old: ComparedStatement) -> Iterator[tuple[str, float]]:
    """Yield what the judge of contradictions makes of two statements, which learned from pairs of many writers."""
    probability = _judge_pair(old.text, new.text)
    odds = math.log(probability / (1.0 - probability))
    yield "judged", 1.0
    yield "judge", max(-MOST_ODDS, min(MOST_ODDS, odds)) / 2
    yield "judge sure", float(probability > JUDGE_SURE)


@functools.lru_cache(maxsize=8_192)  # By words, and once more by meaning.
def _judge_pair(old: str, new: str) -> float:
    return score_contradiction(old, new)


def _place_features(new: ComparedStatement, ago: int, telling: float) -> Iterator[tuple[str, float]]:
    """Yield how many statements ago one was made, and whether the new one means it without its name (`make it 6`).

    `telling` is what its place tells: of two statements one is always the last.
    """
    yield f"recent={min(ago, _MAX_RANK)}", telling
    if ago < _MAX_RANK:
        part = _shorten(new)
        yield "points recent", part * bool(new.points)
        yield "sets recent", part * bool(new.sets)


def _pair_features(new: ComparedStatement, old: ComparedStatement, rarity: WordRarity) -> Iterator[tuple[str, float]]:
    shared, core = new.all_words & old.all_words, new.words & old.words
    whole = rarity.add(old.all_words) or 1.0
    yield "share old", rarity.add(shared) / whole
    yield "share new", rarity.add(core) / (rarity.add(new.words) or 1.0)
    brief = math.prod(min(1.0, BRIEF_WORDS / max(1, len(one.tokens))) for one in (new, old))
    yield "told shared", brief * rarity.add(shared) / 4
    yield "told core", brief * rarity.add(core) / 4
    yield "context shares", rarity.add(new.context & old.all_words) / whole
    yield f"core={min(len(core), 4)}", 1.0
    yield "other number", brief * bool(new.numbers and old.numbers and not new.numbers & old.numbers)
    yield "same number", brief * bool(new.numbers & old.numbers)
    yield "same unit", brief * bool(new.units & old.units)
    yield from ((name, brief * value) for name, value in _value_features(new, old, rarity))
    told, is_other = brief * rarity.add(core) / 4, brief * bool(_other_sorts(new, old))
    yield "other value told", told * is_other
    beside = _list_beside(new, shared)
    for cue in new.cues & read_cues([new.tokens[at] for at in beside]):
        yield f"c:{cue}", 1.0
        yield f"c:{cue} told", told
        yield f"c:{cue} other value", is_other
    yield from ((f"both={kind}", share * old.kinds.get(kind, 0.0)) for kind, share in new.kinds.items())
    yield "same kind", math.fsum(share * old.kinds.get(kind, 0.0) for kind, share in new.kinds.items())
    yield from ((f"new={kind}", share) for kind, share in new.kinds.items())
    yield from ((f"old={kind}", share) for kind, share in old.kinds.items())
    if shared:
        part = _shorten(new)
        wording = WORDING * part
        yield from ((f"w:{new.tokens[at]}", wording) for at in beside)
        pairs = ((at, after) for at, after in pairwise(beside) if after == at + 1)
        yield from ((f"b:{new.tokens[at]} {new.tokens[after]}", wording) for at, after in pairs)
        yield from ((name, wording) for name in _neighbours(new, core))
    yield from ((name, 1.0) for name in set(_read_around(new, core, new.numbers & old.numbers)))
    yield "other value of word", float(_has_other_value(new, old, core))
    yield "other choice", brief * any(new.choices[one] - old.choices[one] for one in new.choices.keys() & old.choices)
    yield "same choice", brief * any(new.choices[one] & old.choices[one] for one in new.choices.keys() & old.choices)
    yield from _ending_features(new, core, told)


def _ending_features(new: ComparedStatement, core: frozenset[str], told: float) -> Iterator[tuple[str, float]]:
    """Yield whether the new statement ends or sets something, and whether that is what both statements share."""
    part = _shorten(new)
    if new.points:
        yield "points", part
    if new.sets:
        yield "sets", part
        yield "sets told", told
    if new.ends:
        yield "ends", part
        yield "ends told", told
        shared = [at for at, stem in enumerate(new.stems) if stem in core]
        if any(abs(at - end) <= NEAR for at in shared for end in new.ends):
            yield "ends near", 1.0
            yield "ends near told", told


def _shorten(statement: ComparedStatement) -> float:
    """Return how much of a statement may be meant by what it shares with another: all of a short one."""
    return min(1.0, math.sqrt(SHORT_WORDS / max(1, len(statement.tokens))))


def _list_beside(new: ComparedStatement, shared: frozenset[str]) -> list[int]:
    """Return the places of words that may speak of what both statements share: all of a short one, else those near."""
    if len(new.tokens) <= SHORT_WORDS:
        return list(range(len(new.tokens)))
    near = (range(at - BESIDE, at + BESIDE + 1) for at, stem in enumerate(new.stems) if stem in shared)
    return sorted({place for places in near for place in places if 0 <= place < len(new.tokens)})


def _neighbours(new: ComparedStatement, core: frozenset[str]) -> Iterator[str]:
    """Yield the words around those that both statements share: `scrap the`, `is out`, `not`."""
    tokens = new.tokens
    for at, stem in enumerate(new.stems):
        if stem in core:
            yield from (f"before{back}:{tokens[at - back]}" for back in (1, 2) if at >= back)
            if at + 1 < len(tokens):
                yield f"after:{tokens[at + 1]}"


def _value_features(new: ComparedStatement, old: ComparedStatement, rarity: WordRarity) -> Iterator[tuple[str, float]]:
    """Yield which sorts of values both name, and whether the new one names another value of a sort."""
    yield "told sorts", rarity.add(new.sorts & old.sorts) / 4
    for sort in _other_sorts(new, old):
        yield f"other {sort}", 1.0


def _other_sorts(new: ComparedStatement, old: ComparedStatement) -> list[str]:
    return [sort for sort, values in new.values.items() if sort in old.values and values - old.values[sort]]


def _read_around(new: ComparedStatement, core: frozenset[str], values: frozenset[str]) -> Iterator[str]:
    """Yield how what both statements share is meant in the new one: `instead of 15`, `15 is out`."""
    for at, stem in enumerate(new.stems):
        what = "value" if stem in values else "word" if stem in core else ""
        if not what:
            continue
        before, after = new.tokens[max(0, at - AROUND) : at], new.tokens[at + 1 : at + 1 + AROUND]
        yield from (f"{what} after c:{cue}" for cue in read_cues(before) & CHANGE_CUES)
        yield from (f"{what} before c:{cue}" for cue in read_cues(after) & CHANGE_CUES)


def _has_other_value(new: ComparedStatement, old: ComparedStatement, core: frozenset[str]) -> bool:
    """Return whether beside a word of both the new statement names a number that the old one does not."""
    mine, theirs = _numbers_beside(new, core), _numbers_beside(old, core)
    return any(mine[word] - theirs[word] for word in mine.keys() & theirs.keys())


def _numbers_beside(statement: ComparedStatement, core: frozenset[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for at, stem in enumerate(statement.stems):
        if stem in core and statement.tokens[at] != NUMBER_SIGN:
            near = range(max(0, at - AROUND), min(len(statement.tokens), at + AROUND + 1))
            numbers = {statement.stems[place] for place in near if statement.tokens[place] == NUMBER_SIGN}
            if numbers:
                found.setdefault(stem, set()).update(numbers)
    return found
