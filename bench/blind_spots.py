"""Blind spots: `python -m bench blind_spots [--slices e5,e8] [--folder DIR] [--failures 3] [--save]`.

For every space a slice of at least a hundred questions that meaning alone gets wrong, asked of one memory that holds
all slices and real documents and code besides (some 6,500 memories). Prints recall@5 of E1 alone, of the space alone,
and of `Memory.search` as it is by default; a space must lift its slice by 10 points over E1. For the two spaces that
have a direction, also how often swapping cause and effect, or importer and imported, changes the first hit.
The time spaces order what E1 found (its fifty best by the product of both; for E4 the turns beside its first hit).
Everything is built from packages that the project's environment has; see `bench/spots`.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench._shared import MarkdownTable, save_result
from bench.spots import directed, exact, other_words, temporal
from bench.spots.model import NOW_MS, SpotCase, SpotSlice
from bench.spots.world import SpotMemory, open_spot_memory
from hyperloci.clock import from_iso
from hyperloci.model.search import Hit
from hyperloci.spaces.temporal import moment_of, score_recency, score_rhythm

LIMIT = 5
REORDERED = 50
LIFT = 0.10
"""What a space must add to its slice's recall over E1 alone."""

_AFTER = re.compile(r"\b(?:after|next)\b")


@dataclass(slots=True)
class SliceOutcome:
    """What was measured of one slice; shares are 0..1.

    Attributes:
        recalls: recall@5 by method, a value a question.
        changed, right: whether the swapped question had another first hit; whether both first hits were right.
        failures: questions that the space alone did not answer, what they wanted and the first hits.
    """

    recalls: dict[str, list[float]] = field(default_factory=lambda: {"e1": [], "space": [], "all": []})
    changed: list[bool] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    failures: list[tuple[str, str, list[str]]] = field(default_factory=list)


def all_slices() -> list[SpotSlice]:
    """Return all slices, E2 first."""
    found = [
        *temporal.temporal_slices(),
        *exact.exact_slices(),
        *directed.directed_slices(),
        *other_words.other_word_slices(),
    ]
    return sorted(found, key=lambda item: int(item.space[1:]))


def measure_slice(asked: SpotMemory, item: SpotSlice) -> SliceOutcome:
    """Ask every question of a slice three times: of E1, of the space, of all."""
    outcome = SliceOutcome()
    for case in item.cases:
        alone = by_space(asked, item.space, case.query)
        answers = {"e1": by_space(asked, "e1", case.query)[:LIMIT], "space": alone, "all": by_all(asked, case.query)}
        for method, hits in answers.items():
            outcome.recalls[method].append(share_found(asked, hits, case.wanted))
        if case.swapped:
            other = by_space(asked, item.space, case.swapped)
            outcome.changed.append([hit.id for hit in alone[:1]] != [hit.id for hit in other[:1]])
            found = share_found(asked, alone[:1], case.wanted), share_found(asked, other[:1], case.swapped_wanted)
            outcome.right.append(min(found) > 0)
        if outcome.recalls["space"][-1] < 1:
            _note_case(outcome, case, alone)
    return outcome


def _note_case(outcome: SliceOutcome, case: SpotCase, hits: Sequence[Hit]) -> None:
    outcome.failures.append((case.query, ", ".join(sorted(case.wanted)), [_shorten_hit(hit) for hit in hits[:3]]))


def _shorten_hit(hit: Hit) -> str:
    return " ".join(f"{hit.source.symbol or ''} {hit.content}".split())[:120]


def by_all(asked: SpotMemory, query: str) -> Sequence[Hit]:
    """Return the first hits of a search as it is by default."""
    answer = asked.memory.search(query, limit=LIMIT, reinforce=False)
    if answer.mode != "hybrid":
        raise RuntimeError(f"searched without vectors: {answer.degraded}")
    return answer.results


def by_space(asked: SpotMemory, space: str, query: str) -> Sequence[Hit]:
    """Return the first hits of one space; of a time space, E1's hits as it orders them."""
    if space in ("e2", "e3"):
        return _by_time(asked, space, query)
    if space == "e4":
        return _beside_first(asked, query)
    where = {"strategy": "e1_only"} if space == "e1" else {"strategy": "embedder_first", "first_space": space}
    limit = REORDERED if space == "e1" else LIMIT
    return asked.memory.search(query, limit=limit, where=where, reinforce=False).results


def _by_time(asked: SpotMemory, space: str, query: str) -> Sequence[Hit]:
    hits = by_space(asked, "e1", query)
    times = np.array([from_iso(hit.valid_from) for hit in hits], np.int64)
    moment = moment_of(query)
    if space == "e3" and moment is None:
        return hits[:LIMIT]
    near = score_recency(times, NOW_MS) if space == "e2" or moment is None else score_rhythm(times, moment)
    order = np.argsort(-near * np.array([hit.score for hit in hits]), kind="stable")
    return [hits[int(place)] for place in order[:LIMIT]]


def _beside_first(asked: SpotMemory, query: str) -> Sequence[Hit]:
    anchor = next((hit for hit in by_space(asked, "e1", query) if hit.source.session_id), None)
    if anchor is None:
        return []
    direction = "after" if _AFTER.search(query) else "before"
    events = asked.memory.get_timeline(anchor.id, direction=direction, limit=LIMIT).events
    return [event.memory for event in events if event.relation == direction]


def share_found(asked: SpotMemory, hits: Sequence[Hit], wanted: frozenset[str]) -> float:
    """Return which share of the wanted, or of as many of them as fit, is among the hits."""
    found = wanted & {id for hit in hits for id in asked.note_ids(hit)}
    return min(1.0, len(found) / min(len(wanted), LIMIT))


def result_entry(outcome: SliceOutcome, item: SpotSlice) -> dict[str, Any]:
    """Return a slice's entry of the result."""
    means = {method: round(float(np.mean(values)), 4) for method, values in outcome.recalls.items()}
    answer: dict[str, Any] = {"n": len(item.cases), **means, "lifted": means["space"] - means["e1"] >= LIFT}
    if outcome.changed:
        answer |= {
            "changed": round(float(np.mean(outcome.changed)), 4),
            "both": round(float(np.mean(outcome.right)), 4),
        }
    return answer


def main() -> None:
    """Build the memory, ask every question and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench blind_spots", description=__doc__)
    parser.add_argument("--slices", help="which spaces, by commas; all without it")
    parser.add_argument("--folder", type=Path, help="keep the memory here and use it again")
    parser.add_argument("--failures", type=int, default=0, help="show so many questions that a space didn't answer")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results, named by commit")
    options = parser.parse_args()
    every = all_slices()
    chosen = [item for item in every if not options.slices or item.space in options.slices.split(",")]
    answer: dict[str, Any] = {}
    table = MarkdownTable(
        "space", "n", "E1 alone", "space alone", "all", "lift", "swap changes first hit", "both first hits right"
    )
    with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as temporary:
        folder = options.folder or Path(temporary)
        with open_spot_memory((note for item in every for note in item.notes), folder) as asked:
            for item in chosen:
                outcome = measure_slice(asked, item)
                name = f"{item.space.upper()} {item.title}".strip()
                answer[name] = found = result_entry(outcome, item)
                table.add(*_table_row(name, found))
                print(f"{name} done", found, file=sys.stderr, flush=True)
                _print_outcome(outcome, options.failures)
    table.print()
    if options.save:
        save_result("blind_spots", answer)


def _table_row(name: str, found: dict[str, Any]) -> list[str]:
    lift = f"{100 * (found['space'] - found['e1']):+.1f}"
    numbers = [f"{found[method]:.3f}" for method in ("e1", "space", "all")]
    swaps = [f"{found[key]:.3f}" if key in found else "" for key in ("changed", "both")]
    return [name, str(found["n"]), *numbers, lift, *swaps]


def _print_outcome(outcome: SliceOutcome, count: int) -> None:
    step = max(1, len(outcome.failures) // max(1, count))
    for query, wanted, hits in outcome.failures[::step][:count]:
        print(f"? {query}\n  wanted {wanted}")
        for line in hits:
            print(f"  - {line}")


if __name__ == "__main__":
    main()
