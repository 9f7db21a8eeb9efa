"""Decisive memories: of a project's memories, those that a prompt should not be answered without.

All that bind are looked at, some hundreds: what decides often shares no word with the request, and a search by words or
by meaning would leave it out before anything could be weighed.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from hyperloci.conversations.unasked.activities import find_asked_activities, find_told_activities
from hyperloci.conversations.unasked.prompt_forms import CHORE, EXPLAIN, LOOK, SMALL_TALK, find_forms
from hyperloci.conversations.unasked.prompt_terms import analyse_terms, fold_terms, list_stop_terms, read_table
from hyperloci.conversations.unasked.quiet_prompts import discount_quiet
from hyperloci.model.kinds import BINDING_SUBTYPES
from hyperloci.system.values import dataclass

INFORMING: Final = frozenset({"insight", "semantic", "user_info"})
"""Kinds that say what is so: they decide now and then, and need more to be shown."""

QUIET_FORMS: Final = frozenset({LOOK, EXPLAIN, CHORE})
"""Prompts that hardly anything said before bears on."""

QUIET_MEANING: Final = 0.55
"""The cosine that brings a memory with such a prompt, if it shares a word too. Of 86 of them none came nearer than 0.52
to a memory by chance (`bench push`, replayed sessions)."""

ENOUGH_WORDS: Final = 6
"""Rare words in common after which more say nothing new."""

SMALLEST_PROJECT: Final = 20
"""With fewer memories a word is not taken for common because one of five has it."""


DEAD_END: Final = "dead_end"

RARE_HOLDERS: Final = 3
RARE_SHARE: Final = 0.05
"""Memories that may have a rare word: the dead end, what is said of it again, and in a large project a twentieth."""

REQUEST_FLOOR: Final = -1.5
REQUEST_FLOOR_BY_WORDS: Final = -1.0
"""A request for work gets memories from a lower floor on: tables of words know what their author thought of, and what
decides shares no word with half of the requests. Of eighteen projects by six new writers 76 of 134 that decide are
brought, with only the first three at this floor 55, and two memories more a request (docs/benchmarks/unasked.md, "What
decides, unasked"). Without a vector at least one word or activity must be common."""

MIN_REQUEST_TERMS: Final = 3
"""Content words of a request for work; what is shorter ("composer install") is a command more often."""


@dataclass(frozen=True, slots=True)
class PromptProfile:
    """What a prompt asks for.

    Attributes:
        terms: its content words.
        activities: what it would have done.
        is_quiet: whether it is of a form that hardly anything bears on.
        quietness: how likely it needs nothing that was said before, 0..1 (`quiet_prompts`).
    """

    terms: frozenset[str]
    activities: frozenset[str]
    is_quiet: bool
    quietness: float = 0.0


@dataclass(frozen=True, slots=True)
class MemoryProfile:
    """What a memory is about; `kind` is its subtype."""

    kind: str
    terms: frozenset[str]
    activities: frozenset[str]


@dataclass(frozen=True, slots=True)
class MemoryCandidate:
    """A memory that may decide.

    Attributes:
        profile: what it is about.
        cosine: of the prompt, in E1; None without a vector.
        is_anchored: whether it is tied to code that the prompt names.
        bearing: how much it bears on the prompt by what was learned (`bearing`); 0 where that can't be told.
    """

    profile: MemoryProfile
    cosine: float | None = None
    is_anchored: bool = False
    bearing: float = 0.0


def profile_prompt(prompt: str) -> PromptProfile | None:
    """Read a prompt; None if it asks for nothing that was said before: small talk, a single word."""
    terms = analyse_terms(prompt)
    forms = find_forms(terms)
    if len(terms) < 2 or SMALL_TALK in forms:
        return None
    return PromptProfile(
        terms=frozenset(terms) - list_stop_terms(),
        activities=find_asked_activities(prompt, terms),
        is_quiet=not forms.isdisjoint(QUIET_FORMS),
    )


@functools.lru_cache(maxsize=4_096)  # A server reads the same memories with every prompt.
def profile_memory(kind: str, indexed: str) -> MemoryProfile:
    """Read a memory.

    Args:
        kind: its subtype.
        indexed: its terms as they stand in the keyword index, where they need not be found a second time.
    """
    terms = fold_terms(indexed.split())
    return MemoryProfile(kind, frozenset(terms) - list_stop_terms(), find_told_activities(terms))


def score_candidates(prompt: PromptProfile, candidates: Sequence[MemoryCandidate]) -> list[float]:
    """Return for each memory how much it decides what is asked; above 0 it is worth showing by itself.

    Args:
        prompt: what is asked.
        candidates: all memories of a project that may decide it: how rare a word is is counted in them.
    """
    rarity = TermRarity([candidate.profile for candidate in candidates])
    if prompt.is_quiet:
        return [_score_quietly(prompt, candidate) for candidate in candidates]
    discount = discount_quiet(prompt.quietness)
    return [
        _weigh(make_features(prompt, candidate, rarity), "words" if candidate.cosine is None else "meaning") - discount
        for candidate in candidates
    ]


def is_worth_showing(prompt: PromptProfile, score: float, *, by_meaning: bool) -> bool:
    """Return whether a memory of this score is shown; `by_meaning`: it has a vector."""
    if prompt.is_quiet or len(prompt.terms) < MIN_REQUEST_TERMS:
        return score > 0
    return score > (REQUEST_FLOOR if by_meaning else REQUEST_FLOOR_BY_WORDS)


def find_warnings(prompt: PromptProfile, candidates: Sequence[MemoryCandidate]) -> list[bool]:
    """Return for each memory whether it is a dead end that has a word of the prompt which few memories have.

    Whoever is about to try again what failed names it, and says of the rest what many other memories are about:
    `use tenacity for the pool retry`.
    """
    named = [
        prompt.terms & candidate.profile.terms if candidate.profile.kind == DEAD_END else frozenset[str]()
        for candidate in candidates
    ]
    looked_for = frozenset[str]().union(*named)
    holders = Counter(term for candidate in candidates for term in looked_for & candidate.profile.terms)
    most = max(RARE_HOLDERS, RARE_SHARE * len(candidates))
    return [any(holders[term] <= most for term in terms) for terms in named]


class TermRarity:
    """How rare words and activities are among a project's memories."""

    def __init__(self, memories: Sequence[MemoryProfile]) -> None:
        self._count = max(len(memories), SMALLEST_PROJECT)
        self._terms = Counter(term for memory in memories for term in memory.terms)
        self._activities = Counter(name for memory in memories for name in memory.activities)

    def sum_terms(self, terms: Collection[str]) -> float:
        """Return the weights of words, each at most 1, that of a word in one memory."""
        return sum(self._weigh(self._terms[term]) for term in terms)

    def join_activities(self, names: Collection[str]) -> float:
        """Return the weight of what is spoken of in common, 0..1: several common activities count as one rare."""
        return 1 - math.prod(1 - self._weigh(self._activities[name]) for name in names)

    def _weigh(self, holders: int) -> float:
        return math.log(1 + self._count / (max(holders, 1) + 0.5)) / math.log(1 + self._count / 1.5)


def make_features(prompt: PromptProfile, candidate: MemoryCandidate, rarity: TermRarity) -> Mapping[str, float]:
    """Return what is weighed of a prompt and a memory, each 0..1 but cosine and bearing."""
    memory = candidate.profile
    return {
        "meaning": candidate.cosine or 0.0,
        "words": min(1.0, rarity.sum_terms(prompt.terms & memory.terms) / ENOUGH_WORDS),
        "activity": rarity.join_activities(prompt.activities & memory.activities),
        "binding": float(memory.kind in BINDING_SUBTYPES),
        "anchored": float(candidate.is_anchored),
        "bearing": candidate.bearing,
    }


def _weigh(features: Mapping[str, float], how: str) -> float:
    weights = read_table("weights")[how]
    return float(weights["bias"]) + sum(float(weights.get(name, 0.0)) * value for name, value in features.items())


def _score_quietly(prompt: PromptProfile, candidate: MemoryCandidate) -> float:
    near = (candidate.cosine or 0.0) - QUIET_MEANING
    return near if prompt.terms & candidate.profile.terms else min(near, 0.0)
