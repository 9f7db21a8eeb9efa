"""Answer quality: `python -m bench quality DATA_DIR [--json] [--sets locomo,beam]`.

Reads any of the evaluation sets that DATA_DIR holds (JSON lines, one folder a set), stores them through the public
`Memory` API the way a user would (conversations as turns, functions and documents as files that are indexed), asks
every question through `Memory.search`, and prints recall, MRR@10 and nDCG@10 beside three plain baselines run on the
same texts in the same run: FTS5's `bm25()`, the model's cosine, and both by reciprocal ranks with equal weights.
Recall@k is the share of the relevant documents among the first k, averaged over questions.

With `--keep DIR` the databases stay: a second run, of another version too, asks of the same fingerprints. `--part N`
takes a fixed part: of sets of many conversations or repositories every Nth, of the others every Nth question with the
files that answer it and every Nth of the rest.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import json
import math
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench._shared import MarkdownTable, ask_with_vectors, bench_settings, save_result
from hyperloci.embedder.models.loader import load_bundled_stages
from hyperloci.memory import Memory
from hyperloci.model.search import Hit, SearchAnswer
from hyperloci.retrieval.rank_fusion import reciprocal_rank_fusion
from hyperloci.spaces.encoder import Encoder

DEPTH = 50
"""Results asked of the memory a question: several chunks may belong to one document."""

METRICS = ("R@1", "R@5", "R@10", "MRR@10", "nDCG@10")


@dataclass(frozen=True)
class EvaluationDocument:
    """One document: what baselines see, and how it is stored (`turn`, or from a `line` of a file at `path`)."""

    id: str
    text: str
    path: str = ""
    line: int = 1
    file_text: str = ""
    session: str = ""
    role: str = ""
    time: int | None = None


@dataclass(frozen=True)
class EvaluationQuestion:
    """A question, its answers' ids, ids that don't count, and its kind where the set has kinds."""

    text: str
    relevant: frozenset[str]
    exclude: frozenset[str] = frozenset()
    kind: str = ""


@dataclass
class EvaluationCorpus:
    """Documents searched together and the questions asked of them."""

    name: str
    documents: list[EvaluationDocument]
    questions: list[EvaluationQuestion]
    content_type: str = "any"


@dataclass
class EvaluationSet:
    """One set: its corpora are searched apart, its questions are averaged together."""

    name: str
    corpora: list[EvaluationCorpus] = field(default_factory=list)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def load_locomo(folder: Path) -> Iterator[EvaluationSet]:
    """LoCoMo turns, categories 1-4 with evidence, searched within one conversation."""
    corpora: dict[str, EvaluationCorpus] = {}
    for row in read_rows(folder / "docs.jsonl"):
        caption = f" [shares image: {row['image_caption']}]" if row.get("image_caption") else ""
        corpus = corpora.setdefault(row["conv"], EvaluationCorpus(row["conv"], [], [], "conversation"))
        corpus.documents.append(
            EvaluationDocument(
                id=str(row["id"]),
                text=f"{row['speaker']}: {row['text']}{caption}",
                session=f"{row['conv']}-{row['session']}",
                role="user",
            )
        )
    for row in read_rows(folder / "qa.jsonl"):
        if row["category"] != 5 and row["evidence"] and row["conv"] in corpora:
            corpora[row["conv"]].questions.append(
                EvaluationQuestion(row["question"], frozenset(map(str, row["evidence"])), kind=row["category_name"])
            )
    yield EvaluationSet("locomo", list(corpora.values()))


def load_beam(folder: Path) -> Iterator[EvaluationSet]:
    """BEAM messages; probes that have sources, searched within one chat."""
    corpora: dict[str, EvaluationCorpus] = {}
    for row in read_rows(folder / "docs_100K.jsonl"):
        corpus = corpora.setdefault(row["conv"], EvaluationCorpus(row["conv"], [], [], "conversation"))
        corpus.documents.append(
            EvaluationDocument(
                id=str(row["id"]), text=row["text"], session=f"{row['conv']}-{row['batch']}", role=row["role"]
            )
        )
    for row in read_rows(folder / "probes.jsonl"):
        known = {document.id for document in corpora[row["conv"]].documents} if row["conv"] in corpora else set()
        relevant = frozenset(map(str, row["source_ids"])) & known
        if relevant:
            corpora[row["conv"]].questions.append(EvaluationQuestion(row["question"], relevant, kind=row["kind"]))
    yield EvaluationSet("beam", list(corpora.values()))


def load_mddocs(folder: Path) -> Iterator[EvaluationSet]:
    """Markdown sections within one repository; verbatim titles apart."""
    corpora: dict[str, list[EvaluationDocument]] = {}
    for number, row in enumerate(read_rows(folder / "sections.jsonl")):
        crumbs = row["breadcrumb"] if isinstance(row["breadcrumb"], list) else row["breadcrumb"].split(" > ")
        headings = "\n".join(f"{'#' * min(6, level)} {title}" for level, title in enumerate(crumbs, start=1))
        corpora.setdefault(row["repo"], []).append(
            EvaluationDocument(
                id=str(row["id"]),
                text=" > ".join(crumbs) + "\n" + row["text"],
                path=f"{number:05}.md",
                file_text=f"{headings}\n\n{row['text']}\n",
            )
        )
    questions = read_rows(folder / "queries.jsonl")
    for name, verbatim in (("mddocs", False), ("mddocs_verbatim", True)):
        yield EvaluationSet(
            name,
            [
                EvaluationCorpus(
                    repo,
                    documents,
                    [
                        EvaluationQuestion(
                            row["query"], frozenset(map(str, row["relevant"])), frozenset(map(str, row["exclude"]))
                        )
                        for row in questions
                        if row["repo"] == repo and bool(row["verbatim_title"]) is verbatim
                    ],
                )
                for repo, documents in corpora.items()
            ],
        )


def load_cosqa(folder: Path) -> Iterator[EvaluationSet]:
    """CoSQA functions and web queries; every function is a file of its own, for nothing is told of where it stood."""
    documents = [
        EvaluationDocument(
            id=str(row["id"]), text=row["code"], path=f"corpus/f{row['id']}.py", file_text=row["code"] + "\n"
        )
        for row in read_rows(folder / "corpus.jsonl")
    ]
    yield EvaluationSet("cosqa", [EvaluationCorpus("cosqa", documents, _load_questions(folder, documents))])


def load_pycode(folder: Path) -> Iterator[EvaluationSet]:
    """Functions of real packages and the docstrings cut from them, put back into files at their real paths."""
    files: dict[str, list[dict[str, Any]]] = {}
    for row in read_rows(folder / "corpus.jsonl"):
        files.setdefault(f"{row['package']}/{row['path']}", []).append(row)
    documents = [document for path, found in files.items() for document in _put_back(path, found)]
    yield EvaluationSet("pycode", [EvaluationCorpus("pycode", documents, _load_questions(folder, documents))])


def _put_back(path: str, functions: list[dict[str, Any]]) -> Iterator[EvaluationDocument]:
    """Return the functions of one file in their order, each method under its class."""
    line = 1
    classes: list[str] = []
    for row in sorted(functions, key=lambda row: row["line"]):
        above = row["qualname"].split(".")[:-1]
        heads = [f"{'    ' * depth}class {name}:" for depth, name in enumerate(above)] if above != classes else []
        body = [f"{'    ' * len(above)}{text}" if text.strip() else "" for text in row["code"].split("\n")]
        classes = above
        yield EvaluationDocument(
            id=str(row["id"]),
            text=row["code"],
            path=path,
            line=line + len(heads),
            file_text="\n".join([*heads, *body, "", ""]),
        )
        line += len(heads) + len(body) + 1


def _load_questions(folder: Path, documents: Sequence[EvaluationDocument]) -> list[EvaluationQuestion]:
    known = {document.id for document in documents}
    questions = [
        EvaluationQuestion(row["query"], frozenset(map(str, row["relevant"])))
        for row in read_rows(folder / "queries.jsonl")
    ]
    return [
        EvaluationQuestion(question.text, question.relevant & known)
        for question in questions
        if question.relevant & known
    ]


def load_scifact(folder: Path) -> Iterator[EvaluationSet]:
    """SciFact abstracts and claims."""
    documents = [
        EvaluationDocument(
            id=str(row["id"]),
            text=f"{row['title']}\n{row['text']}",
            path=f"{row['id']}.md",
            file_text=f"# {row['title']}\n\n{row['text']}\n",
        )
        for row in read_rows(folder / "corpus.jsonl")
    ]
    yield EvaluationSet("scifact", [EvaluationCorpus("scifact", documents, _load_questions(folder, documents))])


LOADERS: dict[str, Callable[[Path], Iterator[EvaluationSet]]] = {
    "locomo": load_locomo,
    "beam": load_beam,
    "mddocs": load_mddocs,
    "pycode": load_pycode,
    "cosqa": load_cosqa,
    "scifact": load_scifact,
}


class Baselines:
    """FTS5's bm25 over every word OR-ed, the model's cosine, and both by reciprocal ranks."""

    def __init__(self, corpus: EvaluationCorpus, encoder: Encoder, vectors: np.ndarray) -> None:
        self._ids = [document.id for document in corpus.documents]
        self._encoder = encoder
        self._vectors = vectors
        self._fts = sqlite3.connect(":memory:")
        self._fts.execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize=unicode61)")
        self._fts.executemany("INSERT INTO t(body) VALUES (?)", [(document.text,) for document in corpus.documents])

    def rank_bm25(self, query: str, limit: int = 100) -> list[str]:
        """Rank by FTS5."""
        words = "".join(character if character.isalnum() else " " for character in query).split()
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        found = self._fts.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (match, limit))
        return [self._ids[row[0] - 1] for row in found]

    def rank_dense(self, query: str, limit: int = 100) -> list[str]:
        """Rank by cosine."""
        scores = self._vectors @ self._encoder.encode([query])[0]
        return [self._ids[place] for place in np.argsort(-scores, kind="stable")[:limit]]

    def rank_rrf(self, query: str) -> list[str]:
        """Rank by equal-weight reciprocal ranks."""
        fused = reciprocal_rank_fusion({"bm25": self.rank_bm25(query), "dense": self.rank_dense(query)})
        return sorted(fused, key=lambda id: -fused[id])


Named = Callable[[Hit], str]
"""What tells a hit's document."""


def store_corpus(memory: Memory, corpus: EvaluationCorpus, root: Path) -> Named:
    """Store a corpus the way a user would and return what tells which document a hit is."""
    if corpus.documents[0].session:
        return _store_turns(memory, corpus)
    files: dict[str, list[EvaluationDocument]] = {}
    for document in corpus.documents:
        files.setdefault(document.path, []).append(document)
    for path, documents in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(document.file_text for document in documents), encoding="utf-8")
    memory.index_path()

    def named(hit: Hit) -> str:
        standing = files.get(hit.source.path or "", [])
        if len(standing) < 2:
            return standing[0].id if standing else ""
        first, last = hit.source.line_start or 0, hit.source.line_end or 0
        return next((document.id for document in standing if first <= document.line <= last), "")

    return named


def _store_turns(memory: Memory, corpus: EvaluationCorpus) -> Named:
    from hyperloci.model.turn import Speaker, Turn, TurnKind

    sessions: dict[str, list[EvaluationDocument]] = {}
    for document in corpus.documents:
        sessions.setdefault(document.session, []).append(document)
    for session, documents in sessions.items():
        memory.add_turns(
            session,
            [
                Turn(
                    uuid=document.id,
                    role=Speaker.USER if document.role == "user" else Speaker.ASSISTANT,
                    text=document.text,
                    timestamp_ms=document.time,
                    kind=TurnKind.TEXT,
                )
                for document in documents
            ],
        )
    found = memory.store.connection.execute("SELECT id, place FROM nodes WHERE subtype = 'episode'")
    names = {row["id"]: row["place"].split(":", 1)[-1] for row in found}
    return lambda hit: names.get(hit.id, "")


def evaluate_ranking(ranking: Sequence[str], question: EvaluationQuestion) -> list[float]:
    """Return the metrics of one ranking, in the order of METRICS."""
    ranked = [id for id in dict.fromkeys(ranking) if id not in question.exclude]
    gains = [1.0 if id in question.relevant else 0.0 for id in ranked[:10]]
    recalls = [len(question.relevant & set(ranked[:k])) / len(question.relevant) for k in (1, 5, 10)]
    first = next((1 / (place + 1) for place, gain in enumerate(gains) if gain), 0.0)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(question.relevant))))
    return [*recalls, first, sum(gain / math.log2(place + 2) for place, gain in enumerate(gains)) / ideal]


def ask_memory(memory: Memory, text: str, corpus: EvaluationCorpus) -> tuple[SearchAnswer, float]:
    """Return the answer that the memory gives with vectors, and the milliseconds it took."""
    return ask_with_vectors(memory, text, content_type=corpus.content_type, limit=DEPTH)


def run_corpus(
    corpus: EvaluationCorpus,
    encoder: Encoder,
    vectors: np.ndarray,
    scores: dict[str, list[list[float]]],
    keep: Path | None,
) -> list[float]:
    """Ask every question of one corpus, add its scores by method and return the search times in milliseconds."""
    baselines = Baselines(corpus, encoder, vectors)
    times = []
    with contextlib.ExitStack() as stack:
        kept = None if keep is None else keep.resolve() / f"{corpus.name}-{len(corpus.documents)}"
        folder = kept or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hyperloci-bench-")))
        root = folder / "project"
        root.mkdir(parents=True, exist_ok=True)
        with Memory.open(bench_settings(folder, project=corpus.name), root) as memory:
            named = store_corpus(memory, corpus, root)
            memory.embed_pending()
            with memory.keep_embedder_running():
                for question in corpus.questions:
                    answer, taken = ask_memory(memory, question.text, corpus)
                    times.append(taken)
                    hits = [id for hit in answer.results if (id := named(hit))]
                    for method, ranking in (
                        ("bm25", baselines.rank_bm25(question.text)),
                        ("dense", baselines.rank_dense(question.text)),
                        ("rrf", baselines.rank_rrf(question.text)),
                        ("hyperloci", hits),
                    ):
                        scores[method].append(evaluate_ranking(ranking, question))
    return times


def take_part(evaluation: EvaluationSet, every: int) -> EvaluationSet:
    """Return a fixed part of a set: every Nth corpus, or of a single corpus every Nth question and file.

    Files stay whole: a hit's document is told by its lines.
    """
    if every == 1 or len(evaluation.corpora) > 1:
        return dataclasses.replace(evaluation, corpora=evaluation.corpora[::every])
    (whole,) = evaluation.corpora
    questions = whole.questions[::every]
    wanted = {id for question in questions for id in question.relevant}
    files = dict.fromkeys(document.path or document.id for document in whole.documents)
    kept = {document.path or document.id for document in whole.documents if document.id in wanted}
    kept.update(itertools.islice(files, None, None, every))
    among = [document for document in whole.documents if (document.path or document.id) in kept]
    return dataclasses.replace(evaluation, corpora=[dataclasses.replace(whole, documents=among, questions=questions)])


def run_set(
    evaluation: EvaluationSet, encoder: Encoder, cache: Path | None, keep: Path | None = None
) -> dict[str, Any]:
    """Evaluate one set and return its entry of the JSON answer."""
    scores: dict[str, list[list[float]]] = {method: [] for method in ("bm25", "dense", "rrf", "hyperloci")}
    times: list[float] = []
    for corpus in evaluation.corpora:
        if corpus.questions:
            vectors = _cached_vectors(corpus, encoder, cache)
            times += run_corpus(corpus, encoder, vectors, scores, keep)
    kinds = [question.kind for corpus in evaluation.corpora for question in corpus.questions]
    return {
        "n": len(scores["bm25"]),
        "kinds": _recall_by_kind(kinds, scores),
        "methods": {
            method: {
                name: round(float(value), 4)
                for name, value in zip(METRICS, np.mean(np.array(found), axis=0), strict=True)
            }
            for method, found in scores.items()
        },
        "search_ms": {
            "p50": round(float(np.percentile(times, 50)), 1),
            "p95": round(float(np.percentile(times, 95)), 1),
        },
    }


def _recall_by_kind(kinds: Sequence[str], scores: dict[str, list[list[float]]]) -> dict[str, dict[str, float]]:
    """Return the number of questions and every method's R@10 for each kind of question."""
    place = METRICS.index("R@10")
    rows: dict[str, list[int]] = {}
    for number, kind in enumerate(kinds):
        if kind:
            rows.setdefault(kind, []).append(number)
    return {
        kind: {"n": len(numbers)}
        | {
            method: round(float(np.mean([found[number][place] for number in numbers])), 4)
            for method, found in scores.items()
        }
        for kind, numbers in rows.items()
    }


def _cached_vectors(corpus: EvaluationCorpus, encoder: Encoder, cache: Path | None) -> np.ndarray:
    file = None if cache is None else cache / f"{corpus.name}-{len(corpus.documents)}.npy"
    if file is not None and file.exists():
        return np.asarray(np.load(file))
    vectors = encoder.encode([document.text for document in corpus.documents])
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, vectors)
    return vectors


def main() -> None:
    """Parse the arguments, run the sets that are there, and print the table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench quality", description=__doc__)
    parser.add_argument(
        "data", type=Path, help="folder with locomo, beam, mddocs, pycode, cosqa, scifact (any of them)"
    )
    parser.add_argument("--sets", default=",".join(LOADERS), help="which sets, by commas")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--cache", type=Path, help="folder for the baselines' vectors, to save time on a second run")
    parser.add_argument("--keep", type=Path, help="folder for the databases, to ask of the same ones again")
    parser.add_argument("--part", type=int, default=1, metavar="N", help="a fixed part of about one in N")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results, named by commit")
    options = parser.parse_args()
    encoder = list(load_bundled_stages("cpu"))[-1].encoder
    answer: dict[str, Any] = {"sets": {}}
    for name in options.sets.split(","):
        if (options.data / name).is_dir():
            for evaluation in LOADERS[name](options.data / name):
                part = take_part(evaluation, options.part)
                answer["sets"][evaluation.name] = run_set(part, encoder, options.cache, options.keep)
                print(f"{evaluation.name} done", file=sys.stderr)
    if options.json:
        print(json.dumps(answer, indent=2))
    else:
        _print_table(answer)
    if options.save:
        save_result("quality", answer)


def _print_table(answer: dict[str, Any]) -> None:
    table = MarkdownTable("set", "n", "method", *METRICS, "p50 ms", "p95 ms")
    for name, entry in answer["sets"].items():
        for method, metrics in entry["methods"].items():
            ours = method == "hyperloci"
            speed = (entry["search_ms"]["p50"], entry["search_ms"]["p95"]) if ours else ("", "")
            table.add(name, entry["n"], method, *(f"{metrics[key]:.3f}" for key in METRICS), *speed)
    table.print()
    by_kind = MarkdownTable("set", "kind", "n", "bm25", "dense", "rrf", "hyperloci")
    for name, entry in answer["sets"].items():
        for kind, found in entry["kinds"].items():
            by_kind.add(name, kind, *(found[key] for key in ("n", "bm25", "dense", "rrf", "hyperloci")))
    if any(entry["kinds"] for entry in answer["sets"].values()):
        print("\nR@10 by kind of question\n")
        by_kind.print()


if __name__ == "__main__":
    main()
