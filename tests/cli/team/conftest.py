"""The server of the team's tests, for its commands."""

from __future__ import annotations

from tests.team.conftest import database_url, postgres_server

__all__ = ["database_url", "postgres_server"]
