"""Fixtures of the ingestion tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingest.working_tree import WorkingTree


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    """An empty project folder."""
    return WorkingTree(tmp_path / "project")
