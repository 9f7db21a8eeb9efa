"""Fixtures of the team's tests: a server for all of them, a database for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.team.postgres import make_database, start_postgres, stop_postgres


@pytest.fixture(autouse=True)
def waits_for_the_team(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a search wait for the team's database, however busy the machine is."""
    monkeypatch.setattr("hyperloci.team.team_search.PATIENCE_SECONDS", 100.0)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    server = start_postgres()
    yield server
    stop_postgres(server)


@pytest.fixture
def database_url(postgres_server: Any) -> str:
    return make_database(postgres_server)
