"""Fingerprints: `python -m bench fingerprints [--chunks 1000] [--json]`.

What every space of the bundled profile costs: bytes a memory, as columns and on disk, the time to see chunks of this
repository's own code and documents in all spaces and in E1 alone, and what quantising costs: of the ten nearest by
floats, how many are among the ten nearest by what is stored.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench._shared import MarkdownTable, save_result
from hyperloci.clock import system_clock
from hyperloci.embedder.models.loader import load_bundled_stages
from hyperloci.model.chunk import TextChunk
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import NewNode
from hyperloci.spaces import token_vectors
from hyperloci.spaces.encoder import EncodeRequest
from hyperloci.spaces.fingerprint import Fingerprint, compute_fingerprints
from hyperloci.spaces.profile_encoder import ProfileEncoder
from hyperloci.spaces.space import SPACE_OF_COLUMN
from hyperloci.spaces.views import EncoderInput, make_views
from hyperloci.store import Store
from hyperloci.store.vectors import float16, int8
from hyperloci.store.vectors.fingerprints import COLUMNS
from hyperloci.text.chunking.code import chunk_code
from hyperloci.text.chunking.markdown import chunk_markdown

ROOT = Path(__file__).parents[1]
BATCH = 32
"""As the queue is worked off."""

QUERIES = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench fingerprints", description=__doc__)
    parser.add_argument("--chunks", type=int, default=1_000)
    parser.add_argument("--json", action="store_true", help="print JSON and keep it beside the others")
    options = parser.parse_args(arguments)
    sights = own_chunks(options.chunks)
    encoder = list(load_bundled_stages("cpu"))[-1].encoder
    alone = time_call(lambda: [encoder.encode([one.content for one in part]) for part in split_batches(sights)])
    made: list[Fingerprint] = []
    eyes = ProfileEncoder(encoder)
    whole = time_call(lambda: see_all(sights, eyes, made))
    answer = {
        "chunks": len(sights),
        "seconds_e1": round(alone, 2),
        "seconds_all": round(whole, 2),
        "bytes": bytes_by_space(made),
        "disk": measure_disk(sights, made),
        "kept_of_ten": kept_of_ten(sights, made, eyes),
    }
    if options.json:
        print(json.dumps(answer, indent=2))
        save_result("fingerprints", answer)
    else:
        print_tables(answer)
    return 0


def own_chunks(count: int) -> list[EncoderInput]:
    """Return chunks of this repository's files, shuffled by a fixed seed."""
    found: list[EncoderInput] = []
    for path in (
        sorted(ROOT.glob("server/**/*.py")) + sorted(ROOT.glob("docs/**/*.md")) + sorted(ROOT.glob("tests/**/*.py"))
    ):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        chunks = chunk_markdown(name, text) if path.suffix == ".md" else chunk_code(name, text)
        found.extend(_sight_of(name, chunk) for chunk in chunks)
    random.Random(7).shuffle(found)
    return found[:count]


def _sight_of(path: str, chunk: TextChunk) -> EncoderInput:
    return EncoderInput(content=chunk.text, title=" > ".join(chunk.breadcrumb), path=path, facts=chunk.code)


def split_batches(sights: Sequence[EncoderInput]) -> list[Sequence[EncoderInput]]:
    """Return batches as the queue makes them."""
    return [sights[start : start + BATCH] for start in range(0, len(sights), BATCH)]


def see_all(sights: Sequence[EncoderInput], eyes: ProfileEncoder, made: list[Fingerprint]) -> None:
    """Make the fingerprints of all, a batch at a time."""
    for part in split_batches(sights):
        made.extend(compute_fingerprints(part, eyes))


def time_call(work: Any) -> float:
    """Return the seconds that a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def bytes_by_space(made: Sequence[Fingerprint]) -> dict[str, dict[str, float]]:
    """Return per column the share of memories that have it, and the mean and largest bytes of those."""
    answer: dict[str, dict[str, float]] = {}
    for column in COLUMNS:
        sizes = [len(one.columns[column]) for one in made if column in one.columns]
        answer[column] = _summarise_sizes(sizes, len(made))
    answer["e13"] = _summarise_sizes([5 * len(one.terms) for one in made], len(made))
    totals = [sum(map(len, one.columns.values())) + 5 * len(one.terms) for one in made]
    return {**answer, "all": {**_summarise_sizes(totals, len(made)), "p95": float(np.percentile(totals, 95))}}


def _summarise_sizes(sizes: Sequence[int], count: int) -> dict[str, float]:
    if not sizes:
        return {"share": 0.0, "mean": 0.0, "max": 0.0}
    return {"share": round(len(sizes) / count, 3), "mean": round(sum(sizes) / len(sizes), 1), "max": float(max(sizes))}


def measure_disk(sights: Sequence[EncoderInput], made: Sequence[Fingerprint]) -> dict[str, float]:
    """Return what fingerprints add to a database file, a memory: all tables and indexes, codes apart."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memory.db") as store:
        with store.transaction():
            nodes = [
                store.nodes.create_node(NewNode(type=NodeType.SNIPPET, subtype="code", content=one.content), now=1)
                for one in sights
            ]
        before = _database_size(store)
        with store.transaction():
            model = store.vectors.use_model("bench", 384, now=system_clock())
        for start in range(0, len(nodes), BATCH):
            with store.transaction():
                for node, one in zip(nodes[start : start + BATCH], made[start : start + BATCH], strict=True):
                    store.vectors.put_fingerprint(node.key, model, one.columns, now=1)
                    store.sparse_index.put_terms("e13", {node.key: one.terms})
        codes = store.connection.execute("SELECT sum(length(codes)) FROM code_blocks").fetchone()[0]
        postings = store.connection.execute("SELECT sum(length(postings)) FROM sparse_postings").fetchone()[0]
        added = _database_size(store) - before
    return {
        "a_memory": round((added - codes) / len(nodes), 1),
        "postings_a_memory": round(postings / len(nodes), 1),
        "code_blocks": float(codes),
    }


def _database_size(store: Store) -> int:
    store.connection.execute("VACUUM")
    row = store.connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    return int(row[0])


def kept_of_ten(sights: Sequence[EncoderInput], made: Sequence[Fingerprint], eyes: ProfileEncoder) -> dict[str, float]:
    """Return per column the share of the ten nearest by floats that are nearest by stored bytes too."""
    views = [make_views(sight) for sight in sights]
    some = views[: 3 * QUERIES]
    meanings = np.stack(
        [one["e1"] for one in eyes.encode_requests([EncodeRequest(text=view.text, spaces=("e1",)) for view in some])]
    )
    halves = float16.unpack_half([one.columns["e1"] for one in made[: len(some)]])
    answer = {"e1": _mean_overlap(meanings[:QUERIES] @ meanings.T, meanings[:QUERIES] @ halves.T)}
    for column in ("e5_cause", "e5_effect", "e7", "e8_in", "e10"):
        places = [place for place, view in enumerate(views) if column in view.dense]
        if len(places) < 3 * QUERIES // 2:
            continue
        seen = eyes.encode_requests(
            [EncodeRequest(text=views[place].dense[column], spaces=(column,)) for place in places]
        )
        floats = np.stack([one[column] for one in seen])
        stored = int8.unpack_int8([made[place].columns[column] for place in places], floats.shape[1])
        answer[column] = _mean_overlap(floats[:QUERIES] @ floats.T, floats[:QUERIES] @ stored.T)
    answer["e12"] = _kept_of_tokens(some, made, eyes)
    return answer


def _kept_of_tokens(views: Sequence[Any], made: Sequence[Fingerprint], eyes: ProfileEncoder) -> float:
    seen = [
        one["e12"] for one in eyes.encode_requests([EncodeRequest(text=view.text, spaces=("e12",)) for view in views])
    ]
    asked = [rows[:16] for rows in seen[:QUERIES]]
    exact = np.stack([[(query @ rows.T).max(axis=1).mean() for rows in seen] for query in asked])
    blobs = [one.columns["e12"] for one in made[: len(views)]]
    stored = np.stack(
        [
            token_vectors.score_max_sim(turned, blobs)
            for turned in map(token_vectors.query_token_vectors, asked)
            if turned is not None
        ]
    )
    return _mean_overlap(exact, stored)


def _mean_overlap(exact: Any, stored: Any) -> float:
    kept = [
        len(set(np.argsort(-one, kind="stable")[:11].tolist()) & set(np.argsort(-other, kind="stable")[:11].tolist()))
        - 1
        for one, other in zip(exact, stored, strict=True)
    ]
    return round(float(np.mean(kept)) / 10, 4)


def print_tables(answer: dict[str, Any]) -> None:
    """Print the tables."""
    print(
        f"\n{answer['chunks']} chunks: E1 alone {answer['seconds_e1']} s, all spaces {answer['seconds_all']} s; "
        f"on disk {answer['disk']['a_memory']} bytes a memory, "
        f"of which postings {answer['disk']['postings_a_memory']}; "
        f"blocks of codes {answer['disk']['code_blocks']:.0f}\n"
    )
    table = MarkdownTable("column", "space", "memories that have it", "mean bytes", "largest", "kept of ten")
    for column, sizes in answer["bytes"].items():
        kept = answer["kept_of_ten"].get(column, "")
        space = SPACE_OF_COLUMN.get(column, column)
        table.add(column, space, f"{sizes['share']:.0%}", f"{sizes['mean']:.0f}", f"{sizes['max']:.0f}", kept)
    table.print()
    print(f"\n95 % of memories have at most {answer['bytes']['all']['p95']:.0f} bytes.")


if __name__ == "__main__":
    raise SystemExit(main())
