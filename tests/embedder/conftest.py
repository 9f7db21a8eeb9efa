"""Settings with a folder short enough for a socket, and children that can import the tests' helpers."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.config import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Settings of an installation of its own; pytest's folders are too deep for a socket's path."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = Path(tempfile.mkdtemp(prefix="hl-"))
    yield Settings(
        database=folder / "memory.db",
        state_dir=folder / "state",
        runtime_dir=folder / "run",
        embedder_idle_seconds=600,
    )
    shutil.rmtree(folder)
