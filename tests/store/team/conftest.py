"""The server of the team's tests."""

from __future__ import annotations

from tests.team.conftest import database_url, postgres_server

__all__ = ["database_url", "postgres_server"]
