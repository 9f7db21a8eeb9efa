"""Causes that somebody denies, in short talks: is the right one kept as a cause, does the wrong one end?

    python -m bench denied_causes [--models]

Each talk of `bench/data/denied_causes.jsonl` is played after a session of other things, by words alone; with `--models`
as the embedder's models read it too. Half of the talks were not read while rules were made.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from bench._shared import MarkdownTable
from bench.sessions import load_encoder, play_project

TALKS: Final = Path(__file__).parent / "data" / "denied_causes.jsonl"

OTHER: Final = (
    ("user", "Invoices go into PostgreSQL, never into SQLite, which locks up under our load."),
    ("assistant", "Done, the list of invoices loads faster now."),
    ("user", "Tests must not touch the network, CI has none."),
    ("assistant", "Understood, the tests use recorded answers."),
    ("user", "One change per commit, never more, reviewers insist."),
    ("assistant", "Will do."),
    ("user", "the nightly report fails because the sandbox account of the bank was closed in May"),
    ("assistant", "I'll switch it to the new account."),
)
"""What was said in the project before, and stays."""


def judge_talk(talk: dict[str, Any], facts: Sequence[dict[str, Any]]) -> Iterator[tuple[str, bool]]:
    """Yield what became of each cause of a talk: a column of the table, and whether it is so."""
    current = [fact for fact in facts if fact["current"]]
    for words in talk["right"]:
        kinds = {fact["kind"] for fact in current if _holds(fact, words)}
        yield "right ones kept", bool(kinds)
        yield "as a cause", "insight" in kinds
    for wrong in talk["wrong"]:
        claims = [f for f in facts if _holds(f, wrong["has"]) and not any(_holds(f, [w]) for w in wrong["without"])]
        if claims:
            yield "wrong ones ended", not any(claim["current"] for claim in claims)
    for words in talk["no_cause"]:
        yield "look-alikes kept as causes", any(_holds(f, words) and f["kind"] == "insight" for f in current)


def _holds(fact: dict[str, Any], words: Sequence[str]) -> bool:
    return all(word.lower() in fact["text"].lower() for word in words)


def make_project(talk: dict[str, Any]) -> dict[str, Any]:
    """Return a talk as a project whose sessions are played (`bench.sessions`)."""
    sessions = [
        {
            "id": f"s{day}",
            "date": f"2026-03-{day:02d}T10:00:00+00:00",
            "turns": [{"who": who, "text": text} for who, text in turns],
        }
        for day, turns in enumerate((OTHER, *talk["sessions"]), 1)
    ]
    return {"project": talk["name"], "sessions": sessions}


def main() -> None:
    """Print what became of the causes of both halves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", action="store_true", help="read by meaning too")
    encode = load_encoder() if parser.parse_args().models else None
    talks = [json.loads(line) for line in TALKS.read_text(encoding="utf-8").splitlines()]
    columns = ("right ones kept", "as a cause", "wrong ones ended", "look-alikes kept as causes")
    table = MarkdownTable("half", "talks", *columns)
    for half in ("read", "held"):
        mine = [talk for talk in talks if talk["half"] == half]
        found, of = Counter[str](), Counter[str]()
        for talk in mine:
            facts, _ = play_project(make_project(talk), encode)
            for column, is_so in judge_talk(talk, facts):
                found[column] += is_so
                of[column] += 1
        table.add(half, len(mine), *(f"{found[column]} of {of[column]}" for column in columns))
    table.print()


if __name__ == "__main__":
    main()
