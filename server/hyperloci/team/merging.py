"""Merging: puts hits of the team's database among those of this machine, what the question names first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from hyperloci.knowledge.names.written_names import (
    dotted_suffixes,
    find_code_names,
    find_paths,
    is_code_like,
    is_path_of_file,
    read_whole_name,
)
from hyperloci.model.search import Hit, Placement
from hyperloci.retrieval.intent import Intent
from hyperloci.retrieval.names.question_forms import asks_for_thing
from hyperloci.store.team.shared_values import TeamHit

MAX_NAMED: Final = 3
"""Of the team's hits that have the name, how many lead: as many as definitions do here (`retrieval.names.leading`)."""


def has_exact_name(query: str, intent: str, hit: TeamHit) -> bool:
    """Return whether a question asks for what a memory names exactly.

    The question is its title, or the name of code or the path that stands in it; within a question such a name counts
    where the question is after the thing or a reason, as on this machine.
    """
    payload = hit.memory.payload
    if payload.title and _fold(payload.title) == _fold(query):
        return True
    whole = read_whole_name(query)
    names = [whole] if whole is not None and (is_code_like(whole) or query.strip()[:1] == "`") else []
    paths = find_paths(query) if len(query.split()) == 1 else []
    if not (names or paths) and (intent == Intent.WHY or asks_for_thing(query)):
        paths = find_paths(query)
        names = [name for name in find_code_names(query) if name not in paths]
    if not (names or paths):
        return False
    text = f"{payload.title}\n{payload.content}"
    there = {suffix for name in find_code_names(text) for suffix in dotted_suffixes(name)}
    files = find_paths(text)
    return all(
        name in there or any(is_path_of_file(path, name) for path in files) for name in dict.fromkeys((*names, *paths))
    )


def _fold(text: str) -> str:
    return " ".join(text.strip().strip("`'\"").rstrip("?!").casefold().split())


def merge_hits(here: Sequence[Hit], named: Sequence[Hit], others: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """Return the hits of both, at most `limit`.

    What is here keeps its order, which is not that of scores alone. What leads here comes first; then what the team
    has of the name, for which half of the places are left; then the rest, by score.

    Args:
        here: hits of this machine, in their order.
        named: the team's that have the name that is asked for, best first.
        others: the team's others, best first.
        limit: how many are wanted.
    """
    leads = max((place for place, hit in enumerate(here, 1) if hit.placed is Placement.NAMED), default=0)
    leads = min(leads, (limit + 1) // 2) if named else leads
    leading = [replace(hit, placed=Placement.NAMED) for hit in named[:MAX_NAMED]]
    rest = list(here[leads:])
    # A hit stands where the best of those that it precedes here would.
    scores = [*accumulate((hit.score for hit in reversed(rest)), max)][::-1]
    theirs = sorted((*named[MAX_NAMED:], *others), key=lambda hit: -hit.score)
    # Stable: among equals, what is here stands first.
    ranked = sorted(
        (*zip(scores, rest, strict=True), *((hit.score, hit) for hit in theirs)), key=lambda scored: -scored[0]
    )
    return (*here[:leads], *leading, *(hit for _, hit in ranked))[:limit]
