"""A house of its own for every command: nothing of the user's is read or written."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every command of a test inside the test's own folder; return its home."""
    folder = tmp_path / "home"
    folder.mkdir(exist_ok=True)
    (tmp_path / "project").mkdir(exist_ok=True)
    for name, value in {
        "HOME": folder,
        "CLAUDE_CONFIG_DIR": folder / ".claude",
        "RLM_MEMORY_DB": folder / "memory.db",
        "HYPERLOCI_RUNTIME_DIR": tmp_path / "run",
        "HYPERLOCI_EMBEDDER": "false",
        "CLAUDE_PROJECT_DIR": tmp_path / "project",
        "NO_COLOR": "1",
        "COLUMNS": "200",
    }.items():
        monkeypatch.setenv(name, str(value))
    return folder
