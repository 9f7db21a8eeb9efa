"""What the benchmarks share: isolated settings, plain tables, results named by commit."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.search import SearchAnswer

RESULTS = Path(__file__).parent / "results"

TRIES: Final = 30
PAUSE_SECONDS: Final = 1.0
"""On a busy machine the embedder may miss a search's deadline; what is measured is the answer with vectors."""


def bench_settings(folder: Path, **changes: Any) -> Settings:
    """Return default settings whose files all lie in `folder`."""
    return Settings(
        database=folder / "memory.db",
        state_dir=folder / "state",
        runtime_dir=folder / "run",
        **{"watch": False, **changes},
    )


def ask_with_vectors(memory: Memory, text: str, **how: Any) -> tuple[SearchAnswer, float]:
    """Return the answer that a memory gives with vectors, and the milliseconds that it took.

    Raises:
        RuntimeError: the embedder was not at hand in any of several tries.
    """
    for _ in range(TRIES):
        started = time.perf_counter()
        answer = memory.search(text, reinforce=False, **how)
        taken = 1_000 * (time.perf_counter() - started)
        if answer.mode == "hybrid":
            return answer, taken
        time.sleep(PAUSE_SECONDS)
    raise RuntimeError(f"searched without vectors: {answer.degraded}")


class MarkdownTable:
    """A table printed as Markdown, so that it can be pasted into the docs as it is."""

    def __init__(self, *head: str) -> None:
        self._rows: list[list[str]] = [list(head)]

    def add(self, *cells: object) -> None:
        """Add one row."""
        self._rows.append([str(cell) for cell in cells])

    def print(self) -> None:
        """Print the table."""
        widths = [max(len(row[column]) for row in self._rows) for column in range(len(self._rows[0]))]
        for number, row in enumerate(self._rows):
            print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
            if number == 0:
                print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def measured_commit() -> str:
    """Return the short hash of the commit that is measured, with a mark if the tree has changes."""
    git = ["git", "-C", str(Path(__file__).parent)]
    name = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
    changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
    return name.stdout.strip() + ("-changed" if changed.stdout.strip() else "")


def save_result(name: str, answer: Mapping[str, Any]) -> Path:
    """Keep a result as JSON named by benchmark and commit."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}-{measured_commit()}.json"
    path.write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
    return path
