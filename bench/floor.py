"""What `get_context` answers and what it leaves alone: `python -m bench floor DATA_DIR [--json] [--words]`.

Stores a few corpora of each kind (short and long conversations, documents, functions), asks each its own questions,
questions about other subjects and everyday requests, and counts with how many anything passes the floor of
`hyperloci.retrieval.relevance`, and with how many of its own the answer does, where the search found it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench._shared import MarkdownTable, bench_settings, save_result
from bench.prompts import EVERYDAY
from bench.quality import LOADERS, EvaluationCorpus, EvaluationQuestion, Named, store_corpus
from hyperloci.memory import Memory
from hyperloci.retrieval.relevance import make_term_share, select_for_question

LIMIT = 20
"""Hits that `get_context` looks at."""

TAKEN = {"locomo": 3, "beam": 2, "mddocs": 3, "pycode": 1}
"""Corpora of each kind; a few minutes on two cores."""

DOCUMENTS = 500
QUESTIONS = 80
STRANGERS = 40
"""Per corpus: of the functions so many, of its own questions and of the others' so many."""


def load_corpora(data: Path) -> Iterator[tuple[str, EvaluationCorpus]]:
    """Return the corpora that are measured, each with the name of its kind."""
    for kind, count in TAKEN.items():
        for corpus in next(iter(LOADERS[kind](data / kind))).corpora[:count]:
            documents = corpus.documents[:DOCUMENTS] if kind == "pycode" else corpus.documents
            known = {document.id for document in documents}
            questions = [question for question in corpus.questions if question.relevant & known][:QUESTIONS]
            yield kind, replace(corpus, documents=documents, questions=questions)


def foreign_questions(found: Sequence[tuple[str, EvaluationCorpus]], kind: str) -> list[EvaluationQuestion]:
    """Return questions of other kinds of corpora: they are about something else."""
    texts = [question.text for other, corpus in found if other != kind for question in corpus.questions]
    return [EvaluationQuestion(text, frozenset()) for text in random.Random(1).sample(texts, STRANGERS)]


def ask_questions(
    memory: Memory, named: Named, questions: Sequence[EvaluationQuestion]
) -> Iterator[tuple[bool, bool | None]]:
    """Yield, a question, whether anything passes, and whether the answer does (None if the search did not find it)."""
    share = make_term_share(memory.store)
    for question in questions:
        results = memory.search(question.text, limit=LIMIT, explain=True, reinforce=False).results
        passed = select_for_question(question.text, results, share)
        found, given = (any(named(hit) in question.relevant for hit in hits) for hits in (results, passed))
        yield bool(passed), given if found else None


def measure_floor(data: Path, *, words: bool) -> dict[str, dict[str, float]]:
    """Return the shares, by kind of corpus."""
    found = [(kind, corpus) for kind, corpus in load_corpora(data) if corpus.questions]
    everyday = [EvaluationQuestion(" ".join(prompt.split()), frozenset()) for prompt in EVERYDAY.split("|")]
    outcomes: dict[str, dict[str, list[bool]]] = {}
    for kind, corpus in found:
        asked = {"own": corpus.questions, "other subjects": foreign_questions(found, kind), "everyday": everyday}
        with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
            root = Path(folder) / "project"
            root.mkdir()
            with Memory.open(bench_settings(Path(folder), embedder=not words), root) as memory:
                named = store_corpus(memory, corpus, root)
                if not words:
                    memory.embed_pending()
                with contextlib.nullcontext() if words else memory.keep_embedder_running():
                    for what, questions in asked.items():
                        rows = list(ask_questions(memory, named, questions))
                        mine = outcomes.setdefault(kind, {})
                        mine.setdefault(what, []).extend(passed for passed, _ in rows)
                        if what == "own":
                            mine.setdefault("answers", []).extend(given for _, given in rows if given is not None)
    return {
        kind: {what: round(statistics.fmean(flags), 2) for what, flags in mine.items()}
        for kind, mine in outcomes.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that holds the evaluation sets")
    parser.add_argument("--words", action="store_true", help="without vectors, which takes seconds")
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else")
    options = parser.parse_args()
    found = measure_floor(options.data, words=options.words)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    table = MarkdownTable("shares", "own", "answers", "other subjects", "everyday")
    for kind, shares in found.items():
        table.add(kind, *(shares[column] for column in ("own", "answers", "other subjects", "everyday")))
    table.print()
    save_result("floor-words" if options.words else "floor", found)


if __name__ == "__main__":
    main()
