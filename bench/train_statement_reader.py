"""Train the model that reads a user's sentence with what was said around it: is it worth keeping?

    python -m bench train_statement_reader [--write] [--epochs 3] [--onward] [--rank 32] [--without WRITER,...]

Starts from the bundled model and learns from what the statement scorer learns from (`bench train_extraction`): the
user's sentences of labelled sessions, a fourth of them as if nobody had answered, statements on their own, look-alikes,
both with an answer, and bare assents to what the assistant proposed (`assents.jsonl`). `--write` stores what it differs
by from the bundled model, as matrices of low rank, in `server/hyperloci/embedder/models/data`. `--without` leaves out
the sessions and assents of some writers and says how well theirs are told, beside the scorer. On two cores it takes
half an hour; other machines round otherwise.

With `--onward` it starts from what is stored and learns from the assents and a part of the rest: five minutes. What is
stored was made so, of weights that had learned from the rest alone.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import save_file
from sklearn.metrics import average_precision_score

from bench._labelled_sessions import FOLDER, LabelledProject, read_projects
from bench.train_cross_encoder import RANK, Example, find_adapter, score_examples, train
from bench.train_extraction import (
    KINDS_FILE,
    LOOKALIKES_FILE,
    REPLIES_FILE,
    find_label,
    is_lookalike,
    read_rows,
    read_writer,
)
from hyperloci.conversations.consolidation.statement_reading import describe_sentence, join_parts
from hyperloci.conversations.consolidation.turn_view import ACTION, ASSISTANT, USER, TurnView
from hyperloci.embedder.models.cross_encoder import STATEMENT_ADAPTER

ONWARD_EXAMPLES: Final = 4_000
ONWARD_EPOCHS: Final = 2
ONWARD_RATE: Final = 3e-5
"""Learning onward: other examples beside the assents, so that nothing is unlearned; as often, and as fast."""

SILENT: Final = 0.25
"""Share of the sentences that are read as if nobody had answered."""

ASSENTS_FILE: Final = FOLDER.parent / "assents.jsonl"
"""1,400 brief answers by four writers: what the assistant said, the answer, what was done and said then, and the
kind of what was accepted, or why it is nothing to keep."""

ASSENT_WEIGHT: Final = 2.0
"""How much one of them counts: there are few beside the other sentences, and only the proposal tells."""

LOOKALIKE_WEIGHT: Final = 2.0
"""How much a sentence counts that only looks like one to keep: a wrong memory does more harm than a missing one."""


def list_session_examples(project: LabelledProject, draw: random.Random | None = None) -> Iterator[Example]:
    """Yield the user's sentences of a project; with `draw` some of them as if nobody had answered."""
    for session in project.sessions:
        views = [turn.view for turn in session]
        for at, turn in enumerate(session):
            if turn.view.speaker != USER:
                continue
            for number, sentence in enumerate(turn.view.sentences):
                heard = views[: at + 1] if draw is not None and draw.random() < SILENT else views
                before, told = describe_sentence(heard, at, number)
                weight = LOOKALIKE_WEIGHT if is_lookalike(turn, sentence) else 1.0
                yield Example(before, told, float(find_label(turn, sentence) is not None), weight)


def list_lone_examples() -> Iterator[Example]:
    """Yield statements on their own, look-alikes, and both with an answer."""
    for row in read_rows(KINDS_FILE):
        if row.get("speaker", USER) == USER:
            yield from _read_lone(row["text"], "", 1.0)
    for row in read_rows(LOOKALIKES_FILE):
        if row.get("speaker", USER) == USER:
            yield from _read_lone(row["text"], "", 0.0)
    for row in read_rows(REPLIES_FILE):
        yield from _read_lone(row["text"], row["reply"], float("kind" in row))


def _read_lone(text: str, reply: str, wanted: float) -> Iterator[Example]:
    sentences = TurnView(0, USER, text).sentences
    for number, sentence in enumerate(sentences):
        before = sentences[number - 1].text if number else ""
        yield Example(*join_parts("", before, sentence.text, reply), wanted, 1.0 if wanted else LOOKALIKE_WEIGHT)


def list_assent_examples() -> dict[str, list[Example]]:
    """Return the brief answers, by writer."""
    found: dict[str, list[Example]] = {}
    for row in map(json.loads, ASSENTS_FILE.read_text("utf-8").splitlines()):
        turns = read_assent(row)
        before, told = describe_sentence(turns, 1, len(turns[1].sentences) - 1)
        found.setdefault(row["writer"], []).append(Example(before, told, float("kind" in row), ASSENT_WEIGHT))
    return found


def read_assent(row: dict[str, str]) -> list[TurnView]:
    """Return the turns of an assent: the proposal, the assent, what was done, and what was said then."""
    said = [(ASSISTANT, row["before"]), (USER, row["text"])]
    said += [(ACTION, line) for line in row["done"].splitlines()]
    said += [(ASSISTANT, row["reply"])] if row["reply"] else []
    return [TurnView(seq, speaker, text) for seq, (speaker, text) in enumerate(said)]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the adapter into the package")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--onward", action="store_true", help="learn on from what is stored")
    parser.add_argument("--rank", type=int, default=RANK, help="of the matrices that are stored")
    parser.add_argument("--keep", type=Path, help="a file that keeps the whole model")
    parser.add_argument("--without", default="", help="writers whose sessions are not learned from")
    options = parser.parse_args()
    left_out, draw = frozenset(filter(None, options.without.split(","))), random.Random(3)
    projects = list(read_projects())
    learned = [
        example
        for project in projects
        if read_writer(project.name) not in left_out
        for example in list_session_examples(project, draw)
    ]
    learned += list_lone_examples()
    assents = list_assent_examples()
    if options.onward:
        learned = draw.sample(learned, ONWARD_EXAMPLES)
    learned += [example for writer, told in assents.items() if writer not in left_out for example in told]
    print(f"{len(learned):,} examples, {sum(example.ends for example in learned):,.0f} to be kept", flush=True)
    if options.onward:
        model = train(learned, ONWARD_EPOCHS, onward_from=STATEMENT_ADAPTER, rate=ONWARD_RATE)
    else:
        model = train(learned, options.epochs)
    if options.keep is not None:
        torch.save(model.state_dict(), options.keep)
    if options.write:
        save_file(find_adapter(model, options.rank), STATEMENT_ADAPTER)
        print(f"{STATEMENT_ADAPTER.stat().st_size:,} bytes")
    for writer in sorted(left_out):
        examples = [
            one for project in projects if read_writer(project.name) == writer for one in list_session_examples(project)
        ]
        examples += assents.get(writer, [])
        told = average_precision_score([example.ends for example in examples], score_examples(model, examples))
        print(f"{writer}: {len(examples):,} sentences, average precision {told:.3f}")


if __name__ == "__main__":
    main()
