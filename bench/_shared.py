"""What the benchmarks share: isolated settings, plain tables, results named by commit."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperloci.config import Settings

RESULTS = Path(__file__).parent / "results"


def bench_settings(folder: Path, **changes: Any) -> Settings:
    """Return default settings whose files all lie in `folder`."""
    return Settings(
        database=folder / "memory.db",
        state_dir=folder / "state",
        runtime_dir=folder / "run",
        **{"watch": False, **changes},
    )


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
