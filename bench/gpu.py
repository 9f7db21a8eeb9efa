"""The `gpu` profile's latencies, and what they use of the GPU: `python -m bench gpu [--device cuda] [--tiny] [--json]`.

The weights of the models that the profile names cannot always be had. Time does not depend on what they hold, so this
builds models of the same architecture and size with random weights in a folder, loads them as a profile of one's own,
and measures what the Context Graph document's table names: a warm start, one memory seen in all spaces, one question.
Then chunks of this repository go through the larger models and the bundled one, as fast as they take them: what share
of a large matrix product's arithmetic that is.
`--tiny` shrinks every model, to try the benchmark itself where there is no GPU.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench._roofline import measure_ceiling, measure_share, size_of_bundled, size_of_sentence_model
from bench._shared import MarkdownTable, bench_settings, save_result
from hyperloci.embedder.models.bundled import find_model_folder
from hyperloci.embedder.models.device import DTYPES
from hyperloci.embedder.models.profile_models import load_profile_stages
from hyperloci.spaces.fingerprint import compute_fingerprints
from hyperloci.spaces.profile_encoder import get_multi_space_encoder
from hyperloci.spaces.query import fingerprint_query
from hyperloci.spaces.views import EncoderInput

ROUNDS = 50

BERT_LARGE: dict[str, Any] = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}
"""e5-large-v2."""
BERT_BASE: dict[str, Any] = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
}
"""splade-v3 and colbertv2.0."""
QWEN: dict[str, Any] = {
    "hidden_size": 1536,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "intermediate_size": 8960,
}
"""Qodo-Embed-1-1.5B."""
TINY: dict[str, Any] = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}

MEMORY = (
    "We want to keep deploys fast, so we moved from k8s to Nomad. The rollout failed because the health check had a "
    "limit of five seconds and `load_env` reads 300 variables. See docs/deploy.md.\n"
    "```python\ndef deploy_all(cluster, *, timeout=5):\n    return apply_manifest(load_env(cluster), timeout)\n```\n"
) * 2
QUESTION = "why does the rollout on Kubernetes fail?"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench gpu", description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="hl-") as name:
        answer = measure_models(Path(name), options.device, tiny=options.tiny, rounds=options.rounds)
    if options.json:
        print(json.dumps(answer, indent=2))
        save_result("gpu", answer)
    else:
        print_table(answer)
    return 0


def measure_models(folder: Path, device: str, *, tiny: bool, rounds: int) -> dict[str, Any]:
    """Build the models, load them and return what each step takes."""
    own = {
        "e1": {"model": make_dense(folder / "e5", BERT_LARGE, tiny=tiny), "query": "query: ", "document": "passage: "},
        "e5": "bundled",
        "e7": make_decoder(folder / "qodo", tiny=tiny),
        "e8": "bundled",
        "e11": "bundled",
        "e12": make_late(folder / "colbert", tiny=tiny),
        "e13": make_sparse(folder / "splade", tiny=tiny),
    }
    settings = bench_settings(folder, profile="random", profiles={"random": own}, device=device)
    started = time.perf_counter()
    stage = list(load_profile_stages(settings))[-1]
    warm = time.perf_counter() - started
    eyes = get_multi_space_encoder(stage.encoder)
    numbers = iter(range(10**6))
    latencies = {
        "device": stage.device,
        "dtype": stage.dtype,
        "tiny": tiny,
        "warm_start_s": round(warm, 2),
        "memory": time_calls(
            lambda: compute_fingerprints([EncoderInput(content=f"{next(numbers)} {MEMORY}")], eyes), rounds
        ),
        "batch_of_32": time_calls(
            lambda: compute_fingerprints([EncoderInput(content=f"{next(numbers)} {MEMORY}") for _ in range(32)], eyes),
            max(3, rounds // 10),
        ),
        "question": time_calls(lambda: fingerprint_query(f"{QUESTION} {next(numbers)}", eyes), rounds),
    }
    return latencies | measure_shares(folder, stage.device, stage.dtype)


def measure_shares(folder: Path, device: str, dtype: str) -> dict[str, Any]:
    """Return the ceiling and what each model makes of it, one after the other."""
    ceiling = measure_ceiling(device, DTYPES[dtype])
    models = size_of_bundled(device)
    models += [
        size_of_sentence_model(name, str(folder / place), device)
        for name, place in (("e5-large-v2's size", "e5"), ("Qodo-Embed-1-1.5B's size", "qodo"))
    ]
    return {"ceiling_tflops": round(ceiling / 1e12, 1), "shares": [measure_share(model, ceiling) for model in models]}


def time_calls(work: Callable[[], Any], rounds: int) -> dict[str, float]:
    """Return median, p95 and p99 in milliseconds, two rounds apart."""
    found = []
    for _ in range(rounds + 2):
        started = time.perf_counter()
        work()
        found.append(1_000 * (time.perf_counter() - started))
    return {name: round(float(np.percentile(found[2:], at)), 1) for name, at in (("p50", 50), ("p95", 95), ("p99", 99))}


def _make_tokenizer(folder: Path) -> Any:
    from transformers import PreTrainedTokenizerFast

    names = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_file=str(find_model_folder() / "tokenizer.json"), mask_token="[MASK]", model_max_length=512, **names
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def make_dense(folder: Path, sizes: dict[str, Any], *, tiny: bool) -> str:
    """Make a BERT with mean pooling."""
    from transformers import BertConfig, BertModel

    plain = _save_plain(folder)
    BertModel(BertConfig(vocab_size=30_522, **(TINY if tiny else sizes))).save_pretrained(plain)
    return _save_pooled(plain, folder, "mean")


def make_decoder(folder: Path, *, tiny: bool) -> str:
    """Make a Qwen2 with the last token's state."""
    from transformers import Qwen2Config, Qwen2Model

    plain = _save_plain(folder)
    sizes: dict[str, Any] = {**TINY, "num_key_value_heads": 2} if tiny else QWEN
    Qwen2Model(Qwen2Config(vocab_size=30_522, **sizes)).save_pretrained(plain)
    return _save_pooled(plain, folder, "lasttoken")


def _save_pooled(plain: Path, folder: Path, mode: str) -> str:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer

    words = Transformer(str(plain), max_seq_length=512)
    width = words.get_word_embedding_dimension()
    SentenceTransformer(modules=[words, Pooling(width, pooling_mode=mode)], device="cpu").save_pretrained(str(folder))
    return str(folder)


def make_sparse(folder: Path, *, tiny: bool) -> str:
    """Make a masked language model under SPLADE's pooling."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling
    from transformers import BertConfig, BertForMaskedLM

    plain = _save_plain(folder)
    BertForMaskedLM(BertConfig(vocab_size=30_522, **(TINY if tiny else BERT_BASE))).save_pretrained(plain)
    SparseEncoder(modules=[MLMTransformer(str(plain)), SpladePooling()], device="cpu").save_pretrained(str(folder))
    return str(folder)


def make_late(folder: Path, *, tiny: bool) -> str:
    """Make a BERT whose tokens are projected to 128 dimensions."""
    from sentence_transformers import MultiVectorEncoder
    from transformers import BertConfig, BertModel

    plain = _save_plain(folder)
    BertModel(BertConfig(vocab_size=30_522, **(TINY if tiny else BERT_BASE))).save_pretrained(plain)
    MultiVectorEncoder(str(plain), device="cpu").save_pretrained(str(folder))
    return str(folder)


def _save_plain(folder: Path) -> Path:
    plain = folder.with_name(folder.name + "-plain")
    plain.mkdir(parents=True)
    _make_tokenizer(plain)
    return plain


CEILINGS = {"memory": "200 ms (13 embeddings)", "question": "500 ms (inject)", "warm_start_s": "30 s"}


def print_table(answer: dict[str, Any]) -> None:
    """Print the table."""
    print(f"\n{answer['device']}, {answer['dtype']}{', tiny models' if answer['tiny'] else ''}\n")
    table = MarkdownTable("what", "p50 ms", "p95 ms", "p99 ms", "the document's ceiling")
    for name in ("memory", "batch_of_32", "question"):
        table.add(name, *answer[name].values(), CEILINGS.get(name, ""))
    table.add("warm start", f"{1_000 * answer['warm_start_s']:.0f}", "", "", CEILINGS["warm_start_s"])
    table.print()
    print(f"\nA product of two large matrices: {answer['ceiling_tflops']} TFLOP/s.\n")
    table = MarkdownTable("model", "texts/s", "tokens/s", "TFLOP/s", "share of the product's")
    for row in answer["shares"]:
        table.add(*row.values())
    table.print()


if __name__ == "__main__":
    raise SystemExit(main())
