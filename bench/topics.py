"""Topics against known labels: `python -m bench topics DATA_DIR [--n N] [--cache FOLDER] [--project FOLDER] [--json]`.

`DATA_DIR/topics/stackoverflow20.jsonl` holds question titles (`text`) with one of 20 labels. They are stored as
memories and given their fingerprints by the product's own drain; then topics are looked for as the embedder does it,
without being told how many there are. Beside them, told that there are 20: k-means on the stored E1 vectors, and on
TF-IDF reduced by SVD to 100 components, means of three seeds. NMI: normalised mutual information, memories without a
topic counted as one more topic. ACC: share of titles in the topic that is matched to their label, one to one (Hungarian
method); all others count as wrong.

With `--project`, a folder is indexed and its topics are printed for a reader to judge. `--cache` keeps the databases.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench._shared import MarkdownTable, bench_settings, save_result
from hyperloci.clock import system_clock
from hyperloci.embedder.models.loader import load_bundled_stages
from hyperloci.embedder.process.embedding_queue import drain_queue
from hyperloci.memory import Memory
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey, NodeType
from hyperloci.model.node import NewNode
from hyperloci.model.topic import TopicHit
from hyperloci.store import Store
from hyperloci.store.vectors import float16
from hyperloci.topics.clusters import cluster_view
from hyperloci.topics.detect import detect_topics
from hyperloci.topics.views import read_views

LABELS = 20
SEEDS = (0, 1, 2)


def never_yield() -> bool:
    return False


def read_titles(data: Path, n: int) -> tuple[list[str], NDArray[np.int64]]:
    rows = [json.loads(line) for line in (data / "topics" / "stackoverflow20.jsonl").open(encoding="utf-8")]
    if n < len(rows):
        rows = random.Random(1).sample(rows, n)
    labels = np.unique([row["label"] for row in rows], return_inverse=True)[1]
    return [row["text"] for row in rows], labels


def fill_database(database: Path, texts: Sequence[str]) -> float:
    """Store texts and give them fingerprints; return the seconds that took, 0 if the database is there already."""
    if database.exists():
        return 0.0
    started = time.perf_counter()
    with Store.open(database) as store, store.transaction():
        for place, text in enumerate(texts):
            new = NewNode(type=NodeType.FACT, content=text, scope=GLOBAL_SCOPE)
            store.nodes.create_node(new, now=system_clock(), place=str(place))
    *_, stage = load_bundled_stages("cpu")
    while drain_queue(database, _PlainEncoder(stage.encoder), never_yield):
        pass
    return time.perf_counter() - started


class _PlainEncoder:
    """The encoder as it is: without the gate that lets queries in between."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)


def matched_accuracy(found: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    from scipy.optimize import linear_sum_assignment

    topics = np.unique(found, return_inverse=True)[1]
    counts = np.zeros((topics.max() + 1, labels.max() + 1))
    np.add.at(counts, (topics, labels), 1)
    counts = counts[np.unique(topics[found >= 0])]
    rows, columns = linear_sum_assignment(-counts)
    return float(counts[rows, columns].sum() / len(labels))


def label_scores(found: NDArray[np.int64], labels: NDArray[np.int64]) -> dict[str, Any]:
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    return {
        "NMI": round(float(normalized_mutual_info_score(labels, found)), 3),
        "ACC": round(matched_accuracy(found, labels), 3),
        "ARI": round(float(adjusted_rand_score(labels, found)), 3),
        "topics": len(set(found[found >= 0].tolist())),
        "covered": round(float((found >= 0).mean()), 3),
    }


def mean_row(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {name: round(float(np.mean([row[name] for row in rows])), 3) for name in rows[0]}


def kmeans_labels(matrix: Any, labels: NDArray[np.int64]) -> dict[str, Any]:
    from sklearn.cluster import KMeans

    return mean_row(
        [label_scores(KMeans(LABELS, n_init=1, random_state=seed).fit_predict(matrix), labels) for seed in SEEDS]
    )


def tfidf_svd(texts: Sequence[str]) -> Any:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    counts = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2).fit_transform(texts)
    return normalize(TruncatedSVD(100, random_state=0).fit_transform(counts))


def time_call(run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    started = time.perf_counter()
    answer = run()
    return {**answer, "seconds": round(time.perf_counter() - started, 1)}


def product_topics(store: Store, scope: int, keys: Sequence[NodeKey], labels: NDArray[np.int64]) -> dict[str, Any]:
    model = int(store.connection.execute("SELECT max(key) FROM models").fetchone()[0])
    detect_topics(store, scope, model, now=system_clock())
    found = np.full(len(keys), -1, np.int64)
    place = {key: index for index, key in enumerate(keys)}
    for number, topic in enumerate(store.topics.list_of_scopes([GLOBAL_SCOPE])):
        found[[place[key] for key in store.topics.list_members(topic.key)]] = number
    return label_scores(found, labels)


def by_space(store: Store, keys: Sequence[NodeKey], labels: NDArray[np.int64]) -> dict[str, dict[str, Any]]:
    return {view.space: label_scores(cluster_view(view), labels) for view in read_views(store, keys)}


def measure_topics(data: Path, n: int, cache: Path) -> dict[str, Any]:
    texts, labels = read_titles(data, n)
    database = cache / f"titles-{len(texts)}.db"
    seconds = fill_database(database, texts)
    with Store.open(database) as store:
        keys = [NodeKey(row[0]) for row in store.connection.execute("SELECT key FROM nodes ORDER BY key")]
        scope = store.scopes.find_key(GLOBAL_SCOPE)
        assert scope is not None
        rows = store.vectors.get_rows(keys, ["e1"])
        e1 = float16.unpack_half([rows[key][0] or b"" for key in keys])
        methods = {
            "k-means(20), MiniLM": time_call(lambda: kmeans_labels(e1, labels)),
            "k-means(20), TF-IDF + SVD 100": time_call(lambda: kmeans_labels(tfidf_svd(texts), labels)),
            **{f"HDBSCAN in {name} alone": row for name, row in by_space(store, keys, labels).items()},
            "hyperloci": time_call(lambda: product_topics(store, scope, keys, labels)),
        }
        topics = [
            {"name": topic.name, "members": topic.member_count, "agreement": topic.agreement, **topic.strengths}
            for topic in store.topics.list_of_scopes([GLOBAL_SCOPE])
        ]
    return {"n": len(texts), "fingerprints_s": round(seconds, 1), "methods": methods, "topics": topics}


def of_project(source: Path, cache: Path) -> list[TopicHit]:
    with Memory.open(bench_settings(cache), source) as memory:
        memory.index_path()
        memory.refresh_topics()
        return list(memory.list_topics(50).topics)


def print_all(answer: dict[str, Any]) -> None:
    table = MarkdownTable("method", "NMI", "ACC", "ARI", "topics", "covered", "s")
    for name, row in answer.get("methods", {}).items():
        table.add(name, row["NMI"], row["ACC"], row["ARI"], row["topics"], row["covered"], row.get("seconds", "-"))
    if "methods" in answer:
        table.print()
    for topic in answer.get("project", ()):
        print(f"{topic['members']:5d}  {topic['agreement']:.1f}  {topic['name']:<45}  {topic['example']}")


def main() -> None:
    """Parse the arguments, measure and print."""
    parser = argparse.ArgumentParser(description="Topics against known labels, and of a project.")
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--project", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    answer: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="hl-") as name:
        cache = arguments.cache or Path(name)
        cache.mkdir(parents=True, exist_ok=True)
        if arguments.data is not None:
            answer |= measure_topics(arguments.data, arguments.n, cache)
        if arguments.project is not None:
            answer["project"] = [
                {
                    "name": topic.name,
                    "members": topic.member_count,
                    "agreement": topic.weighted_agreement,
                    "phase": topic.phase,
                    "example": " ".join(topic.examples[0].content.split())[:80],
                }
                for topic in of_project(arguments.project, cache)
            ]
    if arguments.json:
        print(json.dumps(answer, indent=2))
    else:
        print_all(answer)
    save_result("topics", answer)


if __name__ == "__main__":
    main()
