"""What tests of capture share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.store import Store
from tests.conversations.capture._house import NOW, House


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    path = tmp_path / "memory.db"
    where = Settings(database=path, state_dir=tmp_path / "state", runtime_dir=tmp_path / "run")
    with Store.open(path, clock=lambda: NOW) as store:
        yield House(store, where)
