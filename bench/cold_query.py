"""Cold question: `OPENBLAS_NUM_THREADS=1 python -m bench cold_query [--runs 10] [--texts 500] [--json]`.

Indexes this repository's documents, and then, with nothing of Hyperloci running, asks a question on the command line in
turns with `python -c "import numpy"`: milliseconds from spawn to end and peak memory of both, and their ratio. Every
answer must have been found by meaning. Besides, how true the numpy form of the model is that the answer comes from: the
lowest and the mean cosine of its vectors to torch's (float32) on chunks of this repository.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench._shared import MarkdownTable, save_result
from bench.fingerprints import own_chunks
from bench.startup import private_environment
from hyperloci.embedder.models.bundled import BundledEncoder, find_model_folder, read_tokenizer, verify_weights
from hyperloci.embedder.models.forward_numpy import NumpyForward
from hyperloci.embedder.models.forward_torch import TorchForward
from hyperloci.spaces.views import make_views

QUESTION = "how can two processes write at once"
ROOT = Path(__file__).resolve().parent.parent


def run_once(command: Sequence[str], folder: Path) -> tuple[float, float, str]:
    """Return milliseconds from spawn to end, peak megabytes, and what the process printed."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, env=private_environment(folder), cwd=folder / "project", text=True
    )
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    taken = 1_000 * (time.perf_counter() - started)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return taken, usage.ru_maxrss / 1e3, printed


def measure_commands(runs: int) -> dict[str, dict[str, float]]:
    """Return the medians of both commands, run in turns.

    Raises:
        RuntimeError: an answer was not found by meaning.
    """
    command = [sys.executable, "-m", "hyperloci"]
    commands = {
        "import numpy": [sys.executable, "-c", "import numpy"],
        "hyperloci query": [*command, "query", QUESTION, "--json"],
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory(prefix="hl-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "docs", folder / "project" / "docs")
        run_once([*command, "index", "--json"], folder)
        for _ in range(runs + 1):
            for name, each in commands.items():
                taken, megabytes, printed = run_once(each, folder)
                if name != "import numpy" and json.loads(printed)["mode"] != "hybrid":
                    raise RuntimeError(f"answered without meaning: {json.loads(printed)['degraded']}")
                found[name].append((taken, megabytes))
    return {
        name: {
            "ms": round(statistics.median(taken for taken, _ in measured[1:]), 1),
            "megabytes": round(statistics.median(megabytes for _, megabytes in measured[1:]), 1),
        }
        for name, measured in found.items()
    }


def compare_vectors(count: int) -> dict[str, Any]:
    """Return the lowest and the mean cosine of numpy's vectors to torch's."""
    weights, tokenizer = verify_weights(find_model_folder()), read_tokenizer(find_model_folder())
    light = BundledEncoder(NumpyForward(weights), tokenizer)
    whole = BundledEncoder(TorchForward(weights, torch.device("cpu"), torch.float32), tokenizer)
    texts = [make_views(sight).text for sight in own_chunks(count)]
    cosines = (light.encode(texts) * whole.encode(texts)).sum(axis=1)
    return {
        "texts": len(texts),
        "lowest_cosine": round(float(cosines.min()), 7),
        "mean_cosine": round(float(np.mean(cosines)), 7),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench cold_query", description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--json", action="store_true", help="print JSON and keep it beside the others")
    options = parser.parse_args()
    commands = measure_commands(options.runs)
    ratio = round(commands["hyperloci query"]["ms"] / commands["import numpy"]["ms"], 2)
    answer = {"commands": commands, "ratio": ratio, "vectors": compare_vectors(options.texts)}
    if options.json:
        print(json.dumps(answer, indent=2))
        save_result("cold_query", answer)
        return
    table = MarkdownTable("command", "ms (median)", "MB at the peak")
    for name, values in commands.items():
        table.add(name, values["ms"], values["megabytes"])
    table.print()
    print(f"\nratio {ratio}; vectors: {answer['vectors']}")


if __name__ == "__main__":
    main()
