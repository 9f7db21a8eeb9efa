"""Embedding: `python -m bench embedding [--texts 300] [--rounds 3] [--device cpu] [--pairs 6] [--json]`.

How many texts a second E1's model takes: through `SentenceTransformer.encode` with its defaults, and packed as the
product does, in float32 and, where the device has it, in bfloat16. The texts are chunks of this repository as E1 sees
them; the same with the short views of other spaces among them, as the embedder's queue has it; and those views alone.
All take turns in one process; besides, the lowest cosine to sentence-transformers' vectors, and how long the model's
linear layers take alone for as many tokens: no way of calling them gets below that. `--pairs 6` times instead how long
the cross-encoder takes for so many pairs of statements, in each library and precision.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from bench._shared import MarkdownTable, save_result
from bench.fingerprints import own_chunks
from bench.train_contradictions import load_statement_pairs
from hyperloci.embedder.models.bert import HIDDEN
from hyperloci.embedder.models.bundled import (
    BATCH_TOKENS,
    BundledEncoder,
    find_model_folder,
    read_tokenizer,
    verify_weights,
)
from hyperloci.embedder.models.cross_encoder import REPLACEMENT_ADAPTER, load_cross_encoder
from hyperloci.embedder.models.device import cap_threads, choose_device, has_bfloat16
from hyperloci.embedder.models.forward_torch import TorchForward
from hyperloci.spaces.views import make_views

DEFAULT = "SentenceTransformer.encode"

UNREAD_PAIRS = Path(__file__).parent / "data" / "statement_contrasts_unread.jsonl"
ASKED_PAIRS = 300

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


def load_texts(count: int) -> dict[str, list[str]]:
    """Return the texts to embed, by what they are."""
    views = [make_views(sight) for sight in own_chunks(count)]
    chunks = [view.text for view in views]
    short = [text for view in views for text in view.dense.values()]
    return {"chunks": chunks, "short views": short[:count], "chunks and their views": [*chunks, *short][: 2 * count]}


def linear_layers_alone(forward: TorchForward, tokens: int) -> None:
    """Send so many rows through the model's linear layers and nothing else, as many at a time as a batch has."""
    with torch.inference_mode():
        for first in range(0, tokens, BATCH_TOKENS):
            rows = min(BATCH_TOKENS, tokens - first)
            states = torch.zeros(rows, HIDDEN, dtype=forward._dtype, device=forward._device)
            for layer in forward._layers:
                layer._qkv(states)
                layer._attention_out(states)
                layer._down(layer._up(states))


def compared_encoders(device: str) -> dict[str, Encode]:
    """Return the ways to embed, by name, the one to compare with first."""
    model = SentenceTransformer(str(find_model_folder()), device=device)
    weights, tokenizer = verify_weights(find_model_folder()), read_tokenizer(find_model_folder())
    place = choose_device(device, "float32").device

    def alone(forward: TorchForward) -> Encode:
        def run(texts: Sequence[str]) -> NDArray[np.float32]:
            linear_layers_alone(forward, sum(len(found.ids) for found in tokenizer.encode_batch(list(texts))))
            return np.full((len(texts), HIDDEN), np.nan, np.float32)

        return run

    ways: dict[str, Encode] = {DEFAULT: lambda texts: model.encode(list(texts), normalize_embeddings=True)}
    kinds = {"float32": torch.float32} | ({"bfloat16": torch.bfloat16} if device != "cpu" or has_bfloat16() else {})
    for name, dtype in kinds.items():
        forward = TorchForward(weights, place, dtype)
        ways[f"packed, {name}"] = BundledEncoder(forward, tokenizer, batch_tokens=BATCH_TOKENS).encode
        ways[f"tokens and linear layers alone, {name}"] = alone(forward)
    return ways


def measure_encoders(texts: Sequence[str], ways: dict[str, Encode], rounds: int) -> dict[str, dict[str, float | None]]:
    """Return texts a second (median of the rounds), processor milliseconds a text, and the lowest cosine, by way.

    What makes no vectors has no cosine.
    """
    walls: dict[str, list[float]] = {name: [] for name in ways}
    work: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, NDArray[np.float32]] = {}
    for encode in ways.values():
        encode(texts[:8])
    for _ in range(rounds):
        for name, encode in ways.items():
            started, spent = time.perf_counter(), time.process_time()
            found[name] = encode(texts)
            walls[name].append(time.perf_counter() - started)
            work[name].append(time.process_time() - spent)
    return {
        name: {
            "texts_a_second": round(len(texts) / statistics.median(walls[name]), 1),
            "cpu_ms": round(1_000 * statistics.median(work[name]) / len(texts), 2),
            "ratio": round(statistics.median(walls[DEFAULT]) / statistics.median(walls[name]), 2),
            "lowest_cosine": _lowest_cosine(found[name], found[DEFAULT]),
        }
        for name in ways
    }


def _lowest_cosine(vectors: NDArray[np.float32], others: NDArray[np.float32]) -> float | None:
    lowest = float((vectors * others).sum(axis=1).min())
    return None if np.isnan(lowest) else round(lowest, 7)


def time_pairs(count: int, device: str) -> dict[str, dict[str, float]]:
    """Return by library and precision the milliseconds for so many pairs (p50, p95), and how far scores are off.

    Asked in turns, of the statements that the judge of contradictions never read; `off` is the largest difference to
    what numpy gives.
    """
    pairs = [(pair.old, pair.new) for pair in load_statement_pairs(UNREAD_PAIRS)[:ASKED_PAIRS]]
    kinds = ["float32"] + (["bfloat16"] if device != "cpu" or has_bfloat16() else [])
    ways = {"numpy": load_cross_encoder(REPLACEMENT_ADAPTER)}
    ways |= {f"torch, {kind}": load_cross_encoder(REPLACEMENT_ADAPTER, choose_device(device, kind)) for kind in kinds}
    walls: dict[str, list[float]] = {name: [] for name in ways}
    scores: dict[str, list[float]] = {name: [] for name in ways}
    for model in ways.values():
        model.score_pairs(pairs[:count])
    for first in range(0, len(pairs), count):
        for name, model in ways.items():
            started = time.perf_counter()
            scores[name] += model.score_pairs(pairs[first : first + count])
            walls[name].append(1_000 * (time.perf_counter() - started))
    return {
        name: {
            "p50": round(statistics.median(walls[name]), 1),
            "p95": round(statistics.quantiles(walls[name], n=20)[-1], 1),
            "off": round(float(np.abs(np.array(scores[name]) - np.array(scores["numpy"])).max()), 4),
        }
        for name in ways
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench embedding", description=__doc__)
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", action="store_true", help="print JSON and keep it beside the others")
    parser.add_argument("--pairs", type=int, help="time so many pairs of statements, read together, instead")
    options = parser.parse_args()
    threads = cap_threads()
    if options.pairs:
        pairs_table = MarkdownTable("way", f"p50 ms of {options.pairs}", "p95 ms", "largest difference to numpy")
        for name, figures in time_pairs(options.pairs, options.device).items():
            pairs_table.add(name, *figures.values())
        pairs_table.print()
        return
    ways = compared_encoders(options.device)
    answer: dict[str, Any] = {"device": options.device, "threads": threads, "corpora": {}}
    for corpus, texts in load_texts(options.texts).items():
        rows = measure_encoders(texts, ways, options.rounds)
        answer["corpora"][corpus] = {"texts": len(texts), "characters": statistics.mean(map(len, texts)), "ways": rows}
    if options.json:
        print(json.dumps(answer, indent=2))
        save_result("embedding", answer)
        return
    table = MarkdownTable("texts", "n", "characters", "way", "texts/s", "processor ms", "times", "lowest cosine")
    for corpus, found in answer["corpora"].items():
        for name, row in found["ways"].items():
            table.add(
                corpus,
                found["texts"],
                round(found["characters"]),
                name,
                row["texts_a_second"],
                row["cpu_ms"],
                row["ratio"],
                row["lowest_cosine"] or "",
            )
    table.print()


if __name__ == "__main__":
    main()
