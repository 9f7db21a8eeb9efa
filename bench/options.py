"""Choices among options (`2`, `the second`): which are kept, by words and by the reading of the option.

    python -m bench options

`bench/data/options.jsonl` has 520 answers by three writers to offers of the assistant's: the offer, the answer, what
was done and said then, and the kind of what is to be kept, or why nothing is (a choice of the moment).
"""

from __future__ import annotations

import argparse
import json

from bench._labelled_sessions import FOLDER
from bench._shared import MarkdownTable
from bench.train_statement_reader import read_assent
from hyperloci.conversations.consolidation.context.options import find_choice
from hyperloci.conversations.consolidation.heuristics import KEEP_ANSWER
from hyperloci.conversations.consolidation.statement_features import read_features
from hyperloci.conversations.consolidation.statement_reading import CHOSEN_READING, describe_sentence
from hyperloci.conversations.consolidation.statement_scorer import load_weights
from hyperloci.embedder.models.cross_encoder import STATEMENT_ADAPTER, load_cross_encoder

GATES = (CHOSEN_READING, 0.3, 0.4, 0.5, 0.6)


def main() -> None:
    """Run from the command line."""
    argparse.ArgumentParser(
        prog="python -m bench options", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    rows = [json.loads(line) for line in (FOLDER.parent / "options.jsonl").read_text("utf-8").splitlines()]
    talks = [(read_assent(row), "kind" in row) for row in rows]
    chosen = [(turns, lasts) for turns, lasts in talks if find_choice(turns, 1) is not None]
    pairs = [describe_sentence(turns, 1, n) for turns, _ in chosen for n in range(len(turns[1].sentences))]
    read = dict(zip(pairs, load_cross_encoder(STATEMENT_ADAPTER).score_pairs(pairs), strict=True))
    words, reading = [], []
    for turns, _ in chosen:
        numbers = range(len(turns[1].sentences))
        words.append(max(load_weights().score(read_features(turns, 1, number)) for number in numbers))
        reading.append(max(read[describe_sentence(turns, 1, number)] for number in numbers))
    lasting = sum(lasts for _, lasts in chosen)
    print(f"options are found for {len(chosen)} of {len(rows)}, {lasting} of them last\n")
    table = MarkdownTable("kept from", f"of {lasting} that last", f"of {len(chosen) - lasting} of the moment")
    for name, scores, gate in (("words", words, KEEP_ANSWER), *(("reading", reading, gate) for gate in GATES)):
        kept = [lasts for (_, lasts), score in zip(chosen, scores, strict=True) if score >= gate]
        table.add(f"{name}, {gate}", sum(kept), len(kept) - sum(kept))
    table.print()


if __name__ == "__main__":
    main()
