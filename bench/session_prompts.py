"""What labelled sessions' prompts bring: is the statement that decides brought, and do everyday turns bring nothing?

    python -m bench session_prompts

`bench/data/session_prompts.jsonl` names turns of the labelled sessions, and the statements of earlier sessions that
each should not be answered without (none for an everyday turn). A turn that changes an earlier statement is a case too:
that statement decides. What held before the session is remembered word for word.

Decisive memories alone are weighed, in this process: no turns said about the same, no code, no store. A writer's
prompts are judged by a scorer that was trained without them (`train_prompts`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench._labelled_sessions import FOLDER, KeptStatement, LabelledProject, read_projects
from bench._shared import MarkdownTable
from bench.push import KINDS
from bench.sessions import load_encoder
from bench.train_prompts import SeenPrompts, fit_prompts, read_prompts, see_prompts
from hyperloci.conversations.capture.prompt_context import DECISIVE_ITEMS
from hyperloci.conversations.consolidation.turn_view import USER
from hyperloci.conversations.unasked.bearing import read_map
from hyperloci.conversations.unasked.decisive import (
    MemoryCandidate,
    is_worth_showing,
    profile_memory,
    profile_prompt,
    score_candidates,
)
from hyperloci.store.keywords.analysis import analyse_text

CASES_FILE = FOLDER.parent / "session_prompts.jsonl"

CHANGE = "turns that change a statement"
NEEDY = "prompts that something decides"
EVERYDAY = "everyday turns"


@dataclass(frozen=True, slots=True)
class SessionPrompt:
    """A turn, what held before its session (name: kind and text), and the statement that decides it, if any."""

    kind: str
    project: str
    prompt: str
    held: dict[str, tuple[str, str]]
    decides: str | None = None


def list_cases() -> Iterator[SessionPrompt]:
    """Yield the cases of all projects that the file names."""
    rows = [json.loads(line) for line in CASES_FILE.read_text(encoding="utf-8").splitlines()]
    wanted = {(row["project"], row["prompt"]): row["decides"] for row in rows}
    names = {project for project, _ in wanted}
    for project in read_projects():
        if project.name in names:
            yield from _list_project(project, wanted)


def _list_project(project: LabelledProject, wanted: dict[tuple[str, str], Sequence[str]]) -> Iterator[SessionPrompt]:
    held: dict[str, tuple[str, str]] = {}
    for session in project.sessions:
        told: list[KeptStatement] = []
        for turn in session:
            text = turn.view.text
            decides = wanted.get((project.name, text)) if turn.view.speaker == USER else None
            if held and decides is not None:
                kind = NEEDY if decides else EVERYDAY
                yield SessionPrompt(kind, project.name, text, dict(held), next(iter(decides), None))
            for kept in turn.kept:
                told.append(kept)
                if kept.old and kept.old[0] in held:
                    yield SessionPrompt(CHANGE, project.name, text, dict(held), kept.old[0])
        held |= {kept.name: _tell(kept) for kept in told}
        for kept in told:
            if kept.old and kept.old[1] != "refines":
                held.pop(kept.old[0], None)


def _tell(kept: KeptStatement) -> tuple[str, str]:
    """Return the kind and the text that the memory would hold."""
    return KINDS.get(kept.kind, kept.kind), f"{kept.about} → {kept.quote}" if kept.about else kept.quote


class Scorers:
    """The scorers of quietness, each trained without one writer."""

    def __init__(self, seen: SeenPrompts) -> None:
        prompts = read_prompts()
        self._weights = {
            writer: fit_prompts(seen.choose(rest), prompts.quiet[rest])
            for writer in sorted(set(prompts.writers))
            for rest in (prompts.writers != writer,)
        }

    def score(self, writers: Sequence[str], seen: SeenPrompts) -> list[float]:
        """Return how likely each prompt is quiet, by the weights without its writer."""
        scores = {writer: self._weights[writer].score(seen) for writer in set(writers)}
        return [float(scores[writer][row]) for row, writer in enumerate(writers)]


def bring(case: SessionPrompt, vectors: dict[str, NDArray[np.float64]], quietness: float) -> list[str]:
    """Return the names of the statements that are brought, the most decisive first."""
    profile = profile_prompt(case.prompt)
    if profile is None:
        return []
    profile = replace(profile, quietness=quietness)
    asked = vectors[case.prompt]
    moved = read_map().move(asked.astype(np.float32))
    scores = score_candidates(
        profile,
        [
            MemoryCandidate(
                profile_memory(kind, " ".join(analyse_text(text))),
                float(asked @ vectors[text]),
                bearing=float(moved @ vectors[text]),
            )
            for kind, text in case.held.values()
        ],
    )
    ranked = sorted(zip(scores, case.held, strict=True), key=lambda pair: -pair[0])[:DECISIVE_ITEMS]
    return [name for score, name in ranked if is_worth_showing(profile, score, by_meaning=True)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench session_prompts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.parse_args()
    cases = list(list_cases())
    encode = load_encoder()
    scorers = Scorers(see_prompts(read_prompts().texts))
    texts = sorted({case.prompt for case in cases} | {text for case in cases for _, text in case.held.values()})
    vectors = dict(zip(texts, np.asarray(encode(texts), dtype=np.float64), strict=True))
    table = MarkdownTable("writer", NEEDY, CHANGE, f"{EVERYDAY} given something", "shown")
    tallies: dict[str, dict[str, list[int]]] = {}
    seen = see_prompts([case.prompt for case in cases])
    for case, quietness in zip(cases, scorers.score([case.project[0] for case in cases], seen), strict=True):
        given = bring(case, vectors, quietness)
        hit = case.decides in given if case.decides else bool(given)
        for name in (case.project[0], "all"):
            tally = tallies.setdefault(name, {kind: [0, 0, 0] for kind in (NEEDY, CHANGE, EVERYDAY)})[case.kind]
            tally[0] += hit
            tally[1] += 1
            tally[2] += len(given)
    for name, kinds in sorted(tallies.items(), key=lambda item: (item[0] == "all", item[0])):
        cells = [f"{hits} of {count}" for hits, count, _ in kinds.values()]
        shown = sum(kinds[kind][2] for kind in (NEEDY, CHANGE)) / sum(kinds[kind][1] for kind in (NEEDY, CHANGE))
        table.add(name, *cells, f"{shown:.1f}")
    table.print()


if __name__ == "__main__":
    main()
